"""Which jobs Flyte has had cancelled, so that each replica of the connector tells such an end ABORTED.

Slurm knows only the user, who may have cancelled it elsewhere. So the replica that cancels leaves a mark in the object
store, beside the outputs. Where there is no store the other replicas tell FAILED, with who did it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import posixpath
from collections.abc import Awaitable, Callable
from functools import partial

import flyte.storage as storage

from slurm_rest.within import within

from . import objects
from .memory import Recent
from .metadata import SlurmJobMetadata

__all__ = ["Cancellations"]

log = logging.getLogger("flyteplugins.slurm_rest")

# The platform's call has a deadline of ten seconds, in which the job is to be cancelled as well.
_WRITE_PATIENCE = 2.5
# A store that is away may come back: so long, in all, its answer is waited for, while the job is told RUNNING.
_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)
_ONE_LOOK = 5.0


class Cancellations:
    """The jobs that were cancelled here, and those that another replica has marked."""

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._ours: Recent[bool] = Recent()
        self._looks: dict[str, asyncio.Task[bool]] = {}

    def __contains__(self, key: str) -> bool:
        """Tell whether a job is known by now to have been cancelled by Flyte."""
        return self._ours.get(key) or False

    async def add(self, key: str, meta: SlurmJobMetadata) -> None:
        """Mark a job before it is cancelled. A store that is away does not keep it from that."""
        self._ours.set(key, True)
        if not (mark := _mark(meta, key)):
            return
        try:
            await within(_WRITE_PATIENCE, objects.create(mark, b""))
        except Exception as error:  # each store has its own
            text = "Job %s is cancelled, but other replicas cannot be told: %s"
            log.warning(text, meta.job_id, type(error).__name__)

    async def withdraw(self, key: str, meta: SlurmJobMetadata) -> None:
        """Take the mark back: Slurm refused to cancel the job."""
        self._ours.drop(key)
        if mark := _mark(meta, key):
            try:
                await within(_WRITE_PATIENCE, objects.remove(mark))
            except Exception as error:  # each store has its own
                log.warning("%s stays, though the job goes on: %s", mark, type(error).__name__)

    async def is_ours(self, key: str, meta: SlurmJobMetadata, *, patience: float) -> bool | None:
        """Tell whether Flyte had a cancelled job cancelled; None while the store does not say."""
        if (known := self._ours.get(key)) is not None:
            return known
        if not (mark := _mark(meta, key)):
            return False
        task = self._looks.get(key)
        if task is None:
            task = self._looks[key] = asyncio.create_task(self._look(mark), name=f"cancelled? {key}")
            task.add_done_callback(partial(self._answered, key))
        await asyncio.wait([task], timeout=patience)
        return self._ours.get(key)

    def _answered(self, key: str, task: asyncio.Task[bool]) -> None:
        # Whoever asks next finds it, and nothing is left of a job that nobody asks about any more.
        self._looks.pop(key, None)
        if not task.cancelled():
            self._ours.set(key, key in self or task.result())

    async def _look(self, mark: str) -> bool:
        for pause in (*_PAUSES, 0.0):
            try:
                return await within(_ONE_LOOK, objects.read(mark)) is not None
            except Exception as error:  # each store has its own
                log.info("%s cannot be looked for: %s", mark, type(error).__name__)
            await self._pause(pause)
        return False


def _mark(meta: SlurmJobMetadata, key: str) -> str:
    """Return where the mark of a job is, empty where only this process could see it."""
    if not meta.output_prefix or not storage.is_remote(meta.output_prefix):
        return ""
    short = hashlib.sha256((meta.submission_key or key).encode()).hexdigest()[:16]
    return posixpath.join(meta.output_prefix, f"slurm-{meta.job_id}-{short}.cancelled")
