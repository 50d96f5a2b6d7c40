"""The work after a job's end, off the calls of the platform: reading the outcome, moving outputs, trying again.

Only what may go by is tried again, faults of the store and of the way to the cluster, and not for ever.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from slurm_rest.errors import AccountingDown, ConfigError, ControllerDown, FilesError, TransportError

from .outcome import Outcome
from .wording import in_our_terms

__all__ = ["Settling", "UnknownCeiling", "Work", "may_go_by"]

log = logging.getLogger("flyteplugins.slurm_rest")

Work = Callable[[], Awaitable[Outcome | None]]


class UnknownCeiling(ConfigError):
    """Nothing says how much may be moved: what is on the cluster waits there for whoever corrects that."""


_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
# For how long a fault is waited out before the task fails with it.
_PATIENCE = 3600.0
_FAULTS = (UnknownCeiling, TransportError, ControllerDown, AccountingDown, OSError, EOFError, asyncio.TimeoutError)
# The stores' own exceptions have no root in common: these are the packages that flyte's storage stands on.
# fmt: off
_STORES = frozenset(
    (
        "adlfs", "aiobotocore", "aiohttp", "azure", "botocore", "fsspec", "gcsfs", "google", "httpcore", "httpx",
        "obstore", "requests", "s3fs", "urllib3",
    )
)
# fmt: on
# How long a result is kept for calls that come again.
_KEPT = 1800.0


@dataclass(slots=True)
class _Piece:
    """One job's work. ``trouble`` is why the last try failed."""

    task: asyncio.Task[Outcome | None]
    trouble: str = ""
    finished: float | None = field(default=None)


class Settling:
    """Does the work of each job once, however often it is asked for, and again while the store is away.

    ``clock`` gives seconds that never go back.
    """

    def __init__(
        self,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pause = pause
        self._clock = clock
        self._pieces: dict[str, _Piece] = {}

    async def result(self, key: str, work: Work, *, patience: float) -> tuple[bool, Outcome | None, str]:
        """Return whether the work is done, its result, and the trouble it is in; waits ``patience`` seconds at most."""
        self._sweep()
        piece = self._pieces.get(key)
        if piece is None:
            piece = self._pieces[key] = _Piece(asyncio.create_task(self._until_done(key, work), name=f"settle {key}"))
            piece.task.add_done_callback(partial(self._note, piece))
        await asyncio.wait([piece.task], timeout=patience)
        if not piece.task.done() or piece.task.cancelled():
            # Who deletes the job meanwhile has stopped its work.
            return False, None, piece.trouble
        return True, piece.task.result(), ""

    def _note(self, piece: _Piece, _: object) -> None:
        # Also where nobody asks for the result any more, or it would be kept for ever.
        piece.finished = self._clock()

    async def drop(self, key: str) -> None:
        """Stop the work of a job that is not wanted any more."""
        piece = self._pieces.pop(key, None)
        if piece is not None and not piece.task.done():
            piece.task.cancel()
            await asyncio.wait([piece.task])

    async def _until_done(self, key: str, work: Work) -> Outcome | None:
        pause, begun = _FIRST_PAUSE, self._clock()
        while True:
            try:
                return await work()
            except Exception as error:
                if not may_go_by(error):
                    log.error("Job %s: its outcome cannot be told", key, exc_info=error)
                    return Outcome(False, f"The connector cannot tell the outcome: {_words(error)}", "ConnectorError")
                if self._clock() - begun > _PATIENCE:
                    text = f"For {_PATIENCE / 60:g} minutes the outcome could not be had: {_words(error)}"
                    log.error("Job %s: %s", key, text)
                    # The task may have done its part: that is worth another attempt.
                    return Outcome(False, text, "StorageError", is_recoverable=True)
                log.warning("Job %s: its outcome cannot be had yet, again in %g s: %s", key, pause, _words(error))
                if key in self._pieces:
                    self._pieces[key].trouble = _words(error)
            await self._pause(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _sweep(self) -> None:
        limit = self._clock() - _KEPT
        for key, piece in list(self._pieces.items()):
            if piece.finished is not None and piece.finished < limit:
                del self._pieces[key]


def may_go_by(error: Exception) -> bool:
    """Tell whether a fault is the store's, or that of the way to it or to the cluster; all else would stay as it is."""
    if isinstance(error, FilesError):
        # The server of SFTP says no more of whatever its file system had just then.
        return error.kind == "failed"
    roots = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, _FAULTS) or not roots.isdisjoint(_STORES)


def _words(error: Exception) -> str:
    return in_our_terms(str(getattr(error, "message", "") or error or "")) or type(error).__name__
