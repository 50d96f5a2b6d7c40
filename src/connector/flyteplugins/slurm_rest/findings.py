"""What is asked for once a job is over and belongs to what is told of its end, though it takes longer than one call.

The end is told once: whatever was not known by then would never be told. So each question is a task of its own, with a
bound of its own, that goes on behind the call that began it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = ["Findings"]

T = TypeVar("T")
_MOST = 500


class Findings(Generic[T]):
    """Answers by key, each asked for once; of more than ``most`` those that were asked for first are forgotten."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._tasks: dict[str, asyncio.Task[T]] = {}

    async def get(self, key: str, ask: Callable[[], Coroutine[Any, Any, T]], *, patience: float) -> T | None:
        """Return what was found, None while that takes longer than ``patience`` seconds. Raises what ``ask`` raises."""
        task = self._tasks.get(key)
        if task is None:
            while len(self._tasks) >= self._most:
                self._tasks.pop(next(iter(self._tasks))).cancel()
            task = self._tasks[key] = asyncio.create_task(ask(), name=f"find {key}")
        await asyncio.wait([task], timeout=patience)
        if not task.done() or task.cancelled():
            # One that was cancelled has made room for others, and is asked anew by the next call.
            return None
        if task.exception() is not None:
            self._tasks.pop(key, None)
        return task.result()
