"""What could never work is refused where the task is defined, by the name of the field."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import flyte
import pytest
from flyte.io import Dir, File

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.options import json_value
from flyteplugins.slurm_rest.template import Task, read_task

from .support.platform import serialize
from .test_odd_tasks import Model, Size, plan, script_task

SCRIPT = "#!/bin/bash\necho\n"
LISTS = ("modules", "srun_args", "container_args", "container_mounts")


@pytest.mark.parametrize(
    "given",
    [
        {"modules": "gcc"},
        {"srun_args": "--mpi=pmix"},
        {"container_args": "--nv"},
        {"container_mounts": "/a:/b"},
        {"container_mounts": [1]},
        {"container_args": ["--output=/home/u/.ssh/authorized_keys"]},
        {"container_args": ["hostname"]},
        {"container_args": ["--nv\n--bind"], "container_runtime": "apptainer"},
        {"env": {"A": None}},
        {"env": {"A": "x\0"}},
        {"env": {"A": "x" * 131072}},
        {"port": "ssh"},
        {"port": 70000},
        {"port": True},
        {"working_dir": "a\\b"},
        {"working_dir": "a\nb"},
        {"working_dir": "$HOME/jobs"},
        {"working_dir": "~bob/jobs"},
        {"env": [("A", "1")]},
        {"sbatch_options": ["requeue"]},
        {"container_runtime": ["pyxis"]},
        {"container_runtime": None},
        {"launcher": {}},
        {"skip_host_key_verification": "false"},
        {"partition": "caf\udce9"},
        {"gres": (name for name in ("gpu",))},
        {"env": {"A": "caf\udce9"}},
        {"modules": ["caf\udce9"]},
        *({name: (word for word in ("a",))} for name in LISTS),
        *({name: {"a"}} for name in LISTS),
        *({name: {"a": 1}} for name in LISTS),
        *({name: b"a"} for name in LISTS),
    ],
)
def test_what_could_never_work_is_no_configuration(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        Slurm(**given)


@pytest.mark.parametrize("value", ["caf\udce9", object(), (name for name in ("n1",))])
def test_values_of_options_that_no_message_carries_are_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="exclude is "):
        Slurm(sbatch_options={"exclude": value})


def test_what_comes_in_another_form_is_refused_where_it_is_written() -> None:
    """Not when the job is made: a tuple with a meaning is a list by then."""
    with pytest.raises(ValueError, match="--signal takes"):
        Slurm(sbatch_options={"signal": ("", 9, 60)})
    assert plan(script_task(config=Slurm(sbatch_options={"signal": "USR1@60"}))).spec.signal == ("", 10, 60)


def test_a_path_may_be_one_in_options_as_well() -> None:
    assert (
        plan(script_task(config=Slurm(sbatch_options={"input": Path("/data/x")}))).spec.options()["input"] == "/data/x"
    )


@pytest.mark.parametrize("given", ["mem_per_cpu", "--mem-per-cpu", "Mem-Per-CPU"])
def test_a_name_in_another_form_leads_to_the_right_one(given: str) -> None:
    with pytest.raises(ValueError, match="did you mean 'mem-per-cpu'"):
        Slurm(sbatch_options={given: "1G"})


@pytest.mark.parametrize("name", [*LISTS, "port", "launcher", "container_runtime", "max_restarts"])
def test_no_error_fills_a_page(name: str) -> None:
    given: dict[str, Any] = {name: "x" * 100_000}
    with pytest.raises(ValueError, match=name) as caught:
        Slurm(**given)
    assert len(str(caught.value)) < 1000


def test_what_has_no_order_is_the_same_in_each_process() -> None:
    """The version of a cache is made of it, and a set comes in another order with each start of Python."""
    found = Slurm(sbatch_options={"exclude": {f"n{number}" for number in range(9)}}).to_custom_config()
    assert found["sbatch_options"] == {"exclude": [f"n{number}" for number in range(9)]}


def test_a_whole_number_that_a_float_cannot_hold_stays_as_it_is() -> None:
    assert json_value(2**53 + 1) == str(2**53 + 1)
    assert json_value(2**53) == 2**53


@pytest.mark.parametrize("field", ["host", "username", "container_image", "working_dir", "known_hosts", "rest_token"])
@pytest.mark.parametrize("value", [b"hidden", 5, ["hidden"], "hidden\n", "hidden\0", "hidden\udce9"])
def test_what_is_no_text_of_one_line_is_refused_by_name(field: str, value: Any) -> None:
    """Or a protobuf Struct refuses it much later, and says neither where nor why."""
    with pytest.raises(ValueError, match=f"{field} ") as caught:
        Slurm(**{field: value})
    assert "hidden" not in str(caught.value)


def test_a_key_in_place_of_its_secrets_name_goes_nowhere() -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n"
    with pytest.raises(ValueError, match="the name of a Flyte secret") as caught:
        Slurm(ssh_private_key=key)
    assert "c2VjcmV0" not in str(caught.value)


def test_a_path_may_be_one() -> None:
    config: Any = {"container_image": Path("/images/a.sif"), "working_dir": Path("/scratch"), "known_hosts": Path("/k")}
    read = read_task(serialize(script_task(config=Slurm(container_runtime="apptainer", **config))))
    assert (read.working_dir, read.connection.known_hosts) == ("/scratch", "/k")
    assert Slurm(**config).container_image == "/images/a.sif"


class Unreadable:
    """Flyte carries it as a pickle."""


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"name": None}, "name is None"),
        ({"name": ""}, "name is ''"),
        ({"name": ["x"]}, "name is "),
        ({"name": "caf\udce9"}, "name is "),
        ({"inputs": {5: int}}, "is 5: it takes a text"),
        ({"inputs": {"caf\udce9": int}}, "it takes a text"),
        ({"outputs": {None: File}}, "is None: it takes a text"),
        ({"inputs": {"x": 5}}, "'x' .* is 5, which is no type"),
        ({"inputs": {"x": "int"}}, "'x' .* is 'int', which is no type"),
        ({"inputs": {"x": {}}}, "'x' .* which is no type"),
        ({"outputs": {"x": []}}, "'x' .* which is no type"),
        ({"inputs": {"x": bytes}}, "'x' .* a bytes, which flyte would carry as a pickle"),
        ({"inputs": {"x": Unreadable}}, "a Unreadable, which"),
        ({"inputs": {"x": list[Unreadable]}}, "a Unreadable, which"),
        ({"inputs": {"x": dict[str, Unreadable] | None}}, "a Unreadable, which"),
        ({"outputs": {"outputs.pb": File}}, "'outputs.pb' has the name of what stands beside"),
        ({"outputs": {"error.pb": File}}, "beside"),
        ({"outputs": {"slurm-7.stdout.txt": File}}, "beside"),
    ],
)
def test_arguments_that_could_never_work_are_named(given: dict[str, Any], reason: str) -> None:
    whole: dict[str, Any] = {"name": "wrong", "script": SCRIPT, "plugin_config": Slurm(), **given}
    with pytest.raises(ValueError, match=reason):
        SlurmScriptTask(**whole)


@pytest.mark.parametrize(
    "kind",
    [
        *(int, str, float, bool, None, list, dict, set, tuple, datetime, date, timedelta, Any, Size, Model, File, Dir),
        *(list[int], dict[str, list[float]], int | None, int | str, tuple[int, str], set[int], File | None),
        *(Annotated[int, "x"], Literal["a", "b"], list[File], dict[str, Model], File[str]),
    ],
)
def test_all_other_types_are_inputs(kind: Any) -> None:
    serialize(script_task(inputs={"x": kind}))


@pytest.mark.parametrize(
    ("name", "value"), [("inputs", ["a"]), ("outputs", "x"), ("plugin_config", {"nodes": 1}), ("plugin_config", None)]
)
def test_arguments_in_a_wrong_place_are_named(name: str, value: Any) -> None:
    given: dict[str, Any] = {"plugin_config": Slurm(), name: value}
    with pytest.raises(ValueError, match=f"{name} is a"):
        SlurmScriptTask("wrong", SCRIPT, **given)


def test_secrets_in_env_are_not_shown_when_they_are_refused() -> None:
    with pytest.raises(ValueError, match="PASSWORD") as caught:
        Slurm(env={"PASSWORD": "hidden\0"})
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("option", ["comment", "open-mode", "input"])
def test_options_that_do_no_harm_are_free_as_in_the_other_package(option: str) -> None:
    value = {"comment": "for Ann", "open-mode": "append", "input": "/data/x"}[option]
    found = plan(script_task(config=Slurm(sbatch_options={option: value}))).spec.options()
    assert str(found[option.replace("-", "_")]).startswith(value)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (" \n", "empty"),
        ("#!/bin/bash\n#SBATCH --tmie=5\n", "--time"),
        ("#!/bin/bash\necho \0\n", "NUL"),
        ("\ufeff", "empty"),
        (b"#!/bin/bash\n", "bytes"),
        (Path("train.sbatch"), "pass its text"),
        (None, "pass its text"),
        ("#!/bin/bash\necho caf\udce9\n", "line 2"),
        ("#!/bin/bash\n#SBATCH --clusters=other\n", "--clusters"),
        ("#!/bin/bash\n#SBATCH --test-only\n", "--test-only"),
        ("#!/bin/bash\n#SBATCH --uid=0\n", "--uid"),
        (f"#!/bin/bash\n# {'x' * 4 * 1024 * 1024}\n", "has 4,194,319 bytes"),
    ],
)
def test_a_script_that_makes_no_job_is_no_task(script: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        script_task(script)


def test_options_that_no_sbatch_takes_beside_a_directive_are_refused_where_both_are_known() -> None:
    script = "#!/bin/bash\n#SBATCH --mem-per-cpu=1G\n"
    with pytest.raises(ValueError, match="--mem and --mem-per-cpu exclude each other"):
        script_task(script, Slurm(mem="4G"))
    assert plan(script_task(script, Slurm(sbatch_options={"mem-per-cpu": "2G"}))).spec.mem_per_cpu == 2048


def test_directives_that_take_a_job_away_are_refused_when_the_other_package_made_the_task() -> None:
    with pytest.raises(ValueError, match="--clusters"):
        plan(Task("slurm_script", "x", script="#!/bin/sh\n#SBATCH -M other\n"))


def test_an_array_is_no_python_task() -> None:
    env = flyte.TaskEnvironment("array-of-functions", plugin_config=Slurm(sbatch_options={"array": "0-3"}))
    with pytest.raises(ValueError, match="array"):

        @env.task
        async def work() -> int:
            return 1
