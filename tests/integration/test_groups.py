"""Arrays and het jobs as groups of members."""

from __future__ import annotations

import pytest

from slurm_rest import AsyncSlurmClient, BaseState, JobNotFound, SlurmClient, SpecError


async def test_the_tasks_of_an_array_are_jobs(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\n#SBATCH --array=0-3%2 --job-name=many\nexit $SLURM_ARRAY_TASK_ID\n"
    job = await client.submit(script)
    tasks = await job.tasks()
    assert [task.label for task in tasks] == [f"{job.id}_{number}" for number in range(4)]
    assert await job.components() == []
    records = await client.wait(tasks, timeout=300)
    assert [record.exit_code.code for record in records] == [0, 1, 2, 3]
    assert [record.label for record in records] == [task.label for task in tasks]
    assert [task.state.is_success for task in tasks] == [True, False, False, False]
    assert (await job.wait(timeout=300)).state.base is BaseState.FAILED


async def test_a_pending_task_has_the_arrays_record(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\nsleep 60\n", array="1-3", hold=True, name="held")
    first, second, third = await job.tasks()
    assert (await second.info()).label == f"{job.id}_2"
    assert (await second.refresh()).is_pending
    assert (await second.cancel()).outcome == "signalled"
    assert [task.label for task in await job.tasks()] == [first.label, third.label]
    with pytest.raises(SpecError, match="member of job"):
        await client.states([first])
    assert (await job.cancel()).ok


async def test_the_components_of_a_het_job_are_jobs(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\n#SBATCH -n 1 --mem=100 -J two\n#SBATCH hetjob\n#SBATCH -n 2\nexit 3\n"
    job = await client.submit(script)
    parts = await job.components()
    assert [part.label for part in parts] == [f"{job.id}+0", f"{job.id}+1"]
    infos = [await part.info() for part in parts]
    assert [info.tasks for info in infos] == [1, 2]
    assert {info.name for info in infos} == {"two"}
    record = await job.wait(timeout=300)
    assert record.state.base is BaseState.FAILED
    assert record.exit_code.code == 3
    assert await job.tasks() == []


async def test_a_member_that_does_not_exist(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\ntrue\n", hold=True)
    assert await job.tasks() == []
    member = type(job)(client, job.id, task_id=7)
    with pytest.raises(JobNotFound, match=f"{job.id}_7"):
        await member.info()


def test_the_sync_face_has_the_members_as_properties(slurm: SlurmClient) -> None:
    job = slurm.submit("#!/bin/sh\nexit $SLURM_ARRAY_TASK_ID\n", array="0-1")
    assert [task.label for task in job.tasks] == [f"{job.id}_0", f"{job.id}_1"]
    assert [record.exit_code.code for record in slurm.wait(job.tasks, timeout=300)] == [0, 1]
    assert job.components == []
