"""Waiting for what a daemon does in its own time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["until", "until_true"]

T = TypeVar("T")
# It costs nothing when all is well, and leaves something of pytest's own limit.
_LIMIT = 300.0


async def until(check: Callable[[], Awaitable[T]], what: str = "it", *, limit: float = _LIMIT) -> T:
    """Return the first true answer of ``check``, asking again and again; fail after ``limit`` seconds."""

    end = time.monotonic() + limit
    while not (found := await check()):
        assert time.monotonic() < end, f"{what} did not come about in {limit:g} s"
        await asyncio.sleep(0.05)
    return found


async def until_true(check: Callable[[], bool], what: str = "it") -> None:
    """Wait until ``check`` is true; fail after five minutes."""

    async def ask() -> bool:
        return check()

    await until(ask, what)
