"""What a token says of itself, and what time it is on the server. Pure but for this machine's clock."""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from slurm_rest.errors import ConfigError, TokenMissing

__all__ = ["ServerClock", "TokenClaims", "clean_token", "read_claims", "redact"]

log = logging.getLogger("slurm_rest")

# A JWT's header is a JSON object, and that begins so in base64.
_TOKEN_LIKE = re.compile(r"eyJ[\w-]+\.[\w-]*(\.[\w-]*)?")
# Without ``iat`` nobody knows how long a token was meant to last.
_MARGIN, _LONGEST_MARGIN, _SHORTEST_MARGIN = 60.0, 300.0, 1.0
# Smaller differences do no harm: tokens are renewed earlier than that.
_LARGE_SKEW = 30.0


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a token says of itself, unverified: only Slurm can tell whether it is signed by the right key."""

    user: str = ""
    expires: datetime | None = None
    issued: datetime | None = None
    algorithm: str = ""
    key_id: str = ""
    problem: str = ""

    def is_expired(self, now: float | None = None) -> bool:
        """True when ``exp`` lies before ``now``, in Unix seconds; by this machine's clock without one."""
        moment = time.time() if now is None else now
        return self.expires is not None and self.expires.timestamp() < moment

    @property
    def lifetime(self) -> float | None:
        """How long the token lasts from ``iat`` to ``exp``, in seconds; None where it does not say."""
        if self.expires is None or self.issued is None or self.expires <= self.issued:
            return None
        return (self.expires - self.issued).total_seconds()

    @property
    def margin(self) -> float:
        """How many seconds before its end a token is to be replaced: a tenth of its life, at most 5 minutes."""
        lifetime = self.lifetime
        return _MARGIN if lifetime is None else min(max(lifetime / 10, _SHORTEST_MARGIN), _LONGEST_MARGIN)

    def ends_soon(self, now: float) -> bool:
        """True when less than the margin is left; never for a token without ``exp``."""
        return self.expires is not None and self.expires.timestamp() - now < self.margin


def read_claims(token: str) -> TokenClaims:
    """Read the claims without verifying the signature; ``problem`` says what makes it no token for Slurm."""
    parts = token.split(".")
    if len(parts) != 3:
        return TokenClaims(problem="it is not a JWT: it does not have three parts")
    try:
        header, claims = (_segment(part) for part in parts[:2])
    except (ValueError, RecursionError):
        return TokenClaims(problem="it is not a JWT: its parts are not base64 JSON")
    user = claims.get("sun", claims.get("username"))
    expires, issued = _seconds(claims.get("exp")), _seconds(claims.get("iat"))
    problem = ""
    if not isinstance(user, str) or not user:
        problem = 'it names no user (claim "sun")'
    elif expires is None:
        problem = 'it has no whole number as "exp", which Slurm takes for expired'
    return TokenClaims(
        user=user if isinstance(user, str) else "",
        expires=expires,
        issued=issued,
        algorithm=str(header.get("alg", "")),
        key_id=str(header.get("kid", "")),
        problem=problem,
    )


def _segment(part: str) -> Mapping[str, object]:
    value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _seconds(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return datetime.fromtimestamp(value, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return None


def clean_token(text: str, name: str) -> str:
    """Take a token as people have it: with blanks around it, or as ``SLURM_JWT=...`` from ``scontrol token``."""
    token = text.strip().removeprefix("SLURM_JWT=").strip().strip("\"'")
    if not token:
        raise TokenMissing(f"The token from {name} is empty", hint="Make one with: scontrol token")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"The token from {name} is not one word of ASCII text", hint="Make one with: scontrol token")
    return token


def redact(text: str) -> str:
    """Return text of others, such as a command's complaint, without anything that looks like a token."""
    return _TOKEN_LIKE.sub("(a token)", text)


@dataclass(slots=True)
class ServerClock:
    """The server's time: this machine's, plus the difference that the server's answers show.

    ``skew`` is by how many seconds the server is ahead, 0 until ``is_known``. ``local`` gives Unix seconds.
    """

    local: Callable[[], float] = field(default=time.time, repr=False)
    skew: float = 0.0
    is_known: bool = False
    _from_slurm: bool = False

    def now(self) -> float:
        """Return the server's time in Unix seconds."""
        return self.local() + self.skew

    def note(self, told: float, before: float, after: float, *, from_slurm: bool = True) -> bool:
        """Take the whole second that an answer tells, asked for ``before`` and there ``after``; True on a change.

        ``from_slurm`` says that slurmctld told it, who judges tokens; a proxy's ``Date`` counts only until then.
        """
        if self._from_slurm and not from_slurm:
            return False
        self._from_slurm = from_slurm
        low, high = told - after, told + 1 - before
        skew = (low + high) / 2
        # Less than what a whole second and the way of the answer leave open is no difference.
        changed = abs(skew - self.skew) > high - low
        if changed:
            self.skew = skew
            level = logging.WARNING if abs(skew) > _LARGE_SKEW else logging.INFO
            where = "ahead of" if skew > 0 else "behind"
            log.log(level, "The server's clock is %.0f s %s this one", abs(skew), where, extra={"slurm_skew": skew})
        self.is_known = True
        return changed
