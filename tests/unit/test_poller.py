"""The shared watcher, on a transport in memory: how often it asks, what it concludes, and how waits end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping

import pytest

from slurm_rest import JobState, watched
from slurm_rest.errors import (
    AccountingDown,
    ApiError,
    CommandMissing,
    ControllerDown,
    HostKeyError,
    JobNotFound,
    NoAccounting,
    OutcomeUnknown,
    SlurmError,
    Timeout,
    TokenExpired,
    Unreachable,
    WaitTimeout,
)
from slurm_rest.followed import Followed
from slurm_rest.identity import Identity
from slurm_rest.poller import Poller
from slurm_rest.transport.answers import unserved_accounting
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.capabilities import Capabilities
from slurm_rest.watched import Watched
from tests.support.logs import logged
from tests.support.waiting import until_true

from .memory import Memory, record, watch


def shown(found: Mapping[int, JobState]) -> dict[int, str]:
    return {job_id: str(state) for job_id, state in found.items()}


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "GRACE", 0)


# --- counts ---------------------------------------------------------------------------------------------------


async def test_a_thousand_waiters_share_one_request_per_tick() -> None:
    ids = range(1, 1001)
    memory = Memory({str(n): "RUNNING" for n in ids}, {str(n): "COMPLETED" for n in ids}, hang=True)
    shared = watch(memory)
    results = await asyncio.gather(*(shared.wait([n]) for n in ids))
    assert [shown(result) for result in results] == [{n: "COMPLETED"} for n in ids]
    assert memory.asked == [list(ids)] * 2
    assert memory.looked == [list(ids)]


async def test_a_thousand_waiters_for_sixty_ticks_cost_a_request_a_tick_and_one_for_their_records() -> None:
    ids = range(1, 1001)
    memory = Memory(*[{str(n): "RUNNING" for n in ids}] * 60, {str(n): "FAILED" for n in ids}, hang=True)
    shared = watch(memory)
    results = await asyncio.gather(*(shared.wait([n]) for n in ids))
    assert [shown(result) for result in results] == [{n: "FAILED"} for n in ids]
    assert (len(memory.asked), len(memory.looked), len(memory.searched)) == (61, 1, 0)


async def test_what_is_over_is_not_asked_for_again() -> None:
    memory = Memory({"1": "COMPLETED", "2": "RUNNING"}, {"2": "RUNNING"}, {"2": "FAILED"})
    assert shown(await watch(memory).wait([1, 2])) == {1: "COMPLETED", 2: "FAILED"}
    assert memory.asked == [[1, 2], [2], [2]]


async def test_nobody_waits_and_nothing_is_asked() -> None:
    memory = Memory({"1": "COMPLETED"})
    shared = watch(memory)
    assert await shared.wait([]) == {}
    await shared.wait([1])
    task = shared.poller._task
    assert task is not None
    await task
    assert len(memory.asked) == 1
    await shared.wait([1])
    assert len(memory.asked) == 2


async def test_the_same_id_twice_is_one() -> None:
    memory = Memory({"1": "COMPLETED"})
    assert shown(await watch(memory).wait([1, 1])) == {1: "COMPLETED"}
    assert memory.asked == [[1]]


def test_only_a_job_with_nothing_to_look_up_is_quiet() -> None:
    one = Identity(1)
    assert Watched(one).is_quiet
    asking = [
        Watched(one, suspect=True),
        Watched(one, replaced=True),
        Watched(one, member_watchers={(1, None): 1}),
        Watched(one, missing_since=0.0),
        Watched(one, ended_since=0.0),
    ]
    assert [entry.is_quiet for entry in asking] == [False] * 5


# --- changes --------------------------------------------------------------------------------------------------


async def test_every_state_is_shown_once_and_none_is_missed() -> None:
    words = ["PENDING", "PENDING", "RUNNING", "COMPLETED+COMPLETING", "COMPLETED"]
    seen: list[str] = []
    await watch(Memory(*({"1": word} for word in words))).wait([1], on_change=lambda now: seen.append(str(now[1])))
    assert seen == ["UNKNOWN", "PENDING", "RUNNING", "COMPLETED+COMPLETING", "COMPLETED"]


async def test_completing_is_not_yet_the_end() -> None:
    memory = Memory({"1": "FAILED+COMPLETING"}, {"1": "FAILED"})
    assert shown(await watch(memory).wait([1])) == {1: "FAILED"}
    assert len(memory.asked) == 2


async def test_a_callback_that_fails_ends_only_its_own_wait() -> None:
    memory = Memory({"1": "RUNNING"}, {"1": "COMPLETED"})
    shared = watch(memory)

    def fail(_: object) -> None:
        raise LookupError("mine")

    bad, good = await asyncio.gather(shared.wait([1], on_change=fail), shared.wait([1]), return_exceptions=True)
    assert isinstance(bad, LookupError)
    assert isinstance(good, dict)
    assert shown(good) == {1: "COMPLETED"}


# --- arrays ---------------------------------------------------------------------------------------------------


async def test_an_array_is_over_when_all_its_tasks_are() -> None:
    memory = Memory(
        {"10_1": "PENDING", "10_2": "PENDING"},
        {"10_1": "FAILED", "10_2": "RUNNING"},
        {"10_1": "FAILED", "10_2": "COMPLETED"},
    )
    assert shown(await watch(memory).wait([10])) == {10: "FAILED"}
    assert len(memory.asked) == 3


async def test_an_array_ends_as_its_first_task_that_failed_whoever_tells_first_of_the_last() -> None:
    rows = {"10_2": "CANCELLED", "10_0": "COMPLETED", "10_1": "FAILED"}
    memory = Memory({"10_2": "RUNNING", "10_0": "RUNNING", "10_1": "RUNNING"}, rows)
    assert shown(await watch(memory).wait([10])) == {10: "FAILED"}
    assert shown(await Poller(Memory(rows)).states([10])) == {10: "FAILED"}


async def test_a_task_that_ended_and_was_forgotten_keeps_its_end() -> None:
    memory = Memory({"10_1": "FAILED", "10_2": "RUNNING"}, {"10_2": "RUNNING"}, {"10_2": "COMPLETED"})
    assert shown(await watch(memory).wait([10])) == {10: "FAILED"}
    assert memory.looked == [[10]]


async def test_a_task_cancelled_while_pending_vanishes_and_does_not_keep_its_array_alive() -> None:
    memory = Memory(
        {"10_1": "RUNNING", "10_2": "PENDING"},
        {"10_1": "COMPLETED"},
        looks=[{"10_1": "COMPLETED"}],
        hang=True,
    )
    assert shown(await watch(memory).wait([10])) == {10: "COMPLETED"}
    assert memory.looked == [[10]]


async def test_a_task_that_vanished_running_is_looked_up_before_its_array_is_judged() -> None:
    memory = Memory(
        {"10_1": "RUNNING", "10_2": "RUNNING"},
        {"10_1": "COMPLETED"},
        looks=[{"10_1": "COMPLETED", "10_2": "RUNNING"}, {"10_1": "COMPLETED", "10_2": "FAILED"}],
    )
    assert shown(await watch(memory).wait([10])) == {10: "FAILED"}
    assert memory.looked == [[10], [10]]


async def test_a_task_that_moves_keeps_the_ticks_fast() -> None:
    tasks = {f"10_{n}": "RUNNING" for n in range(1, 31)}
    ticks = [tasks | {f"10_{n}": "COMPLETED" for n in range(1, ended + 1)} for ended in range(31)]
    shared = watch(Memory(*ticks))
    began = shared.clock.time
    assert shown(await shared.wait([10])) == {10: "COMPLETED"}
    # The array as a whole moves once, its tasks at each tick: 30 pauses of a second and their jitter.
    assert shared.clock.time - began < 30 * 1.2


# --- one member -----------------------------------------------------------------------------------------------


async def test_a_wait_for_a_task_ends_with_it_and_not_with_its_array() -> None:
    memory = Memory({"10_1": "RUNNING", "10_2": "RUNNING"}, {"10_1": "FAILED", "10_2": "RUNNING"}, hang=True)
    assert str(await watch(memory).wait_member(10, (1, None))) == "FAILED"
    assert memory.asked == [[10]] * 2


async def test_a_component_is_a_member_too() -> None:
    memory = Memory({"10+0": "RUNNING", "10+1": "RUNNING"}, {"10+0": "RUNNING", "10+1": "COMPLETED"}, hang=True)
    assert str(await watch(memory).wait_member(10, (None, 1))) == "COMPLETED"


async def test_waits_for_tasks_and_for_their_array_share_requests() -> None:
    memory = Memory(
        {"10_1": "RUNNING", "10_2": "RUNNING"},
        {"10_1": "COMPLETED", "10_2": "RUNNING"},
        {"10_1": "COMPLETED", "10_2": "FAILED"},
    )
    shared = watch(memory)
    whole, first, second = await asyncio.gather(
        shared.wait([10]), shared.wait_member(10, (1, None)), shared.wait_member(10, (2, None))
    )
    assert (shown(whole), str(first), str(second)) == ({10: "FAILED"}, "COMPLETED", "FAILED")
    assert memory.asked == [[10]] * 3


async def test_a_task_that_vanished_while_pending_is_over_with_its_array() -> None:
    memory = Memory({"10_1": "RUNNING", "10_2": "PENDING"}, {"10_1": "COMPLETED"}, looks=[{"10_1": "COMPLETED"}])
    await watch(memory).wait_member(10, (2, None))
    assert memory.looked == [[10]]


WAITED = {"10_1": "RUNNING", "10_2": "PENDING"}, {"10_1": "COMPLETED"}


async def test_a_task_that_vanished_while_pending_was_cancelled_only_where_accounting_says_that_it_never_ran() -> None:
    memory = Memory(*WAITED, looks=[{"10_1": "COMPLETED"}])
    assert str(await watch(memory).wait_member(10, (2, None))) == "CANCELLED"
    assert memory.searched == [[10]]
    memory = Memory(*WAITED, looks=[{"10_1": "COMPLETED"}])
    memory.past = [record("10_2", "FAILED")]
    assert str(await watch(memory).wait_member(10, (2, None))) == "FAILED"


async def test_without_accounting_nobody_guesses_what_became_of_a_waiting_task(no_grace: None) -> None:
    memory = Memory(*WAITED)
    memory.capabilities, memory.past = Capabilities(accounting=False), NoAccounting("none")
    shared = watch(memory)
    whole, waiting, ended = await asyncio.gather(
        shared.wait([10]),
        shared.wait_member(10, (2, None)),
        shared.wait_member(10, (1, None)),
        return_exceptions=True,
    )
    for error in (whole, waiting):
        assert isinstance(error, OutcomeUnknown)
        assert "10_2" in error.message
        assert "there is no accounting to ask" in error.message
        assert "SLURM_REST_EXIT_RECORDS" in error.hint
    assert str(ended) == "COMPLETED"


@pytest.mark.parametrize("looks", [[], [{}]], ids=["records", "none in time"])
async def test_without_accounting_the_ends_that_the_controller_told_stand_beside_a_vanished_task(
    looks: list[dict[str, str]], no_grace: None
) -> None:
    memory = Memory(*WAITED, {}, looks=looks)
    memory.capabilities, memory.past = Capabilities(accounting=False), NoAccounting("none")
    shared = watch(memory)
    whole, ended = await asyncio.gather(shared.wait([10]), shared.wait_member(10, (1, None)), return_exceptions=True)
    assert isinstance(whole, OutcomeUnknown)
    assert "How 10_2 ended" in whole.message
    assert str(ended) == "COMPLETED"


async def test_a_waiting_task_that_vanished_is_not_judged_while_accounting_is_away(no_grace: None) -> None:
    memory = Memory(*WAITED, hang=True)
    memory.past = AccountingDown("x")
    shared = watch(memory)
    task = asyncio.create_task(shared.wait([10]))
    await memory.idle.wait()
    assert memory.searched == [[10]]
    assert not shared.entry(10).is_over
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await shared.close()


async def test_without_accounting_a_waiting_job_that_vanished_is_unknown(no_grace: None) -> None:
    memory = Memory({"1": "PENDING"}, {}, looks=[{}])
    memory.capabilities, memory.past = Capabilities(accounting=False), NoAccounting("none")
    with pytest.raises(OutcomeUnknown, match=r"last seen PENDING .* there is no accounting to ask"):
        await watch(memory).wait([1])


async def test_a_job_that_left_is_unknown_where_accounting_is_not_served(no_grace: None) -> None:
    memory = Memory({"1": "RUNNING", "2": "RUNNING"}, {"2": "FAILED"}, looks=[unserved_accounting("here")])
    memory.capabilities = Capabilities(accounting=False)
    shared = watch(memory)
    left, ended = await asyncio.gather(shared.wait([1]), shared.wait([2]), return_exceptions=True)
    assert isinstance(left, OutcomeUnknown)
    assert str(left.message).endswith("there is no accounting to ask")
    assert isinstance(ended, dict)
    assert shown(ended) == {2: "FAILED"}


async def test_without_accounting_nobody_says_that_a_job_never_was(no_grace: None) -> None:
    memory = Memory({})
    memory.capabilities = Capabilities(accounting=False)
    for wait in (watch(memory).wait([1]), watch(memory).wait_member(1, (2, None))):
        with pytest.raises(JobNotFound, match="The controller knows no job 1") as caught:
            await wait
        assert "no accounting to ask" in caught.value.hint
        assert "MinJobAge" in caught.value.hint


async def test_a_wait_for_a_member_of_nothing_ends(no_grace: None) -> None:
    memory = Memory({}, looks=[{}])
    with pytest.raises(JobNotFound, match="no job 10"):
        await watch(memory).wait_member(10, (1, None))


async def test_a_wait_for_a_member_runs_out() -> None:
    shared = watch(Memory({"10_1": "RUNNING"}))
    with pytest.raises(WaitTimeout, match="10") as caught:
        await shared.wait_member(10, (1, None), timeout=0.02)
    assert caught.value.job_ids == (10,)
    await shared.close()


async def test_what_can_never_come_right_ends_a_wait_for_a_member() -> None:
    with pytest.raises(TokenExpired):
        await watch(Memory({"10_1": "RUNNING"}, TokenExpired("over"))).wait_member(10, (1, None))


# --- outages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outage", [Unreachable("x"), Timeout("x"), ControllerDown("x"), AccountingDown("x")])
async def test_an_outage_keeps_the_last_state_and_goes_on(outage: SlurmError, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory({"1": "RUNNING"}, outage, outage, outage, {"1": "COMPLETED"})
    seen: list[str] = []
    with caplog.at_level(logging.WARNING, "slurm_rest"):
        await watch(memory).wait([1], on_change=lambda now: seen.append(str(now[1])))
    assert seen == ["UNKNOWN", "RUNNING", "COMPLETED"]
    assert len(memory.asked) == 5
    assert len(logged(caplog)) == 1


async def test_an_outage_marks_what_is_known_as_stale() -> None:
    memory = Memory({"1": "RUNNING"}, Unreachable("x"), hang=True)
    shared = watch(memory)
    task = asyncio.create_task(shared.wait([1]))
    await memory.idle.wait()
    entry = shared.entry(1)
    assert str(entry.state) == "RUNNING"
    assert entry.stale_since is not None
    assert shared.poller.stale_since(Followed(Identity(1))) == entry.stale_since
    assert shared.poller.stale_since(None) is not None
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await shared.close()


async def test_an_answer_that_takes_long_makes_what_is_known_stale_and_wakes_those_who_wait() -> None:
    memory = Memory({"1": "RUNNING"}, hang=True)
    shared = watch(memory)
    shared.poller.overdue = 0.01
    task = asyncio.create_task(shared.wait([1]))
    await memory.idle.wait()
    ticks, news = shared.poller.ticks, shared.poller.news
    await asyncio.wait_for(news.wait(), 10)
    entry = shared.entry(1)
    assert (str(entry.state), entry.stale_since is not None, entry.stale_reason) == ("RUNNING", True, "no answer yet")
    assert shared.poller.stale_since(None) == entry.stale_since
    # Nobody takes it for an answer.
    assert shared.poller.ticks == ticks
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await shared.close()


async def test_the_reason_of_an_outage_is_told_once_it_is_known(caplog: pytest.LogCaptureFixture) -> None:
    asked = asyncio.Event()

    class Slow(Memory):
        async def states(self, ids: Collection[int]) -> list[StateRow]:
            if len(self.asked) == 1:
                await asked.wait()
            return await super().states(ids)

    memory = Slow({"1": "RUNNING"}, ControllerDown("away"), ControllerDown("away"), {"1": "COMPLETED"})
    shared = watch(memory)
    shared.poller.overdue = 0.01
    task = asyncio.create_task(shared.wait([1]))
    await until_true(lambda: bool(shared.poller._watched) and shared.entry(1).stale_since is not None)
    since = shared.entry(1).stale_since
    with caplog.at_level(logging.WARNING, "slurm_rest"):
        asked.set()
        await until_true(lambda: task.done() or shared.entry(1).stale_reason == "away")
        assert task.done() or shared.entry(1).stale_since == since
        assert shown(await task) == {1: "COMPLETED"}
    assert logged(caplog) == ["No news of 1 jobs, keeping what is known: away"]


@pytest.mark.parametrize(
    "error",
    [TokenExpired("over"), ApiError("no"), RuntimeError("a bug"), HostKeyError("another"), CommandMissing("none")],
)
async def test_what_can_never_come_right_ends_all_waits(error: Exception) -> None:
    memory = Memory({"1": "RUNNING", "2": "RUNNING"}, error)
    shared = watch(memory)
    results = await asyncio.gather(shared.wait([1]), shared.wait([2]), return_exceptions=True)
    assert list(results) == [error, error]


# --- jobs that left -------------------------------------------------------------------------------------------


async def test_a_job_that_left_is_looked_up_in_accounting() -> None:
    memory = Memory(
        {"1": "RUNNING", "2": "RUNNING"},
        {"2": "RUNNING"},
        {"2": "COMPLETED"},
        looks=[{"1": "TIMEOUT"}, {"2": "COMPLETED"}],
    )
    assert shown(await watch(memory).wait([1, 2])) == {1: "TIMEOUT", 2: "COMPLETED"}
    assert memory.looked == [[1], [2]]


async def test_a_record_that_is_late_in_accounting_is_asked_for_again() -> None:
    memory = Memory({"1": "RUNNING"}, {}, looks=[{"1": "RUNNING"}, {}, {"1": "PENDING"}, {"1": "COMPLETED"}])
    assert shown(await watch(memory).wait([1])) == {1: "COMPLETED"}
    assert memory.looked == [[1]] * 4


async def test_a_job_that_nobody_knows_is_gone_after_the_grace_time(no_grace: None) -> None:
    memory = Memory({}, looks=[{}])
    with pytest.raises(JobNotFound, match="no job 1"):
        await watch(memory).wait([1])


async def test_a_job_that_only_accounting_holds_for_pending_is_gone_too(no_grace: None) -> None:
    memory = Memory({}, looks=[{"1": "PENDING"}])
    with pytest.raises(JobNotFound):
        await watch(memory).wait([1])


async def test_a_fresh_job_may_be_unknown_for_a_moment() -> None:
    memory = Memory({}, {}, {"1": "COMPLETED"}, looks=[{}])
    assert shown(await watch(memory).wait([1])) == {1: "COMPLETED"}


async def test_no_job_is_gone_while_accounting_is_away(no_grace: None) -> None:
    memory = Memory({}, looks=[AccountingDown("x"), AccountingDown("x"), {"1": "COMPLETED"}])
    assert shown(await watch(memory).wait([1])) == {1: "COMPLETED"}


async def test_an_outage_of_accounting_is_no_part_of_the_grace_time() -> None:
    memory = Memory({}, looks=[*[AccountingDown("x")] * 20, {}, {"1": "COMPLETED"}])
    assert shown(await watch(memory).wait([1])) == {1: "COMPLETED"}


async def test_what_slurmctld_hands_over_late_is_waited_for() -> None:
    """Its job was seen alive, and accounting may have been away while nobody asked it."""
    memory = Memory({"1": "RUNNING"}, {}, looks=[*[{}] * 3, {"1": "COMPLETED"}])
    assert shown(await watch(memory).wait([1])) == {1: "COMPLETED"}
    with pytest.raises(OutcomeUnknown, match="accounting does not know it"):
        await watch(Memory({"1": "RUNNING"}, {}, looks=[{}])).wait([1])


async def test_accounting_that_is_away_concerns_only_what_left_the_controller() -> None:
    memory = Memory({"2": "RUNNING"}, {"2": "COMPLETED"}, looks=[AccountingDown("x")])
    shared = watch(memory)
    lost = asyncio.create_task(shared.wait([1]))
    assert shown(await shared.wait([2])) == {2: "COMPLETED"}
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    await shared.close()


async def test_a_gone_job_ends_only_the_waits_for_it(no_grace: None) -> None:
    memory = Memory({"2": "RUNNING"}, {"2": "RUNNING"}, {"2": "RUNNING"}, {"2": "COMPLETED"}, looks=[{}])
    shared = watch(memory)
    gone, kept = await asyncio.gather(shared.wait([1]), shared.wait([2]), return_exceptions=True)
    assert isinstance(gone, JobNotFound)
    assert isinstance(kept, dict)


# --- how waits end --------------------------------------------------------------------------------------------


async def test_a_wait_that_runs_out_names_what_is_open() -> None:
    shared = watch(Memory({"1": "COMPLETED", "2": "RUNNING", "3": "PENDING"}))
    with pytest.raises(WaitTimeout, match="2, 3") as caught:
        await shared.wait([1, 2, 3], timeout=0.02)
    assert caught.value.job_ids == (2, 3)
    assert isinstance(caught.value, TimeoutError)
    await shared.close()


async def test_cancelling_one_wait_does_not_disturb_another() -> None:
    memory = Memory({"1": "RUNNING"}, {"1": "RUNNING"}, hang=True)
    shared = watch(memory)
    one, two = asyncio.create_task(shared.wait([1])), asyncio.create_task(shared.wait([1]))
    await memory.idle.wait()
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    assert shared.entry(1).watchers == 1
    assert not two.done()
    two.cancel()
    await asyncio.gather(two, return_exceptions=True)
    assert shared.poller._watched == {}
    await shared.close()


async def test_closing_ends_the_waits() -> None:
    memory = Memory({"1": "RUNNING"}, hang=True)
    shared = watch(memory)
    task = asyncio.create_task(shared.wait([1]))
    await memory.idle.wait()
    await shared.close()
    with pytest.raises(SlurmError, match="closed during a wait"):
        await task
    await shared.close()
