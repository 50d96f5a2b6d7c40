"""Removes the files of jobs that ended long ago, where the deployment says how long to keep them.

Only what is certainly ours: named as this connector names an attempt's or a local run's files, and of a job that
accounting has under that name, for the user whose files these are, as ended. What accounting does not know any more is
kept.
"""

from __future__ import annotations

import asyncio
import logging
import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone

from slurm_rest import JobInfo, SlurmError
from slurm_rest.errors import FileMissing, FilesError

from .clients import Cluster

__all__ = ["Tidying", "remove_old"]

log = logging.getLogger("flyteplugins.slurm_rest")

# As plan.job_name and make_plan write them: an attempt's or a local run's, an array's with the number of its task.
_OURS = re.compile(
    r"(?P<job>flyte-[A-Za-z0-9_.-]+-(?:[0-9]+|local)-[0-9a-f]{8})(?:-[0-9]+)?\.(?P<kind>out|err|outputs)"
)
_INTERVAL = 3600.0
_AT_ONCE = 200
_ASKED = 50


class Tidying:
    """Looks at each directory once an hour, in the background, for each user, when a job is made there."""

    def __init__(self) -> None:
        self._looked: dict[tuple[str, str, str], float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, cluster: Cluster, directory: str, user: str, age: timedelta | None) -> None:
        """Begin to remove what is older than ``age``; nothing without one."""
        # Users may share a directory, and each look removes one user's files.
        key, now = (cluster.access.where, directory, user), time.monotonic()
        if age is None or now - self._looked.get(key, now - _INTERVAL) < _INTERVAL:
            return
        self._looked[key] = now
        task = asyncio.create_task(_tidy(cluster, directory, user, age), name=f"tidy {directory}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _tidy(cluster: Cluster, directory: str, user: str, age: timedelta) -> None:
    try:
        removed = await remove_old(cluster, directory, user, age)
    except SlurmError as error:
        log.warning("Old files of jobs in %s cannot be removed now: %s", directory, error)
        return
    if removed:
        log.info("Removed the files of %d jobs that ended %s ago or earlier from %s", removed, age, directory)


async def remove_old(cluster: Cluster, directory: str, user: str, age: timedelta) -> int:
    """Remove the files of the user's jobs that ended so long ago; return of how many. Raises SlurmError."""
    files, limit = cluster.client.files, datetime.now(timezone.utc) - age
    found: dict[str, list[str]] = {}
    try:
        for name in await files.names(directory):
            if fits := _OURS.fullmatch(name):
                found.setdefault(fits["job"], []).append(name)
    except FileMissing:
        return 0
    old: dict[str, datetime] = {}
    for job, names in found.items():
        if len(old) >= _AT_ONCE:
            break
        try:
            written = [(await files.stat(posixpath.join(directory, name))).modified for name in names]
        except FilesError as error:
            # A link that leads to nothing, say: it must not keep all others.
            log.debug("The files of %s stay: %s", job, error.message)
            continue
        if max(written) < limit:
            old[job] = min(written)
    ended = await _ended(cluster, old, directory, user, limit)
    for job in ended:
        for name in found[job]:
            await files.remove(posixpath.join(directory, name), recursive=name.endswith(".outputs"))
    return len(ended)


async def _ended(
    cluster: Cluster, jobs: Mapping[str, datetime], directory: str, user: str, limit: datetime
) -> list[str]:
    """Return those of the jobs that accounting knows to have ended before ``limit``."""
    names, certain = sorted(jobs), []
    for first in range(0, len(names), _ASKED):
        asked = names[first : first + _ASKED]
        start = min(jobs[name] for name in asked) - timedelta(days=1)
        records: dict[str, list[JobInfo]] = {}
        for record in await cluster.client.history(start=start, name=asked, user=user, limit=None):
            records.setdefault(record.name, []).append(record)
        certain += [name for name in asked if _is_over(records.get(name, ()), name, directory, user, limit)]
    return certain


def _is_over(records: Sequence[JobInfo], name: str, directory: str, user: str, limit: datetime) -> bool:
    output = posixpath.join(directory, name)
    return bool(records) and all(
        record.user == user
        and record.state.is_terminal
        and record.end_time is not None
        and record.end_time < limit
        and (not record.stdout or record.stdout.startswith(output))
        for record in records
    )
