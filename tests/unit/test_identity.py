"""Which records are a job's own, and which another job's with the same id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from slurm_rest import JobState, OutcomeUnknown, watched
from slurm_rest.errors import AccountingDown, JobNotFound, NoAccounting, Unreachable
from slurm_rest.followed import Followed
from slurm_rest.identity import Identity, incarnations
from slurm_rest.models import JobInfo, group_record
from slurm_rest.watching import wait

from .memory import Memory, watch

T0 = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
MINE, OTHER = "slurm-rest:" + "a" * 20, "slurm-rest:" + "b" * 20


def record(at: datetime, state: str = "COMPLETED", *, restarts: int | None = 0, key: str = "") -> JobInfo:
    raw: Mapping[str, object] = {} if restarts is None else {"restart_cnt": restarts}
    return JobInfo(
        id=7,
        state=JobState.parse(state.split("+")),
        submit_time=at,
        restart_count=restarts or 0,
        submission_key=key,
        source="accounting",
        raw=raw,
    )


def controller(at: datetime, state: str = "COMPLETED", key: str = "") -> JobInfo:
    return replace(record(at, state, key=key), source="controller")


# --- pure -----------------------------------------------------------------------------------------------------


def test_a_restart_count_continues_a_job_and_its_absence_begins_one() -> None:
    first, again = record(T0, "PENDING+REQUEUED"), record(T0 + DAY, "FAILED", restarts=1)
    other = record(T0 + 2 * DAY)
    assert incarnations([other, again, first]) == [[first, again], [other]]


def test_a_job_that_failed_and_was_requeued_by_hand_is_one() -> None:
    first, again = record(T0, "FAILED"), record(T0 + DAY, restarts=1)
    assert incarnations([first, again]) == [[first, again]]


@pytest.mark.parametrize(
    ("ended", "jobs"), [("REQUEUED", 1), ("NODE_FAIL", 1), ("PREEMPTED", 1), ("COMPLETED", 2), ("FAILED", 2)]
)
def test_where_no_restarts_are_told_the_end_before_decides(ended: str, jobs: int) -> None:
    listed = [record(T0, ended, restarts=None), record(T0 + DAY, restarts=None)]
    assert len(incarnations(listed)) == jobs


def test_where_restarts_are_told_a_node_failure_is_no_sign() -> None:
    assert len(incarnations([record(T0, "NODE_FAIL"), record(T0 + DAY)])) == 2


def test_without_more_than_an_id_the_last_job_is_meant() -> None:
    old, new = record(T0), record(T0 + DAY, "FAILED")
    assert Identity(7).pick([new, old]) == [new]


def test_a_submit_time_means_one_job_and_its_last_start() -> None:
    old, again = record(T0, "NODE_FAIL"), record(T0 + timedelta(hours=1), restarts=1)
    new = record(T0 + DAY, "FAILED")
    assert Identity(7, submit_time=T0).pick([old, again, new]) == [again]
    assert Identity(7, submit_time=T0 + timedelta(hours=1)).pick([old, again, new]) == [again]
    assert Identity(7, submit_time=T0 + DAY).pick([old, again, new]) == [new]
    assert Identity(7, submit_time=T0 - DAY).pick([old, again, new]) == []


def test_a_requeued_job_is_itself_where_only_its_last_start_is_told() -> None:
    again = record(T0 + DAY, restarts=2)
    assert Identity(7, submit_time=T0).pick([again]) == [again]
    assert Identity(7, sent=T0).pick([again]) == [again]


def test_a_key_decides_before_any_clock() -> None:
    mine, other = record(T0 + 400 * DAY, key=MINE), record(T0, key=OTHER)
    identity = Identity(7, key=MINE, sent=T0)
    assert identity.pick([mine, other]) == [mine]
    assert identity.pick([other]) == []


def test_the_time_of_sending_leaves_room_for_clocks_and_prefers_the_nearest() -> None:
    sent = T0 + timedelta(minutes=10)
    mine, later = record(T0), record(T0 + timedelta(hours=8))
    identity = Identity(7, key=MINE, sent=sent)
    assert identity.pick([mine, later]) == [mine]
    assert identity.pick([record(T0 - 3 * DAY), record(T0 + 3 * DAY)]) == []


def test_another_users_job_without_a_key_is_another_one() -> None:
    theirs, mine = (replace(record(T0), user=user) for user in ("bob", "alice"))
    identity = Identity(7, key=MINE, sent=T0, owner="alice")
    assert identity.pick([theirs]) == []
    assert identity.pick([mine]) == [mine]
    assert identity.pick([record(T0)]) == [record(T0)], "accounting does not name users that it does not know"
    # Where the key is, it decides.
    assert identity.pick([replace(theirs, submission_key=MINE)]) != []


def test_each_task_is_looked_at_alone() -> None:
    first = replace(record(T0, "FAILED"), array_job_id=7, array_task_id=1)
    second = replace(record(T0), id=8, array_job_id=7, array_task_id=2)
    again = replace(second, submit_time=T0 + DAY, restart_count=1, state=JobState.parse("CANCELLED"))
    assert Identity(7, submit_time=T0).pick([first, second, again]) == [first, again]


@pytest.mark.parametrize("pinned", [0, 1, 2])
def test_the_components_of_a_het_job_may_have_been_made_in_different_seconds(pinned: int) -> None:
    parts = [
        replace(record(T0 + timedelta(seconds=n)), id=7 + n, het_job_id=7, het_job_offset=n, restart_count=0)
        for n in range(3)
    ]
    assert Identity(7, submit_time=parts[pinned].submit_time).pick(parts) == parts
    assert Identity(7, submit_time=T0 - timedelta(hours=1)).pick(parts) == []


def test_whom_the_record_of_an_array_with_a_requeued_task_pins_owns_all_of_its_tasks() -> None:
    # The last task to start has the array's own id.
    first = replace(record(T0), id=8, array_job_id=7, array_task_id=1)
    last = replace(record(T0 + timedelta(hours=1), restarts=1), array_job_id=7, array_task_id=2)
    pinned = Identity(7).pinned_by(group_record(7, [first, last]))
    assert pinned.submit_time == T0
    assert pinned.pick([first, last]) == [first, last]


# --- followed -------------------------------------------------------------------------------------------------


async def follow(memory: Memory, identity: Identity) -> JobInfo:
    (found,) = await wait(watch(memory).poller, [Followed(identity)])
    return found


async def test_another_job_under_the_id_is_not_taken_for_the_one_that_was_sent() -> None:
    memory = Memory({"7": "RUNNING"}, {"7": "COMPLETED"})
    memory.here = [controller(T0, key=OTHER)]
    mine = record(T0 - DAY, "FAILED", key=MINE)
    memory.past = [mine, record(T0)]
    assert await follow(memory, Identity(7, key=MINE, sent=T0 - DAY)) == mine
    assert memory.searched == [[7]]


async def test_a_job_whose_id_was_given_anew_and_that_accounting_never_closed_has_no_outcome() -> None:
    memory = Memory({"7": "COMPLETED"})
    memory.here = [controller(T0, key=OTHER)]
    memory.past = [record(T0 - DAY, "RUNNING")]
    with pytest.raises(OutcomeUnknown, match="its id now belongs to another job"):
        await follow(memory, Identity(7, key=MINE, sent=T0 - DAY))


async def test_after_an_outage_ids_are_compared_with_accounting_once() -> None:
    memory = Memory({"7": "RUNNING"}, Unreachable("x"), {"7": "RUNNING"}, hang=True)
    mine = record(T0, "CANCELLED")
    memory.past = [mine, record(T0 + DAY, "PENDING")]
    assert await follow(memory, Identity(7, submit_time=T0)) == mine
    assert memory.searched == [[7], [7]]


async def test_a_requeue_is_no_other_job() -> None:
    memory = Memory({"7": "RUNNING"}, {"7": "PENDING"}, {"7": "RUNNING"}, {"7": "COMPLETED"})
    again = replace(controller(T0 + DAY), restart_count=1)
    memory.here, memory.past = [again], [record(T0, "REQUEUED"), record(T0 + DAY, "PENDING", restarts=1)]
    assert await follow(memory, Identity(7, submit_time=T0)) == again
    assert memory.searched == [[7]]


async def test_the_comparison_can_wait_for_accounting() -> None:
    memory = Memory({"7": "RUNNING"}, {"7": "PENDING"}, {"7": "COMPLETED"})
    memory.here, memory.past = [controller(T0)], AccountingDown("x")
    assert (await follow(memory, Identity(7, submit_time=T0))).state.is_success


# --- how it ended cannot be told ------------------------------------------------------------------------------


async def test_a_job_that_was_seen_and_vanished_has_no_outcome_instead_of_a_guess() -> None:
    memory = Memory({"7": "RUNNING"}, {}, looks=[{}])
    with pytest.raises(OutcomeUnknown, match=r"last seen RUNNING .* accounting does not know it") as caught:
        await follow(memory, Identity(7))
    assert caught.value.job_id == 7


async def test_without_accounting_the_error_says_so() -> None:
    memory = Memory({"7": "RUNNING"}, {}, looks=[{}])
    memory.capabilities = replace(memory.capabilities, accounting=False)
    with pytest.raises(OutcomeUnknown, match=r"no accounting to ask.*MinJobAge"):
        await follow(memory, Identity(7))


async def test_without_accounting_an_end_that_the_controller_told_is_final() -> None:
    memory = Memory({"7": "FAILED"}, {}, looks=[{}])
    memory.describe = nothing  # type: ignore[method-assign]  # purged between the two requests
    assert str((await follow(memory, Identity(7))).state) == "FAILED"


async def nothing(ids: object, *, ended: bool = False) -> list[JobInfo]:
    return []


async def test_without_accounting_a_replaced_job_has_no_outcome() -> None:
    memory = Memory({"7": "COMPLETED"})
    memory.here, memory.past = [controller(T0, key=OTHER)], NoAccounting("none")
    with pytest.raises(OutcomeUnknown):
        await follow(memory, Identity(7, key=MINE))


async def test_a_job_that_accounting_calls_live_and_the_controller_forgot_is_a_runaway() -> None:
    memory = Memory({"7": "RUNNING"}, {}, looks=[{"7": "RUNNING"}])
    with pytest.raises(OutcomeUnknown, match="runaway"):
        await follow(memory, Identity(7))


async def test_a_job_that_was_never_seen_is_not_found() -> None:
    with pytest.raises(JobNotFound, match="no job 7") as caught:
        await follow(Memory({}, looks=[{}]), Identity(7))
    assert not isinstance(caught.value, OutcomeUnknown)


# --- records that disagree ------------------------------------------------------------------------------------


async def test_the_controllers_word_counts_where_accounting_has_only_an_earlier_start() -> None:
    """22.05 keeps NODE_FAIL as the last record of a job that was requeued by it, and cancelled while it waited."""
    memory = Memory({"7": "CANCELLED"})
    answers = [[record(T0, "NODE_FAIL")], [controller(T0 + DAY, "CANCELLED")]]
    asked: list[bool] = []

    async def describe(ids: object, *, ended: bool = False) -> list[JobInfo]:
        asked.append(ended)
        return answers[len(asked) - 1]

    memory.describe = describe  # type: ignore[method-assign]
    assert str((await follow(memory, Identity(7))).state) == "CANCELLED"
    assert asked == [True, False]


async def test_a_job_that_is_requeued_by_hand_right_after_its_end_is_followed_on() -> None:
    memory = Memory({"7": "FAILED"}, {"7": "PENDING"}, {"7": "COMPLETED"})
    memory.here = [controller(T0, "PENDING")]
    memory.then = [replace(controller(T0), restart_count=1)]
    found = await follow(memory, Identity(7))
    assert (str(found.state), found.restart_count) == ("COMPLETED", 1)


@pytest.mark.parametrize(
    "words", ["FAILED+REQUEUED", "FAILED+SPECIAL_EXIT", "NODE_FAIL+REQUEUE_HOLD", "FAILED+COMPLETING"]
)
async def test_an_end_with_a_requeue_beside_it_is_no_end(words: str) -> None:
    assert not JobState.parse(words.split("+")).is_terminal
    memory = Memory({"7": words}, {"7": "PENDING"}, {"7": "COMPLETED"})
    assert str((await follow(memory, Identity(7))).state) == "COMPLETED"
    assert len(memory.asked) == 3


def test_the_bounds_are_what_the_documentation_says() -> None:
    assert (watched.GRACE, watched.RUNAWAY) == (5.0, 600.0)
