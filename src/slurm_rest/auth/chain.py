"""Several sources of tokens, one behind the other."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from slurm_rest.errors import SlurmError, TokenMissing

from .claims import read_claims
from .sources import KnowsTime, TokenProvider, ask

__all__ = ["ChainToken"]

log = logging.getLogger("slurm_rest")


class ChainToken:
    """Gives the token of the first source that has a usable one, asked in order each time.

    Passed over is a source that fails, whose token has expired, or that has only the token which Slurm refused; and one
    whose token is another user's than before, because a client must not change who it is. ``reasons`` keeps why, by the
    source's name, for the last time that the chain was asked.
    """

    def __init__(self, providers: Sequence[TokenProvider], *, clock: Callable[[], float] = time.time) -> None:
        self.providers = tuple(providers)
        self.reasons: Mapping[str, str] = {}
        self._clock, self._skew = clock, 0.0
        self._last, self._user, self._source = "", "", ""

    def __repr__(self) -> str:
        """Return the sources, never a token."""
        return f"ChainToken({list(self.providers)!r})"

    def __eq__(self, other: object) -> bool:
        """Chains of equal sources are equal."""
        return isinstance(other, ChainToken) and self.providers == other.providers

    def __hash__(self) -> int:
        return hash(self.providers)

    @property
    def name(self) -> str:
        """The source of the last token, or all of them while there is none."""
        return self._source or " or ".join(provider.name for provider in self.providers)

    def note_skew(self, seconds: float) -> None:
        """Take by how many seconds the server's clock is ahead, for each source."""
        self._skew = seconds
        for provider in self.providers:
            if isinstance(provider, KnowsTime):
                provider.note_skew(seconds)

    async def token(self, *, renew: bool = False) -> str:
        """Return a token; raises TokenMissing with each source's reason when none has one.

        Where the only ones are expired or refused, the first of them is returned: Slurm has the last word.
        """
        reasons: dict[str, str] = {}
        unusable: list[str] = []
        refused = self._last if renew else ""
        for provider in self.providers:
            try:
                token = await ask(provider)
                if refused and token == refused:
                    token = await ask(provider, renew=True)
            except SlurmError as error:
                reasons[provider.name] = error.message.removeprefix(f"{provider.name} ")
                continue
            problem = self._problem(token, refused)
            if not problem:
                self._take(token, provider.name, reasons)
                return token
            reasons[provider.name] = problem
            if "another user" not in problem:
                unusable.append(token)
        self.reasons = reasons
        if unusable:
            return unusable[0]
        told = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise TokenMissing(f"None of {len(self.providers)} token sources gave one: {told}", hint="Mend one of them.")

    def _problem(self, token: str, refused: str) -> str:
        claims = read_claims(token)
        if refused and token == refused:
            return "Slurm refused its token, and it has no other"
        if claims.is_expired(self._clock() + self._skew):
            return "its token has expired"
        if self._user and claims.user and claims.user != self._user:
            return f"its token is another user's ({claims.user}, not {self._user})"
        return ""

    def _take(self, token: str, source: str, reasons: Mapping[str, str]) -> None:
        if self._source and source != self._source:
            told = "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) or "it is back"
            log.warning("Tokens now come from %s (%s)", source, told, extra={"slurm_token_source": source})
        self.reasons, self._last, self._source = dict(reasons), token, source
        self._user = self._user or read_claims(token).user
