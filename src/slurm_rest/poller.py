"""One watcher for all jobs of a client: every waiter shares its requests.

A tick asks for the states of all followed ids in one request, and for the full records of those that ended or left in
another one. Outages keep the last known state and go on; only what can never come right (a refused token, a wrong
setting) ends the waits with its error.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timezone

from .ends import EndReader
from .errors import (
    AccountingDown,
    CommandMissing,
    ControllerDown,
    HostKeyError,
    SlurmError,
    TransportError,
)
from .exit_files import ExitReader
from .followed import WHOLE, Followed, Moment
from .heard import Heard
from .jitter import spread
from .rounds import Round
from .rows import combined
from .states import JobState
from .transport.base import StateRow, StatusSource
from .watched import Watched
from .within import within

__all__ = ["Clock", "Poller"]

log = logging.getLogger("slurm_rest")

_OUTAGES = (TransportError, ControllerDown, AccountingDown)
# These do not go by: somebody has to trust the host's key, or install Slurm there.
_LASTING = (HostKeyError, CommandMissing)
# How many ids a tick asks accounting for at most when it has to find out whether they are still the same jobs.
_SUSPECTS = 100
# How many jobs that nobody follows the poller keeps in mind, for reads that take an older answer.
_REMEMBERED = 20_000
# How long an answer may take before what is known counts as old: slurmrestd takes 10 to 40 s to say that slurmctld is
# away, and the states of a full queue take it half a second.
_OVERDUE = 5.0
_WAITED = "no answer yet"

_Step = Callable[[list[Watched]], Awaitable[bool]]


class Clock:
    """Time as the poller sees it, so that tests can have their own."""

    def now(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    async def pause(self, seconds: float, wake: asyncio.Event | None = None) -> None:
        """Wait that long, or until ``wake`` is set."""
        if wake is None:
            await asyncio.sleep(seconds)
        else:
            with contextlib.suppress(TimeoutError):
                await within(seconds, wake.wait())


class Poller:
    """Follows jobs through one transport. ``fastest`` and ``slowest`` bound the seconds between two ticks.

    What takes longer than ``overdue`` seconds to answer makes the last known state stale meanwhile.
    """

    def __init__(
        self,
        transport: StatusSource,
        *,
        fastest: float = 0.25,
        slowest: float = 10.0,
        clock: Clock | None = None,
        exits: ExitReader | None = None,
        overdue: float = _OVERDUE,
    ) -> None:
        self.clock = clock or Clock()
        self.overdue = overdue
        self.ticks = 0
        # Set at each tick, and when anything may be known that was not before. Both are replaced then: a waiter that
        # took one before looking cannot miss the next.
        self.ticked = asyncio.Event()
        self.news = asyncio.Event()
        self._listeners: dict[asyncio.Future[None], Callable[[], bool]] = {}
        self._transport = transport
        self.ends = EndReader(transport, exits, lambda: self.clock.now(), self._mark_stale)
        self._fastest, self._slowest = fastest, slowest
        self._interval = fastest
        self._watched: dict[tuple[int, str], Watched] = {}
        self._heard = Heard(_REMEMBERED)
        self._begun = 0
        self._outage = False
        self._round: Round | None = None
        # Whether the jobs that are followed, or what is known of them, were changed by something else than a tick.
        self._disturbed = False
        self._away_since: datetime | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    @asynccontextmanager
    async def follow(self, targets: Sequence[Followed]) -> AsyncIterator[list[Watched]]:
        """Follow these for as long as the block runs; yield what is known of each, in the same order."""
        entries = [self.enter(target) for target in targets]
        try:
            yield entries
        finally:
            for entry, target in zip(entries, targets, strict=True):
                self.leave(entry, target)

    def enter(self, target: Followed) -> Watched:
        """Follow one until ``leave``; return what is known of it."""
        name = (target.identity.job_id, target.identity.key)
        entry = self._watched.get(name)
        if entry is None:
            entry = self._watched[name] = Watched(target.identity)
        entry.watchers += 1
        if target.member != WHOLE:
            entry.member_watchers[target.member] = entry.member_watchers.get(target.member, 0) + 1
        self._disturbed = True
        self._interval = self._fastest
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="slurm_rest poller")
        return entry

    def leave(self, entry: Watched, target: Followed) -> None:
        """Follow one no longer that ``enter`` gave."""
        self._leave(entry, target)
        if not self._watched:
            self._wake.set()

    def _leave(self, entry: Watched, target: Followed) -> None:
        # What is over is no part of the next tick anyway.
        self._disturbed = self._disturbed or not entry.is_over
        entry.watchers -= 1
        if target.member != WHOLE:
            entry.member_watchers[target.member] -= 1
        if not entry.watchers:
            self._watched.pop((target.identity.job_id, target.identity.key), None)
            if entry.told is not None and not entry.replaced:
                self._heard.note(entry.told.now, {entry.job_id: entry.state})

    async def whole_tick(self) -> None:
        """Wait until a tick that began after this call has ended."""
        begun = self._begun
        while self.ticks <= begun:
            ticked = self.ticked
            await ticked.wait()

    async def until(self, is_told: Callable[[], bool], timeout: float) -> None:
        """Wait for the tick after which ``is_told``, no longer than ``timeout`` seconds.

        Thousands may wait at once: each costs no task, and wakes up once.
        """
        if is_told():
            return
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        self._listeners[told] = is_told
        timer = loop.call_later(timeout, _wake, told)
        try:
            await told
        finally:
            timer.cancel()
            self._listeners.pop(told, None)

    async def states(self, ids: Iterable[int], max_age: float = 0.0) -> dict[int, JobState]:
        """Return the states of these ids; what is not older than ``max_age`` seconds is not asked for again."""
        now = self.clock.now()
        wanted = list(dict.fromkeys(ids))
        known: dict[int, JobState] = {}
        if max_age > 0:
            for entry in self._watched.values():
                if entry.told is not None and not entry.replaced:
                    self._heard.note(entry.told.now, {entry.job_id: entry.state})
            known = self._heard.since(now - max_age, wanted)
        asked = [job_id for job_id in wanted if job_id not in known] if known else wanted
        if asked:
            told = combined(await self._rows(asked))
            self._heard.note(self.clock.now(), told)
            known.update(told)
        return {job_id: known[job_id] for job_id in wanted if job_id in known}

    def stale_since(self, target: Followed | None) -> datetime | None:
        """Return since when there is no news of one that is followed, else since when no question is answered."""
        entry = None if target is None else self._watched.get((target.identity.job_id, target.identity.key))
        return self._away_since if entry is None else entry.stale_since

    async def _rows(self, ids: Collection[int]) -> list[StateRow]:
        """Ask for states, and note whether anybody answers."""
        try:
            rows = await self._transport.states(ids)
        except _OUTAGES as error:
            if not isinstance(error, _LASTING):
                self._away_since = self._away_since or datetime.now(timezone.utc)
            raise
        self._away_since = None
        return rows

    async def close(self) -> None:
        """Stop following."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        for entry in self._watched.values():
            entry.error = entry.error or SlurmError("The client was closed during a wait", hint="The jobs go on.")
        self._begun += 1
        self._disturbed = True
        self._tell(news=True)

    def _tell(self, *, news: bool) -> None:
        self.ticks = self._begun
        if news:
            self._wake_waiters()
        else:
            self.ticked = _rung(self.ticked)

    def _wake_waiters(self) -> None:
        self.ticked, self.news = _rung(self.ticked), _rung(self.news)
        for told, is_told in self._listeners.items():
            if is_told():
                _wake(told)

    # --- ticking --------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._watched:
            self._wake.clear()
            self._begun += 1
            moved, news = await self._tick()
            self._tell(news=news)
            self._interval = self._fastest if moved else min(self._interval * 1.5, self._slowest)
            # Never two ticks closer than the fastest interval, however many new waiters knock.
            await self.clock.pause(self._fastest)
            rest = self._interval * spread(0.9, 1.1) - self._fastest
            if rest > 0 and self._watched:
                await self.clock.pause(rest, self._wake)
        self._round = None

    async def _tick(self) -> tuple[bool, bool]:
        """Ask once for all; return whether anything moved, and whether anything may be known that was not before."""
        around, self._round = None if self._disturbed else self._round, None
        self._disturbed = False
        if around is None:
            around = Round([entry for entry in self._watched.values() if not entry.is_over])
        moved = await self._guarded(around.asked, functools.partial(self._ask_states, around))
        if self._outage:
            return moved, True
        news = bool(around.looked)
        entries = around.narrow()
        suspects = [entry for entry in entries if entry.suspect and not entry.is_over][:_SUSPECTS]
        moved = await self._guarded(suspects, self.ends.compare) or moved
        ended = [entry for entry in entries if not entry.replaced and (entry.wants_record or entry.ended_members())]
        moved = await self._guarded(ended, self.ends.records) or moved
        replaced = [entry for entry in entries if entry.replaced and not entry.is_over]
        moved = await self._guarded(replaced, self.ends.replaced) or moved
        self._round = around if around.is_kept() else None
        return moved, news

    async def _guarded(self, entries: list[Watched], step: _Step) -> bool:
        if not entries:
            return False
        asked = datetime.now(timezone.utc)
        overdue = asyncio.get_running_loop().call_later(self.overdue, self._say_overdue, entries, asked)
        try:
            return await step(entries)
        except Exception as error:
            if isinstance(error, _OUTAGES) and not isinstance(error, _LASTING):
                self._mark_stale(entries, error, asked)
                return False
            # Whatever it is, a wait must end with it instead of hanging.
            for entry in entries:
                entry.error = error
            return True
        finally:
            overdue.cancel()

    def _say_overdue(self, entries: list[Watched], asked: datetime) -> None:
        """Let waiters know that an answer takes long, before it is known what has become of it."""
        waiting = [entry for entry in entries if entry.stale_since is None and not entry.state.is_terminal]
        for entry in waiting:
            entry.stale_since, entry.stale_reason = asked, _WAITED
        if waiting:
            self._disturbed = True
            self._away_since = self._away_since or asked
            self._wake_waiters()

    async def _ask_states(self, around: Round, _: list[Watched]) -> bool:
        before, self._outage = self._outage, True
        rows = await self._rows(around.ids)
        self._outage = False
        moment = Moment(self.clock.now(), datetime.now(timezone.utc))
        moved = around.take(rows, moment, anew=self._disturbed)
        for entry in around.looked:
            if before or entry.suspect:
                # Ids may have been given anew by a controller that came back without its saved state.
                entry.suspect = entry.identity.is_pinned
        return moved

    def _mark_stale(self, entries: list[Watched], error: SlurmError, asked: datetime | None = None) -> None:
        # A job whose end the controller told lacks its record, but no news.
        live = [entry for entry in entries if not entry.state.is_terminal]
        fresh = [entry for entry in live if entry.stale_since is None or entry.stale_reason == _WAITED]
        for entry in entries:
            entry.nobody_since = None
            entry.stale_reason = error.message
        for entry in fresh:
            entry.stale_since = entry.stale_since or asked or datetime.now(timezone.utc)
        if fresh:
            log.warning("No news of %d jobs, keeping what is known: %s", len(fresh), error.message)


def _rung(bell: asyncio.Event) -> asyncio.Event:
    bell.set()
    return asyncio.Event()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
