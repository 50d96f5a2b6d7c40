"""What callers do with the poller: wait for all, take jobs as they end, or see every change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .errors import SlurmError, WaitTimeout
from .followed import WHOLE, Followed
from .identity import MemberKey
from .models import JobInfo
from .poller import Poller
from .states import JobState
from .watched import Watched
from .within import within

__all__ = ["Display", "JobChange", "Parts", "States", "as_completed", "wait", "watch"]

States = Mapping[int | str, JobState]
OnChange = Callable[[States], None]
Parts = Mapping[int | str, tuple[int, int]]


class Display(Protocol):
    """Shows how a wait is going."""

    def show(self, states: States, parts: Parts) -> None:
        """Take new states of all, and for each array how many of its tasks are over, and how many there are."""

    def stale(self, since: datetime | None) -> None:
        """Take since when there is no news, None when there is some again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """One thing that happened to a job, as the next tick found it; states between two ticks are not seen.

    ``label`` is the id as Slurm shows it. ``previous`` is None in the first change of each job. ``stale_since`` is set
    while Slurm gives no answer: then ``state`` is the last known. ``restarts`` counts the times it was seen to start
    anew under its id. ``record`` is the final record and comes with the last change, unless ``error`` says why there
    is none.
    """

    job_id: int
    task_id: int | None = None
    offset: int | None = None
    label: str
    state: JobState
    previous: JobState | None = None
    stale_since: datetime | None = None
    restarts: int = 0
    record: JobInfo | None = None
    error: SlurmError | None = None

    @property
    def is_last(self) -> bool:
        """True when nothing more will come of this job."""
        return self.record is not None or self.error is not None


async def wait(
    poller: Poller,
    targets: Sequence[Followed],
    timeout: float | None = None,
    on_change: OnChange | None = None,
    display: Display | None = None,
) -> list[JobInfo]:
    """Wait until all are over and return their final records, in order; raises the first error among them.

    ``on_change`` gets the states of all whenever one moves.
    """
    deadline = _Deadline(poller, timeout)
    shown: States | None = None
    drawn: tuple[States, Parts] | None = None
    stale: datetime | None = None
    async with poller.follow(targets) as entries:
        while True:
            news = poller.news
            now = _states(targets, entries) if on_change is not None or display is not None else {}
            if display is not None:
                seen = (now, _parts(targets, entries))
                if seen != drawn:
                    display.show(*seen)
                since = min((entry.stale_since for entry in entries if entry.stale_since), default=None)
                if since != stale:
                    display.stale(since)
                drawn, stale = seen, since
            if on_change is not None and now != shown:
                on_change(now)
            shown = now
            for target, entry in zip(targets, entries, strict=True):
                failed = entry.error_for(target.member)
                if failed is not None:
                    raise failed
            if all(entry.is_over_for(target.member) for target, entry in zip(targets, entries, strict=True)):
                return [entry.outcome(target.member) for target, entry in zip(targets, entries, strict=True)]
            await deadline.next(news, targets, entries)


async def as_completed(
    poller: Poller, targets: Sequence[Followed], timeout: float | None = None
) -> AsyncGenerator[tuple[Followed, JobInfo], None]:
    """Yield each with its final record as it ends. The first error among them is raised after all others."""
    deadline = _Deadline(poller, timeout)
    failed: SlurmError | None = None
    async with poller.follow(targets) as entries:
        waiting = dict(enumerate(zip(targets, entries, strict=True)))
        while True:
            news = poller.news
            ended = [place for place, (target, entry) in waiting.items() if entry.is_over_for(target.member)]
            for place in ended:
                target, entry = waiting.pop(place)
                try:
                    record = entry.outcome(target.member)
                except SlurmError as error:
                    failed = failed or error
                else:
                    yield target, record
            if not waiting:
                break
            if not ended:
                await deadline.next(news, [one for one, _ in waiting.values()], [one for _, one in waiting.values()])
    if failed is not None:
        raise failed


async def watch(
    poller: Poller, targets: Sequence[Followed], timeout: float | None = None
) -> AsyncGenerator[JobChange, None]:
    """Yield every change that a tick finds, first the present state of each, until all are over."""
    deadline = _Deadline(poller, timeout)
    shown: dict[int, JobChange] = {}
    async with poller.follow(targets) as entries:
        while True:
            news = poller.news
            for place, (target, entry) in enumerate(zip(targets, entries, strict=True)):
                before = shown.get(place)
                change = _change(target, entry, before)
                if change is not None:
                    shown[place] = change
                    yield change
            if len(shown) == len(targets) and all(change.is_last for change in shown.values()):
                return
            await deadline.next(news, targets, entries)


def _change(target: Followed, entry: Watched, before: JobChange | None) -> JobChange | None:
    state, member = entry.state_of(target.member), target.member
    over = entry.is_over_for(member)
    if before is None and entry.told is None and entry.stale_since is None and not over:
        return None
    if before is not None:
        seen = (before.state, before.stale_since, before.restarts, before.is_last)
        if before.is_last or seen == (state, entry.stale_since, entry.restarts, over):
            return None
    record, error = _outcome(entry, member) if over else (None, None)
    return JobChange(
        job_id=entry.job_id,
        task_id=member[0],
        offset=member[1],
        label=target.label,
        state=record.state if record else state,
        previous=before.state if before else None,
        stale_since=entry.stale_since,
        restarts=entry.restarts,
        record=record,
        error=error,
    )


def _outcome(entry: Watched, member: MemberKey) -> tuple[JobInfo | None, SlurmError | None]:
    try:
        return entry.outcome(member), None
    except SlurmError as error:
        return None, error


def _states(targets: Sequence[Followed], entries: Sequence[Watched]) -> States:
    return {target.key: entry.state_of(target.member) for target, entry in zip(targets, entries, strict=True)}


def _parts(targets: Sequence[Followed], entries: Sequence[Watched]) -> Parts:
    arrays = {
        target.key: [state.is_terminal for (task, _), state in entry.members.items() if task is not None]
        for target, entry in zip(targets, entries, strict=True)
        if target.member == WHOLE and len(entry.members) > 1
    }
    return {key: (sum(over), len(over)) for key, over in arrays.items() if over}


class _Deadline:
    """When a wait has to end. A time of 0 allows one question, however long its answer takes."""

    def __init__(self, poller: Poller, timeout: float | None) -> None:
        self._poller = poller
        self._at = None if timeout is None else poller.clock.now() + timeout
        self._once = timeout is not None and timeout <= 0

    async def next(self, news: asyncio.Event, targets: Sequence[Followed], entries: Sequence[Watched]) -> None:
        """Wait for news that the poller tells by this event; raises WaitTimeout when the deadline comes first."""
        if self._once:
            self._once = False
            await self._poller.whole_tick()
            return
        while (remaining := self._remaining()) is None or remaining > 0:
            if not news.is_set():
                # The poller's clock may be ahead of the loop's: it is looked at after each tick.
                event = news if remaining is None else self._poller.ticked
                with contextlib.suppress(TimeoutError):
                    await within(remaining, event.wait())
            if news.is_set():
                return
        pairs = zip(targets, entries, strict=True)
        waiting = [target for target, entry in pairs if not entry.is_over_for(target.member)]
        names = ", ".join(target.label for target in waiting[:5]) + (", ..." if len(waiting) > 5 else "")
        ids = dict.fromkeys(target.identity.job_id for target in waiting)
        raise WaitTimeout(f"Not over in time: {names}", job_ids=ids, hint="The jobs go on.")

    def _remaining(self) -> float | None:
        return None if self._at is None else self._at - self._poller.clock.now()
