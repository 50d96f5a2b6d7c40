"""Waits that end in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["within"]

T = TypeVar("T")


async def within(seconds: float | None, work: Awaitable[T]) -> T:
    """Return what ``work`` gives; raises TimeoutError after so many seconds, None: never.

    Unlike ``asyncio.wait_for`` before Python 3.12 it does not forget that its caller was cancelled when the work is
    done in the same moment, and unlike a cancel scope of anyio it lets the work clean up as long as it takes.
    """
    if seconds is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
    except BaseException:
        await _end(task)
        raise
    if not task.done():
        await _end(task)
        if task.cancelled():
            raise TimeoutError
    return task.result()


async def _end(task: asyncio.Future[T]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        # Looked at, so that asyncio does not complain about an error that nobody took.
        task.exception()
