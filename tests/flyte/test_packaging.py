"""What importing loads, that the parts keep to their places, and who serves the task types."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.support import ROOT

SOURCE = ROOT / "src/connector/flyteplugins/slurm_rest"
# These compute and nothing else: no loop, no files, no flyte.
_CONNECTOR_ONLY = ("plan", "states", "members", "memory", "messages", "queueing")
PURE = ("options", "config", "resources", "settings", "runtimes", "script", "naming", "secret_ways", *_CONNECTOR_ONLY)
IMPURE = {"asyncio", "flyte", "flyteidl2", "grpc", "httpx", "os", "pathlib", "socket", "subprocess", "tempfile", "time"}
# What a task image loads.
TASK_SIDE = {
    *PURE,
    "",
    "template",
    "task",
    "local",
    "running",
    "caching",
    "clustering",
    "typed",
    "schemas",
    "values",
    "launching",
} - {*_CONNECTOR_ONLY}


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_task_side_loads_neither_grpc_nor_the_connector() -> None:
    loaded = loaded_by("from flyteplugins.slurm_rest import Slurm, SlurmScriptTask; Slurm(partition='gpu')")
    assert not loaded & {"grpc", "flyte.connectors", "asyncssh", "slurm_rest.client", "slurm_rest.transport"}
    ours = {name.removeprefix("flyteplugins.slurm_rest").lstrip(".") for name in loaded if "flyteplugins.sl" in name}
    assert ours == TASK_SIDE


def test_the_core_knows_nothing_of_flyte() -> None:
    names = [path for path in (ROOT / "src/slurm_rest").rglob("*.py") if "flyte" in path.read_text().lower()]
    assert names == []
    assert not {name for name in loaded_by("from slurm_rest import AsyncSlurmClient") if name.startswith("flyte")}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_stay_pure(name: str) -> None:
    assert imported(SOURCE / f"{name}.py") & IMPURE == set()


def test_there_is_room_for_other_plugins_beside_ours() -> None:
    assert not (SOURCE.parent / "__init__.py").exists()


REGISTRY = "from flyte.connectors import ConnectorRegistry as R\n"
SERVED = "print([type(R.get_connector(name)).__module__ for name in ('slurm', 'slurm_script')])"
# A connector of another package for the same type of tasks, as flyteplugins-slurm registers its own.
OTHER = """
from flyte.connectors import AsyncConnector
class Other(AsyncConnector):
    name, task_type_name, metadata_type = "Other", "slurm", dict
    async def create(self, *args, **kwargs): ...
    async def get(self, *args, **kwargs): ...
    async def delete(self, *args, **kwargs): ...
"""


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_both_types_are_served_by_us_whoever_comes_first(first: str) -> None:
    ours = "import flyteplugins.slurm_rest.connector\n"
    theirs = f"{OTHER}\ntry:\n    R.register(Other())\nexcept ValueError:\n    pass\n"
    code = REGISTRY + (ours + theirs if first == "ours" else theirs + ours) + SERVED
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['flyteplugins.slurm_rest.service', 'flyteplugins.slurm_rest.service']"


def test_it_is_said_once_who_serves_them() -> None:
    code = "import flyteplugins.slurm_rest.connector, flyteplugins.slurm_rest.service"
    command = [sys.executable, "-c", code]
    env = {"PATH": "/usr/bin:/bin", "LOG_LEVEL": "20", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert (done.stdout + done.stderr).count("are served by flyteplugins.slurm_rest") == 1
