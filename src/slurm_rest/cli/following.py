"""Following jobs to their end: the display, the timeout, and what ^C means meanwhile."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from slurm_rest.errors import AccountingDown, ControllerDown, JobNotFound
from slurm_rest.models import JobInfo
from slurm_rest.within import within

from .failures import Interrupted, muted_warnings
from .shared import Named, listed
from .terminal import remark

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.job import AsyncJob

__all__ = ["by_state", "failed_members", "follow", "jobs_go_on", "logs_hint", "record_of", "split_known"]

# What a shell reports for a command that SIGTERM ended: 128 + 15.
_TERMINATED = 143
# slurmrestd takes 10 to 40 s to say that slurmctld is away.
_LATE = 3.0


async def follow(
    client: AsyncSlurmClient, jobs: Sequence[AsyncJob | int], *, timeout: float | None = None, quiet: bool = False
) -> list[JobInfo]:
    """Wait for the jobs, with a display on stderr unless ``quiet``, and return their final records."""
    with muted_warnings():
        return await client.wait(jobs, timeout=timeout, progress=not quiet)


async def split_known(
    client: AsyncSlurmClient, jobs: Sequence[Named], timeout: float | None = None, *, quiet: bool = False
) -> tuple[list[Named], list[Named]]:
    """Return the jobs that Slurm knows and those that neither the controller nor accounting does.

    Where that cannot be told, within ``timeout`` seconds or at all, every job counts as known. An answer that takes
    long is remarked on stderr unless ``quiet``: the display of a wait has not begun.
    """
    since = datetime.now()  # for people, in this host's time
    words = f"slurm-rest: no answer from Slurm since {since:%H:%M:%S}, still asking"
    late = None if quiet else asyncio.get_running_loop().call_later(_LATE, remark, words)
    try:
        # A frozen slurmctld is silent for 40 s.
        unknown = await within(timeout, _unknown(client, jobs))
    except (ControllerDown, AccountingDown, TimeoutError):
        # The wait itself sits out an outage.
        return list(jobs), []
    finally:
        if late is not None:
            late.cancel()
    return [job for job in jobs if job not in unknown], unknown


async def _unknown(client: AsyncSlurmClient, jobs: Sequence[Named]) -> list[Named]:
    states = await client.states([job.id for job in jobs if not job.is_member])
    absent = [job for job in jobs if job.is_member or job.id not in states]
    found = await asyncio.gather(*(record_of(client, job) for job in absent))
    return [job for job, record in zip(absent, found, strict=True) if record is None]


async def record_of(client: AsyncSlurmClient, job: Named) -> JobInfo | None:
    """Return the record of a job, None when neither the controller nor accounting knows it."""
    try:
        return await client.info(job.of(client))
    except JobNotFound:
        return None


async def failed_members(client: AsyncSlurmClient, record: JobInfo) -> list[JobInfo]:
    """Return the tasks or components for which a job as a whole failed; none for a plain job, or where Slurm is away.

    How the job ended is known by then: an outage must not take that from whoever waited for it.
    """
    group = record.array_job_id or record.het_job_id
    if record.state.is_success or not group or record.array_task_id is not None or record.het_job_offset is not None:
        return []
    try:
        members = await client.members(record.id)
    except (ControllerDown, AccountingDown):
        return []
    return [member for member in members if member.state.is_terminal and not member.state.is_success]


def by_state(failed: Sequence[JobInfo]) -> str:
    """Return ``FAILED: 12_1, 12_3`` for members of a job, or nothing."""
    labels: dict[str, list[str]] = {}
    for member in failed:
        labels.setdefault(member.state.base.value, []).append(member.label)
    return "".join(f"; {state}: {listed(some)}" for state, some in labels.items())


def logs_hint(job_id: int, failed: Sequence[JobInfo]) -> str:
    """Return how the output of an array's task is read, of one that failed where that is known."""
    label = next((task.label for task in failed if task.array_task_id is not None), f"{job_id}_N")
    return f"Each task has an output of its own: slurm-rest logs {label}"


@contextmanager
def jobs_go_on(ids: Collection[object]) -> Iterator[None]:
    """Leave after ^C with a word on the jobs, and after SIGTERM with the terminal as it was."""
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
            stack.callback(signal.signal, signal.SIGTERM, before)
        try:
            yield
        except KeyboardInterrupt:
            if not ids:
                raise
            one = len(ids) == 1
            hint = f"Cancel {'it' if one else 'them'} with: slurm-rest cancel {' '.join(map(str, ids))}"
            message = f"job {listed(ids)} goes on" if one else f"the jobs go on: {listed(ids)}"
            raise Interrupted(message, hint if len(ids) <= 20 else "") from None
