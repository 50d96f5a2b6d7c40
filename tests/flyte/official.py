"""Makes ``data/official.json``: tasks as flyteplugins-slurm serialises them, with inputs, as the platform keeps them.

    python -m venv /somewhere && /somewhere/bin/pip install flyteplugins-slurm==2.12.1
    PYTHONPATH=src:src/connector TASKS_PACKAGE=flyteplugins.slurm /somewhere/bin/python -m tests.flyte.official

Only that needs the other package. Tests read the file.
"""

from __future__ import annotations

import asyncio
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flyte._internal.runtime import convert
from flyte._internal.runtime.task_serde import get_proto_task
from flyte.models import CodeBundle, SerializationContext
from flyteidl2.core.tasks_pb2 import TaskTemplate
from flyteidl2.task.common_pb2 import Inputs
from google.protobuf.json_format import MessageToDict, ParseDict

from tests.packaging.support import ROOT

__all__ = ["CODE", "recorded", "serialized", "versions"]

# Where the code of the tasks lies, in the store and in their containers.
CODE = "runs/official-code.tar.gz"
_FILE = Path(__file__).parent / "data/official.json"
_PACKAGES = ("flyteplugins-slurm", "flyte", "flyteidl2")


def versions() -> dict[str, str]:
    """Return of which versions the recorded tasks are."""
    found: dict[str, str] = json.loads(_FILE.read_text())["versions"]
    return found


def recorded(name: str) -> tuple[Any, Any]:
    """Return the template of a task as the other package serialised it, and its inputs: messages of protobuf."""
    found = json.loads(_FILE.read_text())["tasks"][name]
    return ParseDict(found["template"], TaskTemplate()), ParseDict(found["inputs"], Inputs())


def serialized(task: Any) -> Any:
    """Return the template of a task, as it is made here."""
    code = CodeBundle(computed_version="1", destination="/opt/flyte", tgz=f"s3://{CODE}")
    context = SerializationContext(version="1", project="p", domain="d", org="o", code_bundle=code, root_dir=ROOT)
    return get_proto_task(task, context)


async def _record() -> None:
    from tests.flyte.tasks import official_tasks

    tasks = {}
    for name, (task, inputs) in official_tasks.TASKS.items():
        given = await convert.convert_from_native_to_inputs(task.native_interface, **inputs)
        tasks[name] = {
            "template": MessageToDict(serialized(task)),
            "inputs": MessageToDict(given.proto_inputs),
        }
    found = {"versions": {package: version(package) for package in _PACKAGES}, "tasks": tasks}
    _FILE.parent.mkdir(exist_ok=True)
    _FILE.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if os.environ.get("TASKS_PACKAGE") != "flyteplugins.slurm":
        raise SystemExit("TASKS_PACKAGE=flyteplugins.slurm has to say which package is to serialise them")
    asyncio.run(_record())
