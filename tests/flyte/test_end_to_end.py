"""Tasks on real Slurm through flyte's own connector service, over gRPC: what becomes of them, and of their outputs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import flyte
import pytest
from flyte._internal.runtime import io
from flyte.io import Dir, File
from flyte.types import TypeEngine
from flyteidl2.core.execution_pb2 import TaskExecution

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.support.waiting import until, until_true

from .conftest import over_rest
from .support.platform import Platform, Submitted
from .support.s3 import Store
from .tasks import flyte_tasks


async def outputs_of(prefix: str) -> list[Any]:
    outputs = await io.load_outputs(io.outputs_path(prefix))
    return [pair.value.scalar.primitive for pair in outputs.proto_outputs.literals]


def phase(resource: Any) -> str:
    return str(TaskExecution.Phase.Name(resource.phase))


def secrets_of(job: Submitted, cluster: Cluster) -> Path:
    """Return the file that its secrets are sent in; the folder has those of other jobs as well."""
    path = str(json.loads(job.meta)["secret_file"])
    assert path.startswith("/home/alice/.flyte/secrets/")
    return Path(cluster.home, path.removeprefix("/home/"))


async def test_a_python_task_succeeds(platform: Platform) -> None:
    job = await platform.create(flyte_tasks.square, x=7)
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    assert [value.integer for value in await outputs_of(job.prefix)] == [49]
    assert found.custom_info["user"] == "alice"


@pytest.mark.parametrize(("recoverable", "ends"), [(False, "FAILED"), (True, "RETRYABLE_FAILED")])
async def test_a_python_task_that_raises_has_failed(platform: Platform, recoverable: bool, ends: str) -> None:
    """Its entrypoint exits 0, so its job is COMPLETED all the same; flyte counts most exceptions as recoverable."""
    job = await platform.create(flyte_tasks.fail, text="no such column: é", recoverable=recoverable)
    found = await platform.until(job)
    assert phase(found) == ends
    assert f"{'ValueError' if recoverable else 'NonRecoverableError'}: no such column: é" in found.message
    assert "COMPLETED" in found.message


async def test_a_script_gives_its_outputs(platform: Platform, store: Store) -> None:
    script = SlurmScriptTask(
        name="train",
        script=(
            "#!/usr/bin/env python3\n#SBATCH --time=3\nimport os, pathlib\n"
            "model = pathlib.Path(os.environ['FLYTE_OUTPUT_MODEL'])\n"
            "model.write_text(os.environ['FLYTE_INPUT_EPOCHS'])\n"
            "deep = pathlib.Path(os.environ['FLYTE_OUTPUT_SHARDS'], 'a b')\n"
            "pathlib.Path(os.environ['FLYTE_OUTPUT_NAMES']).write_text('[\"é\", \"b\"]')\n"
            "pathlib.Path(os.environ['FLYTE_OUTPUT_SCORE']).write_text('0.5\\n')\n"
            "deep.mkdir()\n(deep / 'é').write_bytes(bytes(3))\n(deep / 'empty').touch()\n"
        ),
        plugin_config=Slurm(),
        inputs={"epochs": int},
        outputs={"model": File, "shards": Dir, "names": list[str], "score": float},
    )
    flyte.TaskEnvironment.from_task("train", script)
    job = await platform.create(script, epochs=3)
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    written = {
        path.removeprefix(job.prefix.removeprefix("s3://")): data
        for path, data in list(store.objects.items())
        if path.startswith(job.prefix.removeprefix("s3://")) and not path.endswith(("inputs.pb", ".outputs.json"))
    }
    assert written == {"/model": b"3", "/shards/a b/é": bytes(3), "/shards/a b/empty": b""}
    values = {pair.name: pair.value for pair in found.outputs.literals}
    uris = {name: values[name].scalar.blob.uri for name in ("model", "shards")}
    assert uris == {"model": f"{job.prefix}/model", "shards": f"{job.prefix}/shards"}
    assert await TypeEngine.to_python_value(values["names"], list[str]) == ["é", "b"]
    assert values["score"].scalar.primitive.float_value == 0.5


# The nodes of the tests have no curl; the command's words are tried with a real one elsewhere.
CURL = (
    "curl() { python3 -c 'import sys, urllib.request as u; url = sys.stdin.read().split(chr(34))[1];"
    ' u.urlopen(u.Request(url, open(sys.argv[-1], "rb").read(), method="PUT"))\' "$@"; }\n'
)


async def test_a_script_uploads_by_the_command_that_it_is_given(platform: Platform, store: Store) -> None:
    """Its job has a deadline, which Slurm takes; what it wrote and used is told when it is over."""
    script = SlurmScriptTask(
        name="uploads",
        script=(
            f"#!/bin/bash\n#SBATCH --time=3\n{CURL}echo started\n"
            "while [ $SECONDS -lt 4 ]; do :; done\n"
            'printf weights >"$FLYTE_OUTPUT_MODEL" && eval "$FLYTE_OUTPUT_MODEL_UPLOAD"\n'
        ),
        plugin_config=Slurm(),
        outputs={"model": File},
        output_upload="presigned",
    )
    flyte.TaskEnvironment.from_task("uploads", script)
    job = await platform.create(script)
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    prefix = job.prefix.removeprefix("s3://")
    assert store.objects[f"{prefix}/model"] == b"weights"
    assert [link.name for link in found.log_links] == ["stdout"]
    assert store.objects[f"{prefix}/slurm-{found.custom_info['job_id']}.stdout.txt"] == b"started\n"

    async def used() -> dict[str, float] | None:
        metrics = await platform.metrics(job)
        return metrics if metrics.get("cpu_seconds") and metrics.get("memory_max_bytes") else None

    metrics = await until(used, "what it used")
    assert metrics is not None
    assert 0.1 < metrics["cpu_seconds"] < 30
    assert metrics["memory_max_bytes"] > 100_000


async def test_over_ssh_alone(platform_over_ssh: Platform, store: Store, flyte_cluster: Cluster) -> None:
    """The deployment that people come from: its variables, its default directory, files over SFTP."""
    platform = platform_over_ssh
    script = SlurmScriptTask(
        name="legacy",
        script='echo to stdout\necho to stderr >&2\npwd >"$FLYTE_OUTPUT_WHERE"\n[ "$HELD" = "it\'s held" ]\n',
        plugin_config=Slurm(time_limit="3"),
        outputs={"where": File},
        secrets=flyte.Secret("held"),
    )
    flyte.TaskEnvironment.from_task("legacy", script)
    native, legacy = await platform.create(flyte_tasks.square, x=5), await platform.create(script)
    found = await platform.until(legacy)
    assert phase(found) == "SUCCEEDED", found.message
    assert store.objects[f"{legacy.prefix.removeprefix('s3://')}/where"] == b"/home/alice\n"
    await until_true(lambda: not secrets_of(legacy, flyte_cluster).exists(), "the removal of its secrets")
    assert found.custom_info["stdout"].startswith("/home/alice/.flyte/jobs/flyte-legacy-")
    lines, token = await platform.logs(legacy)
    assert [line for line in lines if not line.startswith("---")] == ["to stdout", "to stderr"]
    assert (await platform.logs(legacy, token))[0] == []
    found = await platform.until(native)
    assert phase(found) == "SUCCEEDED", found.message
    assert [value.integer for value in await outputs_of(native.prefix)] == [25]

    async def used() -> bool:
        return {"cpu_seconds", "cpu_efficiency", "elapsed_seconds", "tres/mem"} <= (
            await platform.metrics(native)
        ).keys()

    await until(used, "what it used, by sacct")


async def test_an_abort_cancels_the_job(platform: Platform, flyte_cluster: Cluster) -> None:
    """And removes the secrets that were sent to it."""
    text = '#!/bin/sh\n[ "$HELD" = "it\'s held" ] && sleep 600\n'
    script = SlurmScriptTask("waits", text, Slurm(time_limit="20"), secrets=flyte.Secret("held"))
    flyte.TaskEnvironment.from_task("waits", script)
    job = await platform.create(script)
    again = await platform.create(script, run=job.prefix.split("/")[3])
    assert json.loads(again.meta)["job_id"] == json.loads(job.meta)["job_id"]
    await platform.until(job, "RUNNING")

    async def given() -> bool:
        return {"elapsed_seconds", "cpus", "tres/cpu", "tres/mem"} <= (await platform.metrics(job)).keys()

    await until(given, "what it was given")
    sent = secrets_of(job, flyte_cluster)
    assert sent.stat().st_mode & 0o777 == 0o600
    for _ in range(2):
        await platform.delete(job)
    await until_true(lambda: not sent.exists(), "the removal of its secrets")
    assert "CANCELLED" in (await platform.until(job, "ABORTED")).message


async def test_an_array_is_judged_by_all_its_tasks(platform: Platform) -> None:
    text = "#!/bin/sh\n#SBATCH --array=0-2\necho I am $SLURM_ARRAY_TASK_ID\n[ $SLURM_ARRAY_TASK_ID != 1 ]\n"
    script = SlurmScriptTask("array", text, Slurm(time_limit="3"))
    flyte.TaskEnvironment.from_task("array", script)
    job = await platform.create(script)
    found = await platform.until(job)
    assert phase(found) == "FAILED", found.message
    assert "1 of its 3 members failed: task 1 FAILED (exit code 1:0)" in found.message
    lines, _ = await platform.logs(job)
    assert [line for line in lines if line.startswith("I am")] == ["I am 0", "I am 1", "I am 2"]


async def test_ends_that_others_chose(platform: Platform, flyte_cluster: Cluster) -> None:
    """An administrator cancels one; another one waits for longer than its task allows."""
    waits = SlurmScriptTask("waits", "#!/bin/sh\nsleep 600\n", Slurm(time_limit="20"))
    held = SlurmScriptTask(
        "held",
        "#!/bin/sh\n",
        Slurm(sbatch_options={"hold": True}),
        timeout=flyte.Timeout(max_queued_time=2),
    )
    for task in (waits, held):
        flyte.TaskEnvironment.from_task(task.name, task)
    cancelled, late = await platform.create(waits), await platform.create(held)
    await platform.until(cancelled, "RUNNING")
    await asyncio.to_thread(flyte_cluster.exec, ["scancel", json.loads(cancelled.meta)["job_id"]], check=True)
    found = await platform.until(cancelled)
    assert phase(found) == "FAILED"
    assert "cancelled by root, not through Flyte" in found.message
    found = await platform.until(late)
    assert phase(found) == "RETRYABLE_FAILED"
    assert "longer than the 0:00:02 that the task allows" in found.message


async def test_a_local_run_is_a_job_too(
    cluster_24_11: Cluster, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in over_rest(cluster_24_11).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    script = SlurmScriptTask(
        name="local",
        script='#!/bin/sh\nhostname >"$FLYTE_OUTPUT_WHERE"\necho "[1]" >$FLYTE_OUTPUT_COUNTS\nexit $FLYTE_INPUT_CODE\n',
        plugin_config=Slurm(time_limit="3"),
        inputs={"code": int},
        outputs={"where": File, "counts": list[int]},
    )
    flyte.TaskEnvironment.from_task("local", script)
    await flyte.init.aio(root_dir=tmp_path)
    here = flyte.with_runcontext(mode="local", raw_data_path=str(tmp_path / "raw"))
    runs = [here.run.aio(script, code=code) for code in (0, 0, 3)]
    first, second, third = await asyncio.gather(*runs, return_exceptions=True)
    assert "exit code 3:0" in str(third)
    assert not isinstance(first, BaseException), first
    assert not isinstance(second, BaseException), second
    paths = [run.outputs()[0].path for run in (first, second)]
    assert [await asyncio.to_thread(Path(path).read_text) for path in paths] == ["login\n", "login\n"]
    assert paths[0] != paths[1]
    assert first.outputs()[1] == [1]
