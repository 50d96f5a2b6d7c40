"""Tasks that are written in odd ways: what is meant is done, what cannot be is refused where the task is defined."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import Any

import flyte
import pytest
from flyte._cache.cache import VersionParameters

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.plan import JobPlan, make_plan
from flyteplugins.slurm_rest.runtimes import Container, step_words
from flyteplugins.slurm_rest.script import native_script, with_interpreter
from flyteplugins.slurm_rest.template import Execution, Task, read_task
from flyteplugins.slurm_rest.values import input_variables

from .support.platform import serialize
from .support.site import Site, jobs

_numbers = itertools.count(1)
SCRIPT = "#!/bin/bash\necho\n"
EXECUTION = Execution("o", "p", "d", "r", "a", 0, {})


def script_task(script: str = SCRIPT, config: Slurm | None = None, **more: Any) -> SlurmScriptTask:
    number = next(_numbers)
    task = SlurmScriptTask(f"odd{number}", script, config or Slurm(), **more)
    flyte.TaskEnvironment.from_task(f"odd-{number}", task)
    return task


def plan(task: SlurmScriptTask | Task, **inputs: object) -> JobPlan:
    """Return the job of a task, which has gone through its message as the platform keeps it."""
    read = task if isinstance(task, Task) else read_task(serialize(task))
    return make_plan(read, EXECUTION, directory="/home/a/jobs", home="/home/a", output_prefix="s3://b/o", inputs=inputs)


# --- values that a protobuf Struct changes or refuses ---------------------------------------------------------------


def test_numbers_in_env_are_written_as_they_were() -> None:
    env: Any = {"THREADS": 8, "RATE": 0.5, "TEXT": "1.0"}
    found = plan(script_task(config=Slurm(env=env))).spec.env or {}
    assert (found["THREADS"], found["RATE"], found["TEXT"]) == ("8", "0.5", "1.0")


def test_env_vars_reach_a_script_which_has_no_container() -> None:
    """Flyte's own argument of every task; what the Slurm configuration says wins, as with Python tasks."""
    task = script_task(config=Slurm(env={"A": "slurm"}), env_vars={"A": "flyte", "B": "flyte"}, cache="auto")
    found = plan(task).spec.env or {}
    assert (found["A"], found["B"]) == ("slurm", "flyte")
    assert plan(task.override(env_vars={"B": "new"})).spec.env["B"] == "new"
    other = task.override(env_vars={"B": "new"})
    versions = {one.cache.get_version(VersionParameters(func=None)) for one in (task, other)}  # type: ignore[union-attr]
    assert len(versions) == 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"env_vars": {"A-B": "1"}}, "A-B"),
        ({"env_vars": {"A": "x\0"}}, "of env_vars has a NUL"),
        ({"env_vars": ["A"]}, "env_vars is a list"),
        ({"env_vars": {"FLYTE_INPUT_X": "1"}, "inputs": {"x": int}}, "FLYTE_INPUT_X"),
        ({"resources": "2"}, "resources is a str"),
    ],
)
def test_arguments_of_flyte_that_could_not_work_are_named(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        script_task(**given)


def test_env_without_a_value_in_a_task_of_the_other_package_is_left_out() -> None:
    template = serialize(script_task(config=Slurm(env={"KEPT": "1"})))
    template.custom.update({"env": {"KEPT": "1", "EMPTY": None}})
    assert set(read_task(template).env) == {"KEPT"}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (timedelta(hours=4), timedelta(hours=4)),
        (timedelta(days=2, minutes=5), timedelta(days=2, minutes=5)),
        (90, timedelta(minutes=90)),
        ("1-0", timedelta(days=1)),
    ],
)
def test_a_time_limit_may_be_of_any_natural_type(limit: Any, expected: timedelta) -> None:
    assert plan(script_task(config=Slurm(time_limit=limit))).spec.options()["time"] == expected


@pytest.mark.parametrize("timeout", [10**10, timedelta.max / 2, timedelta(days=4000)])
def test_a_timeout_of_many_years_is_none(timeout: Any) -> None:
    assert plan(script_task(timeout=timeout)).spec.options()["time"] == "UNLIMITED"


def test_moments_and_tuples_in_options_arrive() -> None:
    moment = datetime(2030, 1, 1, tzinfo=timezone.utc)
    found = plan(script_task(config=Slurm(sbatch_options={"begin": moment, "exclude": ("n1", "n2")}))).spec.options()
    assert (found["begin"], found["exclude"]) == (int(moment.timestamp()), "n1,n2")


def test_a_port_may_be_text() -> None:
    port: Any = "2222"
    assert read_task(serialize(script_task(config=Slurm(host="h", port=port)))).connection.port == 2222


@pytest.mark.parametrize(("option", "expected"), [("nice", 100), ("oom-kill-step", 1), ("exclusive", "exclusive")])
def test_an_option_whose_value_may_be_missing_is_a_bare_flag(option: str, expected: object) -> None:
    found = plan(script_task(config=Slurm(sbatch_options={option: True}))).spec.options()
    assert found[option.replace("-", "_")] == expected


# --- scripts --------------------------------------------------------------------------------------------------------


def test_a_script_with_dos_line_ends_runs() -> None:
    found = plan(script_task("#!/bin/bash\r\n#SBATCH --time=5\r\necho\r\n")).spec
    assert "\r" not in found.script
    assert found.options()["time"] == timedelta(minutes=5)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff#!/bin/bash\n#SBATCH --time=5\necho\n",
        "\ufeff#!/bin/bash\r\n#SBATCH --time=5\r\necho\r\n",
        "#!/bin/bash\r#SBATCH --time=5\recho\r",
    ],
)
def test_what_an_editor_leaves_in_a_script_hides_no_directive(text: str) -> None:
    for found in (plan(script_task(text)).spec, plan(Task("slurm_script", "x", script=text)).spec):
        assert found.script == "#!/bin/bash\n#SBATCH --time=5\necho\n"
        assert found.options()["time"] == timedelta(minutes=5)


def test_no_character_but_a_line_end_ends_a_line() -> None:
    """The other package splits a script at form feeds, at Unicode's separators, and at lone carriage returns."""
    text = "#!/bin/sh\nprintf 'a\x0cb\u2028c\x85d\x1ce\rf'\n"
    assert plan(script_task(text)).spec.script == text


def test_an_empty_line_before_the_interpreter_does_not_change_it() -> None:
    assert with_interpreter("\n  \n#!/usr/bin/env python3\nprint(1)\n") == "#!/usr/bin/env python3\nprint(1)\n"
    assert with_interpreter("# no #! here\n") == "#!/bin/bash\n# no #! here\n"


@pytest.mark.parametrize(("directive", "options"), [("--wait", {}), ("--no-requeue", {"requeue": True})])
async def test_a_directive_that_counts_no_more_is_none_that_the_job_lacks(
    site: Site, directive: str, options: dict[str, Any]
) -> None:
    """Nobody waits for a job where it is made, and the configuration is the later one of two that are one option."""
    config = Slurm(sbatch_options=options)
    await site.create(script_task(f"#!/bin/bash\n#SBATCH {directive}\n", config))
    assert jobs(site) == 1


def test_what_env_says_no_module_changes(tmp_path: Path) -> None:
    """As in the other package, which exports it behind the modules; but for lists that a module has made longer."""
    config = Slurm(modules=["gcc"], env={"CC": "it's $5 `x`", "PATH": "/usr/bin:/bin", "NONE": ""})
    text = plan(script_task('#!/bin/bash\nprintf "%s|" "$CC" "$PATH" "$NONE" "$MORE"\n', config)).spec.script
    script = tmp_path / "job"
    script.write_text(text)
    given = {**config.env, "BASH_FUNC_module%%": "() { export CC=gcc PATH=/gcc:$PATH NONE=x MORE=y\n}"}
    shown = subprocess.run(["bash", str(script)], env=given, check=True, capture_output=True, text=True).stdout
    assert shown == "it's $5 `x`|/gcc:/usr/bin:/bin||y|"


@pytest.mark.parametrize(
    "words", [["--scratch", "/opt/flyte"], ["-S", "/opt/flyte/"], ["--nv", "--scratch=/opt/flyte"]]
)
def test_a_task_may_have_made_a_place_for_its_code_itself(words: list[str]) -> None:
    """Apptainer refuses to make the same one twice."""
    container = Container("apptainer", "img", args=words, destination="/opt/flyte")
    assert step_words(container) == ["apptainer", "exec", *words, "docker://img"]
    other = replace(container, args=["--pwd", "/opt/flyte"])
    assert step_words(other)[2:4] == ["--scratch", "/opt/flyte"]


def test_a_comment_of_the_author_stands_beside_ours() -> None:
    script = "#!/bin/bash\n#SBATCH --comment='for Ann'\n"
    assert str(plan(script_task(script)).spec.comment).startswith("for Ann flyte run=r ")
    both = plan(script_task(script, Slurm(sbatch_options={"comment": "wins"})))
    assert str(both.spec.comment).startswith("wins flyte run=r ")


@pytest.mark.parametrize(
    ("launcher", "given", "cpus"),
    [
        ("single", {"SLURM_CPUS_PER_TASK": "4"}, "4"),
        ("single", {"SLURM_CPUS_PER_TASK": "4", "SLURM_NTASKS": "1"}, "4"),
        ("single", {"SLURM_CPUS_PER_TASK": "4", "SLURM_NTASKS": "2"}, None),
        ("single", {}, None),
        ("srun", {"SLURM_CPUS_PER_TASK": "4", "SLURM_NTASKS": "2"}, "4"),
        ("srun", {"SLURM_CPUS_PER_TASK": "4", "SRUN_CPUS_PER_TASK": "1"}, "1"),
    ],
)
def test_a_step_has_the_cpus_and_the_variables_of_its_job(
    launcher: str, given: dict[str, str], cpus: str | None
) -> None:
    text = native_script(Container("none", launcher=launcher), ["true"])
    before = "\n".join(
        line for line in text.splitlines() if not line.startswith(("exec", "MASTER", "export MASTER", "export JAX"))
    )
    shown = subprocess.run(
        ["bash", "-c", f"{before}\nenv"],
        env={"PATH": "/usr/bin:/bin", "SLURM_EXPORT_ENV": "NONE", **given},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = dict(line.split("=", 1) for line in shown.splitlines())
    assert (found.get("SRUN_CPUS_PER_TASK"), found["SLURM_EXPORT_ENV"]) == (cpus, "ALL")


# --- inputs ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Model:
    """A structure with a field that a File has, too."""

    path: str
    rate: float


class Size(str, Enum):
    """Members that are texts."""

    SMALL = "s"


def test_a_structure_with_a_path_is_no_file() -> None:
    found = input_variables({"model": Model("p", 0.5), "all": [Model("q", 1.0)]})
    assert json.loads(found["FLYTE_INPUT_MODEL"]) == {"path": "p", "rate": 0.5}
    assert json.loads(found["FLYTE_INPUT_ALL"]) == [{"path": "q", "rate": 1.0}]


def test_a_member_comes_by_its_name() -> None:
    found = input_variables({"plain": Size.SMALL, "listed": [Size.SMALL], "mapped": {"a": Size.SMALL}})
    assert list(found.values()) == ["SMALL", '["SMALL"]', '{"a": "SMALL"}']
    assert type(found["FLYTE_INPUT_PLAIN"]) is str


def test_numbers_that_json_has_not_are_as_c_and_awk_write_them() -> None:
    found = input_variables({"n": float("nan"), "i": float("inf"), "m": float("-inf"), "one": 1.0})
    assert list(found.values()) == ["nan", "inf", "-inf", "1.0"]


@pytest.mark.parametrize(("value", "reason"), [("x\0y", "NUL"), ("é" * 70_000, "131,071"), (["x" * 140_000], "File")])
def test_inputs_that_no_variable_holds_are_refused_by_name(value: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        input_variables({"text": value})
    assert "'text'" in str(caught.value)


def test_the_largest_input_starts_a_program() -> None:
    name = "FLYTE_INPUT_A"
    found = input_variables({"a": "x" * (131071 - len(name) - 1)})
    subprocess.run(["true"], env={"PATH": "/usr/bin:/bin", **found}, check=True)
    with pytest.raises(OSError, match="too long"):
        subprocess.run(["true"], env={"PATH": "/usr/bin:/bin", name: found[name] + "x"}, check=True)


def test_variables_of_the_platform_that_no_program_starts_with_are_named() -> None:
    """A job with one would end with "Argument list too long", whatever its task is."""
    task = Task("slurm_script", "x", script=SCRIPT)
    for more in ({"A": "x" * 131072}, {"A": "x\0"}):
        for given, execution in (
            (replace(task, variables=more), EXECUTION),
            (task, replace(EXECUTION, environment=more)),
        ):
            with pytest.raises(ValueError, match="variable 'A'") as caught:
                make_plan(given, execution, directory="/d", home="/h", output_prefix="s3://b/o", inputs={})
            assert "xx" not in str(caught.value)


def test_inputs_that_become_one_variable_are_refused_in_tasks_of_the_other_package_as_well() -> None:
    with pytest.raises(ValueError, match="FLYTE_INPUT_A_B"):
        plan(Task("slurm_script", "x", script=SCRIPT), **{"a-b": 1, "a_b": 2})


# --- what a newer flyteplugins-slurm may send -------------------------------------------------------------------------


def test_a_field_that_we_do_not_have_is_the_option_of_its_name() -> None:
    found = plan(Task("slurm_script", "x", script=SCRIPT, fields={"mem_per_cpu": "1G", "nodes": 2.0})).spec.options()
    assert (found["mem_per_cpu"], str(found["nodes"])) == (1024, "2")
    with pytest.raises(ValueError, match="weird"):
        plan(Task("slurm_script", "x", script=SCRIPT, fields={"weird": 1.0}))


def test_no_words_for_srun_come_in_by_the_runtime() -> None:
    task = Task("slurm", "x", container=Container("pyxis", "img"), command=("a0",))
    with pytest.raises(ValueError, match="container_args"):
        plan(replace(task, container=Container("pyxis", "img", args=("--chdir=/",))))


def test_a_value_may_stand_behind_its_option() -> None:
    container = Container("pyxis", "img", args=("--container-env", "A,B"), srun_args=("--mpi", "pmix", "--overlap"))
    text = native_script(container, ["true"])
    assert "--mpi=pmix --overlap --container-image=img" in text
    assert "--container-env=A,B" in text


@pytest.mark.parametrize("words", [["--overlap", "id"], ["--mpi=pmix", "id"], ["--mpi", "--output=/x"], ["mpi", "x"]])
def test_no_word_for_srun_is_taken_for_a_command(words: list[str]) -> None:
    with pytest.raises(ValueError, match="srun_args may not have"):
        Slurm(srun_args=words)


def test_a_number_among_words_is_written_as_it_was() -> None:
    template = serialize(script_task())
    template.custom.update({"modules": [12, "gcc"]})
    assert read_task(template).modules == ("12", "gcc")


def test_one_text_in_place_of_a_list_is_one_item() -> None:
    template = serialize(script_task())
    template.custom.update({"modules": "gcc"})
    assert read_task(template).modules == ("gcc",)


@pytest.mark.parametrize(
    ("image", "pyxis", "apptainer"),
    [
        ("x.sqsh", "./x.sqsh", "./x.sqsh"),
        ("dir/x.sif", "./dir/x.sif", "./dir/x.sif"),
        ("ghcr.io#o/i:1", "ghcr.io#o/i:1", "docker://ghcr.io/o/i:1"),
        ("reg:5000/x@sha256:ab", "reg:5000#x@sha256:ab", "docker://reg:5000/x@sha256:ab"),
        ("oci-archive:/x.tar", "oci-archive:#x.tar", "oci-archive:/x.tar"),
        ("https://h/x.sif", "https://h/x.sif", "https://h/x.sif"),
    ],
)
def test_images_in_odd_forms(image: str, pyxis: str, apptainer: str) -> None:
    assert step_words(Container("pyxis", image))[0] == f"--container-image={pyxis}"
    assert step_words(Container("apptainer", image))[-1] == apptainer
