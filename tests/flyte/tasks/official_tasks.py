"""Tasks as users of flyteplugins-slurm write them: serialised with it into ``data/official.json``, run with ours.

Whichever package ``TASKS_PACKAGE`` names defines them. On the nodes and in tests that is ours, since neither has the
other one; ``tests/flyte/official.py`` chooses the other one where it makes the templates.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from pathlib import Path
from typing import Any

import flyte
import flyte.errors
from flyte.io import Dir, File

_PACKAGE = importlib.import_module(os.environ.get("TASKS_PACKAGE", "flyteplugins.slurm_rest"))
Slurm, SlurmScriptTask = _PACKAGE.Slurm, _PACKAGE.SlurmScriptTask

_HUB = flyte.Image.from_base("python:3.11")
_REGISTRY = flyte.Image.from_base("ghcr.io/org/train:1.2")
# Where the tests have an image, as its users say it: a folder says nothing of its environment.
_LOCAL: dict[str, Any] = {"container_image": "/shared/image/rootfs", "time_limit": "5"}
_PYTHON = {"VIRTUAL_ENV": "/opt/venv"}
# With an srun that knows pyxis's options, and an aws: the nodes of the tests have neither.
_STAND_INS = "/shared/stand-ins:/usr/bin:/bin"


def _environment(name: str, image: flyte.Image = _HUB, **config: object) -> flyte.TaskEnvironment:
    return flyte.TaskEnvironment(name=name, plugin_config=Slurm(**config), image=image)


@dataclasses.dataclass
class Sample:
    """A structure among the inputs."""

    name: str
    weights: list[float]


# --- Python tasks that run ------------------------------------------------------------------------------------------

apptainer = _environment(
    "apptainer",
    container_runtime="apptainer",
    container_mounts=["/shared/data:/data:ro"],
    srun_args=["--mpi", "none", "--export=ALL", "-l", "-u"],
    env={**_PYTHON, "GREETING": "a 'quoted' $HOME", "THREADS": 8},
    **_LOCAL,
)
pyxis = _environment(
    "pyxis",
    container_mounts=["/shared/data:/data"],
    container_workdir="/data",
    container_args=["--no-container-mount-home"],
    env={**_PYTHON, "PATH": _STAND_INS},
    **_LOCAL,
)


@apptainer.task
def look(sample: Sample, note: File, counts: dict[str, int]) -> tuple[dict[str, str], File]:
    """Return what a task sees of its container, its inputs and its variables."""
    with note.open_sync("rb") as opened:
        text = bytes(opened.read()).decode()
    copy = Path("copy.txt")
    copy.write_text(text * 2)
    seen = {
        "image": Path("/etc/image").read_text(),
        "mounted": Path("/data/note").read_text(),
        "greeting": os.environ["GREETING"],
        "threads": os.environ["THREADS"],
        "sample": f"{sample.name} {sum(sample.weights)} {counts['a']}",
        "attempt": os.environ["FLYTE_ATTEMPT_NUMBER"],
        "project": os.environ["FLYTE_INTERNAL_EXECUTION_PROJECT"],
    }
    return seen, File.from_local_sync(str(copy))


@apptainer.task(retries=2)
def fail(text: str) -> int:
    """Raise: its job is COMPLETED all the same."""
    raise flyte.errors.NonRecoverableError(text)


@pyxis.task
def double(x: int = 4) -> tuple[int, str]:
    """Return what pyxis was asked for, besides an answer."""
    return 2 * x, os.environ.get("STAND_IN", "")


# --- Python tasks whose plan is looked at -----------------------------------------------------------------------------

plain = _environment("plain")
everything = _environment(
    "everything",
    image=_REGISTRY,
    partition="gpu",
    nodes=2,
    ntasks=4,
    cpus_per_task=8,
    gres="gpu:a100:4",
    gpus_per_node="a100:4",
    mem="64G",
    time_limit="1-04:00:00",
    account="ml",
    qos="high",
    reservation="maint",
    constraint="ib&ssd",
    sbatch_options={"exclusive": True, "mail-type": "FAIL", "nice": 10, "mem": "32G", "signal": "B:USR1@60"},
    container_runtime="apptainer",
    container_args=["--cleanenv", "--env", "A=b c"],
    modules=["apptainer", "cuda/12.2"],
    container_mounts=["/data:/data:ro", "/scratch:/scratch"],
    container_workdir="/scratch/run",
    srun_args=["--cpu-bind=none", "--mpi=pmix"],
    env={"AWS_REGION": "eu-north1", "QUOTED": 'it\'s $5 "now"', "COUNT": 3},
    working_dir="/scratch/flyte",
    host="login.example.com",
    port=2222,
    username="flyte",
    ssh_private_key="slurm-ssh-key",
    known_hosts="/etc/ssh/slurm_hosts",
    known_hosts_secret="slurm-known-hosts",
    skip_host_key_verification=True,
)
over_pyxis = _environment(
    "over-pyxis",
    image=_REGISTRY,
    gpus_per_node=8,
    container_mounts=["/data:/data:ro", "/scratch:/scratch"],
    container_workdir="/scratch",
    container_args=["--container-env=A,B"],
    srun_args=["--gpus-per-task=1"],
    modules=["cuda"],
    working_dir="jobs/here",
)
amd = _environment("amd", container_runtime="apptainer", gres="gpu:mi300:2", container_args=["--rocm"])
squashed = _environment("squashed", container_image="/jail/images/train.sqsh")


@plain.task
async def defaults(x: int) -> int:
    """Have nothing but defaults."""
    return x


@everything.task(retries=3, timeout=3600, interruptible=True, cache="auto")
async def every_field(x: int) -> int:
    """Have every field of the configuration."""
    return x


@over_pyxis.task
async def enroot(x: int) -> int:
    """Have an image of a registry, mounts and words for srun."""
    return x


@amd.task
async def rocm(x: int) -> int:
    """Have GPUs that are not NVIDIA's."""
    return x


@squashed.task
async def squash(x: int) -> int:
    """Have an image in a file of the cluster."""
    return x


# --- scripts ----------------------------------------------------------------------------------------------------------

_TRAIN = """#!/bin/bash
# A header of the site's.
#SBATCH --comment=mine
#SBATCH --time=3
#SBATCH --nice=7

set -euo pipefail
echo "epochs $FLYTE_INPUT_EPOCHS of $FLYTE_INPUT_NAME at $FLYTE_INPUT_RATE, fast is $FLYTE_INPUT_FAST"
echo "from $FLYTE_INPUT_DATA with $SITE in $PWD" >&2
printf 'weights of %s' "$FLYTE_INPUT_EPOCHS" >"$FLYTE_OUTPUT_MODEL"
mkdir -p "$FLYTE_OUTPUT_SHARDS/a b"
printf 1 >"$FLYTE_OUTPUT_SHARDS/a b/one"
printf 2 >"${FLYTE_OUTPUT_SHARDS}/two"
"""
_UPLOAD = """#!/bin/bash
printf 'from the node' >model.txt
aws s3 cp ./model.txt "$FLYTE_OUTPUT_MODEL"
aws s3 cp ./model.txt "$FLYTE_OUTPUT_PARTS/deep/part"
"""
_QUICK = Slurm(partition="normal", time_limit="3")

train = SlurmScriptTask(
    name="train",
    script=_TRAIN,
    plugin_config=Slurm(time_limit="4", env={"SITE": "a 'quoted' $HOME"}, working_dir="runs/train"),
    inputs={"epochs": int, "rate": float, "fast": bool, "name": str, "data": File},
    outputs={"model": File, "shards": Dir},
    cache="auto",
)
upload = SlurmScriptTask(
    name="upload",
    script=_UPLOAD,
    plugin_config=Slurm(partition="normal", time_limit="3", env={"PATH": _STAND_INS}),
    outputs={"model": File, "parts": Dir},
    output_upload="job",
)
forgetful = SlurmScriptTask(
    name="forgetful",
    script='echo no model today >&2\necho done >"$FLYTE_OUTPUT_LOG"\n',
    plugin_config=_QUICK,
    outputs={"model": File, "log": File},
)
broken = SlurmScriptTask(
    name="broken", script="#!/bin/bash\necho no such file: x >&2\nexit 3\n", plugin_config=_QUICK, retries=1
)
waiting = SlurmScriptTask(
    name="waiting", script="#!/bin/bash\necho started\nexec sleep 600\n", plugin_config=Slurm(time_limit="20")
)
members = SlurmScriptTask(
    name="members",
    script='#!/bin/bash\necho "I am $SLURM_ARRAY_TASK_ID"\n',
    plugin_config=Slurm(time_limit="3", sbatch_options={"array": "0-2"}),
)
components = SlurmScriptTask(
    name="components",
    script="#!/bin/bash\n#SBATCH --ntasks=1\n#SBATCH hetjob\n#SBATCH --ntasks=2\nsrun --het-group=0,1 hostname\n",
    plugin_config=Slurm(),
)
modular = SlurmScriptTask(
    name="modular",
    script='#!/bin/bash\necho "$COMPILER $THREADS"\n',
    plugin_config=Slurm(modules=["gcc/13"], env={"COMPILER": "the task's", "THREADS": "2"}),
)

for _script in (train, upload, forgetful, broken, waiting, members, components, modular):
    flyte.TaskEnvironment.from_task(f"script-{_script.name}", _script)

# Each with inputs for one run.
TASKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "look": (
        look,
        {
            "sample": Sample("sized", [0.5, 0.25]),
            "note": File.from_existing_remote("s3://runs/given/note.txt"),
            "counts": {"a": 3},
        },
    ),
    "fail": (fail, {"text": "no such column: é"}),
    "double": (double, {"x": 21}),
    **{task.name.rpartition(".")[2]: (task, {"x": 1}) for task in (defaults, every_field, enroot, rocm, squash)},
    "train": (
        train,
        {
            "epochs": 3,
            "rate": 0.5,
            "fast": True,
            "name": "it's $5",
            "data": File.from_existing_remote("s3://runs/given/note.txt"),
        },
    ),
    **{task.name: (task, {}) for task in (upload, forgetful, broken, waiting, members, components, modular)},
}
