"""Tasks that really run on the nodes of the tests' clusters: imported there, and by the tests."""

from __future__ import annotations

import os

import flyte
import flyte.errors

from flyteplugins.slurm_rest import Slurm

environment = flyte.TaskEnvironment(
    name="on-node",
    plugin_config=Slurm(
        container_runtime="none",
        python_environment="/shared/flyte",
        time_limit="5",
        env={"GREETING": "a 'quoted' $HOME"},
    ),
    image=flyte.Image.from_base("python:3.11"),
)


@environment.task
async def square(x: int) -> int:
    """Return a square."""
    return x * x


@environment.task
async def fail(text: str, recoverable: bool) -> int:
    """Raise what flyte takes for worth another attempt, as it does any exception, or what it does not."""
    raise ValueError(text) if recoverable else flyte.errors.NonRecoverableError(text)


@environment.task
async def where(name: str) -> str:
    """Return a variable of the job, or of its surroundings."""
    return os.environ.get(name, "") if name else os.getcwd()


two_nodes = flyte.TaskEnvironment(
    name="two-nodes",
    plugin_config=Slurm(container_runtime="none", python_environment="/shared/flyte", time_limit="5", nodes=2),
    image=flyte.Image.from_base("python:3.11"),
)


@two_nodes.task
async def wide(name: str) -> str:
    """Return a variable of a job that has two nodes."""
    return os.environ.get(name, "")
