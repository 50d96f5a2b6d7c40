"""What get asks for beside the poller's news, each in the time that is left of its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import chain, repeat
from typing import TypeVar

from slurm_rest import SlurmError
from slurm_rest.errors import FileMissing
from slurm_rest.within import within

from .clients import Cluster
from .findings import Findings
from .follower import Look
from .members import failed_members, output_of, task_ids
from .metadata import SlurmJobMetadata
from .states import Phase

__all__ = ["STDERR_LINES", "TimeLeft", "add_canceller", "guess_phase", "read_stderr"]

log = logging.getLogger("flyteplugins.slurm_rest")

T = TypeVar("T")
STDERR_LINES = 30
_STDERR_BYTES = 16 * 1024
# Slurm's times are whole seconds.
_MARGIN = timedelta(seconds=2)
_LOOK_AT_FILE, _ASK_ACCOUNTING, _READ_STDERR = 0.3, 0.4, 0.5
# For so long in all, over several answers, the end of a job waits for what is told with it. slurmctld hands a record
# over in its own time, mostly within 10 ms, on a busy host within seconds; of a job that was held it never had one.
_LATE_RECORD, _LATE_UNSTARTED, _LATE_STDERR = 10.0, 2.0, 20.0
_PAUSES = (0.1, 0.2, 0.5)


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


async def add_canceller(
    findings: Findings[str], key: str, meta: SlurmJobMetadata, cluster: Cluster, look: Look, time: TimeLeft
) -> Look | None:
    """Return the look with accounting's word on who cancelled a job, which the controller does not tell.

    None while accounting may still tell.
    """
    record = look.record
    if record is None or record.source != "controller":
        return look
    begin = (record.submit_time or datetime.now(timezone.utc)) - _MARGIN

    async def ask() -> str:
        try:
            most = _LATE_RECORD if record.nodes else _LATE_UNSTARTED
            return await within(most, _canceller(meta, cluster, begin))
        except (SlurmError, TimeoutError) as error:
            log.debug("Who cancelled job %s is not known: %s", meta.job_id, error)
            return ""

    who = await findings.get(f"who {key} {look.restarts}", ask, patience=time.most(_ASK_ACCOUNTING))
    if who is None:
        return None
    return replace(look, record=replace(record, raw={**record.raw, "kill_request_user": who}))


async def _canceller(meta: SlurmJobMetadata, cluster: Cluster, begin: datetime) -> str:
    """Return who cancelled a job, empty where accounting has its end and does not say it; else asks on and on."""
    pauses = chain(_PAUSES, repeat(1.0))
    while True:
        found = await cluster.client.history(start=begin, name=meta.job_name)
        if ended := [one for one in meta.identity().pick(found) if one.state.is_terminal]:
            who = (one.raw.get("kill_request_user") for one in ended)
            return next((str(name) for name in who if name), "")
        await asyncio.sleep(next(pauses))


async def read_stderr(
    findings: Findings[str], key: str, meta: SlurmJobMetadata, cluster: Cluster, look: Look, time: TimeLeft
) -> str | None:
    """Return the end of the job's standard error, of an array its first failed task's; None while it is being read.

    It is empty where nothing can be had.
    """
    failed = failed_members(look.members)
    path = output_of(meta.stderr_path, failed[0].array_task_id if failed else None)

    async def ask() -> str:
        try:
            tail = cluster.client.files.tail(path, lines=STDERR_LINES, max_bytes=_STDERR_BYTES)
            return (await within(_LATE_STDERR, tail)).text
        except (SlurmError, TimeoutError) as error:
            log.debug("What job %s wrote to standard error cannot be told: %s", meta.job_id, error)
            return ""

    return await findings.get(f"stderr {key} {look.restarts}", ask, patience=time.most(_READ_STDERR))
