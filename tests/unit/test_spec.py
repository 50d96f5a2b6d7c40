"""JobSpec, the REST body that it becomes, and the key behind its comment."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest import JobSpec
from slurm_rest.api import known_in
from slurm_rest.errors import SpecError
from slurm_rest.keys import COMMENT_LIMIT, add_key, new_key, split_comment
from slurm_rest.sbatch import Setting, keywords, spec, submit_body
from slurm_rest.sbatch.options import OPTIONS

SCRIPT = "#!/bin/sh\ntrue\n"
FIELDS = [field.name for field in dataclasses.fields(JobSpec)]
NO_OPTIONS = {"script", "args", "env", "components"}
# What every body has.
ALWAYS = {"name": "sbatch", "standard_input": "/dev/null", "current_working_directory": "/tmp", "minimum_cpus": 1}


def written(source: object, name: str) -> dict[str, str]:
    """Return the fields of a class and their types as they are written."""
    tree = ast.parse(inspect.getsource(source))  # type: ignore[arg-type]  # a module
    (found,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target): ast.unparse(node.annotation) for node in fields}


def job(options: JobSpec, **setting: object) -> dict[str, object]:
    """Return the part ``job`` of the body of a spec, without its environment."""
    body = submit_body(options, Setting("/tmp", **setting))  # type: ignore[arg-type]  # whatever a test sets
    found = body["job"]
    assert isinstance(found, dict)
    return {name: value for name, value in found.items() if name != "environment"}


def spec_of(**options: object) -> JobSpec:
    return JobSpec(SCRIPT, **options)  # type: ignore[arg-type]  # whatever a test wants to try


# --- one list of options --------------------------------------------------------------------------------------


def test_keywords_are_the_fields_of_a_spec() -> None:
    options, fields = written(keywords, "JobOptions"), written(spec, "JobSpec")
    assert options.pop("job_name") == fields["name"]
    assert fields.pop("script") == "str"
    assert options == fields


def test_every_field_has_a_row_and_every_row_a_field() -> None:
    assert {row.name for row in OPTIONS if not row.inert} == {*FIELDS} - NO_OPTIONS


def test_every_rest_field_exists_in_some_version() -> None:
    for row in OPTIONS:
        assert not row.put or known_in("JobDescMsg", row.put), row.name


# --- what a spec refuses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "near"),
    [("nodse", "nodes"), ("cpu_per_task", "cpus_per_task"), ("partiton", "partition"), ("output_", "output")],
)
def test_a_misspelt_option_names_the_nearest(given: str, near: str) -> None:
    for attempt in (spec_of, spec_of().replace):
        with pytest.raises(SpecError, match=f"no option '{given}'.*Did you mean '{near}'") as caught:
            attempt(**{given: 1})
        assert caught.value.field == given
        assert isinstance(caught.value, ValueError)


def test_an_option_unlike_any_other() -> None:
    with pytest.raises(SpecError, match="sbatch's long ones with _ for -"):
        spec_of(xyzzy=1)


WRONG: list[tuple[str, object]] = [
    *(("name", value) for value in (7, b"x", ["a"], "a\0b", "\ud800", "x" * 1025, "é" * 513)),
    *(("comment", value) for value in (7, "x" * 1025)),
    *(("time", value) for value in ("soon", -1, 1.5, True)),
    *(("nodes", value) for value in ("two", "4-2", 1.0, [1])),
    *(("ntasks", value) for value in ("x", 0, True)),
    *(("mem", value) for value in ("4 G", -1, 4.5)),
    *(("gpus", value) for value in (1.5, True)),
    *(("mail_type", value) for value in ("FOO", "END;FAIL", 7)),
    *(("open_mode", value) for value in ("write", True)),
    *(("exclusive", value) for value in ("yes", 1)),
    *(("hold", value) for value in ("yes", 1, "no")),
    *(("requeue", value) for value in ("no", 0)),
    *(("begin", value) for value in ("yesterday", datetime(2027, 1, 1), 0)),  # naive on purpose
    *(("nice", value) for value in (2147483646, 1.5)),
    *(("priority", value) for value in (-1, 1.5)),
    *(("partition", value) for value in (7, [7], {"a": 1}, b"a")),
    *(("chdir", value) for value in (7, b"/x")),
    *(("output", value) for value in (7, "a\0b")),
    *(("array", value) for value in (5, [1, 2])),
    *(("args", value) for value in ("--x 1", [1], 7, {"a": "b"}, ["a\0b"])),
    *(("env", value) for value in ([("A", "1")], "A=1", {"A": 1}, {1: "A"}, {"": "x"}, {"A=B": "x"}, {"A": "x\0"})),
    *(("script", value) for value in (b"#!/bin/sh\n", None, 7)),
    *(("components", value) for value in (["x"], [JobSpec(components=[JobSpec()])])),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: str(value)[:30].encode("ascii", "replace"))
def test_wrong_values_name_their_option(name: str, value: object) -> None:
    with pytest.raises(SpecError) as caught:
        JobSpec(**{"script": SCRIPT, name: value})  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.field == name
    assert name in caught.value.message
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(SpecError, match="--mem and --mem-per-cpu exclude each other") as caught:
        spec_of(mem="4G", mem_per_cpu="1G")
    assert (caught.value.field, caught.value.kind) == ("mem", "conflict")
    with pytest.raises(SpecError, match="the same option"):
        spec_of(name="a", job_name="b")


@pytest.mark.parametrize(("options", "kind"), [({"nodes": "two"}, "value"), ({"nodse": 2}, "usage")])
def test_an_error_says_what_sort_of_fault_it_is(options: dict[str, object], kind: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(**options)
    assert (caught.value.kind, caught.value.line) == (kind, None)


@pytest.mark.parametrize("env", [{"PASSWORD": 7}, {"PASSWORD": "hunter2\0"}, {"PASSWORD=hunter2": "x"}])
def test_no_value_of_a_variable_is_shown(env: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="PASSWORD") as caught:
        spec_of(env=env)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(spec_of(env={"PASSWORD": "hunter2"}))


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(time="x" * 100_000)
    assert len(str(caught.value)) < 300


# --- what a spec keeps ----------------------------------------------------------------------------------------


def test_a_spec_is_a_copy_that_cannot_be_used_up_or_changed_from_outside() -> None:
    args, env, partitions = ["a"], {"A": "1"}, ["p", "q"]
    made = spec_of(args=(word for word in args), env=env, partition=iter(partitions), nodelist=partitions)
    env["B"] = "2"
    partitions.append("r")
    assert (made.args, made.env) == (("a",), {"A": "1"})
    assert job(made)["partition"] == job(made)["partition"] == "p,q"
    assert job(made)["required_nodes"] == ["p", "q"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "x"  # type: ignore[misc]  # frozen


def test_none_leaves_an_option_unset() -> None:
    everything = spec_of(**{name: None for name in FIELDS if name != "script"})
    assert everything == spec_of()
    assert job(everything) == ALWAYS


def test_replace_wins_and_can_unset() -> None:
    made = spec_of(nodes=2, time=5).replace(nodes=None, job_name="x", time="1:00:00")
    assert (made.nodes, made.name, made.time, made.script) == (None, "x", timedelta(hours=1), SCRIPT)


def test_replace_lets_what_writes_the_same_slot_go() -> None:
    assert spec_of(exclusive=True).replace(oversubscribe=True).options() == {"oversubscribe": True}
    assert spec_of(nodelist="n1").replace(nodefile="/x").options() == {"nodefile": "/x"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"time": "1:00:00"}, timedelta(hours=1)),
        ({"time": 90}, timedelta(minutes=90)),
        ({"time": "0:30"}, timedelta(minutes=1)),
        ({"time": "infinite"}, "UNLIMITED"),
        ({"mem": "4G"}, 4096),
        ({"nodes": 2}, "2"),
        ({"mail_type": ["end", "END"]}, ("END",)),
        ({"signal": "B:USR1"}, ("B", 10, 60)),
        ({"exclusive": True}, "exclusive"),
        ({"partition": ("a", "b")}, "a,b"),
        ({"output": Path("/x")}, "/x"),
    ],
)
def test_a_field_holds_the_canonical_value(given: dict[str, object], kept: object) -> None:
    (name,) = given
    made = spec_of(**given)
    assert getattr(made, name) == kept
    # A canonical value is one that can be given.
    assert spec_of(**made.options()) == made


@pytest.mark.parametrize("name", ["x" * 1024, "é" * 512, 'a"b', "a'b", "a\nb", "a|b;c^d,e=f", "caf\udce9", "日本", ""])
def test_names_that_pass_through(name: str) -> None:
    assert job(spec_of(name=name))["name"] == name


# --- the body -------------------------------------------------------------------------------------------------

NUMBER = {"set": True, "infinite": False}
EXACT_TASKS = "EXACT_TASK_COUNT_REQUESTED"


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"time": "1:00:00"}, {"time_limit": {**NUMBER, "number": 60}}),
        ({"time": "UNLIMITED"}, {"time_limit": {"set": False, "infinite": True, "number": 0}}),
        ({"time_min": timedelta(minutes=5)}, {"time_minimum": {**NUMBER, "number": 5}}),
        ({"mem": "4G"}, {"memory_per_node": {**NUMBER, "number": 4096}}),
        ({"mem_per_cpu": 100}, {"memory_per_cpu": {**NUMBER, "number": 100}}),
        ({"nodes": 2}, {"minimum_nodes": 2, "maximum_nodes": 2, "minimum_cpus": 2}),
        (
            {"nodes": "2-4", "ntasks": 3},
            {"minimum_nodes": 2, "maximum_nodes": 3, "tasks": 3, "minimum_cpus": 3, "flags": [EXACT_TASKS]},
        ),
        (
            {"nodes": 4, "ntasks": 2},
            {"minimum_nodes": 2, "maximum_nodes": 2, "tasks": 2, "minimum_cpus": 2, "flags": [EXACT_TASKS]},
        ),
        (
            {"cpus_per_task": 4, "ntasks": 3},
            {
                "cpus_per_task": 4, "tasks": 3, "minimum_cpus": 12, "minimum_cpus_per_node": 4,
                "tres_per_task": "cpu=4", "flags": [EXACT_TASKS, "EXACT_CPU_COUNT_REQUESTED"],
            },
        ),
        ({"gpus": 2}, {"tres_per_job": "gres/gpu:2"}),
        ({"gpus_per_node": "a100:1", "gres": "nic:2"}, {"tres_per_node": "gres/gpu:a100:1,gres/nic:2"}),
        ({"gres": "none"}, {}),
        ({"hold": True, "priority": 5}, {"hold": True}),
        ({"hold": False, "priority": 5}, {"priority": {**NUMBER, "number": 5}}),
        ({"requeue": False}, {"requeue": False}),
        ({"exclusive": True}, {"shared": ["none"]}),
        ({"exclusive": "user"}, {"shared": ["user"]}),
        ({"mail_type": "END,TIME_LIMIT"}, {"mail_type": ["END", "TIME=100%"]}),
        ({"mail_type": ["all", "end"]},
         {"mail_type": ["BEGIN", "END", "FAIL", "REQUEUE", "INVALID_DEPENDENCY", "STAGE_OUT"]}),
        ({"mail_type": "NONE,END"}, {}),
        ({"open_mode": "append"}, {"open_mode": ["APPEND"]}),
        ({"partition": ["a", "b"]}, {"partition": "a,b"}),
        ({"exclude": "n1, n2"}, {"excluded_nodes": ["n1", "n2"]}),
        ({"output": Path("/x/%j.out"), "error": "none"},
         {"standard_output": "/x/%j.out", "standard_error": "/dev/null"}),
        ({"begin": datetime(2027, 1, 1, tzinfo=timezone.utc)}, {"begin_time": {**NUMBER, "number": 1798761600}}),
        ({"deadline": 1798761600}, {"deadline": 1798761600}),
        ({"chdir": "/work"}, {"current_working_directory": "/work"}),
        ({"args": ["a b", "$X"]}, {"argv": ["sbatch", "a b", "$X"]}),
    ],
)  # fmt: skip
def test_options_become_fields(options: dict[str, object], fields: dict[str, object]) -> None:
    assert job(spec_of(**options)) == {**ALWAYS, **fields}


def test_the_script_and_its_path() -> None:
    body = submit_body(spec_of(), Setting("/tmp", command="/x/job.sh"))
    assert body["script"] == SCRIPT
    assert job(spec_of(args=["a"]), command="/x/job.sh")["argv"] == ["/x/job.sh", "a"]


# --- keys -----------------------------------------------------------------------------------------------------


@given(st.text(max_size=200))
def test_a_key_is_put_behind_the_comment_and_found_again(comment: str) -> None:
    key = new_key()
    if any("\ud800" <= character <= "\udfff" for character in comment):
        return
    assert split_comment(add_key(comment, key)) == (comment, key)


def test_keys_differ() -> None:
    assert len({new_key() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "comment", ["", "mine", "slurm-rest:", "slurm-rest:xyz", f"slurm-rest:{'0a' * 10} mine", f"xslurm-rest:{'0a' * 10}"]
)
def test_a_comment_without_a_key_behind_it_stays_whole(comment: str) -> None:
    assert split_comment(comment) == (comment, "")


def test_room_for_the_key() -> None:
    key = new_key()
    room = COMMENT_LIMIT - len(key) - 1
    assert len(add_key("x" * room, key)) == COMMENT_LIMIT
    for comment in ("x" * (room + 1), "é" * (room // 2 + 1)):
        with pytest.raises(ValueError, match=f"{room} bytes"):
            add_key(comment, key)


def test_commands_are_passed_as_the_script() -> None:
    with pytest.raises(SpecError, match="A job has no option 'wrap'") as caught:
        JobSpec.from_script("#!/bin/sh\ntrue\n", wrap="hostname")
    assert caught.value.hint == 'Pass the commands as the script: "#!/bin/sh\\nhostname\\n"'
