"""The values: how a job is named, what a group is as one record, and what the package shows to the outside."""

from __future__ import annotations

import importlib
import itertools
import pickle
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest

import slurm_rest
from slurm_rest import JobState
from slurm_rest.models import CancelResult, ExitCode, JobInfo, combined_state, group_record, member_key

EARLY, LATE = datetime(2027, 1, 1, tzinfo=timezone.utc), datetime(2027, 1, 2, tzinfo=timezone.utc)


def info(job_id: int, state: str = "COMPLETED", **more: object) -> JobInfo:
    return JobInfo(id=job_id, state=JobState.parse(state), **more)  # type: ignore[arg-type]  # whatever a test sets


@pytest.mark.parametrize(
    ("record", "label"),
    [
        (info(12), "12"),
        (info(15, array_job_id=12, array_task_id=0), "12_0"),
        (info(12, array_job_id=12, array_tasks="4-9"), "12_[4-9]"),
        (info(12, het_job_id=12, het_job_offset=0), "12+0"),
        (info(13, het_job_id=12, het_job_offset=1), "12+1"),
        (info(12, array_task_id=3), "12"),
    ],
)
def test_a_job_is_named_as_slurm_names_it(record: JobInfo, label: str) -> None:
    assert record.label == label


@pytest.mark.parametrize(
    ("code", "shown"),
    [(ExitCode(), "-"), (ExitCode(0, 0), "0:0"), (ExitCode(3), "3:0"), (ExitCode(None, 9), "0:9")],
)
def test_exit_codes_show_as_sacct_shows_them(code: ExitCode, shown: str) -> None:
    assert str(code) == shown


def test_a_printed_record_is_one_short_line() -> None:
    waiting = JobInfo(id=7, name="a\nb", state=JobState.parse("PENDING"), reason="Resources")
    assert str(waiting) == "<JobInfo 7 'a\\nb' PENDING (Resources)>"
    over = JobInfo(id=8, name="x", state=JobState.parse("FAILED"), exit_code=ExitCode(3, 0), nodes="n1")
    assert f"{over}" == "<JobInfo 8 'x' FAILED 3:0 n1>"
    assert "working_directory=" in repr(over)
    shown: list[str] = []
    over._repr_pretty_(SimpleNamespace(text=shown.append), False)
    assert shown == [str(over)]


def test_a_single_record_stands_for_itself() -> None:
    record = info(12, "FAILED", array_job_id=12, array_task_id=3)
    assert group_record(12, [record]) is record


def test_an_array_is_one_record() -> None:
    members = [
        info(13, "COMPLETED", array_job_id=12, array_task_id=1, start_time=LATE, end_time=LATE, name="a"),
        info(14, "FAILED", array_job_id=12, array_task_id=2, exit_code=ExitCode(3, 0), reason="NonZeroExitCode",
             start_time=EARLY, end_time=EARLY, name="a"),
    ]  # fmt: skip
    whole = group_record(12, members)
    assert (whole.id, whole.label, whole.name) == (12, "12", "a")
    assert (str(whole.state), whole.exit_code, whole.reason) == ("FAILED", ExitCode(3, 0), "NonZeroExitCode")
    assert (whole.start_time, whole.end_time) == (EARLY, LATE)


def test_what_stands_for_an_array_does_not_depend_on_the_order_in_which_slurm_tells_of_its_tasks() -> None:
    # slurmctld tells of the last task first, which has the array's own id (22.05, 24.11, 26.05); sacct goes by number.
    members = [
        info(12, "CANCELLED", array_job_id=12, array_task_id=2, exit_code=ExitCode(0, 15)),
        info(13, "COMPLETED", array_job_id=12, array_task_id=0, exit_code=ExitCode(0, 0)),
        info(14, "FAILED", array_job_id=12, array_task_id=1, exit_code=ExitCode(4, 0)),
        info(15, "CANCELLED", array_job_id=12, array_tasks="3-9"),
    ]
    for order in itertools.permutations(members):
        whole = group_record(12, order)
        assert (str(whole.state), whole.exit_code) == ("FAILED", ExitCode(4, 0))
        told = {member_key(record): record.state for record in order}
        assert str(combined_state(told)) == "FAILED"


def test_one_record_under_another_id_is_a_group() -> None:
    assert group_record(12, [info(13, array_job_id=12, array_task_id=1)]).label == "12"


def test_a_het_job_is_one_record() -> None:
    leader = info(12, het_job_id=12, het_job_offset=0)
    whole = group_record(12, [info(13, "TIMEOUT", het_job_id=12, het_job_offset=1), leader])
    assert (whole.id, whole.label, str(whole.state)) == (12, "12", "TIMEOUT")


def test_records_can_be_kept_in_sets_and_sent_to_other_processes() -> None:
    record = info(12, tres_requested={"cpu": "1"}, raw={"job_id": 12})
    assert record in {record}
    assert pickle.loads(pickle.dumps(record)) == record
    assert "'job_id': 12" not in repr(record)


@pytest.mark.parametrize(
    ("outcome", "ok"), [("signalled", True), ("already_over", True), ("not_found", False), ("denied", False)]
)
def test_what_counts_as_cancelled(outcome: str, ok: bool) -> None:
    assert CancelResult(job_id=1, outcome=outcome).ok is ok  # type: ignore[arg-type]  # all of them


def test_the_package_shows_what_it_names() -> None:
    assert sorted(slurm_rest.__all__) == list(slurm_rest.__all__)
    assert dir(slurm_rest) == list(slurm_rest.__all__)
    for name in slurm_rest.__all__:
        assert getattr(slurm_rest, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        slurm_rest.Nothing  # noqa: B018  # looked up on purpose


def test_every_error_is_shown() -> None:
    errors = importlib.import_module("slurm_rest.errors")
    assert {*errors.__all__} - {"ErrorContext", "SlurmIssue"} <= {*slurm_rest.__all__}
