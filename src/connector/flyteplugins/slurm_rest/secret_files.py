"""Secrets that the connector holds: to their job in a file of the cluster that its user alone may read.

The file is written before the job is made and removed when the job is over, also by another replica or after a restart:
its path, no secret, is in the job's metadata. What nobody asks about any more goes when another job is made.
"""

from __future__ import annotations

import asyncio
import logging
import posixpath
import re
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from slurm_rest import SlurmError
from slurm_rest.errors import ConfigError, FileMissing, FilesError

from .clients import Cluster
from .secret_ways import SecretSource, UndeliverableSecret

__all__ = ["SecretFiles", "secret_path", "send"]

log = logging.getLogger("flyteplugins.slurm_rest")

_FOLDER = ".flyte/secrets"
# As plan.job_name writes them; one that was not finished has a dot before and a word behind.
_OURS = re.compile(r"\.?(?P<job>flyte-[A-Za-z0-9_.-]+-(?:[0-9]+|local)-[0-9a-f]{8})(?:\.[0-9a-f]{8})?")
# Linux gives no program a longer variable.
_LONGEST = 128 * 1024
_FIRST_PAUSE, _LONGEST_PAUSE, _PATIENCE = 1.0, 60.0, 3600.0
# A file is there before its job is, and the clocks of two hosts differ.
_YOUNG = timedelta(hours=1)
_INTERVAL = 3600.0
_NO_WAY = (
    "FLYTE_SLURM_HOST (SFTP) or FLYTE_SLURM_FILES (a mount, as root or as the jobs' user) on the connector makes one;"
    " KEY=file:/path and KEY=env:NAME in FLYTE_SLURM_SECRETS need none."
)


def secret_path(home: str, job: str) -> str:
    """Return where the secrets of a job go: below the home, which is certainly the user's."""
    return posixpath.join(home, _FOLDER, job)


async def send(cluster: Cluster, path: str, sources: Sequence[SecretSource], environ: Mapping[str, str]) -> None:
    """Write the file of a job, from what the connector holds now.

    Raises UndeliverableSecret for what it does not hold, and where nothing leads to the cluster's files.
    """
    values = {source.variable: await asyncio.to_thread(_value, source, environ) for source in sources}
    text = "".join(f"export {variable}={shlex.quote(value)}\n" for variable, value in values.items())
    files = cluster.client.files
    try:
        await files.make_directory(posixpath.dirname(path))
        await files.write_private(path, text.encode("utf-8", "surrogateescape"))
    except (ConfigError, FilesError) as error:
        names = ", ".join(repr(source.name) for source in sources)
        what = f"The connector sends the secret {names} in a file, and has no way to write one: {error.message}"
        raise UndeliverableSecret(what, hint=_NO_WAY) from error


def _value(source: SecretSource, environ: Mapping[str, str]) -> str:
    if source.way == "connector-env":
        value = environ.get(source.place)
        if value is None:
            what = f"The secret {source.name!r} is not there: the connector has no variable {source.place}"
            raise UndeliverableSecret(what, hint=f"Set {source.place} on the connector.")
    else:
        try:
            value = Path(source.place).read_bytes().decode("utf-8", "surrogateescape").rstrip("\n")
        except OSError as error:
            what = f"The secret {source.name!r} cannot be read by the connector from {source.place}: {error.strerror}"
            raise UndeliverableSecret(what, hint="Mount it there, readable for the connector's user.") from None
    if "\0" in value or len(value) >= _LONGEST:
        raise UndeliverableSecret(f"The secret {source.name!r} fits into no variable", hint="It has a NUL, or 128 KiB.")
    return value


class SecretFiles:
    """Removes what was sent. Losing it costs nothing: each call of get for a job that is over begins anew."""

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._removing: dict[str, asyncio.Task[None]] = {}
        self._looked: dict[tuple[str, str], float] = {}
        self._sweeping: set[asyncio.Task[None]] = set()

    async def remove(self, cluster: Cluster, path: str, *, patience: float) -> None:
        """Remove a job's file, tried again in the background for an hour; waits ``patience`` seconds for it."""
        if not path:
            return
        key = f"{cluster.access.where} {path}"
        task = self._removing.get(key)
        if task is None:
            task = asyncio.create_task(self._until_removed(cluster, path), name=f"remove {path}")
            self._removing[key] = task
            task.add_done_callback(lambda _: self._removing.pop(key, None))
        await asyncio.wait([task], timeout=patience)

    async def keep(self, cluster: Cluster, path: str) -> None:
        """Remove a file no more that is about to be written again: an attempt that was refused may be made anew."""
        task = self._removing.get(f"{cluster.access.where} {path}")
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _until_removed(self, cluster: Cluster, path: str) -> None:
        pause, begun = _FIRST_PAUSE, time.monotonic()
        while True:
            try:
                await cluster.client.files.remove(path)
            except SlurmError as error:
                log.warning("%s, with secrets of a job that is over, cannot be removed yet: %s", path, error.message)
            else:
                return
            if time.monotonic() - begun > _PATIENCE:
                log.error("%s, with secrets of a job that is over, stays: remove it", path)
                return
            await self._pause(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def sweep(self, cluster: Cluster, home: str, user: str) -> None:
        """Begin to remove what was left behind, once an hour for each user and at first after a restart."""
        key, now = (cluster.access.where, home), time.monotonic()
        if now - self._looked.get(key, now - _INTERVAL) < _INTERVAL:
            return
        self._looked[key] = now
        task = asyncio.create_task(_sweep(cluster, posixpath.join(home, _FOLDER), user), name=f"sweep {home}")
        self._sweeping.add(task)
        task.add_done_callback(self._sweeping.discard)


async def _sweep(cluster: Cluster, folder: str, user: str) -> None:
    try:
        for name in await _left_behind(cluster, folder, user):
            await cluster.client.files.remove(posixpath.join(folder, name))
            log.info("Removed %s from %s, whose job is over", name, folder)
    except SlurmError as error:
        log.warning("What is left of secrets in %s cannot be looked for now: %s", folder, error.message)


async def _left_behind(cluster: Cluster, folder: str, user: str) -> list[str]:
    """Return the old files of which no job of the user's is alive."""
    files, limit = cluster.client.files, datetime.now(timezone.utc) - _YOUNG
    old: dict[str, str] = {}
    try:
        for name in await files.names(folder):
            found = _OURS.fullmatch(name)
            if found and (await files.stat(posixpath.join(folder, name))).modified < limit:
                old[name] = found["job"]
    except FileMissing:
        return []
    if not old:
        return []
    # The controller alone: it knows every job that may still begin or go on.
    live = {job.name for job in await cluster.client.jobs(user=user) if not job.state.is_terminal}
    return [name for name, job in old.items() if job not in live]
