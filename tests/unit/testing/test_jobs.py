"""Jobs of the fake cluster: real processes, with Slurm's states and rules."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import Any

import pytest

from slurm_rest import JobSpec
from slurm_rest.errors import JobNotFound, PermissionDenied, SubmitRejected
from slurm_rest.states import BaseState
from slurm_rest.testing import FakeCluster, FakeJob
from slurm_rest.testing.changing import requeue
from slurm_rest.testing.jobs import JobRequest, Owner
from slurm_rest.within import within
from tests.support.processes import is_running
from tests.support.waiting import until, until_true
from tests.unit.testing.conftest import Fake

TRUE = "#!/bin/sh\n"
FOREVER = "#!/bin/sh\nsleep 600\n"
ALICE = Owner("alice", 1000)


async def until_state(fake: Fake, job_id: int, base: BaseState) -> None:
    client = fake.clients[0]

    async def reached() -> bool:
        return (await client.info(job_id)).state.base is base

    await until(reached, str(base))


async def test_a_script_runs_as_under_slurm(fake: Fake) -> None:
    script = '#!/bin/sh\necho "$@" "$SLURM_JOB_ID $SLURM_JOB_NAME $USER $HOME $FOO"\necho oops >&2\nexit 3\n'
    client = fake.client()
    record = await (await client.submit(script, name="way", env={"FOO": "a b"}, args=["x", "y z"])).wait(timeout=120)
    assert (record.state.base, str(record.exit_code), record.reason) == (BaseState.FAILED, "3:0", "NonZeroExitCode")
    home = fake.cluster.runner.home("alice")
    assert record.stdout == str(home / f"slurm-{record.id}.out")
    assert (home / f"slurm-{record.id}.out").read_text() == f"x y z {record.id} way alice {home} a b\noops\n"


async def test_output_goes_where_it_was_asked_for(fake: Fake) -> None:
    client = fake.client()
    options = {"output": "out-%x-%j-%u.txt", "error": "err-%5j"}
    job = await client.submit("#!/bin/sh\necho a; echo b >&2\n", name="n", **options)  # type: ignore[arg-type]  # a mapping
    await job.wait(timeout=120)
    home = fake.cluster.runner.home("alice")
    assert (home / f"out-n-{job.id}-alice.txt").read_text() == "a\n"
    assert (home / f"err-{job.id:05}").read_text() == "b\n"


@pytest.mark.parametrize(
    ("script", "options", "code"),
    [
        ("#!/bin/sh\nkill -9 $$\n", {}, "0:9"),
        (TRUE, {"chdir": "/no/such/place"}, "0:53"),
        (TRUE, {"output": "/no/such/place/x"}, "0:53"),
        ("#!/no/such/shell\n", {}, "2:0"),
    ],
)
async def test_how_scripts_fail(fake: Fake, script: str, options: dict[str, str], code: str) -> None:
    record = await (await fake.client().submit(script, **options)).wait(timeout=120)  # type: ignore[arg-type]  # a mapping
    assert (record.state.base, str(record.exit_code)) == (BaseState.FAILED, code)


async def test_a_limit_is_reached_when_the_clock_moves(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(FOREVER, time=10)
    await until_state(fake, job.id, BaseState.RUNNING)
    # Well before and well after the limit: the cluster's clock goes on by itself, too.
    fake.cluster.advance(300)
    assert (await job.info()).state.is_running
    fake.cluster.advance(301)
    record = await job.wait(timeout=120)
    assert (record.state.base, record.reason) == (BaseState.TIMEOUT, "TimeLimit")


async def test_the_controller_forgets_and_accounting_does_not(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(TRUE, comment="mine")
    await job.wait(timeout=120)
    assert (await job.info()).source == "controller"
    fake.cluster.advance(301)
    assert await client.states([job]) == {}
    record = await job.info()
    assert (record.source, record.comment, record.state.base) == ("accounting", "mine", BaseState.COMPLETED)
    with pytest.raises(JobNotFound):
        await client.info(job.id + 1)


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("afterok", 0, "COMPLETED"),
        ("afterok", 1, "DependencyNeverSatisfied"),
        ("afternotok", 1, "COMPLETED"),
        ("afternotok", 0, "DependencyNeverSatisfied"),
        ("afterany", 1, "COMPLETED"),
    ],
)
async def test_dependencies(fake: Fake, kind: str, code: int, expected: str) -> None:
    client = fake.client()
    first = await client.submit(f"#!/bin/sh\nexit {code}\n", hold=True)
    second = await client.submit(TRUE, dependency=f"{kind}:{first.id}")
    assert (await second.info()).reason == "Dependency"
    await first.release()

    async def reached() -> bool:
        info = await second.info()
        return expected in (str(info.state), info.reason)

    await until(reached, expected)


async def test_a_dependency_that_never_comes_can_end_the_job(fake: Fake) -> None:
    client = fake.client()
    first = await client.submit("#!/bin/sh\nexit 1\n")
    second = await client.submit(TRUE, dependency=f"afterok:{first.id}", kill_on_invalid_dep="yes")
    record = await second.wait(timeout=120)
    assert (record.state.base, record.reason) == (BaseState.CANCELLED, "DependencyNeverSatisfied")


async def test_singletons_run_one_after_the_other(fake: Fake) -> None:
    client = fake.client()
    first = await client.submit(FOREVER, name="one", dependency="singleton")
    second = await client.submit(TRUE, name="one", dependency="singleton")
    other = await client.submit(TRUE, name="two", dependency="singleton")
    await other.wait(timeout=120)
    assert (await second.info()).reason == "Dependency"
    await first.cancel()
    assert (await second.wait(timeout=120)).state.is_success


async def test_an_array_runs_so_many_at_a_time(fake: Fake) -> None:
    client = fake.client()
    script = '#!/bin/sh\necho "$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT"\nsleep 600\n'
    array = await client.submit(script, array="2-5%2")
    states = await client.member_states(array.id)
    assert sorted(str(state) for state in states.values()) == ["PENDING", "PENDING", "RUNNING", "RUNNING"]
    assert (await client.members(array))[-1].array_tasks == "4-5%2"
    tasks = await array.tasks()
    assert [result.outcome for result in await client.cancel(tasks[0])] == ["signalled"]
    assert (await tasks[0].wait(timeout=120)).state.base is BaseState.CANCELLED
    await until_state(fake, (await tasks[2].info()).id, BaseState.RUNNING)
    output = fake.cluster.runner.home("alice") / f"slurm-{array.id}_3.out"
    await until_true(lambda: output.exists() and output.read_text().endswith("\n"), "its output")
    assert output.read_text() == f"{array.id} 3 4\n"
    await array.cancel()
    assert (await array.wait(timeout=120)).state.base is BaseState.CANCELLED


async def test_a_task_that_is_cancelled_while_it_waits_leaves_no_trace(fake: Fake) -> None:
    client = fake.client()
    array = await client.submit(TRUE, array="1-3", hold=True)
    first, second, third = await array.tasks()
    await client.cancel([first])
    assert {task.task_id for task in await array.tasks()} == {2, 3}
    assert (await array.info()).state.base is BaseState.PENDING
    await client.cancel([second])
    await client.cancel([third])
    # Of the last one the array's own record is left.
    assert fake.app.answer("GET", "/slurm/v0.0.42/jobs/state/", b"", fake.headers, b"")[0].body == {
        "jobs": [{"job_id": f"{array.id}_*", "state": ["CANCELLED"]}]
    }
    assert (await array.info()).state.base is BaseState.CANCELLED


async def test_a_het_job_starts_and_ends_together(fake: Fake) -> None:
    client = fake.client()
    script = '#!/bin/sh\ntest "$SLURM_HET_SIZE $SLURM_JOB_ID_HET_GROUP_1" = "2 $((SLURM_JOB_ID + 1))" && exit 7\n'
    job = await client.submit(JobSpec(script, ntasks=1, components=[JobSpec(ntasks=2)]))
    assert str((await job.wait(timeout=120)).exit_code) == "7:0"
    assert [(one.label, one.tasks) for one in await client.members(job)] == [(f"{job.id}+0", 1), (f"{job.id}+1", 2)]


async def test_jobs_wait_for_room(fake: Fake) -> None:
    client = fake.client()
    both = await client.submit(FOREVER, nodes=2, ntasks=2, cpus_per_task=8)
    next_one = await client.submit(TRUE)
    assert (await both.info()).nodes == "n[1-2]"
    assert (await next_one.info()).reason == "Resources"
    assert [node.state for node in await client.nodes()] == [("ALLOCATED",)] * 2
    await both.cancel()
    assert (await next_one.wait(timeout=120)).state.is_success
    assert [node.state for node in await client.nodes()] == [("IDLE",)] * 2


async def test_what_partitions_do_not_allow_waits(fake: Fake) -> None:
    client = fake.client()
    assert (await (await client.submit(TRUE, partition="debug", time=31)).info()).reason == "PartitionTimeLimit"
    assert (await (await client.submit(TRUE, partition="debug", nodes=2)).info()).reason == "PartitionNodeLimit"


async def test_a_later_beginning(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(TRUE, begin="now+1hour")
    assert (await job.info()).reason == "BeginTime"
    fake.cluster.advance(3601)
    assert (await job.wait(timeout=120)).state.is_success


async def test_a_requeued_job_keeps_its_id_and_its_past(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit('#!/bin/sh\ntest "$SLURM_RESTART_COUNT" || sleep 600\n')
    await until_state(fake, job.id, BaseState.RUNNING)
    assert list(requeue(fake.cluster, fake.cluster.members(job.id), ALICE).values()) == [0]
    # Asked without letting the loop go on, which would hear of the process's end.
    reply, _ = fake.app.answer("GET", "/slurm/v0.0.42/jobs/state/", b"", fake.headers, b"")
    assert reply.body == {"jobs": [{"job_id": str(job.id), "state": ["PENDING", "COMPLETING"]}]}
    await until_state(fake, job.id, BaseState.PENDING)

    async def waits() -> bool:
        return (await job.info()).reason == "BeginTime"

    await until(waits)
    fake.cluster.advance(121)
    record = await job.wait(timeout=120)
    assert (record.id, record.state.base, record.restart_count) == (job.id, BaseState.COMPLETED, 1)
    assert [one.states for one in fake.cluster.records[job.id]] == [["PENDING", "REQUEUED"], ["COMPLETED"]]
    for query, starts in (("", 2), ("&skip_steps=true", 1), ("&skip_steps=true&show_duplicates=true", 2)):
        reply, _ = fake.app.answer("GET", "/slurmdb/v0.0.42/jobs/", f"step={job.id}{query}".encode(), fake.headers, b"")
        assert isinstance(reply.body["jobs"], list)
        assert len(reply.body["jobs"]) == starts
    fake.cluster.purge()
    assert (await job.info()).state.base is BaseState.COMPLETED, "the last incarnation counts"


async def test_a_job_that_ignores_the_end_is_killed(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit('#!/bin/bash\ntrap "" TERM\ntouch "$HOME/ready"\nwhile :; do sleep 0.1; done\n')
    await until_true((fake.cluster.runner.home("alice") / "ready").exists)
    await job.cancel()
    record = await job.wait(timeout=120)
    assert (record.state.base, str(record.exit_code)) == (BaseState.CANCELLED, "0:9")


async def test_what_a_script_starts_ends_with_it(fake: Fake) -> None:
    job = await fake.client().submit('#!/bin/sh\nsleep 600 &\necho $! > "$HOME/pid"\n')
    assert (await job.wait(timeout=120)).state.is_success
    pid = (fake.cluster.runner.home("alice") / "pid").read_text().strip()
    await until_true(lambda: not is_running(int(pid)))


async def test_nothing_is_left_behind(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit('#!/bin/sh\nsleep 600 &\necho $! > "$HOME/pid"\nsleep 600\n')
    pid = fake.cluster.runner.home("alice") / "pid"

    async def written() -> str:
        return pid.read_text().strip() if pid.exists() else ""

    number = await until(written)
    await fake.cluster.close()
    await until_true(lambda: not is_running(int(number)))
    assert not pid.exists(), "the temporary folder is removed"
    assert job.id


@pytest.mark.parametrize("end", ["cancel", "kill", "close"])
async def test_a_job_whose_process_is_being_started_can_be_ended(
    fake: Fake, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[asyncio.subprocess.Process] = []
    started, may_go_on = asyncio.Event(), asyncio.Event()
    create = asyncio.create_subprocess_exec

    async def held(*args: Any, **kwargs: Any) -> asyncio.subprocess.Process:
        processes.append(await create(*args, **kwargs))
        started.set()
        await may_go_on.wait()
        return processes[0]

    monkeypatch.setattr("slurm_rest.testing.runner.asyncio.create_subprocess_exec", held)
    # Long enough for a busy machine to end the process by the signal that comes first.
    monkeypatch.setattr(fake.cluster.runner, "_kill_wait", 120)
    client = fake.client()
    job = await client.submit(FOREVER)
    await within(120, started.wait())
    if end == "close":
        closing = asyncio.create_task(fake.cluster.close())
        await asyncio.sleep(0)
    else:
        await client.cancel([job.id], signal="KILL" if end == "kill" else None)
    may_go_on.set()
    if end == "close":
        await closing
    else:
        assert (await job.wait(timeout=120)).state.base is BaseState.CANCELLED
    assert processes[0].returncode == (-15 if end == "cancel" else -9)


async def test_a_script_that_a_fork_still_holds_open_is_started_all_the_same(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another thread of the process: between its fork and its exec it has all files that were open."""
    create, refused = asyncio.create_subprocess_exec, [OSError(errno.ETXTBSY, "Text file busy")] * 2

    async def busy(*args: Any, **kwargs: Any) -> asyncio.subprocess.Process:
        if refused:
            raise refused.pop()
        return await create(*args, **kwargs)

    monkeypatch.setattr("slurm_rest.testing.runner.asyncio.create_subprocess_exec", busy)
    job = await fake.client().submit(TRUE)
    assert (await job.wait(timeout=120)).state.is_success
    assert not refused


async def test_a_time_that_comes_a_little_later_than_the_timer_is_not_missed(fake: Fake) -> None:
    cluster = fake.cluster
    home = str(cluster.runner.home("alice"))
    job_id = cluster.submit([JobRequest(script=TRUE, directory=home, begin=cluster.now() + 0.1)], ALICE)
    # As where the clock of the day is set back; nobody asks anything, which would have it look as well.
    cluster._offset -= 0.05
    await until_true(lambda: cluster.find(job_id)[0].is_over, "its start and end")


async def test_the_end_starts_nothing(fake: Fake) -> None:
    """What is killed makes room for jobs that wait."""
    client = fake.client()
    jobs = [await client.submit(FOREVER, nodes=2, ntasks=2, cpus_per_task=8) for _ in range(3)]
    await until_state(fake, jobs[0].id, BaseState.RUNNING)
    await fake.cluster.close()
    assert [fake.cluster.find(job.id)[0].base for job in jobs] == ["FAILED", "PENDING", "PENDING"]
    assert fake.cluster.counts["started"] == 1


async def test_others_may_not(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(TRUE, hold=True)
    bob = fake.client("bob")
    assert [result.outcome for result in await bob.cancel([job.id])] == ["denied"]
    assert [result.outcome for result in await fake.client("root").cancel([job.id])] == ["signalled"]
    assert (await bob.info(job.id)).state.base is BaseState.CANCELLED
    with pytest.raises(SubmitRejected):
        await client.submit(TRUE, array="0-5000")
    assert not issubclass(SubmitRejected, PermissionDenied)


def test_states_are_the_tests_own_without_running() -> None:
    cluster = FakeCluster(run=False)
    job_id = cluster.submit([JobRequest(script=TRUE)], ALICE)
    (job,) = cluster.members(job_id)
    assert isinstance(job, FakeJob)
    assert job.states == ["PENDING"]
    cluster.start(job)
    assert job.states == ["RUNNING"]
    cluster.finish(job, 4)
    assert (job.states, job.exit_code) == (["FAILED"], 4)
    assert json.dumps(cluster.counts)
