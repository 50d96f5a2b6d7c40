"""Records of every release and version read into values, and what is left when one key of them is odd."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurm_rest.models import ExitCode, JobInfo
from slurm_rest.records import (
    exit_code,
    minutes,
    moment,
    number,
    read_accounting_job,
    read_controller_job,
    read_diagnostics,
    read_issues,
    read_node,
    read_partition,
    read_ping,
    reason_of_end,
    tres,
    words,
)
from slurm_rest.states import JobState

from .captures import PLACES, capture

Reader = Callable[[dict[str, Any]], JobInfo]

CONTROLLER = [(place, name) for place in PLACES for name in ("jobs", "job_completed", "job_signaled")]
SAMPLES: list[tuple[Reader, dict[str, Any]]] = [
    *((read_controller_job, record) for place, name in CONTROLLER for record in capture(place, name).body["jobs"]),
    *((read_accounting_job, record) for place in PLACES for record in capture(place, "slurmdb_jobs").body["jobs"]),
]


def by_name(place: str, name: str, read: Reader) -> dict[str, JobInfo]:
    return {info.name: info for info in map(read, capture(place, name).body["jobs"])}


# --- the controller's records ---------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_records_of_the_controller(place: str) -> None:
    jobs = by_name(place, "jobs", read_controller_job)
    assert {name: (str(info.state), str(info.exit_code)) for name, info in jobs.items()} == {
        "cap-running": ("RUNNING", "-"),
        "cap-held": ("PENDING", "-"),
        "cap-failed": ("FAILED", "3:0"),
        "cap-cancelled": ("CANCELLED", "0:0"),
        "cap-array": ("PENDING", "-"),
    }
    failed, held, array = jobs["cap-failed"], jobs["cap-held"], jobs["cap-array"]
    assert (failed.user, failed.reason, failed.source) == ("alice", "NonZeroExitCode", "controller")
    assert failed.partition
    assert failed.uid is not None
    assert failed.nodes
    assert (failed.cpus, failed.node_count, failed.restart_count) == (1, 1, 0)
    assert failed.working_directory == "/tmp"
    assert failed.stdout == f"/tmp/slurm-{failed.id}.out"
    assert failed.tres_allocated["cpu"] == "1"
    assert failed.submit_time is not None
    assert failed.end_time is not None
    assert failed.submit_time <= failed.end_time
    assert failed.submit_time.tzinfo is timezone.utc
    assert (held.reason, held.start_time, held.nodes) == ("JobHeldUser", None, "")
    assert held.array_job_id is None
    assert held.het_job_id is None
    assert array.array_job_id == array.id
    # One pending task was left on 24.11, which makes it a job of its own; on 26.05 it was still packed.
    assert array.label == (f"{array.id}_2" if place.startswith("24.11") else f"{array.id}_[{array.array_tasks}]")
    assert failed.raw["job_id"] == failed.id


@pytest.mark.parametrize(
    ("told", "tasks"),
    [("0xE", "1-3"), ("0xE%2", "1-3%2"), ("0x0C0001", "0,18-19"), ("1-3,7%2", "1-3,7%2"), ("", ""), ("0xoo", "0xoo")],
)
def test_the_waiting_tasks_of_an_array_are_told_by_accounting_as_a_bitmap(told: str, tasks: str) -> None:
    record = {"job_id": 38, "state": {"current": ["PENDING"]}, "array": {"job_id": 38, "task": told}}
    assert read_accounting_job(record).array_tasks == tasks


@pytest.mark.parametrize("place", PLACES)
def test_how_a_job_ended(place: str) -> None:
    (done,) = map(read_controller_job, capture(place, "job_completed").body["jobs"])
    (killed,) = map(read_controller_job, capture(place, "job_signaled").body["jobs"])
    assert done.state.is_success
    assert done.exit_code == ExitCode(0, 0)
    assert str(killed.state) == "FAILED"
    assert killed.exit_code == ExitCode(0, 9)
    assert killed.reason == "RaisedSignal"


# --- accounting's records -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_accounting_gives_the_reasons_that_the_controller_gives(place: str) -> None:
    by_id = {job.id: job for job in by_name(place, "slurmdb_jobs", read_accounting_job).values()}
    ended = map(read_controller_job, capture(place, "jobs").body["jobs"])
    both = [(one, by_id[one.id]) for one in ended if one.state.is_terminal and one.nodes and one.id in by_id]
    assert [one.reason for one, _ in both] == [other.reason for _, other in both] == ["NonZeroExitCode"]


@pytest.mark.parametrize(
    ("state", "code", "nodes", "reason"),
    [
        ("FAILED", ExitCode(3, 0), "n1", "NonZeroExitCode"),
        ("FAILED", ExitCode(0, 9), "n1", "RaisedSignal"),
        ("FAILED", ExitCode(0, 0), "n1", ""),
        ("TIMEOUT", ExitCode(0, 0), "n1", "TimeLimit"),
        ("NODE_FAIL", ExitCode(1, 0), "n1", "NodeDown"),
        ("DEADLINE", ExitCode(1, 0), "", "DeadLine"),
        ("OUT_OF_MEMORY", ExitCode(0, 125), "n1", "OutOfMemory"),
        ("COMPLETED", ExitCode(0, 0), "n1", ""),
        ("CANCELLED", ExitCode(0, 0), "n1", ""),
        ("CANCELLED", ExitCode(0, 0), "", "Dependency"),
        ("PENDING", ExitCode(), "", "Dependency"),
    ],
)
def test_what_a_job_waited_for_is_not_why_it_ended(state: str, code: ExitCode, nodes: str, reason: str) -> None:
    assert reason_of_end(JobState.parse(state), code, "Dependency", nodes) == reason


@pytest.mark.parametrize("place", PLACES)
def test_records_of_accounting(place: str) -> None:
    jobs = by_name(place, "slurmdb_jobs", read_accounting_job)
    assert {name: (str(info.state), str(info.exit_code)) for name, info in jobs.items()} == {
        "cap-running": ("RUNNING", "-"),
        "cap-completed": ("COMPLETED", "0:0"),
        "cap-failed": ("FAILED", "3:0"),
        "cap-cancelled": ("CANCELLED", "0:0"),
    }
    failed, running = jobs["cap-failed"], jobs["cap-running"]
    assert (failed.user, failed.source, failed.array_job_id, failed.het_job_id) == ("alice", "accounting", None, None)
    assert failed.cluster
    assert failed.submit_time is not None
    assert failed.end_time is not None
    assert failed.start_time is not None
    assert running.end_time is None
    assert failed.tres_allocated["cpu"] == "1"
    assert failed.stdout in (None, f"/tmp/slurm-{failed.id}.out")
    assert (failed.stdout is None) is place.endswith("v0.0.40")


@pytest.mark.parametrize("place", PLACES)
def test_both_sources_agree(place: str) -> None:
    here, there = by_name(place, "jobs", read_controller_job), by_name(place, "slurmdb_jobs", read_accounting_job)
    for name in here.keys() & there.keys():
        one, other = here[name], there[name]
        assert (one.id, one.state, one.exit_code, one.user) == (other.id, other.state, other.exit_code, other.user)
        assert (one.submit_time, one.partition, one.cluster) == (other.submit_time, other.partition, other.cluster)
        assert one.time_limit == other.time_limit


# --- other records --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_nodes_partitions_and_counters(place: str) -> None:
    nodes = [read_node(record) for record in capture(place, "nodes").body["nodes"]]
    partitions = [read_partition(record) for record in capture(place, "partitions").body["partitions"]]
    counters = read_diagnostics(capture(place, "diag").body)
    assert len(nodes) == 2
    assert all(node.name and node.state and node.cpus and node.memory and node.partitions for node in nodes)
    assert all(part.name and part.state == ("UP",) and part.nodes and part.cpus for part in partitions)
    assert {part.node_count for part in partitions} <= {1, 2}
    # v0.0.45 says of each whether it is the default one; before, nothing is known of any.
    known = {True, False} if place.endswith("v0.0.45") else {None}
    assert {part.is_default for part in partitions} == known
    assert counters.jobs_submitted is not None
    assert counters.since is not None
    assert counters.server_threads is not None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "responding"), [("ping", True), ("bad_token_ping", False)])
def test_pings(place: str, name: str, responding: bool) -> None:
    release, version = place.split("/")
    (ping,) = read_ping(capture(place, name).body, version)
    assert (ping.hostname, ping.responding, ping.slurm, ping.api_version) == ("vm", responding, release, version)
    assert ping.primary
    assert ping.cluster
    assert ping.latency is not None
    assert timedelta(0) < ping.latency < timedelta(seconds=1)


def test_issues_with_keys_of_every_version() -> None:
    issues = read_issues([{"error_code": 2042, "error": "held"}, {"error_number": 1, "source": "s"}, None, {}])
    assert [(issue.number, issue.name, issue.source) for issue in issues] == [
        (2042, "held", ""),
        (1, "", "s"),
        (None, "", ""),
    ]


# --- single values --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (5, 5),
        (5.9, 5),
        ({"set": True, "infinite": False, "number": 5}, 5),
        ({"number": 5}, 5),
        ({"set": False, "infinite": False, "number": 5}, None),
        ({"set": True, "infinite": True, "number": 5}, None),
        ({"set": True, "number": None}, None),
        ({}, None),
        (None, None),
        ("Infinity", None),
        ("5", None),
        (True, None),
        (math.nan, None),
        (math.inf, None),
        (1e300, None),
        ([], None),
        (4294967294, None),
        (4294967295, None),
        (0xFFFFFFFFFFFFFFFE, None),
        (4294967293, 4294967293),
    ],
)
def test_numbers_in_every_form(value: object, read: int | None) -> None:
    assert number(value) == read


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"status": ["ERROR"], "return_code": {"set": True, "number": 3}, "signal": {"id": {"set": False}}}, "3:0"),
        ({"status": ["SIGNALED"], "return_code": {"set": False}, "signal": {"id": {"set": True, "number": 9}}}, "0:9"),
        ({"status": "SIGNALED", "return_code": None, "signal": {"signal_id": 9, "name": "Killed"}}, "0:9"),
        ({"status": ["SUCCESS"], "return_code": 0}, "0:0"),
        ({"status": ["PENDING"], "return_code": {"set": True, "number": 0}}, "-"),
        ({"status": ["INVALID"], "return_code": {"set": True, "number": 0}}, "-"),
        (768, "3:0"),
        (9, "0:9"),
        (139, "0:11"),
        (0, "0:0"),
        (None, "-"),
        ("3:0", "-"),
        ({}, "-"),
    ],
)
def test_exit_codes_in_every_form(value: object, shown: str) -> None:
    assert str(exit_code(value)) == shown


def test_times_and_limits() -> None:
    assert moment(1_700_000_000) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
    assert [moment(value) for value in (0, None, {"set": False}, 4294967294, 10**18)] == [None] * 5
    assert minutes({"set": True, "number": 90}) == timedelta(minutes=90)
    assert [minutes(value) for value in ({"infinite": True}, None, 10**18)] == [None] * 3


def test_tres_in_both_forms() -> None:
    assert tres("cpu=1,mem=100M,gres/gpu:a100=2") == {"cpu": "1", "mem": "100M", "gres/gpu:a100": "2"}
    records = [{"type": "cpu", "name": "", "count": 1}, {"type": "gres", "name": "gpu", "count": 2}, {"type": "x"}, 3]
    assert tres(records) == {"cpu": "1", "gres/gpu": "2"}
    assert tres("") == tres(None) == {}


def test_words_in_every_form() -> None:
    assert words(["a", "b", 3]) == words("a,b") == ("a", "b")
    assert words(None) == words("") == ()


# --- odd records ----------------------------------------------------------------------------------------------

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.one_of(st.none(), st.integers(), st.text()), max_size=3),
    st.dictionaries(st.sampled_from(["set", "number", "infinite", "current", "id"]), st.integers(), max_size=3),
)


def _paths(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return [path] if path else []
    return [*([path] if path else []), *(found for key in value for found in _paths(value[key], (*path, key)))]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_one_odd_key_spoils_nothing_else(data: st.DataObject) -> None:
    """Drop, replace or add one key anywhere: state and exit code stay, unless they are what was broken."""
    read, record = data.draw(st.sampled_from(SAMPLES))
    path = data.draw(st.sampled_from(_paths(record)))
    spoilt = copy.deepcopy(record)
    owner = spoilt
    for key in path[:-1]:
        owner = owner[key]
    how = data.draw(st.sampled_from(["drop", "replace", "add"]))
    if how == "drop":
        del owner[path[-1]]
    elif how == "replace":
        owner[path[-1]] = data.draw(junk)
    else:
        owner["a_key_of_tomorrow"] = data.draw(junk)
    before, after = read(record), read(spoilt)
    state_is_whole = how == "add" or path[0] not in ("job_state", "state")
    if state_is_whole:
        assert after.state == before.state
    if state_is_whole and (how == "add" or path[0] != "exit_code"):
        assert after.exit_code == before.exit_code
    if how == "add" or path[0] != "job_id":
        assert after.id == before.id
    assert after.label
    hash(after)


@given(st.dictionaries(st.text(), junk))
def test_any_object_is_read_without_raising(record: dict[str, Any]) -> None:
    for read in (read_controller_job, read_accounting_job, read_node, read_partition, read_diagnostics):
        read(record)
    read_ping(record, "v0.0.42")
    read_issues(record)
