"""What scripts/compose-check asks of the profile flyte, from within its connector's container: real tasks over gRPC."""

from __future__ import annotations

import asyncio
import hashlib
import io as memory
import sys
import tarfile
import time
from typing import Any

import flyte
import flyte.storage
from flyte._internal.runtime import io
from flyte.io import File
from flyte.models import CodeBundle
from flyteidl2.connector.connector_pb2 import Resource
from flyteidl2.core.execution_pb2 import TaskExecution

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.flyte.support.platform import Platform, serialize
from tests.flyte.tasks import flyte_tasks
from tests.packaging.support import ROOT

_SCRIPT = """#!/bin/bash
#SBATCH --nodes=2
echo "from $SLURMD_NODENAME, for $(id -un)"
srun hostname | sort | tr '\\n' ' ' >"$FLYTE_OUTPUT_HOSTS"
echo "$((FLYTE_INPUT_X * 2))" >"$FLYTE_OUTPUT_DOUBLED"
"""


def _script(name: str, text: str, **more: Any) -> SlurmScriptTask:
    task = SlurmScriptTask(name, text, Slurm(time_limit="5"), **more)
    flyte.TaskEnvironment.from_task(name, task)
    return task


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"{what}: {found!r}, not {expected!r}")


def _phase(found: Resource) -> tuple[str, str]:
    name = str(TaskExecution.Phase.Name(found.phase))
    return name, "" if name == "SUCCEEDED" else found.message


async def _read(uri: str) -> bytes:
    return b"".join([part async for part in flyte.storage.get_stream(uri)])


async def _a_script(platform: Platform) -> None:
    """Its outputs go from a node to the shared home, from there to the store; its logs are read."""
    task = _script("double", _SCRIPT, inputs={"x": int}, outputs={"hosts": File, "doubled": int})
    job = await platform.create(task, x=21)
    found = await platform.until(job)
    _expect("a script", _phase(found), ("SUCCEEDED", ""))
    values = {pair.name: pair.value.scalar for pair in found.outputs.literals}
    _expect("its number", values["doubled"].primitive.integer, 42)
    _expect("its file", await _read(values["hosts"].blob.uri), b"n1 n2 ")
    lines, _ = await platform.logs(job)
    _expect("its logs", [line for line in lines if line.startswith("from")], ["from n1, for svc"])


async def _a_python_task(platform: Platform) -> None:
    """Its code, its input and its output go through the store, which its node reaches by the login environment."""
    packed = memory.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(ROOT / "tests/flyte/tasks", "tests/flyte/tasks")
    name = hashlib.sha256(packed.getvalue()).hexdigest()[:16]
    uri = await flyte.storage.put_stream(packed.getvalue(), to_path=f"{platform.bucket}/code/{name}.tar.gz")
    code = CodeBundle(computed_version="1", destination="/opt/flyte", tgz=uri)
    template = serialize(flyte_tasks.square, code)
    job = await platform.create(template, interface=flyte_tasks.square, x=7)
    found = await platform.until(job)
    _expect("a Python task", _phase(found), ("SUCCEEDED", ""))
    outputs = await io.load_outputs(io.outputs_path(job.prefix))
    _expect("its output", [pair.value.scalar.primitive.integer for pair in outputs.proto_outputs.literals], [49])


async def _a_deletion(platform: Platform) -> None:
    job = await platform.create(_script("endless", "#!/bin/bash\nsleep 600\n"))
    await platform.until(job, "RUNNING")
    await platform.delete(job)
    _expect("what was deleted", _phase(await platform.until(job))[0], "ABORTED")


async def _main(address: str) -> None:
    platform = Platform(address)
    for part in (_a_script, _a_python_task, _a_deletion):
        started = time.monotonic()
        await part(platform)
        print(f"{part.__name__.lstrip('_').replace('_', ' ')}: {time.monotonic() - started:.1f} s")  # noqa: T201  # a check
    await platform.close()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
