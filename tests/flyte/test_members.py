"""Arrays and het jobs of scripts are one task."""

from __future__ import annotations

from typing import Any

import flyte
import pytest
from flyte.io import File

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.members import output_of
from slurm_rest import JobUsage

from .support.site import Site, lines_of


def group(text: str, **options: Any) -> SlurmScriptTask:
    task = SlurmScriptTask("group", text, Slurm(**options))
    flyte.TaskEnvironment.from_task("group", task)
    return task


ARRAY = "#!/bin/sh\n#SBATCH --array=0-2\n"
HET = "#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 2\n"


async def test_an_array_is_over_when_all_its_tasks_are(site: Site) -> None:
    meta = await site.create(group(ARRAY))
    site.fake.start(int(meta.job_id))
    first, second, third = site.fake.slurm.members(int(meta.job_id))
    site.fake.slurm.finish(first, 0)
    site.fake.slurm.finish(third, 4)
    await site.until(meta, "RUNNING")
    log = site.files / output_of(meta.stderr_path, 2).removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("what went wrong\n")
    site.fake.slurm.finish(second, 0)
    found = await site.until(meta, "FAILED")
    assert "1 of its 3 members failed: task 2 FAILED (exit code 4:0)" in (found.message or "")
    assert (found.message or "").endswith("what went wrong")


async def test_what_an_array_used_is_what_its_tasks_did(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a task that was requeued the last start; how busy the CPUs of all were nobody can tell."""
    meta = await site.create(group(ARRAY))
    (cluster,) = site.connector.known.clusters._found.values()

    async def usage(_: int) -> list[JobUsage]:
        starts = ((7, 1.0, 10), (8, 50.0, 99), (8, 2.0, 30), (9, 4.0, 20))
        found = [
            JobUsage(id=number, name=meta.job_name, cpu_seconds=cpu, memory_max_bytes=memory)
            for number, cpu, memory in starts
        ]
        return [JobUsage(id=7, name="another", cpu_seconds=1000.0), *found]

    monkeypatch.setattr(cluster.client, "usage", usage)
    site.fake.start(int(meta.job_id))
    results = (await site.connector.get_metrics(meta)).results
    found = {one.metric: one.data["value"] for one in results}
    assert (found["cpu_seconds"], found["memory_max_bytes"]) == (7.0, 30)
    assert "cpu_efficiency" not in found


@pytest.mark.parametrize("text", [ARRAY, HET])
async def test_all_members_are_cancelled(site: Site, text: str) -> None:
    meta = await site.create(group(text))
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    await site.connector.delete(meta)
    assert {job.base for job in site.fake.slurm.members(int(meta.job_id))} == {"CANCELLED"}
    await site.until(meta, "ABORTED")


async def test_a_het_script_with_outputs_keeps_its_components(site: Site) -> None:
    task = SlurmScriptTask("het", HET, Slurm(), outputs={"model": File})
    flyte.TaskEnvironment.from_task("het", task)
    meta = await site.create(task)
    assert len(site.fake.slurm.members(int(meta.job_id))) == 2


async def test_the_logs_of_an_array_are_those_of_its_tasks(site: Site) -> None:
    meta = await site.create(group(ARRAY))
    for task in (0, 2):
        path = site.files / output_of(meta.stdout_path, task).removeprefix("/home/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of {task}\n")
    lines, token = await lines_of(site, meta)
    assert [line for line in lines if line.startswith("of ")] == ["of 0", "of 2"]
    assert lines[0] == f"--- stdout of task 0: {output_of(meta.stdout_path, 0)} ---"
    assert await lines_of(site, meta, token) == ([], token)
