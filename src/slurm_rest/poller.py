"""One watcher for all jobs of a client: every waiter shares its requests.

A tick asks for the states of all registered ids in one request. Outages keep the last known state and go on; only
what can never come right (a refused token, a wrong setting) ends the waits with its error.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from .errors import AccountingDown, ControllerDown, JobNotFound, SlurmError, TransportError, WaitTimeout
from .states import JobState
from .transport.base import StateRow, StatusSource

__all__ = ["Poller", "Watched"]

log = logging.getLogger("slurm_rest")

_OUTAGES = (TransportError, ControllerDown, AccountingDown)
# How long an id may be unknown to controller and accounting before it counts as gone: a fresh job reaches
# slurmdbd within 50 ms on 24.11 and 26.05, and within a second on 22.05.
_GRACE = 5.0


@dataclass(slots=True)
class Watched:
    """What the poller knows of one id. ``stale_since`` is set while Slurm gives no answer about it."""

    job_id: int
    state: JobState = field(default_factory=lambda: JobState.parse(None))
    members: dict[tuple[int | None, int | None], JobState] = field(default_factory=dict)
    stale_since: float | None = None
    missing_since: float | None = None
    # Members vanished before they ended: cancelled while pending (which leaves no trace), or ended and forgotten.
    incomplete: bool = False
    error: Exception | None = None
    watchers: int = 0

    @property
    def is_over(self) -> bool:
        """True when there is nothing more to learn."""
        return self.state.is_terminal or self.error is not None


class Poller:
    """Watches ids through one transport. ``fastest`` and ``slowest`` bound the seconds between two ticks."""

    def __init__(self, transport: StatusSource, *, fastest: float = 0.25, slowest: float = 10.0) -> None:
        self._transport = transport
        self._fastest, self._slowest = fastest, slowest
        self._interval = fastest
        self._watched: dict[int, Watched] = {}
        self._task: asyncio.Task[None] | None = None
        # Replaced at each tick, so that a waiter that took it before looking cannot miss the next one.
        self._news = asyncio.Event()
        self._wake = asyncio.Event()

    async def wait(
        self,
        ids: Iterable[int],
        timeout: float | None = None,
        on_change: Callable[[Mapping[int, JobState]], None] | None = None,
    ) -> dict[int, JobState]:
        """Wait until all ids are over and return their states; ``on_change`` is called whenever one moves.

        Raises WaitTimeout after ``timeout`` seconds, and the error of an id that can never be known.
        """
        wanted = list(dict.fromkeys(ids))
        deadline = None if timeout is None else time.monotonic() + timeout
        async with self._registered(wanted) as entries:
            shown: dict[int, JobState] = {}
            while True:
                news = self._news
                now = {entry.job_id: entry.state for entry in entries}
                if on_change is not None and now != shown:
                    on_change(now)
                shown = now
                failed = next((entry.error for entry in entries if entry.error), None)
                if failed is not None:
                    raise failed
                if all(entry.is_over for entry in entries):
                    return now
                await _until(news, deadline, entries)

    async def wait_member(
        self, job_id: int, key: tuple[int | None, int | None], timeout: float | None = None
    ) -> JobState:
        """Wait until one member of an array or het job is over; ``key`` is its task id and component offset."""
        deadline = None if timeout is None else time.monotonic() + timeout
        async with self._registered([job_id]) as entries:
            while True:
                news = self._news
                (entry,) = entries
                state = entry.members.get(key)
                if state is not None and state.is_terminal:
                    return state
                if entry.error is not None:
                    raise entry.error
                if entry.is_over:
                    return state or entry.state
                await _until(news, deadline, entries)

    @asynccontextmanager
    async def _registered(self, ids: list[int]) -> AsyncIterator[list[Watched]]:
        entries = [self._watched.setdefault(job_id, Watched(job_id)) for job_id in ids]
        for entry in entries:
            entry.watchers += 1
        self._interval = self._fastest
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="slurm_rest poller")
        try:
            yield entries
        finally:
            for entry in entries:
                entry.watchers -= 1
                if not entry.watchers:
                    self._watched.pop(entry.job_id, None)
            if not self._watched:
                self._wake.set()

    async def close(self) -> None:
        """Stop watching."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        for entry in self._watched.values():
            entry.error = entry.error or SlurmError("The client was closed during a wait", hint="The jobs go on.")
        self._news.set()

    async def _run(self) -> None:
        while self._watched:
            self._wake.clear()
            moved = await self._tick()
            news, self._news = self._news, asyncio.Event()
            news.set()
            self._interval = self._fastest if moved else min(self._interval * 1.5, self._slowest)
            # Never two ticks closer than the fastest interval, however many new waiters knock.
            await asyncio.sleep(self._fastest)
            rest = self._interval * random.uniform(0.9, 1.1) - self._fastest  # noqa: S311  # jitter, no secret
            if rest > 0 and self._watched:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), rest)

    async def _tick(self) -> bool:
        """Ask once for all; return whether anything moved."""
        entries = [entry for entry in self._watched.values() if not entry.is_over]
        if not entries:
            return False
        moved, concerned = False, entries
        try:
            moved = self._take(entries, await self._transport.states([entry.job_id for entry in entries]))
            concerned = [entry for entry in entries if entry.missing_since is not None]
            if concerned:
                moved = await self._look_elsewhere(concerned) or moved
        except _OUTAGES as error:
            self._mark_stale(concerned, error)
        except Exception as error:
            # Whatever it is, a wait must end with it instead of hanging.
            for entry in concerned:
                entry.error = error
            return True
        return moved

    def _take(self, entries: list[Watched], rows: list[StateRow]) -> bool:
        members: dict[int, dict[tuple[int | None, int | None], JobState]] = {}
        for row in rows:
            members.setdefault(row.job_id, {})[row.task_id, row.offset] = row.state
        moved = False
        for entry in entries:
            found = members.get(entry.job_id)
            entry.stale_since = None
            if not found:
                entry.missing_since = entry.missing_since or time.monotonic()
                continue
            # Tasks that left the controller before the others keep the state they ended in.
            ended = {key: state for key, state in entry.members.items() if state.is_terminal}
            entry.incomplete = entry.incomplete or any(key not in found and key not in ended for key in entry.members)
            entry.members = ended | found
            state = JobState.combine(entry.members.values())
            if entry.incomplete and state.is_terminal:
                entry.missing_since = entry.missing_since or time.monotonic()
                continue
            entry.missing_since = None
            moved = moved or state != entry.state
            entry.state = state
        return moved

    async def _look_elsewhere(self, entries: list[Watched]) -> bool:
        """Ask for full records, which come from accounting for jobs that left the controller."""
        members: dict[int, list[JobState]] = {}
        for record in await self._transport.describe([entry.job_id for entry in entries], ended=True):
            for job_id in {record.id, record.array_job_id, record.het_job_id}:
                if job_id and not record.state.is_pending:
                    members.setdefault(job_id, []).append(record.state)
        moved = False
        for entry in entries:
            found = members.get(entry.job_id)
            if found:
                state = JobState.combine(found)
                moved = moved or state != entry.state
                entry.state = state
                entry.missing_since = None if state.is_terminal else entry.missing_since
            elif entry.missing_since is not None and time.monotonic() - entry.missing_since > _GRACE:
                hint = "Neither the controller nor accounting knows it."
                entry.error = JobNotFound(f"There is no job {entry.job_id}", hint=hint)
                moved = True
        return moved

    def _mark_stale(self, entries: list[Watched], error: SlurmError) -> None:
        fresh = [entry for entry in entries if entry.stale_since is None]
        for entry in fresh:
            entry.stale_since = time.time()
        if fresh:
            log.warning("No news of %d jobs, keeping what is known: %s", len(fresh), error.message)


async def _until(news: asyncio.Event, deadline: float | None, entries: list[Watched]) -> None:
    """Wait for the next tick; raise WaitTimeout when the deadline comes first."""
    remaining = None if deadline is None else deadline - time.monotonic()
    if remaining is None or remaining > 0:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(news.wait(), remaining)
            return
    open_ids = [entry.job_id for entry in entries if not entry.is_over]
    names = ", ".join(map(str, open_ids[:5])) + (", ..." if len(open_ids) > 5 else "")
    raise WaitTimeout(f"Not over in time: {names}", job_ids=open_ids, hint="The jobs go on.")
