"""Which of several ways to Slurm a request takes, when it goes on to the next, and when the better one is tried again.

No request waits for a way that was given up: a probe in the background finds out whether it answers again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TypeVar

from slurm_rest.errors import ApiError, ConfigError, NoAccounting, SlurmError, Timeout
from slurm_rest.jitter import spread
from slurm_rest.models import TransportHealth
from slurm_rest.within import within

from .base import SlurmTransport
from .breaker import Breaker
from .capabilities import Capabilities
from .conditions import falls_through, is_daemon_away, is_unusable

__all__ = ["Switchboard", "Way"]

log = logging.getLogger("slurm_rest")

T = TypeVar("T")
Falls = Callable[[SlurmError], bool]

# A live slurmrestd answers in milliseconds, or after 10 to 20 s that slurmctld is away; ping/ it answers at once.
_PATIENCE = 10.0
_REACH_SECONDS = 5.0
# A probe makes an authenticated read, which takes a slurmrestd 10 s whose slurmctld is away.
_PROBE_SECONDS = 15.0


@dataclass(slots=True)
class Way:
    """One transport of several. ``guarded``: it came by itself, so it must prove to lead to the same cluster."""

    transport: SlurmTransport
    breaker: Breaker
    guarded: bool = False
    same_cluster: bool = False
    switches: int = 0

    @property
    def name(self) -> str:
        """The transport's name."""
        return self.transport.name


class Switchboard:
    """The ways in the order of preference. ``on_switch`` is told the names of the old and the new one."""

    def __init__(
        self,
        transports: Sequence[SlurmTransport],
        *,
        guarded: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        on_switch: Callable[[str, str], None] | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        self._clock = clock
        self.ways = [
            # Not all clients of a daemon that comes back shall ask for it at once.
            Way(one, Breaker(clock, spread=lambda: spread(0.8, 1.2)), one.name in guarded)
            for one in transports
        ]
        self.current = self.ways[0]
        self._on_switch = on_switch
        self._patience = patience
        self._probes: set[asyncio.Task[None]] = set()
        # Once one way has answered from accounting in place of another that does not serve it.
        self.lends_accounting = False

    def health(self) -> list[TransportHealth]:
        """Return how each way fares."""
        now, moment = self._clock(), datetime.now(timezone.utc)
        return [
            TransportHealth(
                transport=way.name,
                where=way.transport.where,
                state=way.breaker.state,
                reason=way.breaker.reason,
                since=None if way.breaker.changed is None else moment - timedelta(seconds=now - way.breaker.changed),
                active=way is self.current,
                switches=way.switches,
            )
            for way in self.ways
        ]

    async def close(self) -> None:
        """End probes and let go of all connections."""
        for task in self._probes:
            task.cancel()
        await asyncio.gather(*self._probes, return_exceptions=True)
        await asyncio.gather(*(way.transport.close() for way in self.ways))

    # --- one request ----------------------------------------------------------------------------------------

    async def call(
        self,
        ask: Callable[[SlurmTransport], Awaitable[T]],
        *,
        falls: Falls = falls_through,
        can: Callable[[Capabilities], bool] | None = None,
        fits: Callable[[Way], Awaitable[str]] | None = None,
        patient: bool = True,
    ) -> T:
        """Ask over the best way that works; go on to the next after errors that ``falls`` names.

        ``can`` leaves out ways that lack a capability, ``fits`` those for which it returns a reason. With ``patient``
        false the request is never given up before it ends. When no way is left, the error that tells most is raised.
        """
        self._start_probes()
        failed: list[tuple[Way, SlurmError]] = []
        unfit: list[tuple[Way, SlurmError]] = []
        unable: list[Way] = []
        for way in self._order():
            try:
                if way is not self.ways[0]:
                    await self._check(way)
                    reason = await fits(way) if fits is not None else ""
                    if reason:
                        unfit.append((way, ConfigError(reason)))
                        continue
                if can is not None:
                    await self._patiently(way, lambda one: one.target())
                    if not can(way.transport.capabilities):
                        unable.append(way)
                        continue
                result = await (self._patiently(way, ask) if patient else ask(way.transport))
            except SlurmError as error:
                if falls_through(error) or (way is not self.ways[0] and is_unusable(error)):
                    failed.append((way, error))
                    if falls(error) or is_unusable(error):
                        continue
                # Slurm's refusal proves that the way works.
                self._settle(way if isinstance(error, ApiError) else None, failed)
                raise
            self._settle(way, failed)
            return result
        self._settle(None, failed)
        if not failed and unable:
            # The first one says why it cannot.
            return await ask(unable[0].transport)
        raise self._most_telling(failed + unfit)

    def _most_telling(self, failed: Sequence[tuple[Way, SlurmError]]) -> SlurmError:
        """Return the best way's error, or that of a way that answered; what the others said goes into its hint."""

        def rank(one: tuple[Way, SlurmError]) -> tuple[bool, bool, int]:
            # A way to accounting that is away for now may come back, one that was never served does not.
            return isinstance(one[1], ConfigError), isinstance(one[1], NoAccounting), self.ways.index(one[0])

        in_order = sorted(failed, key=rank)
        away = (one for one in in_order if is_daemon_away(one[1]) and not isinstance(one[1], NoAccounting))
        chosen, error = next(away, in_order[0])
        others = "; ".join(f"{way.name}: {other.message}" for way, other in in_order if way is not chosen)
        if others:
            # A hint that ends with a command has no full stop of its own.
            stop = "" if not error.hint or error.hint.endswith((".", "?", "!")) else "."
            error.hint = f"{error.hint}{stop} Other ways fail too: {others}.".strip()
        return error

    def _order(self) -> list[Way]:
        """Return the ways that work, and behind them those that were given up: the last resort."""
        return sorted(self.ways, key=lambda way: not way.breaker.is_closed)

    async def _check(self, way: Way) -> None:
        """Make sure that a second choice is one; raises ConfigError that says why it is not."""
        known = next((one.transport.cluster for one in self.ways if one is not way and one.transport.cluster), "")
        if way.guarded and not known:
            message = "it cannot be told whether it leads to the same cluster"
            raise ConfigError(message, hint=f"Set SLURM_REST_TRANSPORT={way.name} to use it all the same.")
        if known and not way.same_cluster:
            own = (await way.transport.target())[2]
            if own and own != known:
                raise ConfigError(f"it leads to cluster {own}, not {known}", hint="Check the settings of both.")
            way.same_cluster = True

    async def _patiently(self, way: Way, ask: Callable[[SlurmTransport], Awaitable[T]]) -> T:
        """Ask, and as long as nothing is heard make sure that somebody is there: a frozen daemon takes connections.

        A request may wait for its turn behind many others; their answers are signs of life.
        """
        task = asyncio.ensure_future(ask(way.transport))
        try:
            while not task.done():
                heard = way.transport.counters.bytes_received
                await asyncio.wait([task], timeout=self._patience)
                silent = way.transport.counters.bytes_received == heard
                if silent and not task.done() and any(one is not way and one.breaker.is_closed for one in self.ways):
                    await self._reach(way, task)
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _reach(self, way: Way, task: asyncio.Future[T]) -> None:
        reaching = asyncio.ensure_future(way.transport.reach())
        try:
            await asyncio.wait((reaching, task), timeout=_REACH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not reaching.done() and not task.done():
                message = f"{way.transport.where} gives no sign of life"
                raise Timeout(message, hint="It takes connections and answers nothing: is the process stopped?")
        finally:
            reaching.cancel()
            await asyncio.gather(reaching, return_exceptions=True)

    # --- what is learned from it ----------------------------------------------------------------------------

    def _settle(self, served: Way | None, failed: Sequence[tuple[Way, SlurmError]]) -> None:
        """Close the way that served, and give up those that did not.

        A daemon that is away over every way is no fault of any of them.
        """
        if served is not None:
            served.breaker.succeed()
        for way, error in failed:
            if isinstance(error, NoAccounting):
                # It serves all the rest, so the next question is for it again.
                way.breaker.succeed()
                self.lends_accounting = self.lends_accounting or served is not None
            elif served is not None or not is_daemon_away(error):
                way.breaker.fail(error.message)
        self._switch()

    def give_up(self, way: Way, reason: str) -> None:
        """Open a way for something that was not learned from ``call``."""
        way.breaker.fail(reason)
        self._switch()

    def _switch(self) -> None:
        best = next((way for way in self.ways if way.breaker.is_closed), self.current)
        old, self.current = self.current, best
        if best is old:
            return
        best.switches += 1
        if old.breaker.is_closed:
            log.warning("%s answers again, so %s is no longer used", best.name, old.name)
        else:
            log.warning("%s is given up for now, going on over %s: %s", old.name, best.name, old.breaker.reason)
        if self._on_switch is not None:
            self._on_switch(old.name, best.name)

    def _start_probes(self) -> None:
        """Probe each better way than the present one whose pause is over."""
        for way in self.ways[: self.ways.index(self.current)]:
            if way.breaker.begin_probe():
                task = asyncio.create_task(self._probe(way), name=f"slurm_rest probe of {way.name}")
                self._probes.add(task)
                task.add_done_callback(self._probes.discard)

    async def _probe(self, way: Way) -> None:
        try:
            await within(_PROBE_SECONDS, way.transport.ping())
        except TimeoutError:
            way.breaker.fail(f"{way.transport.where} gave no answer within {_PROBE_SECONDS:g} s")
        except SlurmError as error:
            way.breaker.fail(error.message)
        except BaseException:
            way.breaker.abandon_probe()
            raise
        else:
            way.breaker.succeed()
        self._switch()
