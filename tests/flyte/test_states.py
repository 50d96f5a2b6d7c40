"""What each state of a job is to Flyte, and what Flyte is told of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from flyteplugins.slurm_rest.follower import Look
from flyteplugins.slurm_rest.judging import Verdict, judge, settled
from flyteplugins.slurm_rest.members import output_of, task_ids
from flyteplugins.slurm_rest.messages import MESSAGE_LIMIT, capped, describe, details, with_stderr
from flyteplugins.slurm_rest.outcome import Outcome
from flyteplugins.slurm_rest.queueing import gave_up, is_overdue, is_stuck
from flyteplugins.slurm_rest.states import Phase, phase_of
from slurm_rest.errors import JobNotFound
from slurm_rest.models import ExitCode, JobInfo, group_record
from slurm_rest.states import JobState

TABLE = [
    ("PENDING", "", "QUEUED"),
    ("PENDING", "Resources", "WAITING_FOR_RESOURCES"),
    ("PENDING", "Priority", "WAITING_FOR_RESOURCES"),
    ("PENDING", "QOSMaxJobsPerUserLimit", "WAITING_FOR_RESOURCES"),
    ("PENDING", "AssocGrpCpuLimit", "WAITING_FOR_RESOURCES"),
    ("PENDING", "ReqNodeNotAvail", "WAITING_FOR_RESOURCES"),
    ("PENDING", "Licenses", "WAITING_FOR_RESOURCES"),
    ("PENDING", "Dependency", "QUEUED"),
    ("PENDING", "BeginTime", "QUEUED"),
    ("PENDING", "JobHeldUser", "QUEUED"),
    ("PENDING", "Prolog", "INITIALIZING"),
    ("PENDING REQUEUED", "", "QUEUED"),
    ("PENDING REQUEUE_HOLD", "", "QUEUED"),
    ("PENDING SPECIAL_EXIT", "", "QUEUED"),
    ("PENDING COMPLETING", "", "QUEUED"),
    ("RUNNING CONFIGURING", "", "INITIALIZING"),
    ("RUNNING POWER_UP_NODE", "", "INITIALIZING"),
    ("RUNNING", "", "RUNNING"),
    ("RUNNING EXPEDITING", "", "RUNNING"),
    ("RUNNING SOMETHING_NEW", "", "RUNNING"),
    ("SUSPENDED", "", "RUNNING"),
    ("COMPLETED COMPLETING", "", "RUNNING"),
    ("FAILED COMPLETING", "", "RUNNING"),
    ("FAILED REQUEUED", "", "QUEUED"),
    ("NODE_FAIL REQUEUED", "", "QUEUED"),
    ("COMPLETED", "", "SUCCEEDED"),
    ("FAILED", "NonZeroExitCode", "FAILED"),
    ("FAILED LAUNCH_FAILED", "", "RETRYABLE_FAILED"),
    ("FAILED RECONFIG_FAIL", "", "RETRYABLE_FAILED"),
    ("FAILED", "JobLaunchFailure", "RETRYABLE_FAILED"),
    ("TIMEOUT", "TimeLimit", "FAILED"),
    ("DEADLINE", "", "FAILED"),
    ("OUT_OF_MEMORY", "", "FAILED"),
    ("NODE_FAIL", "", "RETRYABLE_FAILED"),
    ("BOOT_FAIL", "", "RETRYABLE_FAILED"),
    ("PREEMPTED", "", "RETRYABLE_FAILED"),
    ("CANCELLED", "", "FAILED"),
    ("CANCELLED by 1000", "", "FAILED"),
    ("CANCELLED by 0", "JobLaunchFailure (Prolog error)", "RETRYABLE_FAILED"),
    ("SOMETHING_NEW", "", "QUEUED"),
]


def parse(text: str) -> JobState:
    return JobState.parse(text if " by " in text else text.split())


@pytest.mark.parametrize(("state", "reason", "phase"), TABLE)
def test_the_table(state: str, reason: str, phase: str) -> None:
    assert phase_of(parse(state), reason).value == phase


def test_a_cancellation_of_ours_is_an_abort() -> None:
    assert phase_of(parse("CANCELLED"), cancelled_by_us=True) is Phase.ABORTED
    assert phase_of(parse("COMPLETED"), cancelled_by_us=True) is Phase.SUCCEEDED


def record(state: str, **fields: object) -> JobInfo:
    return JobInfo(id=7, state=parse(state), **fields)  # type: ignore[arg-type]  # what a test wants to set


def look(state: str, *, over: bool = False, **fields: object) -> Look:
    known = record(state, **fields)
    return Look(known.state, known, is_over=over)


def test_a_failed_launch_is_nobody_s_cancellation() -> None:
    verdict = judge("7", look("CANCELLED by 0", over=True, exit_code=ExitCode(signal=54)))
    assert verdict.phase is Phase.RETRYABLE_FAILED
    assert "a node could not launch it" in verdict.message
    assert "not through Flyte" not in verdict.message
    assert judge("7", look("CANCELLED", over=True, exit_code=ExitCode(signal=15))).phase is Phase.FAILED


def test_a_job_that_slurm_holds_after_a_failed_launch_is_stuck() -> None:
    raw = {"exit_code": {"signal": {"id": {"set": True, "infinite": False, "number": 54}}}}
    assert is_stuck(look("PENDING", reason="JobHeldUser", restart_count=1, raw=raw))
    assert is_stuck(look("PENDING", reason="launch failed requeued held", restart_count=1))
    # Without PrologFlags=Alloc, and where the spool directory is full, only the description tells it over REST.
    described = {"state_description": "launch failed requeued held"}
    assert is_stuck(look("PENDING", reason="JobHeldUser", restart_count=1, raw=described))
    unknown = {"system_comment": "slurm_cred_create failure, holding job."}
    assert is_stuck(look("PENDING", reason="JobHeldAdmin", restart_count=1, raw=unknown))
    others = [
        look("PENDING", reason="JobHeldUser", restart_count=1),
        look("PENDING", reason="JobHeldUser", raw=raw),
        look("PENDING", reason="BeginTime", restart_count=1, raw=raw),
        look("PENDING", reason="JobHeldUser", restart_count=1, raw={"state_description": "ReqNodeNotAvail"}),
        look("PENDING", reason="JobHeldAdmin", restart_count=1, raw={"system_comment": "see ticket 7"}),
        look("RUNNING", restart_count=1, raw=raw),
    ]
    assert not any(is_stuck(one) for one in others)


def test_a_job_that_was_held_after_a_failed_launch_says_so_when_it_is_cancelled() -> None:
    raw = {"state_description": "launch failed requeued held", "kill_request_user": "alice"}
    fields: dict[str, Any] = {"reason": "JobHeldUser", "restart_count": 1, "raw": raw}
    assert judge("7", look("CANCELLED", over=True, **fields)).phase is Phase.RETRYABLE_FAILED
    assert judge("7", look("CANCELLED", over=True, **fields, nodes="n1")).phase is Phase.FAILED
    assert judge("7", look("CANCELLED", over=True, **fields), cancelled_by_us=True).phase is Phase.ABORTED
    told = look("CANCELLED by 2001", over=True, reason="launch_failed_requeued_held", restart_count=1)
    assert judge("7", told).phase is Phase.RETRYABLE_FAILED


@pytest.mark.parametrize("reason", ["RaisedSignal", "JobLaunchFailure", ""])
def test_a_script_that_a_signal_ended_was_launched(reason: str) -> None:
    """22.05's controller calls both a launch failure, later ones a raised signal, and accounting has no reason."""
    killed = judge("7", look("FAILED", over=True, reason=reason, exit_code=ExitCode(0, 9)))
    assert killed.phase is Phase.FAILED
    unopened = judge("7", look("FAILED", over=True, reason=reason, exit_code=ExitCode(0, 53)))
    assert unopened.phase is Phase.RETRYABLE_FAILED
    assert "could not launch it: its output could not be opened" in unopened.message


def test_phases_go_back_only_for_a_new_start() -> None:
    waiting = look("PENDING")
    assert judge("7", waiting, last=(Phase.RUNNING, 0)).phase is Phase.RUNNING
    again = Look(waiting.state, restarts=1)
    assert judge("7", again, last=(Phase.RUNNING, 0)).phase is Phase.QUEUED
    assert judge("7", look("RUNNING"), last=(Phase.QUEUED, 0)).phase is Phase.RUNNING


def test_what_has_waited_too_long() -> None:
    limit, now = timedelta(minutes=1), datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    early, late = now - timedelta(seconds=59), now - timedelta(seconds=61)
    waiting = look("PENDING")
    assert is_overdue(waiting, limit, late, now)
    assert is_overdue(look("PENDING", submit_time=late), limit, None, now)
    others = [(waiting, early), (look("RUNNING"), late), (replace(waiting, stale_since=now), late), (waiting, None)]
    others += [(replace(waiting, restarts=1), late), (look("PENDING", restart_count=1), late)]
    assert not any(is_overdue(known, limit, sent, now) for known, sent in others)
    assert not is_overdue(waiting, None, late, now)


def test_what_was_cancelled_for_having_waited_too_long() -> None:
    limit, now = timedelta(minutes=1), datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    times: dict[str, Any] = {"submit_time": now - timedelta(seconds=60), "end_time": now}
    ended = look("CANCELLED", over=True, reason="Resources", **times)
    assert gave_up(ended, limit, None).startswith("Slurm job 7 waited for Resources longer than the 0:01:00")
    others = [
        look("CANCELLED", over=True, nodes="n1", **times),
        look("CANCELLED", over=True, restart_count=1, **times),
        look("FAILED", over=True, **times),
        look("CANCELLED", **times),
        look("CANCELLED", over=True, submit_time=now - timedelta(seconds=30), end_time=now),
    ]
    assert [gave_up(one, limit, None) for one in others] == [""] * len(others)
    assert judge("7", ended, gave_up="too long") == Verdict(Phase.RETRYABLE_FAILED, "too long")


def test_an_end_without_its_record_is_no_end_yet() -> None:
    assert judge("7", look("FAILED")).phase is Phase.RUNNING
    assert judge("7", look("FAILED", over=True)).phase is Phase.FAILED


def member(number: int, state: str, **fields: object) -> JobInfo:
    return record(state, array_job_id=7, array_task_id=number, **fields)


def group(*members: JobInfo) -> Look:
    known = group_record(7, members)
    return Look(known.state, known, is_over=True, members=members)


@pytest.mark.parametrize(
    ("states", "by_us", "phase"),
    [
        (["COMPLETED", "COMPLETED"], False, Phase.SUCCEEDED),
        (["NODE_FAIL", "COMPLETED"], False, Phase.RETRYABLE_FAILED),
        (["NODE_FAIL", "FAILED"], False, Phase.FAILED),
        (["COMPLETED", "CANCELLED"], False, Phase.FAILED),
        (["COMPLETED", "CANCELLED"], True, Phase.ABORTED),
        (["FAILED", "CANCELLED"], True, Phase.ABORTED),
    ],
)
def test_the_phase_of_a_group_is_that_of_all_its_members(states: list[str], by_us: bool, phase: Phase) -> None:
    members = [member(number, state) for number, state in enumerate(states)]
    assert judge("7", group(*members), cancelled_by_us=by_us).phase is phase


def test_members_that_failed_are_named() -> None:
    failed = member(11, "FAILED", exit_code=ExitCode(3, 0))
    verdict = judge("7", group(failed, member(2, "TIMEOUT"), member(0, "COMPLETED")))
    assert verdict.message.endswith("\n2 of its 3 members failed: task 2 TIMEOUT, task 11 FAILED (exit code 3:0)")
    many = judge("7", group(*(member(number, "FAILED") for number in range(500)))).message
    assert "500 of its 500 members failed: task 0 FAILED," in many
    assert many.endswith("task 19 FAILED and 480 more")
    het = [record("FAILED", het_job_id=7, het_job_offset=1), record("COMPLETED", het_job_id=7, het_job_offset=0)]
    assert judge("7", group(*het)).message.endswith("1 of its 2 members failed: component 1 FAILED")


def test_which_tasks_an_array_has() -> None:
    assert task_ids("0-15:4%2", 50) == [0, 4, 8, 12]
    assert task_ids("9,1-3", 50) == [1, 2, 3, 9]
    assert task_ids("0-4000000", 3) == [0, 1, 2]
    assert output_of("/d/j-%a.out", 4) == "/d/j-4.out"
    assert output_of("/d/j.out", None) == "/d/j.out"


def test_a_job_that_vanished_is_over_and_explained() -> None:
    gone = Look(parse("RUNNING"), is_over=True, error=JobNotFound("There is no job 7", hint="Nobody knows it."))
    verdict = judge("7", gone)
    assert verdict == Verdict(Phase.RETRYABLE_FAILED, "Slurm job 7 has vanished: There is no job 7. Nobody knows it.")


def test_an_outage_keeps_the_phase_and_says_since_when() -> None:
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    verdict = judge("7", Look(parse("RUNNING"), stale_since=since, trouble="No token"))
    assert verdict.phase is Phase.RUNNING
    assert "since 2026-01-02 03:04:05 UTC" in verdict.message
    assert verdict.message.endswith("\nNo token")


@pytest.mark.parametrize(
    ("phase", "outcome", "ends"),
    [
        (Phase.SUCCEEDED, Outcome(True), Phase.SUCCEEDED),
        (Phase.SUCCEEDED, None, Phase.SUCCEEDED),
        (Phase.SUCCEEDED, Outcome(False, "m", "C"), Phase.FAILED),
        (Phase.SUCCEEDED, Outcome(False, "m", "C", is_recoverable=True), Phase.RETRYABLE_FAILED),
        (Phase.FAILED, Outcome(False, "m", "C", is_recoverable=True), Phase.RETRYABLE_FAILED),
        (Phase.FAILED, None, Phase.FAILED),
        (Phase.RETRYABLE_FAILED, Outcome(False, "m", "C"), Phase.RETRYABLE_FAILED),
        (Phase.ABORTED, Outcome(False, "m", "C"), Phase.ABORTED),
    ],
)
def test_the_tasks_own_files_have_the_last_word(phase: Phase, outcome: Outcome | None, ends: Phase) -> None:
    found = settled(Verdict(phase, "job"), outcome)
    assert found.phase is ends
    told = outcome is not None and not outcome.is_success and phase in (Phase.SUCCEEDED, Phase.FAILED)
    assert found.message == ("C: m\njob" if told else "job")


# --- messages ---------------------------------------------------------------------------------------------------


def test_how_a_job_ended() -> None:
    known = record("FAILED", reason="NonZeroExitCode", exit_code=ExitCode(3, 0), nodes="n[1-2]")
    assert describe("7", known.state, known) == (
        "Slurm job 7 is FAILED, reason: NonZeroExitCode, exit code 3:0, on n[1-2]"
    )
    assert describe("7", parse("PENDING"), None) == "Slurm job 7 is PENDING"
    hidden = record("COMPLETED", derived_exit_code=ExitCode(7, 0))
    assert describe("7", hidden.state, hidden) == "Slurm job 7 is COMPLETED, highest exit code of a step 7:0"
    assert details({}, hidden)["derived_exit_code"] == "7:0"


@pytest.mark.parametrize(
    ("known", "who"),
    [
        (record("CANCELLED", raw={"kill_request_user": "root"}), "cancelled by root, not through Flyte"),
        (record("CANCELLED", raw={"admin_comment": "maintenance"}), "not through Flyte, comment: maintenance"),
        (record("CANCELLED", raw={"comment": {"system": "bad node"}}), "not through Flyte, comment: bad node"),
        (record("CANCELLED by 0"), "cancelled by user 0, not through Flyte"),
        (record("CANCELLED"), "cancelled, not through Flyte"),
    ],
)
def test_who_cancelled_it(known: JobInfo, who: str) -> None:
    assert who in describe("7", known.state, known)


@pytest.mark.parametrize("text", ["x" * 100_000, "é" * 50_000, "\udcff" * 20_000])
def test_no_message_is_longer_than_allowed(text: str) -> None:
    assert len(capped(f"begin{text}end").encode()) <= MESSAGE_LIMIT
    assert capped(f"begin{text}end").startswith("begin")
    assert capped(f"begin{text}end").endswith("end")
    assert capped("short é") == "short é"


def test_the_end_of_stderr() -> None:
    assert with_stderr("m", "", 2) == with_stderr("m", " \n", 2) == "m"
    assert with_stderr("m", "a\nb\nc\n", 2) == "m\n--- stderr (last 2 lines) ---\nb\nc"


def test_details_have_only_what_is_known() -> None:
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    ran = record("RUNNING", partition="gpu", submit_time=moment, start_time=moment, tres_allocated={"cpu": "2"})
    found = details({"job_id": "7", "stale_since": ""}, ran)
    assert found == {
        "job_id": "7",
        "slurm_state": "RUNNING",
        "partition": "gpu",
        "submitted": moment.isoformat(),
        "started": moment.isoformat(),
        "restarts": 0,
        "tres": {"cpu": "2"},
    }
    assert "started" not in details({}, record("PENDING", start_time=moment))
