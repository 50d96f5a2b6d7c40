"""The work after a job's end, off the calls of the platform: reading the outcome, moving outputs, trying again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from .outcome import Outcome

__all__ = ["Settling", "Work"]

log = logging.getLogger("flyteplugins.slurm_rest")

Work = Callable[[], Awaitable[Outcome | None]]

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
# How long a result is kept for calls that come again.
_KEPT = 1800.0


@dataclass(slots=True)
class _Piece:
    """One job's work. ``trouble`` is why the last try failed."""

    task: asyncio.Task[Outcome | None]
    trouble: str = ""
    finished: float | None = field(default=None)


class Settling:
    """Does the work of each job once, however often it is asked for, and again while the store is away."""

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._pieces: dict[str, _Piece] = {}

    async def result(self, key: str, work: Work, *, patience: float) -> tuple[bool, Outcome | None, str]:
        """Return whether the work is done, its result, and the trouble it is in; waits ``patience`` seconds at most."""
        self._sweep()
        piece = self._pieces.get(key)
        if piece is None:
            piece = self._pieces[key] = _Piece(asyncio.create_task(self._until_done(key, work), name=f"settle {key}"))
        await asyncio.wait([piece.task], timeout=patience)
        if not piece.task.done():
            return False, None, piece.trouble
        piece.finished = piece.finished or time.monotonic()
        return True, piece.task.result(), ""

    async def drop(self, key: str) -> None:
        """Stop the work of a job that is not wanted any more."""
        piece = self._pieces.pop(key, None)
        if piece is not None and not piece.task.done():
            piece.task.cancel()
            await asyncio.wait([piece.task])

    async def _until_done(self, key: str, work: Work) -> Outcome | None:
        pause = _FIRST_PAUSE
        while True:
            try:
                return await work()
            except Exception as error:  # the store's exceptions are those of four libraries
                text = getattr(error, "message", "") or str(error) or type(error).__name__
                log.warning("Job %s: its outputs cannot be had yet, trying again in %g s: %s", key, pause, text)
                if key in self._pieces:
                    self._pieces[key].trouble = text
            await self._pause(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _sweep(self) -> None:
        limit = time.monotonic() - _KEPT
        for key, piece in list(self._pieces.items()):
            if piece.finished is not None and piece.finished < limit:
                del self._pieces[key]
