"""What get asks for beside the poller's news, each in the time that is left of its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TypeVar

from slurm_rest import SlurmError
from slurm_rest.errors import FileMissing
from slurm_rest.within import within

from .clients import Cluster
from .follower import Look
from .members import failed_members, output_of, task_ids
from .messages import with_stderr
from .metadata import SlurmJobMetadata
from .states import Phase

__all__ = ["TimeLeft", "add_canceller", "add_stderr", "guess_phase"]

log = logging.getLogger("flyteplugins.slurm_rest")

T = TypeVar("T")
_STDERR_LINES = 30
_STDERR_BYTES = 16 * 1024
# Slurm's times are whole seconds.
_MARGIN = timedelta(seconds=2)
_LOOK_AT_FILE, _ASK_ACCOUNTING, _READ_STDERR = 0.3, 0.4, 0.5


class TimeLeft:
    """The time of one answer, which its parts share."""

    def __init__(self, seconds: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + seconds

    def most(self, seconds: float) -> float:
        """Return that many seconds, or what is left if that is less."""
        return max(0.0, min(seconds, self._end - self._clock()))

    async def of(self, seconds: float, work: Awaitable[T]) -> T:
        """Return what the work gives within so many seconds; raises TimeoutError."""
        return await within(self.most(seconds), work)


async def guess_phase(meta: SlurmJobMetadata, cluster: Cluster, time: TimeLeft) -> Phase:
    """Return the phase of a job of which this process has heard nothing: as far as it may have come.

    Slurm makes the output file when a job starts. Where that cannot be seen it may have, and a phase never goes back.
    """
    path = output_of(meta.stdout_path, next(iter(task_ids(meta.array, 1)), None))
    try:
        await time.of(_LOOK_AT_FILE, cluster.client.files.stat(path))
    except FileMissing:
        return Phase.QUEUED
    except (SlurmError, TimeoutError):
        return Phase.RUNNING
    return Phase.RUNNING


async def add_canceller(meta: SlurmJobMetadata, cluster: Cluster, look: Look, time: TimeLeft) -> Look:
    """Return the look with accounting's record of a job that was cancelled: the controller does not tell by whom."""
    if look.record is None or look.record.source != "controller":
        return look
    begin = (look.record.submit_time or datetime.now(timezone.utc)) - _MARGIN
    asked = cluster.client.history(start=begin, name=meta.job_name)
    try:
        found = await time.of(_ASK_ACCOUNTING, asked)
    except (SlurmError, TimeoutError) as error:
        log.debug("Who cancelled job %s is not known: %s", meta.job_id, error)
        return look
    who = (one.raw.get("kill_request_user") for one in meta.identity().pick(found) if one.state.is_terminal)
    raw = {**look.record.raw, "kill_request_user": next((name for name in who if name), "")}
    return replace(look, record=replace(look.record, raw=raw))


async def add_stderr(message: str, meta: SlurmJobMetadata, cluster: Cluster, look: Look, time: TimeLeft) -> str:
    """Return the message with the end of the job's standard error, of an array its first failed task's."""
    failed = failed_members(look.members)
    path = output_of(meta.stderr_path, failed[0].array_task_id if failed else None)
    tail = cluster.client.files.tail(path, lines=_STDERR_LINES, max_bytes=_STDERR_BYTES)
    try:
        text = (await time.of(_READ_STDERR, tail)).text
    except (SlurmError, TimeoutError):
        return message
    return with_stderr(message, text, _STDERR_LINES)
