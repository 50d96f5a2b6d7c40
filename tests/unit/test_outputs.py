"""Filename patterns and records against what real jobs of three releases wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.models import JobInfo
from slurm_rest.outputs import Facts, Stream, expand_pattern, output_file
from slurm_rest.records import read_accounting_job, read_controller_job
from slurm_rest.sbatch import JobSpec
from slurm_rest.states import JobState

MADE = json.loads((Path(__file__).parent.parent / "data/output-patterns.json").read_text(encoding="utf-8"))["files"]
ROWS = [(release, *row) for release, rows in MADE.items() for row in rows]
RELEASES = tuple(MADE)
ALICE = {"user_name": "alice", "name": "na", "current_working_directory": "/home/alice", "nodes": "n[1-2]"}
FACTS = Facts(12, user="alice", name="n a", node="n1", directory="/d")


@pytest.mark.parametrize(("release", "pattern", "job_id", "name", "file"), ROWS)
def test_patterns_as_real_jobs_expand_them(release: str, pattern: str, job_id: int, name: str, file: str) -> None:
    # Until 24.11 it is the host's own name, which is not the node's where these were made.
    node = "login" if release != "26.05" else "n2" if "n2" in file else "n1"
    facts = Facts(job_id, user="alice", name=name, node=node, directory="/home/alice")
    assert expand_pattern(pattern, facts, release) == f"/home/alice/{file}"


@pytest.mark.parametrize("release", RELEASES)
def test_array_tasks_and_what_is_none(release: str) -> None:
    task = Facts(29, array_job_id=23, task_id=3, directory="/d/")
    assert expand_pattern("%A_%a_%j_%2a", task, release) == "/d/23_3_29_03"
    assert expand_pattern("/abs/%A", task, release) == "/abs/23"
    assert expand_pattern("none", task, release) == "/dev/null"
    assert expand_pattern("x%N", task, release) is None


def test_an_unknown_release_goes_by_the_newest_and_one_between_by_the_one_before() -> None:
    assert expand_pattern("q%5z%", FACTS, "") == "/d/q%5z"
    assert expand_pattern("q%5z%", FACTS, "25.05.1") == "/d/q5z%"
    assert expand_pattern("%b", FACTS, "23.11") == "/d/%b"
    assert expand_pattern("%b", FACTS, "17.02") == "/d/%b"


PLAIN = st.text(st.characters(exclude_characters="\\\0", exclude_categories=())).filter(lambda text: text != "none")


@given(PLAIN, st.sampled_from(RELEASES))
def test_doubled_percents_give_the_text_itself(text: str, release: str) -> None:
    directory = "" if text.startswith("/") else "/d/"
    assert expand_pattern(text.replace("%", "%%"), FACTS, release) == directory + text


@given(st.text(st.sampled_from("%%%%0149jJaAbNnstuxz\\/é-"), max_size=30), st.sampled_from(RELEASES))
def test_any_pattern_gives_an_absolute_path_without_holes(text: str, release: str) -> None:
    path = expand_pattern(text, FACTS, release)
    assert path is not None
    assert path.startswith("/")
    assert "\0" not in path


# --- records --------------------------------------------------------------------------------------------------


def controller(**fields: object) -> JobInfo:
    return read_controller_job({"job_id": 7, "job_state": ["RUNNING"], "batch_host": "n1", **ALICE, **fields})


def accounting(**fields: object) -> JobInfo:
    given = {"job_id": 7, "user": "alice", "name": "na", "working_directory": "/home/alice", "nodes": "n[1-2]"}
    return read_accounting_job({"state": {"current": ["COMPLETED"]}, **given, **fields})


def path(record: JobInfo, release: str, stream: Stream = "stdout", spec: JobSpec | None = None) -> str | None:
    found = output_file(record, stream, release=release, spec=spec)
    return found.path if found else None


def test_a_record_that_is_expanded_is_believed() -> None:
    # 24.11 writes %%j as %j, which must not be expanded again.
    assert path(controller(standard_output="/home/alice/p%j"), "24.11") == "/home/alice/p%j"
    assert path(controller(standard_output="/home/alice/p%j"), "26.05") == "/home/alice/p%j"
    both = {"standard_output": "/d/p%%j-%N", "stdout_expanded": "/d/p%j-n1"}
    assert path(controller(**both), "26.05") == "/d/p%j-n1"


def test_what_24_11_leaves_over_is_finished() -> None:
    record = controller(standard_output="/home/alice/t%t%n%3s-%N-%4J")
    found = output_file(record, release="24.11")
    assert found is not None
    assert found.path == "/home/alice/t00batch-n1-0007"
    assert found.search is not None
    assert found.search.fullmatch("t00batch-login-0007")
    assert not found.search.fullmatch("t00batch-lo/gin-0007")
    assert not found.search.fullmatch("t00batch-login-00078")


def test_what_22_05_leaves_over_is_finished() -> None:
    record = controller(standard_output="/home/alice/w%4j-%3x-q%5z")
    assert path(record, "22.05") == "/home/alice/w0007-na-q5z"


def test_accounting_of_24_11_is_expanded_here() -> None:
    record = accounting(stdout="/home/alice/a%05j-%N", stdout_expanded="/home/alice/a7-(null)", stderr="")
    assert path(record, "24.11") == "/home/alice/a00007-n1"
    assert path(record, "24.11", "stderr") == "/home/alice/a00007-n1"


def test_a_node_that_26_05_does_not_know_is_filled_in() -> None:
    record = accounting(stdout="/d/x%N", stdout_expanded="/d/x(null)")
    found = output_file(record, release="26.05")
    assert found is not None
    assert (found.path, found.search) == ("/d/xn1", None)


def test_standard_error_has_a_file_of_its_own_or_none() -> None:
    assert path(controller(stdout_expanded="/d/o", stderr_expanded="", standard_error=""), "26.05", "stderr") == "/d/o"
    assert path(controller(stdout_expanded="/d/o", stderr_expanded="/d/e"), "26.05", "stderr") == "/d/e"
    assert path(controller(standard_output="/d/o", standard_error="/d/e"), "24.11", "stderr") == "/d/e"


def test_a_waiting_task_has_no_file_yet_and_a_requeued_one_has() -> None:
    pending = {"job_state": ["PENDING"], "array_job_id": 7, "array_task_string": "1-3"}
    assert output_file(controller(standard_output="/d/x4294967294", **pending), release="24.11") is None
    again = {"job_state": ["PENDING"], "array_job_id": 5, "array_task_id": 2, "restart_cnt": 1}
    assert path(controller(standard_output="/d/x2", **again), "24.11") == "/d/x2"
    nowhere = controller(job_state=["PENDING"], batch_host="", nodes="", stdout_expanded="/d/(null)-7")
    assert output_file(nowhere, release="26.05") is None


def test_what_was_submitted_fills_in_for_records_without_paths() -> None:
    spec = JobSpec("#!/bin/sh\n", output="o%4j", error="/e/%x")
    assert path(accounting(), "22.05", spec=spec) == "/home/alice/o0007"
    assert path(accounting(), "22.05", "stderr", spec) == "/e/na"
    plain = JobSpec("#!/bin/sh\n")
    assert path(accounting(), "22.05", spec=plain) == "/home/alice/slurm-7.out"
    assert path(accounting(), "22.05", "stderr", plain) == "/home/alice/slurm-7.out"
    task = accounting(array={"job_id": 5, "task_id": {"set": True, "number": 2}})
    assert path(task, "22.05", spec=plain) == "/home/alice/slurm-5_2.out"
    assert output_file(accounting(), release="22.05") is None


def test_what_was_submitted_settles_what_a_record_spoils() -> None:
    # 24.11 expands the pattern behind a backslash, which the job does not.
    record = controller(standard_output="/home/alice/e\\7")
    assert path(record, "24.11", spec=JobSpec("#!/bin/sh\n", output="e\\%j")) == "/home/alice/e%j"
    assert path(record, "24.11") == "/home/alice/e7"
    # A name that the record settles is not overruled, since it may have been changed afterwards.
    assert path(controller(standard_output="/d/o"), "24.11", spec=JobSpec("#!/bin/sh\n", output="x")) == "/d/o"


def test_jobs_that_write_nowhere() -> None:
    found = output_file(controller(standard_output="/dev/null"), release="24.11")
    assert found is not None
    assert found.is_nothing


def test_a_record_of_nothing_leads_nowhere() -> None:
    assert output_file(JobInfo(id=1, state=JobState.parse("RUNNING"))) is None
