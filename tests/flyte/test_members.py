"""Arrays and het jobs of scripts are one task."""

from __future__ import annotations

from typing import Any

import flyte
import pytest
from flyte.io import File

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.members import output_of

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
