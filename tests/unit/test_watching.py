"""Jobs as they end, every change, time-outs of nothing, and reads that share what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing
from datetime import datetime

import pytest

from slurm_rest import watched
from slurm_rest.errors import JobNotFound, Unreachable, WaitTimeout
from slurm_rest.followed import Followed, Moment
from slurm_rest.identity import Identity, MemberKey, member_key
from slurm_rest.models import JobInfo
from slurm_rest.states import JobState
from slurm_rest.transport.base import StateRow
from slurm_rest.watched import Watched
from slurm_rest.watching import JobChange, Parts, States, as_completed, wait, watch

from . import memory
from .memory import Memory


def jobs(*ids: int) -> list[Followed]:
    return [Followed(Identity(job_id)) for job_id in ids]


async def changes(source: Memory, *targets: Followed, timeout: float | None = None) -> list[JobChange]:
    return [change async for change in watch(memory.watch(source).poller, targets, timeout)]


def brief(found: list[JobChange]) -> list[str]:
    return [f"{change.label} {change.state}{'!' if change.is_last else ''}" for change in found]


# --- as they end ----------------------------------------------------------------------------------------------


async def test_records_come_as_their_jobs_end() -> None:
    source = Memory(
        {"1": "RUNNING", "2": "FAILED", "3": "PENDING"},
        {"1": "RUNNING", "3": "RUNNING"},
        {"1": "RUNNING", "3": "COMPLETED"},
        {"1": "TIMEOUT"},
    )
    found = [
        (target.label, str(record.state))
        async for target, record in as_completed(memory.watch(source).poller, jobs(1, 2, 3))
    ]
    assert found == [("2", "FAILED"), ("3", "COMPLETED"), ("1", "TIMEOUT")]
    assert source.looked == [[2], [3], [1]]


def test_the_records_of_an_array_are_not_gone_through_for_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def counted(record: JobInfo) -> MemberKey:
        nonlocal looked
        looked += 1
        return member_key(record)

    done, tasks = JobState.parse("COMPLETED"), range(1000)
    array = Watched(Identity(7))
    array.take({(task, None): done for task in tasks}, Moment(1.0, datetime.now().astimezone()))
    array.settle([JobInfo(id=7, state=done, array_job_id=7, array_task_id=task) for task in tasks], 1.0)
    monkeypatch.setattr(watched, "member_key", counted)
    assert [array.outcome((task, None)).array_task_id for task in tasks] == list(tasks)
    assert looked <= 2 * len(tasks)


async def test_an_error_comes_after_all_others() -> None:
    source = Memory({"2": "RUNNING"}, *[{"2": "RUNNING"}] * 6, {"2": "COMPLETED"}, looks=[{}])
    ending = as_completed(memory.watch(source).poller, jobs(1, 2))
    assert [(await anext(ending))[0].label] == ["2"]
    with pytest.raises(JobNotFound, match="no job 1"):
        await anext(ending)


async def test_tasks_and_jobs_together() -> None:
    source = Memory(
        {"10_1": "RUNNING", "10_2": "FAILED", "5": "RUNNING"},
        {"10_1": "COMPLETED", "10_2": "FAILED", "5": "RUNNING"},
        {"10_1": "COMPLETED", "10_2": "FAILED", "5": "COMPLETED"},
    )
    targets = [Followed(Identity(10), (1, None)), *jobs(5), Followed(Identity(10), (2, None))]
    found = [target.label async for target, _ in as_completed(memory.watch(source).poller, targets)]
    assert found == ["10_2", "10_1", "5"]


async def test_leaving_early_ends_the_following() -> None:
    shared = memory.watch(Memory({"1": "COMPLETED", "2": "RUNNING"}))
    async with aclosing(as_completed(shared.poller, jobs(1, 2))) as ending:
        async for target, _ in ending:
            assert target.label == "1"
            break
    assert shared.poller._watched == {}
    await shared.close()


# --- every change ---------------------------------------------------------------------------------------------


async def test_every_change_is_told_and_the_last_has_the_record() -> None:
    words = ["PENDING", "RUNNING", "RUNNING", "COMPLETED+COMPLETING", "COMPLETED"]
    found = await changes(Memory(*({"1": word} for word in words)), *jobs(1))
    assert brief(found) == ["1 PENDING", "1 RUNNING", "1 COMPLETED+COMPLETING", "1 COMPLETED!"]
    assert [str(change.previous) for change in found] == ["None", "PENDING", "RUNNING", "COMPLETED+COMPLETING"]
    assert found[-1].record is not None
    assert found[-1].record.id == 1


async def test_a_requeue_is_a_change_under_the_same_id() -> None:
    words = ["RUNNING", "PENDING+COMPLETING", "PENDING", "RUNNING", "FAILED"]
    found = await changes(Memory(*({"1": word} for word in words)), *jobs(1))
    assert [(str(change.state), change.restarts) for change in found] == [
        ("RUNNING", 0),
        ("PENDING+COMPLETING", 1),
        ("PENDING", 1),
        ("RUNNING", 1),
        ("FAILED", 1),
    ]
    assert [change.is_last for change in found] == [False] * 4 + [True]


async def test_an_outage_and_its_end_are_changes() -> None:
    source = Memory({"1": "RUNNING"}, Unreachable("x"), Unreachable("x"), {"1": "RUNNING"}, {"1": "COMPLETED"})
    found = await changes(source, *jobs(1))
    assert [(str(change.state), change.stale_since is not None) for change in found] == [
        ("RUNNING", False),
        ("RUNNING", True),
        ("RUNNING", False),
        ("COMPLETED", False),
    ]


async def test_an_outage_from_the_start_is_told() -> None:
    found = await changes(Memory(Unreachable("x"), {"1": "COMPLETED"}), *jobs(1))
    assert brief(found) == ["1 UNKNOWN", "1 COMPLETED!"]
    assert found[0].stale_since is not None


async def test_the_error_of_one_job_does_not_end_the_others() -> None:
    source = Memory({"2": "RUNNING"}, *[{"2": "RUNNING"}] * 6, {"2": "COMPLETED"}, looks=[{}])
    found = await changes(source, *jobs(1, 2))
    last = {change.label: change for change in found if change.is_last}
    assert isinstance(last["1"].error, JobNotFound)
    assert last["2"].record is not None


async def test_the_members_of_an_array_are_watched_by_their_labels() -> None:
    source = Memory(
        {"10_1": "RUNNING", "10_2": "PENDING"},
        {"10_1": "COMPLETED", "10_2": "RUNNING"},
        {"10_1": "COMPLETED", "10_2": "FAILED"},
    )
    found = await changes(source, Followed(Identity(10), (1, None)), Followed(Identity(10), (2, None)))
    assert brief(found) == ["10_1 RUNNING", "10_2 PENDING", "10_1 COMPLETED!", "10_2 RUNNING", "10_2 FAILED!"]
    assert [(change.task_id, change.offset) for change in found[:2]] == [(1, None), (2, None)]


async def test_a_watch_runs_out() -> None:
    with pytest.raises(WaitTimeout, match="1"):
        await changes(Memory({"1": "RUNNING"}), *jobs(1), timeout=3)


async def test_the_same_answer_again_wakes_nobody() -> None:
    """But it is an answer: what is known is as old as that, and a wait with a time looks at its clock."""
    source = Memory({"1": "RUNNING", "2": "PENDING"}, *[{"1": "RUNNING", "2": "PENDING"}] * 5, {"1": "COMPLETED"})
    shared = memory.watch(source)
    woken = 0
    task = asyncio.create_task(wait(shared.poller, jobs(1)))
    other = asyncio.create_task(wait(shared.poller, jobs(2), timeout=4))
    ages: list[datetime | None] = []
    while shared.poller.ticks < 5:
        news = shared.poller.news
        ticked = shared.poller.ticked
        await ticked.wait()
        woken += news.is_set()
        ages.append(shared.entry(1).heard_at)
    assert woken <= 3, "the first answer, and the other one leaves"
    assert len(set(ages)) == len(ages)
    with pytest.raises(WaitTimeout):
        await other
    assert str((await task)[0].state) == "COMPLETED"


async def test_who_comes_and_goes_between_the_same_answers() -> None:
    source = Memory(*[{"1": "RUNNING", "2": "COMPLETED", "3": "RUNNING"}] * 50, hang=True)
    shared = memory.watch(source)
    first = asyncio.create_task(wait(shared.poller, jobs(1)))
    while shared.poller.ticks < 3:
        await shared.poller.whole_tick()
    assert [str(info.state) for info in await wait(shared.poller, jobs(2))] == ["COMPLETED"]
    leaving = asyncio.create_task(wait(shared.poller, jobs(3)))
    await shared.poller.whole_tick()
    await shared.poller.whole_tick()
    assert source.asked[-1] == [1, 3]
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await shared.poller.whole_tick()
    await shared.poller.whole_tick()
    assert source.asked[-1] == [1]
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await shared.close()


async def test_the_same_answer_that_came_late_ends_the_doubt() -> None:
    class Late(Memory):
        held = asyncio.Event()

        async def states(self, ids: Collection[int]) -> list[StateRow]:
            if len(self.asked) == 3:
                await self.held.wait()
            return await super().states(ids)

    source = Late(*[{"1": "RUNNING"}] * 50, hang=True)
    shared = memory.watch(source)
    shared.poller.overdue = 0.01
    waiting = asyncio.create_task(wait(shared.poller, jobs(1)))
    while len(source.asked) < 3 or shared.entry(1).stale_since is None:
        await asyncio.wait_for(shared.poller.news.wait(), 120)
    news = shared.poller.news
    source.held.set()
    await asyncio.wait_for(news.wait(), 120)
    assert (shared.entry(1).stale_since, len(source.asked)) == (None, 4)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await shared.close()


# --- time-outs and callbacks ----------------------------------------------------------------------------------


async def test_a_time_of_nothing_asks_once() -> None:
    source = Memory({"1": "RUNNING", "2": "COMPLETED"}, hang=True)
    shared = memory.watch(source)
    with pytest.raises(WaitTimeout) as caught:
        await wait(shared.poller, jobs(1, 2), timeout=0)
    assert caught.value.job_ids == (1,)
    assert source.asked == [[1, 2]]
    await shared.close()


async def test_a_time_of_nothing_does_not_trust_an_older_tick() -> None:
    source = Memory({"1": "RUNNING"}, {"1": "RUNNING"}, {"1": "COMPLETED"})
    shared = memory.watch(source)
    first = asyncio.create_task(wait(shared.poller, jobs(1)))
    await source.twice.wait()
    (record,) = await wait(shared.poller, jobs(1), timeout=0)
    assert record.state.is_success
    await first


async def test_a_time_of_nothing_ends_when_the_client_is_closed() -> None:
    source = Memory(hang=True)
    shared = memory.watch(source)
    waiting = asyncio.create_task(wait(shared.poller, jobs(1), timeout=0))
    await source.idle.wait()
    await shared.close()
    with pytest.raises(Exception, match="closed during a wait"):
        await waiting


class Seen:
    """A display that keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[dict[int | str, str], Parts]] = []
        self.outages: list[bool] = []

    def show(self, states: States, parts: Parts) -> None:
        """Keep the states as words."""
        self.shown.append(({key: str(state) for key, state in states.items()}, parts))

    def stale(self, since: datetime | None) -> None:
        """Keep whether there is an outage."""
        self.outages.append(since is not None)


async def test_a_display_sees_the_tasks_of_an_array_end_one_by_one() -> None:
    running = {"10_1": "RUNNING", "10_2": "RUNNING", "5": "RUNNING"}
    source = Memory(running, running, {**running, "10_2": "FAILED"}, dict.fromkeys(running, "COMPLETED"))
    display = Seen()
    await wait(memory.watch(source).poller, jobs(10, 5), display=display)
    assert [(states.get(10), parts) for states, parts in display.shown if parts] == [
        ("RUNNING", {10: (0, 2)}),
        ("RUNNING", {10: (1, 2)}),
        ("COMPLETED", {10: (2, 2)}),
    ]


async def test_states_of_tasks_are_told_by_label_and_outages_since_when() -> None:
    source = Memory({"10_1": "RUNNING", "5": "RUNNING"}, Unreachable("x"), {"10_1": "FAILED", "5": "COMPLETED"})
    told: list[dict[int | str, str]] = []
    display = Seen()
    await wait(
        memory.watch(source).poller,
        [Followed(Identity(10), (1, None)), *jobs(5)],
        on_change=lambda now: told.append({key: str(state) for key, state in now.items()}),
        display=display,
    )
    assert told[-1] == {"10_1": "FAILED", 5: "COMPLETED"}
    assert {"10_1": "RUNNING", 5: "RUNNING"} in told
    assert display.outages == [True, False]


# --- reads that share -----------------------------------------------------------------------------------------


async def test_a_read_takes_what_is_young_enough() -> None:
    source = Memory({"1": "RUNNING", "2": "PENDING"}, {"2": "COMPLETED"})
    shared = memory.watch(source)
    assert {key: str(state) for key, state in (await shared.poller.states([1, 2])).items()} == {
        1: "RUNNING",
        2: "PENDING",
    }
    shared.clock.time += 30
    assert set(await shared.poller.states([1, 2], max_age=60)) == {1, 2}
    assert source.asked == [[1, 2]]
    assert [str(state) for state in (await shared.poller.states([2], max_age=10)).values()] == ["COMPLETED"]
    assert await shared.poller.states([1]) == {}
    assert source.asked == [[1, 2], [2], [1]]


async def test_a_read_takes_what_a_wait_has_heard() -> None:
    source = Memory({"1": "RUNNING"}, {"1": "RUNNING"}, hang=True)
    shared = memory.watch(source)
    waiting = asyncio.create_task(wait(shared.poller, jobs(1)))
    await source.idle.wait()
    assert str((await shared.poller.states([1], max_age=60))[1]) == "RUNNING"
    assert len(source.asked) == 3
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await shared.close()
