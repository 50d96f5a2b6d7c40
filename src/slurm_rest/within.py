"""Waits that end in time."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["within"]

T = TypeVar("T")


async def within(seconds: float | None, work: Awaitable[T]) -> T:
    """Return what ``work`` gives; raises TimeoutError after so many seconds, None: never.

    ``asyncio.wait_for`` before Python 3.12 forgets that its caller was cancelled when the work is done in the same
    moment, and then whoever cancelled waits for ever.
    """
    import anyio  # 20 ms that those who never wait need not pay; httpx loads it with its first request

    with anyio.fail_after(seconds):
        return await work
