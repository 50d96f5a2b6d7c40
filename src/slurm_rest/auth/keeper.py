"""One client's way to its tokens: asks the provider, renews ahead of time, and gets over a source that fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from slurm_rest.errors import SlurmError
from slurm_rest.metrics import Metrics

from .chain import ChainToken
from .claims import ServerClock, TokenClaims, read_claims
from .sources import EnvironmentToken, KnowsTime, NoToken, StaticToken, TokenProvider, ask

__all__ = ["TokenKeeper"]

log = logging.getLogger("slurm_rest")

# How long requests wait for a new token while the old one is still good.
_PATIENCE_SECONDS = 1.0
# A source that failed, or that had no fresher token, is left alone for so long while the old token is good.
_RETRY_SECONDS = 5.0
# These never wait, so nothing has to be shared; a task for each request would cost 30 us.
_IMMEDIATE = (NoToken, StaticToken, EnvironmentToken)


class TokenKeeper:
    """Asks one provider on behalf of one client; however many ask at once, it asks once.

    A token is renewed when a tenth of its life is left by the server's clock, and when Slurm has refused it. While the
    source fails, or takes its time, a token that is still good goes on being used; the failure is logged once.
    Bound to the event loop that first uses it.
    """

    def __init__(
        self, provider: TokenProvider, *, clock: ServerClock | None = None, metrics: Metrics | None = None
    ) -> None:
        self.provider = provider
        self.clock = clock or ServerClock()
        self.metrics = metrics or Metrics()
        self.metrics.use_clock(self.clock.now)
        self.failure: SlurmError | None = None
        self._held, self._claims = "", TokenClaims()
        self._refused = ""
        self._surprised = self._time_asked = False
        self._flight: asyncio.Task[str] | None = None
        self._late = False
        self._leave_alone_until = 0.0

    async def token(self) -> str:
        """Return the token for the next request; raises the source's error when there is none that could work."""
        if isinstance(self.provider, _IMMEDIATE):
            return await self._ask()
        flight = self._flight
        if not self._is_good():
            return await asyncio.shield(flight or self._start())
        if flight is None:
            if time.monotonic() < self._leave_alone_until:
                return self._held
            flight = self._start()
        if not self._late:
            await asyncio.wait([flight], timeout=_PATIENCE_SECONDS)
        if flight.done():
            return flight.result()
        if not self._late:
            self._late = True
            log.warning("%s takes its time; the old token still works", self.provider.name)
        return self._held

    async def replace(self, refused: str) -> bool:
        """After Slurm refused a token: look for another one; False when there is none."""
        self.refuse(refused)
        claims = self._claims_of(refused)
        self._surprised |= claims.expires is not None and not claims.is_expired(self.clock.now())
        for _ in range(2):
            # One that was asked before the refusal was known may still bring the refused one.
            if await asyncio.shield(self._flight or self._start()) != refused:
                return True
        return False

    def refuse(self, token: str) -> None:
        """Remember that Slurm refused a token, so that the next request has another one where that is possible."""
        self._refused, self._leave_alone_until = token, 0.0

    @property
    def wants_time(self) -> bool:
        """True when the server's clock must differ from this one, and nobody has asked by how much.

        Slurm then refused a token that is not over by this clock, or took one that is.
        """
        if self.clock.is_known or self._time_asked:
            return False
        return self._surprised or self._claims.is_expired(self.clock.now())

    def time_is_asked(self) -> None:
        """Say that somebody asks the server's time."""
        self._time_asked = True

    @property
    def why(self) -> str:
        """Why there is no better token, as far as the sources said; empty when none failed."""
        if self.failure is not None:
            return self.failure.message
        reasons = self.provider.reasons if isinstance(self.provider, ChainToken) else {}
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())

    def note_time(self, told: float, before: float, after: float, *, from_slurm: bool = True) -> None:
        """Take the server's time from an answer, see ServerClock.note."""
        known = self.clock.is_known
        changed = self.clock.note(told, before, after, from_slurm=from_slurm)
        if (changed or not known) and isinstance(self.provider, KnowsTime):
            self.provider.note_skew(self.clock.skew)

    async def close(self) -> None:
        """End what is still being asked."""
        flight, self._flight = self._flight, None
        if flight is not None and not flight.done():
            flight.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await flight

    # --- asking ---------------------------------------------------------------------------------------------

    def _is_good(self) -> bool:
        return bool(self._held) and self._held != self._refused and not self._claims.is_expired(self.clock.now())

    def _start(self) -> asyncio.Task[str]:
        self._flight = asyncio.ensure_future(self._ask())
        self._flight.add_done_callback(self._landed)
        return self._flight

    def _landed(self, flight: asyncio.Task[str]) -> None:
        if self._flight is flight:
            self._flight, self._late = None, False
        if not flight.cancelled():
            # Nobody may be waiting any more.
            flight.exception()

    async def _ask(self) -> str:
        try:
            token = await ask(self.provider)
            if token and self._is_due(token):
                renewed = await ask(self.provider, renew=True)
                if renewed == token or self._is_due(renewed):
                    self._leave_alone_until = time.monotonic() + _RETRY_SECONDS
                token = renewed
        except SlurmError as error:
            self.metrics.token_failures += 1
            first, self.failure = self.failure is None, error
            if not self._is_good():
                raise
            if first:
                text = "No new token: %s; the old one is still used"
                log.warning(text, error.message, extra={"slurm_token_source": self.provider.name})
            self._leave_alone_until = time.monotonic() + _RETRY_SECONDS
            return self._held
        if self.failure is not None:
            log.info("%s gives tokens again", self.provider.name)
            self.failure = None
        self._hold(token)
        return token

    def _is_due(self, token: str) -> bool:
        if token == self._refused:
            return True
        rested = time.monotonic() >= self._leave_alone_until
        return rested and self._claims_of(token).ends_soon(self.clock.now())

    def _claims_of(self, token: str) -> TokenClaims:
        return self._claims if token == self._held else read_claims(token)

    def _hold(self, token: str) -> None:
        if token == self._held:
            return
        if self._held:
            self.metrics.token_renewals += 1
            log.info("A new token from %s", self.provider.name, extra={"slurm_token_source": self.provider.name})
        self._held, self._claims = token, read_claims(token)
        issued, expires = self._claims.issued, self._claims.expires
        self.metrics.token_issued = issued.timestamp() if issued else None
        self.metrics.token_expires = expires.timestamp() if expires else None
