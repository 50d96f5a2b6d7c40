"""Asks for the full records of jobs that go on, a few at a time: each costs Slurm a request.

After a restart thousands are wanted at once, and nobody waits for them: they come at a pace that slurmrestd does not
feel.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from itertools import islice

from slurm_rest import AsyncJob, AsyncSlurmClient, JobInfo, SlurmError

__all__ = ["Recorder"]

log = logging.getLogger("flyteplugins.slurm_rest")

_AT_ONCE = 4
# So many are asked for without a pause, as long as there are no more; then so many a second.
_BURST = 40
_A_SECOND = 20.0

_Take = Callable[[JobInfo | None], None]


class Recorder:
    """Records of one client's jobs, each wanted once however often it is asked for."""

    def __init__(self, client: AsyncSlurmClient, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._client = client
        self._pause = pause
        self._wanted: dict[AsyncJob, _Take] = {}
        self._task: asyncio.Task[None] | None = None

    def want(self, job: AsyncJob, take: _Take) -> None:
        """Have ``take`` called with the job's record, or with None where there is none to be had now."""
        self._wanted[job] = take
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="slurm records")

    def drop(self, job: AsyncJob) -> None:
        """Want a record no longer."""
        self._wanted.pop(job, None)

    async def close(self) -> None:
        """Ask for nothing any more."""
        self._wanted.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        asked = 0
        while self._wanted:
            batch = list(islice(self._wanted.items(), _AT_ONCE))
            for job, _ in batch:
                del self._wanted[job]
            await asyncio.gather(*(self._ask(job, take) for job, take in batch))
            asked += len(batch)
            if asked >= _BURST and self._wanted:
                await self._pause(len(batch) / _A_SECOND)

    async def _ask(self, job: AsyncJob, take: _Take) -> None:
        record = None
        # The poller tells of outages; the next look tries again.
        try:
            with contextlib.suppress(SlurmError):
                record = await self._client.info(job)
        except Exception:
            log.exception("The record of job %d cannot be read", job.id)
        take(record)
