"""Sources of tokens for tests, and clocks that tests set."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import jwt
import pytest

from slurm_rest.auth import ServerClock, TokenKeeper

__all__ = ["KEY", "NOW", "Source", "Time", "fresh", "keep", "make", "now"]

KEY = bytes(range(32))
NOW = 1_700_000_000.0


def make(seconds: float, *, user: str = "alice", issued: float | None = NOW, now: float = NOW, **more: object) -> str:
    """Return a token that ends ``seconds`` after ``now``."""
    claims = {"sun": user, "exp": int(now + seconds), **({} if issued is None else {"iat": int(issued)}), **more}
    return jwt.encode(claims, KEY, algorithm="HS256")


@dataclass
class Time:
    """A clock that a test sets."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class Source:
    """A provider that gives what a test puts there, and counts how it was asked."""

    tokens: list[str | Exception] = field(default_factory=list)
    name: str = "the source"
    asked: int = 0
    renewed: int = 0
    gate: asyncio.Event | None = None

    async def token(self, *, renew: bool = False) -> str:
        self.asked += 1
        self.renewed += renew
        if self.gate is not None:
            await self.gate.wait()
        else:
            await asyncio.sleep(0)
        if renew and len(self.tokens) > 1:
            del self.tokens[0]
        first = self.tokens[0]
        if isinstance(first, Exception):
            raise first
        return first


@pytest.fixture
def now() -> Time:
    return Time()


def keep(source: object, now: Time) -> TokenKeeper:
    return TokenKeeper(source, clock=ServerClock(now))  # type: ignore[arg-type]  # sources of tests


def fresh(seconds: float = 1800, **more: object) -> str:
    """Return a token for the real clock."""
    return make(seconds, issued=None, now=time.time(), **more)  # type: ignore[arg-type]  # claims
