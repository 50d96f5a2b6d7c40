"""Tasks that run in containers of the tests' clusters: no image holds them, they come as a bundle of code."""

from __future__ import annotations

import os
from pathlib import Path

import flyte
import flyte.errors

from flyteplugins.slurm_rest import Slurm

RUNTIMES = ("oci", "apptainer", "charliecloud")
_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "NNODES", "MASTER_ADDR", "MASTER_PORT")
_NAMES = (*_RANKS, "SLURMD_NODENAME")


def configuration(runtime: str, **more: object) -> Slurm:
    """Return what all of them have in common."""
    bundle = runtime == "oci"
    return Slurm(
        container_runtime=runtime,
        container_image="/shared/image" if bundle else "/shared/image/rootfs",
        container_mounts=[] if bundle else ["/shared/data:/data"],
        python_environment="/opt/venv",
        time_limit="5",
        env={"GREETING": "a 'quoted' $HOME"},
        **more,  # type: ignore[arg-type]  # fields by their names
    )


single = flyte.TaskEnvironment(
    name="single", plugin_config=configuration("oci"), image=flyte.Image.from_base("python:3.11")
)
many = flyte.TaskEnvironment(
    name="many",
    plugin_config=configuration("oci", launcher="srun", nodes=2, ntasks=3),
    image=flyte.Image.from_base("python:3.11"),
)


@single.task
def look(name: str) -> dict[str, str]:
    """Return what a task sees of its container; raise where it is asked for something else."""
    if name != "all":
        raise flyte.errors.NonRecoverableError(f"no such thing: {name}")
    return {
        "image": Path("/etc/image").read_text(),
        "note": Path("/data/note").read_text(),
        "greeting": os.environ["GREETING"],
        "in the image": str(Path(__file__).is_relative_to("/opt/venv")),
    }


@many.task
def gather(folder: str) -> int:
    """Leave a file for each process, with its place; what the first one returns counts."""
    rank = os.environ["RANK"]
    words = [os.environ[name] for name in _NAMES]
    Path("/data", folder).mkdir(exist_ok=True)
    Path("/data", folder, rank).write_text(" ".join([*words, Path("/etc/image").read_text()]))
    return int(rank) + 100
