"""Tasks that are run locally: as jobs on a real Slurm, by flyte's own command and runner."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path

import flyte
import pytest

from cluster.native import Cluster
from tests.support.waiting import until, until_true

from .conftest import over_rest
from .support.node import provide_python
from .support.s3 import Store
from .tasks import flyte_tasks

ROOT = Path(__file__).parents[2]
SCRIPT = """
import flyte
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask

waits = SlurmScriptTask("waits", "#!/bin/sh\\nsleep 600\\n", Slurm(time_limit="20"))
environment = flyte.TaskEnvironment.from_task("waits", waits)
"""


@pytest.fixture
def deployment(cluster_24_11: Cluster, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cluster:
    """Return a cluster that this process reaches as a connector's deployment does."""
    provide_python(cluster_24_11)
    for name, value in over_rest(cluster_24_11).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return cluster_24_11


async def test_a_python_task_is_run_locally(
    deployment: Cluster, store: Store, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its values come back, what it raises is raised, and whoever waits is told how its job is doing."""
    await flyte.init.aio(root_dir=ROOT)
    here = flyte.with_runcontext(mode="local", raw_data_path="s3://runs/local")
    # A node has no credentials of its own here.
    square, fail = (task.override(env_vars=store.variables()) for task in (flyte_tasks.square, flyte_tasks.fail))
    runs = [here.run.aio(square, x=7), here.run.aio(fail, text="no column", recoverable=False)]
    first, second = await asyncio.gather(*runs, return_exceptions=True)
    assert not isinstance(first, BaseException), first
    assert first.outputs()[0] == 49
    assert "no column" in str(second)
    assert re.search(r"^on-node.square: Slurm job \d+ is ", capfd.readouterr().err, re.MULTILINE)


async def test_a_python_task_needs_a_store_that_the_cluster_can_reach(deployment: Cluster, tmp_path: Path) -> None:
    await flyte.init.aio(root_dir=ROOT)
    here = flyte.with_runcontext(mode="local", raw_data_path=str(tmp_path / "raw"))
    with pytest.raises(Exception, match=r"needs remote storage, not .*--raw-data-path s3://BUCKET/PATH"):
        await here.run.aio(flyte_tasks.square, x=7)


async def test_an_interrupt_cancels_the_job(deployment: Cluster, tmp_path: Path) -> None:
    """As ^C does it, with flyte's own command."""
    (tmp_path / "task.py").write_text(SCRIPT)
    start = "from flyte.cli.main import main; main()"
    command = [sys.executable, "-c", start, "run", "--local", "task.py", "waits"]
    with (tmp_path / "log").open("wb") as output:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=output)  # noqa: ASYNC220  # quick
    try:

        async def running() -> str | None:
            text = await asyncio.to_thread((tmp_path / "log").read_text)
            assert process.poll() is None, text
            found = re.search(r"waits: Slurm job (\d+) is RUNNING", text)
            return found[1] if found else None

        job = await until(running, "the job")
        process.send_signal(signal.SIGINT)
        await until_true(lambda: process.poll() is not None, "the end of the command")
    finally:
        process.kill()
    text = await asyncio.to_thread((tmp_path / "log").read_text)
    assert "is being cancelled" in text, text

    async def cancelled() -> bool:
        # While its processes are being ended it is COMPLETING.
        shown = await asyncio.to_thread(deployment.exec, ["scontrol", "show", "job", str(job)], check=True)
        return "JobState=CANCELLED" in shown.stdout

    await until(cancelled, "the end of the job")
