"""The job of a task: names, keys, options, environment, and where outputs go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from enum import Enum

import pytest
from flyte.io import File

from flyteplugins.slurm_rest.plan import JobPlan, attempt_words, job_name, make_plan
from flyteplugins.slurm_rest.runtimes import Container
from flyteplugins.slurm_rest.template import Execution, Task
from flyteplugins.slurm_rest.values import input_variables

EXECUTION = Execution("o", "p", "d", "run-1", "a0", 0, {"_U_RUN_BASE": "s3://b", "RUN_NAME": "run-1"})
NATIVE = Task("slurm", "env.train", container=Container("pyxis", "img"), command=("a0", "x"))
SCRIPT = Task("slurm_script", "legacy", script="#!/bin/sh\n#SBATCH --time=9 --qos=low\necho\n")


def plan(task: Task, execution: Execution = EXECUTION, release: str = "", **inputs: object) -> JobPlan:
    return make_plan(
        task,
        execution,
        directory="/home/a/jobs",
        home="/home/a",
        output_prefix="s3://b/out/",
        inputs=inputs,
        unique="u",
        release=release,
    )


def test_an_attempt_has_one_name_and_one_key_everywhere() -> None:
    first, again = plan(NATIVE), plan(NATIVE)
    assert (first.name, first.key) == (again.name, again.key)
    assert first.name.startswith("flyte-train-run-1-a0-0-")
    others = [
        replace(EXECUTION, attempt=1),
        replace(EXECUTION, run="run-2"),
        replace(EXECUTION, action="a1"),
        replace(EXECUTION, project="q"),
        replace(EXECUTION, domain="e"),
        replace(EXECUTION, org="n"),
    ]
    assert len({first.key, *(plan(NATIVE, one).key for one in others)}) == len(others) + 1
    assert len({first.name, *(plan(NATIVE, one).name for one in others)}) == len(others) + 1


def test_words_of_two_fields_do_not_run_together() -> None:
    one, other = replace(EXECUTION, run="a", action="bc"), replace(EXECUTION, run="ab", action="c")
    assert attempt_words(one, 0) != attempt_words(other, 0)


def test_a_local_run_has_no_key_and_no_two_names_alike() -> None:
    assert plan(NATIVE, Execution()).key == ""
    assert job_name(NATIVE, Execution(), "x1") == "flyte-train-local-x1"


@pytest.mark.parametrize("name", ["a/../../b", "é $(id)", "-", "x" * 300, "a\nb"])
def test_no_name_of_a_task_does_harm_to_paths(name: str) -> None:
    found = plan(replace(NATIVE, name=name))
    assert found.stdout.count("/") == 4
    assert found.stdout.isprintable()
    assert len(found.name) < 200


def test_who_runs_stands_in_the_comment() -> None:
    assert plan(NATIVE).spec.comment == "flyte run=run-1 action=a0 task=env.train attempt=0"


def test_output_goes_to_the_working_directory_even_with_a_percent_in_it() -> None:
    found = make_plan(NATIVE, EXECUTION, directory="/a%j", home="/h", output_prefix="s3://b", inputs={})
    assert found.stdout.startswith("/a%j/flyte-train")
    assert found.spec.output == found.stdout.replace("%", "%%")
    assert found.spec.chdir == "/h"


def test_options_win_over_fields_and_over_the_time_of_the_task() -> None:
    task = replace(NATIVE, fields={"nodes": 2.0, "time_limit": "30"}, options={"nodes": 4.0, "exclusive": None})
    spec = plan(replace(task, max_runtime=timedelta(seconds=61))).spec
    wanted = plan(replace(NATIVE, options={"nodes": "4", "time": "30", "exclusive": True})).spec
    assert spec.options() == wanted.options()
    assert spec.options() != plan(NATIVE).spec.options()


def test_the_time_of_the_task_is_the_jobs_limit() -> None:
    ours = plan(replace(NATIVE, max_runtime=timedelta(seconds=61))).spec
    assert ours.time == plan(replace(NATIVE, options={"time": "2"})).spec.time


def test_an_interruptible_task_is_requeued_where_nothing_else_is_said() -> None:
    assert plan(replace(NATIVE, interruptible=True)).spec.requeue
    assert plan(NATIVE).spec.requeue is None
    own = plan(replace(NATIVE, interruptible=True, options={"no-requeue": True})).spec
    assert (own.requeue, own.no_requeue) == (None, True)


def test_variables_come_in_their_order() -> None:
    task = replace(NATIVE, variables={"A": "image", "RUN_NAME": "image", "B": "image"}, env={"A": "task", "C": "task"})
    env = plan(task).spec.env
    assert (env["A"], env["B"], env["C"], env["RUN_NAME"]) == ("task", "image", "task", "run-1")
    assert env["FLYTE_INTERNAL_EXECUTION_PROJECT"] == "p"
    assert env["FLYTE_ATTEMPT_NUMBER"] == "0"


def test_no_value_of_a_variable_is_in_a_script_or_a_comment() -> None:
    for task in (NATIVE, SCRIPT):
        found = plan(replace(task, env={"TOKEN": "hidden"}), secret="hidden").spec
        assert "hidden" not in f"{found.script} {found.comment} {found.name} {found!r}"


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (replace(NATIVE, options={"array": "0-3"}), "cannot be an array"),
        (replace(NATIVE, container=Container("pyxis")), "no container image"),
        (replace(NATIVE, container=Container("oci", "ghcr.io/a")), "path of a bundle"),
        (replace(NATIVE, container=Container("docker", "a")), "Unknown container_runtime"),
        (replace(NATIVE, command=()), "needs a command"),
        (replace(NATIVE, options={"error": "/x"}), "set by the connector"),
        (replace(SCRIPT, outputs={"a": "file"}, output_upload="ftp"), "output_upload"),
        (replace(SCRIPT, outputs={"a": "pipe"}), "unknown kind"),
        (replace(SCRIPT, env={"a b": ""}), "environment variable name"),
    ],
)
def test_what_cannot_run_is_refused(task: Task, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        plan(task)


def test_a_bundle_is_slurms_own_container() -> None:
    assert plan(replace(NATIVE, container=Container("oci", "/bundle"))).spec.container == "/bundle"
    steps = plan(replace(NATIVE, container=Container("oci", "/bundle", launcher="srun"))).spec
    assert (steps.container, " --container=/bundle " in steps.script) == (None, True)


# --- scripts ----------------------------------------------------------------------------------------------------


def test_directives_count_and_the_configuration_wins() -> None:
    spec = plan(replace(SCRIPT, fields={"qos": "high"})).spec
    assert (spec.qos, spec.time) == ("high", plan(replace(NATIVE, options={"time": "9"})).spec.time)
    assert spec.script == SCRIPT.script


def test_directives_win_over_the_limits_of_the_task() -> None:
    script = replace(SCRIPT, script="#!/bin/sh\n#SBATCH --time=9 --no-requeue\n", interruptible=True)
    spec = plan(replace(script, max_runtime=timedelta(hours=2))).spec
    assert (spec.time, spec.requeue, spec.no_requeue) == (plan(SCRIPT).spec.time, None, True)


def test_directives_count_with_outputs_too() -> None:
    spec = plan(replace(SCRIPT, outputs={"model": "file"})).spec
    assert (spec.qos, spec.time) == ("low", plan(SCRIPT).spec.time)
    assert SCRIPT.script in spec.script


def test_a_script_is_read_as_the_clusters_own_sbatch_reads_it() -> None:
    twice = replace(SCRIPT, script="#!/bin/sh\n#SBATCH --mail-type=END --mail-type=FAIL\n")
    assert plan(twice, release="24.11.5").spec.mail_type == ("END", "FAIL")
    assert plan(twice, release="26.05.1").spec.mail_type == ("FAIL",)
    new = replace(SCRIPT, script="#!/bin/sh\n#SBATCH --spread-segments\n")
    assert plan(new, release="26.05").spec.spread_segments
    assert plan(new).spec.spread_segments
    with pytest.raises(ValueError, match="Line 2: sbatch has no option --spread-segments"):
        plan(new, release="24.11")


def test_a_script_runs_where_it_says() -> None:
    assert plan(SCRIPT).spec.chdir == "/home/a"
    assert plan(replace(SCRIPT, script="#!/bin/sh\n#SBATCH -D /data\n")).spec.chdir == "/data"


def test_each_task_of_an_array_has_an_output_of_its_own() -> None:
    directive = replace(SCRIPT, script="#!/bin/sh\n#SBATCH --array=0-3\n", outputs={"m": "file"})
    for task in (directive, replace(SCRIPT, options={"array": "0-3"})):
        ours = plan(task)
        assert ours.stdout == f"/home/a/jobs/{ours.name}-%a.out"
        assert (ours.spec.output, ours.spec.error) == (ours.stdout, ours.stderr)
        assert ours.spec.array


def test_a_script_without_an_interpreter_runs_under_bash() -> None:
    assert plan(replace(SCRIPT, script="#SBATCH --qos=low\necho\n")).spec.qos == "low"


def test_outputs_have_a_place() -> None:
    ours = plan(replace(SCRIPT, outputs={"my model": "file", "d": "directory"}))
    local = f"/home/a/jobs/{ours.name}.outputs"
    assert ours.reads_files
    assert ours.spec.env["FLYTE_OUTPUT_MY_MODEL"] == f"{local}/my model"
    assert ours.outputs["my model"].uri == "s3://b/out/my model"
    assert f"mkdir -p -- {local} {local}/d\n" in ours.spec.script
    theirs = plan(replace(SCRIPT, outputs={"m": "file"}, output_upload="job"))
    assert theirs.spec.env["FLYTE_OUTPUT_M"] == "s3://b/out/m"
    assert not theirs.reads_files
    assert theirs.spec.script == SCRIPT.script


class Color(Enum):
    """A kind of input."""

    RED = "red"


@dataclass
class Inner:
    """A structure."""

    n: int
    at: datetime


def test_inputs_as_variables() -> None:
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc)
    found = input_variables(
        {
            "text": "a b",
            "n": 3,
            "x": 0.1,
            "yes": True,
            "none": None,
            "list": [1, "é", None],
            "map": {"a": [Inner(1, moment)]},
            "at": moment,
            "span": timedelta(minutes=1),
            "inner": Inner(2, moment),
            "file": File.from_existing_remote("s3://b/f"),
            "odd-name": Color.RED,
        }
    )
    iso = "2026-01-02T03:04:00+00:00"
    assert found == {
        "FLYTE_INPUT_TEXT": "a b",
        "FLYTE_INPUT_N": "3",
        "FLYTE_INPUT_X": "0.1",
        "FLYTE_INPUT_YES": "true",
        "FLYTE_INPUT_LIST": '[1, "é", null]',
        "FLYTE_INPUT_MAP": f'{{"a": [{{"n": 1, "at": "{iso}"}}]}}',
        "FLYTE_INPUT_AT": iso,
        "FLYTE_INPUT_SPAN": "60.0",
        "FLYTE_INPUT_INNER": f'{{"n": 2, "at": "{iso}"}}',
        "FLYTE_INPUT_FILE": "s3://b/f",
        "FLYTE_INPUT_ODD_NAME": "RED",
    }


def test_what_has_no_form_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'thing' is a object"):
        input_variables({"thing": object()})
