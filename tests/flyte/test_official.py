"""Tasks that flyteplugins-slurm 2.12.1 serialised, as users have them: our connector plans what its README promises.

``official.py`` made the templates; what became of them on real clusters is in ``test_official_runs.py``.
"""

from __future__ import annotations

import asyncio
import dataclasses
import shlex
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flyte.types import TypeEngine
from flyteidl2.core.execution_pb2 import TaskExecution

from flyteplugins.slurm_rest.options import env_text
from flyteplugins.slurm_rest.plan import JobPlan, make_plan
from flyteplugins.slurm_rest.template import read_execution, read_task
from slurm_rest.errors import SubmitRejected

from .official import recorded, serialized, versions
from .support.site import Site, attempt
from .tasks import official_tasks

NATIVE = ("look", "fail", "double", "defaults", "every_field", "enroot", "rocm", "squash")
SCRIPTS = ("train", "upload", "forgetful", "broken", "waiting", "members", "components", "modular")
# What it exports to every job: the platform's variables, and what it derives of the execution.
IDENTITY = {
    "FLYTE_INTERNAL_EXECUTION_ID": "r1",
    "FLYTE_INTERNAL_EXECUTION_PROJECT": "p",
    "FLYTE_INTERNAL_EXECUTION_DOMAIN": "d",
    "FLYTE_ATTEMPT_NUMBER": "2",
    "_U_RUN_BASE": "s3://b/r1",
    "_U_ORG_NAME": "o",
    "RUN_NAME": "r1",
    "ACTION_NAME": "a0",
}


async def given(template: Any, inputs: Any) -> dict[str, object]:
    """Return inputs as flyte's connector service hands them over: of types that the interface alone tells."""
    types = {one.key: one.value.type for one in template.interface.inputs.variables}
    return {
        one.name: await TypeEngine.to_python_value(one.value, TypeEngine.guess_python_type(types[one.name]))
        for one in inputs.literals
    }


async def planned(name: str) -> JobPlan:
    template, inputs = recorded(name)
    execution = attempt(number=2)
    node = execution.task_execution_id.node_execution_id
    node.execution_id.project, node.execution_id.domain = "p", "d"
    platform = ("_U_RUN_BASE", "_U_ORG_NAME", "RUN_NAME", "ACTION_NAME")
    execution.environment_variables.update({key: IDENTITY[key] for key in platform})
    return make_plan(
        read_task(template),
        read_execution(execution),
        directory="/home/alice/.flyte/jobs",
        home="/home/alice",
        output_prefix="s3://b/r1/a0/2",
        inputs=await given(template, inputs) if name in SCRIPTS else {},
        release="24.11",
    )


def step(plan: JobPlan) -> list[str]:
    """Return the words of the one step of a Python task."""
    words = shlex.split(plan.spec.script.splitlines()[-1])
    assert words[:2] == ["exec", "srun"]
    return words[1:]


def command_of(name: str) -> list[str]:
    return list(recorded(name)[0].container.args)


# --- the records ----------------------------------------------------------------------------------------------------


def test_they_are_all_there() -> None:
    assert {*NATIVE, *SCRIPTS} == set(official_tasks.TASKS)
    assert versions()["flyteplugins-slurm"] == "2.12.1"


@pytest.mark.parametrize("name", [*NATIVE, *SCRIPTS])
def test_ours_serialises_the_same(name: str) -> None:
    """So a task may change its import in either direction."""
    template, _ = recorded(name)
    ours = serialized(official_tasks.TASKS[name][0])
    for one, value in template.custom["env"].items():
        # Ours keeps a number as it was written, in a message that has floats alone.
        template.custom["env"][one] = env_text(value)
    # Of a function it is the syntax tree's, which each Python shows in its own way.
    ours.metadata.discovery_version = template.metadata.discovery_version
    ours.metadata.runtime.CopyFrom(template.metadata.runtime)
    assert ours == template


def test_what_is_cached_of_a_script_is_not_found_again_after_its_import_has_changed() -> None:
    theirs, ours = recorded("train")[0].metadata, serialized(official_tasks.train).metadata
    assert (theirs.discoverable, ours.discoverable) == (True, True)
    assert len({theirs.discovery_version, ours.discovery_version, ""}) == 3


def test_every_field_of_the_other_package_is_in_one_of_them() -> None:
    plain = official_tasks.Slurm()
    theirs = [one.name for one in dataclasses.fields(plain) if not one.kw_only]
    configs = [task.plugin_config for task, _ in official_tasks.TASKS.values()]
    unused = [name for name in theirs if all(getattr(one, name) == getattr(plain, name) for one in configs)]
    assert (len(theirs), unused) == (29, [])


# --- Python tasks -----------------------------------------------------------------------------------------------------


async def test_a_task_with_defaults() -> None:
    """Pyxis, one process on one node, the identity of the attempt, the image's own entrypoint."""
    plan = await planned("defaults")
    assert set(plan.spec.options()) == {"name", "output", "error", "chdir", "comment"}
    assert plan.spec.env == IDENTITY
    words = step(plan)
    assert words[:4] == ["srun", "--nodes=1", "--ntasks=1", "--container-image=python:3.11"]
    assert words[words.index("--") + 1 :] == command_of("defaults")
    assert plan.directory == "/home/alice/.flyte/jobs"
    assert plan.stdout == f"{plan.directory}/{plan.name}.out"
    assert plan.stderr == f"{plan.directory}/{plan.name}.err"
    assert plan.name.startswith("flyte-defaults-")


async def test_a_task_with_every_field() -> None:
    plan = await planned("every_field")
    options = plan.spec.options()
    said = {
        "partition": "gpu",
        "nodes": "2",
        "ntasks": 4,
        "cpus_per_task": 8,
        "gres": "gpu:a100:4",
        "gpus_per_node": "a100:4",
        "time": timedelta(days=1, hours=4),
        "account": "ml",
        "qos": "high",
        "reservation": "maint",
        "constraint": "ib&ssd",
        # Of sbatch_options, which win over fields.
        "mem": 32 * 1024,
        "exclusive": "exclusive",
        "mail_type": ("FAIL",),
        "nice": 10,
        "signal": ("B", 10, 60),
    }
    assert {name: str(options[name]) for name in said} == {name: str(value) for name, value in said.items()}
    assert plan.spec.env == {
        **IDENTITY,
        "AWS_REGION": "eu-north1",
        "QUOTED": 'it\'s $5 "now"',
        # There it is 3.0, as it comes out of protobuf.
        "COUNT": "3",
    }
    words = step(plan)
    image = words.index("docker://ghcr.io/org/train:1.2")
    assert words[:7] == ["srun", "--nodes=1", "--ntasks=1", "--cpu-bind=none", "--mpi=pmix", "apptainer", "exec"]
    runtime = words[7:image]
    assert runtime[0] == "--nv"
    assert runtime[-3:] == ["--cleanenv", "--env", "A=b c"]
    for option, value in (("--bind", "/data:/data:ro,/scratch:/scratch"), ("--pwd", "/scratch/run")):
        assert runtime[runtime.index(option) + 1] == value
    assert words[words.index("--") + 1 :] == command_of("every_field")
    lines = plan.spec.script.splitlines()
    assert lines.index("module load apptainer") < lines.index("module load cuda/12.2") < len(lines) - 1


async def test_the_platforms_limits_of_a_task_are_options_where_it_says_none_itself() -> None:
    task = read_task(recorded("every_field")[0])
    assert (task.max_runtime, task.interruptible) == (timedelta(hours=1), True)
    options = (await planned("every_field")).spec.options()
    assert (options["time"], options["requeue"]) == (timedelta(days=1, hours=4), True)


async def test_words_of_srun_may_be_short_and_stand_apart_from_their_values() -> None:
    words = step(await planned("look"))
    assert words[3:7] == ["--mpi=none", "--export=ALL", "--label", "--unbuffered"]
    assert words[words.index("--bind") + 1] == "/shared/data:/data:ro"
    assert "/shared/image/rootfs" in words
    assert "--nv" not in words


async def test_images_mounts_and_gpus_in_the_words_of_each_runtime() -> None:
    enroot, rocm, squash = [step(await planned(name)) for name in ("enroot", "rocm", "squash")]
    assert enroot[3:5] == ["--gpus-per-task=1", "--container-image=ghcr.io#org/train:1.2"]
    assert {
        "--container-mounts=/data:/data:ro,/scratch:/scratch",
        "--container-workdir=/scratch",
        "--container-env=A,B",
    } <= set(enroot)
    assert "--rocm" in rocm
    assert "--nv" not in rocm
    assert "--container-image=/jail/images/train.sqsh" in squash


def test_the_entrypoint_is_found_by_the_images_own_environment(tmp_path: Path) -> None:
    """Enroot drops PATH and keeps VIRTUAL_ENV; words reach the entrypoint untouched."""
    words = step(asyncio.run(planned("defaults")))
    inside = words[words.index("bash") : words.index("--") + 1]
    entry = tmp_path / "bin/a0"
    entry.parent.mkdir()
    entry.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    entry.chmod(0o755)
    environ = {"VIRTUAL_ENV": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*inside, "a0", "it's $5", ""], env=environ, check=True, capture_output=True, text=True)
    assert done.stdout == "it's $5||"


# --- scripts ----------------------------------------------------------------------------------------------------------


async def test_a_script_has_its_inputs_and_its_destinations() -> None:
    plan = await planned("train")
    outputs = f"/home/alice/.flyte/jobs/{plan.name}.outputs"
    assert plan.spec.env == {
        **IDENTITY,
        "SITE": "a 'quoted' $HOME",
        "FLYTE_INPUT_EPOCHS": "3",
        "FLYTE_INPUT_RATE": "0.5",
        "FLYTE_INPUT_FAST": "true",
        "FLYTE_INPUT_NAME": "it's $5",
        "FLYTE_INPUT_DATA": "s3://runs/given/note.txt",
        "FLYTE_OUTPUT_MODEL": f"{outputs}/model",
        "FLYTE_OUTPUT_SHARDS": f"{outputs}/shards",
    }
    assert {name: (one.uri, one.kind, one.upload) for name, one in plan.outputs.items()} == {
        "model": ("s3://b/r1/a0/2/model", "file", "connector"),
        "shards": ("s3://b/r1/a0/2/shards", "directory", "connector"),
    }
    assert read_task(recorded("train")[0]).working_dir == "runs/train"


async def test_directives_count_and_the_configuration_wins() -> None:
    """Also of a script with outputs, for which the other package loses them."""
    options = (await planned("train")).spec.options()
    assert (options["time"], options["nice"]) == (timedelta(minutes=4), 7)
    assert str(options["comment"]).startswith("mine flyte run=r1 ")


async def test_a_script_that_uploads_itself_has_the_uris() -> None:
    env = (await planned("upload")).spec.env or {}
    assert (env["FLYTE_OUTPUT_MODEL"], env["FLYTE_OUTPUT_PARTS"]) == ("s3://b/r1/a0/2/model", "s3://b/r1/a0/2/parts")


async def test_a_script_without_an_interpreter_is_bashs() -> None:
    assert " /bin/bash /dev/fd/" in (await planned("forgetful")).spec.script
    for name in ("broken", "waiting", "members"):
        assert (await planned(name)).spec.script == read_task(recorded(name)[0]).script, "unchanged"


async def test_arrays_and_het_jobs() -> None:
    members, components = await planned("members"), await planned("components")
    assert members.spec.array == "0-2"
    assert members.stdout == f"/home/alice/.flyte/jobs/{members.name}-%a.out"
    assert [one.ntasks for one in (components.spec, *components.spec.components)] == [1, 2]


# --- what becomes of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in (*NATIVE, *SCRIPTS) if name != "every_field"])
async def test_each_is_taken_and_says_where_its_files_are(site: Site, name: str) -> None:
    template, inputs = recorded(name)
    values = await given(template, inputs) if name in SCRIPTS else {}
    meta = await site.connector.create(template, str(site.store), values, attempt())
    assert meta.job_name.startswith(f"flyte-{template.id.name.rpartition('.')[2]}-")
    phase, found = await site.get(meta)
    assert phase in ("QUEUED", "WAITING_FOR_RESOURCES")
    assert f"Job files: {meta.stdout_path} (stdout), {meta.stderr_path} (stderr)" in (found.message or "")
    assert "Attach" not in (found.message or "")


async def test_one_with_every_field_needs_a_cluster_that_has_what_it_asks_for(site: Site) -> None:
    with pytest.raises(SubmitRejected, match="Invalid partition"):
        await site.connector.create(recorded("every_field")[0], str(site.store), {}, attempt())


async def test_a_running_job_says_how_to_get_into_it(site: Site) -> None:
    template, _ = recorded("waiting")
    meta = await site.connector.create(template, str(site.store), {}, attempt())
    site.fake.start(int(meta.job_id))
    found = await site.until(meta, "RUNNING")
    assert f"srun --jobid={meta.job_id} --overlap --pty bash" in (found.message or "")
    site.finish(meta, 3)
    found = await site.until(meta, "FAILED")
    assert "Attach" not in (found.message or "")
    assert TaskExecution.Phase.Name(found.phase) == "FAILED"
