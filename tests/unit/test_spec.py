"""JobSpec, the REST body that it becomes, and the submission around it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest import JobSpec
from slurm_rest.api import API_VERSIONS, known_in
from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError, SpecError
from slurm_rest.keys import COMMENT_LIMIT, add_key, new_key, split_comment
from slurm_rest.sbatch import keywords, spec, submit_body
from slurm_rest.sbatch.options import OPTIONS
from slurm_rest.submission import Surroundings, prepare

SCRIPT = "#!/bin/sh\ntrue\n"
HERE = Surroundings("/home/alice/project", "login1", 0o027)
FIELDS = [field.name for field in dataclasses.fields(JobSpec)]


def written(source: object, name: str) -> dict[str, str]:
    """Return the fields of a class and their types as they are written."""
    tree = ast.parse(inspect.getsource(source))  # type: ignore[arg-type]  # a module
    (found,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target): ast.unparse(node.annotation) for node in fields}


def job(options: JobSpec, **settings: object) -> dict[str, object]:
    """Return the part ``job`` of the body of a spec."""
    body = submit_body(options, directory="/tmp", environment=["A=1"], **settings)  # type: ignore[arg-type]
    found = body["job"]
    assert isinstance(found, dict)
    return found


def spec_of(**options: object) -> JobSpec:
    return JobSpec(SCRIPT, **options)  # type: ignore[arg-type]  # whatever a test wants to try


# --- one list of options --------------------------------------------------------------------------------------


def test_keywords_are_the_fields_of_a_spec() -> None:
    options, fields = written(keywords, "JobOptions"), written(spec, "JobSpec")
    assert options.pop("job_name") == fields["name"]
    assert fields.pop("script") == "str"
    assert options == fields


def test_every_field_has_a_row_and_every_row_a_field() -> None:
    assert {option.name for option in OPTIONS} == {*FIELDS} - {"script", "args", "env"}


def test_every_rest_field_exists_in_some_version() -> None:
    for option in OPTIONS:
        assert not option.field or known_in("JobDescMsg", option.field), option.name
    derived = ("minimum_nodes", "maximum_nodes", "minimum_cpus", "minimum_cpus_per_node", "tres_per_node", "argv")
    for name in derived:
        assert known_in("JobDescMsg", name) == API_VERSIONS


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
    *(("nodes", value) for value in ("two", 0, 1.0, [1])),
    *(("ntasks", value) for value in ("x", 0, True)),
    *(("mem", value) for value in ("4 G", -1, 4.5)),
    *(("gpus", value) for value in ("x", 0)),
    *(("mail_type", value) for value in ("FOO", "END;FAIL", 7)),
    *(("open_mode", value) for value in ("write", True)),
    *(("exclusive", value) for value in ("yes", 1)),
    *(("hold", value) for value in ("yes", 1, "no")),
    *(("requeue", value) for value in ("no", 0)),
    *(("begin", value) for value in ("now", datetime(2027, 1, 1), 0)),  # naive on purpose
    *(("nice", value) for value in ("x", 2147483646, 1.5)),
    *(("priority", value) for value in (-1, 4294967294)),
    *(("partition", value) for value in (7, [7], {"a": 1}, b"a")),
    *(("chdir", value) for value in ("", 7, b"/x")),
    *(("output", value) for value in ("", 7)),
    *(("array", value) for value in (5, [1, 2])),
    *(("args", value) for value in ("--x 1", [1], 7, {"a": "b"}, ["a\0b"])),
    *(("env", value) for value in ([("A", "1")], "A=1", {"A": 1}, {1: "A"}, {"": "x"}, {"A=B": "x"}, {"A": "x\0"})),
    *(("script", value) for value in (b"#!/bin/sh\n", None, 7)),
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
    with pytest.raises(SpecError, match="mem and mem_per_cpu exclude each other"):
        spec_of(mem="4G", mem_per_cpu="1G")
    with pytest.raises(SpecError, match="the same option"):
        spec_of(name="a", job_name="b")


@pytest.mark.parametrize("env", [{"PASSWORD": 7}, {"PASSWORD": "hunter2\0"}, {"PASSWORD=hunter2": "x"}])
def test_no_value_of_a_variable_is_shown(env: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="PASSWORD") as caught:
        spec_of(env=env)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(spec_of(env={"PASSWORD": "hunter2"}))


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(gpus="x" * 100_000)
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
    assert job(everything) == {"name": "sbatch", "current_working_directory": "/tmp", "environment": ["A=1"]}


def test_replace_wins_and_can_unset() -> None:
    made = spec_of(nodes=2, time=5).replace(nodes=None, job_name="x", time="1:00:00")
    assert (made.nodes, made.name, made.time, made.script) == (None, "x", "1:00:00", SCRIPT)


@pytest.mark.parametrize("name", ["x" * 1024, "é" * 512, 'a"b', "a'b", "a\nb", "a|b;c^d,e=f", "caf\udce9", "日本", ""])
def test_names_that_pass_through(name: str) -> None:
    assert job(spec_of(name=name))["name"] == name


# --- the body -------------------------------------------------------------------------------------------------

NUMBER = {"set": True, "infinite": False}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"time": "1:00:00"}, {"time_limit": {**NUMBER, "number": 60}}),
        ({"time": "UNLIMITED"}, {"time_limit": {"set": False, "infinite": True, "number": 0}}),
        ({"time_min": timedelta(minutes=5)}, {"time_minimum": {**NUMBER, "number": 5}}),
        ({"mem": "4G"}, {"memory_per_node": {**NUMBER, "number": 4096}}),
        ({"mem_per_cpu": 100}, {"memory_per_cpu": {**NUMBER, "number": 100}}),
        ({"nodes": 2}, {"minimum_nodes": 2, "maximum_nodes": 2}),
        ({"nodes": "2-4", "ntasks": 3}, {"minimum_nodes": 2, "maximum_nodes": 3, "tasks": 3}),
        ({"nodes": 4, "ntasks": 2}, {"minimum_nodes": 2, "maximum_nodes": 2, "tasks": 2}),
        (
            {"cpus_per_task": 4, "ntasks": 3},
            {"cpus_per_task": 4, "tasks": 3, "minimum_cpus": 12, "minimum_cpus_per_node": 4, "tres_per_task": "cpu=4"},
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
         {"mail_type": ["BEGIN", "END", "FAIL", "INVALID_DEPENDENCY", "REQUEUE", "STAGE_OUT"]}),
        ({"mail_type": "NONE,END"}, {"mail_type": []}),
        ({"open_mode": "append"}, {"open_mode": ["APPEND"]}),
        ({"partition": ["a", "b"]}, {"partition": "a,b"}),
        ({"exclude": "n1, n2"}, {"excluded_nodes": ["n1", "n2"]}),
        ({"output": Path("/x/%j.out"), "error": "none"},
         {"standard_output": "/x/%j.out", "standard_error": "/dev/null"}),
        ({"begin": datetime(2027, 1, 1, tzinfo=timezone.utc)}, {"begin_time": {**NUMBER, "number": 1798761600}}),
        ({"deadline": 1798761600}, {"deadline": 1798761600}),
        ({"chdir": "/work"}, {"current_working_directory": "/work"}),
        ({"args": ["a b", "$X"]}, {"argv": ["sbatch", "a b", "$X"]}),
        ({"env": {"A": "2", "B": "x=y"}}, {"environment": ["A=2", "B=x=y"]}),
    ],
)  # fmt: skip
def test_options_become_fields(options: dict[str, object], fields: dict[str, object]) -> None:
    basic = {"name": "sbatch", "current_working_directory": "/tmp", "environment": ["A=1"]}
    assert job(spec_of(**options)) == {**basic, **fields}


def test_the_script_and_its_path() -> None:
    body = submit_body(spec_of(), directory="/tmp", environment=["A=1"], command="/x/job.sh")
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


@pytest.mark.parametrize("comment", ["", "mine", "slurm-rest:", "slurm-rest:xyz", f"{new_key()} mine", f"x{new_key()}"])
def test_a_comment_without_a_key_behind_it_stays_whole(comment: str) -> None:
    assert split_comment(comment) == (comment, "")


def test_room_for_the_key() -> None:
    key = new_key()
    room = COMMENT_LIMIT - len(key) - 1
    assert len(add_key("x" * room, key)) == COMMENT_LIMIT
    for comment in ("x" * (room + 1), "é" * (room // 2 + 1)):
        with pytest.raises(ValueError, match=f"{room} bytes"):
            add_key(comment, key)


# --- the submission -------------------------------------------------------------------------------------------


def prepared(options: JobSpec, here: Surroundings | None = None, **settings: object) -> dict[str, object]:
    made = prepare(options, Settings(**settings), user="alice", here=here)  # type: ignore[arg-type]
    found = made.body["job"]
    assert isinstance(found, dict)
    assert str(found["comment"]).endswith(made.key)
    return found


@pytest.mark.parametrize(
    ("chdir", "workdir", "here", "directory"),
    [
        ("/x", None, None, "/x"),
        ("/x", "/w", HERE, "/x"),
        (None, "/home/{user}", None, "/home/alice"),
        (None, "/w", HERE, "/w"),
        (None, None, HERE, "/home/alice/project"),
        ("sub/x", "/w", HERE, "/home/alice/project/sub/x"),
        ("none", None, HERE, "/home/alice/project/none"),
    ],
)
def test_the_directory_of_a_job(
    chdir: str | None, workdir: str | None, here: Surroundings | None, directory: str
) -> None:
    assert prepared(spec_of(chdir=chdir), here, workdir=workdir)["current_working_directory"] == directory


def test_directories_that_are_none() -> None:
    with pytest.raises(SpecError, match="'sub' is not absolute"):
        prepared(spec_of(chdir="sub"))
    with pytest.raises(SpecError, match="'w' is not absolute"):
        prepared(spec_of(), workdir="w")
    with pytest.raises(ConfigError, match="no directory on the cluster"):
        prepared(spec_of())
    with pytest.raises(ConfigError, match="SLURM_REST_USER"):
        prepare(spec_of(), Settings(workdir="/home/{user}"), user="")


def test_the_login_environment_holds_nothing_of_the_submitters() -> None:
    environ = {"PATH": "/bin", "SLURM_JWT": "s3cret"}
    assert prepared(spec_of(env={"A": "1"}), environ=environ, workdir="/w")["environment"] == [
        "SLURM_GET_USER_ENV=1",
        "A=1",
    ]


def test_the_submit_rule_sends_the_environment_without_its_secrets() -> None:
    environ = {"PATH": "/bin", "SLURM_JWT": "s3cret", "SLURM_REST_TOKEN_COMMAND": "s3cret", "SLURM_UMASK": "x"}
    environment = prepared(spec_of(env={"PATH": "/mine"}), HERE, environ=environ)["environment"]
    assert environment == [
        "SLURM_UMASK=0027",
        "SLURM_SUBMIT_DIR=/home/alice/project",
        "SLURM_SUBMIT_HOST=login1",
        "PATH=/mine",
    ]


def test_the_surroundings_leave_the_umask_alone() -> None:
    before = os.umask(0o022)
    try:
        assert Surroundings.here().umask == 0o022
        assert Surroundings.here().directory == os.getcwd()
    finally:
        assert os.umask(before) == 0o022


def test_the_comment_keeps_the_users_text_before_the_key() -> None:
    made = prepared(spec_of(comment='{"a": "b"}'), workdir="/w")
    assert split_comment(str(made["comment"]))[0] == '{"a": "b"}'
    with pytest.raises(SpecError, match="finds the job again") as caught:
        prepared(spec_of(comment="x" * 1000), workdir="/w")
    assert caught.value.field == "comment"
