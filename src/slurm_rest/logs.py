"""A job's output: which file it is, what has been written to it, and what is still to come."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import posixpath
import re
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from .errors import (
    AccountingDown,
    ControllerDown,
    FileMissing,
    FilesError,
    SpecError,
    TransportError,
)
from .models import JobInfo
from .outputs import OutputFile, Stream, output_file
from .transport.files.base import MAX_TAIL, FileStat
from .transport.ids import no_such_job

if TYPE_CHECKING:
    from .client import AsyncSlurmClient
    from .job import AsyncJob

__all__ = ["Output", "why_none", "written_by"]

log = logging.getLogger("slurm_rest")

# For a job that waits nothing is to be read; a full record a job is what each look costs.
_FASTEST, _SLOWEST = 0.5, 10.0
# Slurm's own mark, as a signal, for a job whose output could not be opened.
_NOT_OPENED = 53
# By so much may the clock of the place with the files be behind the controller's.
_SKEW = timedelta(seconds=5)


class Output:
    """Standard output or standard error of one job, array task or het job.

    The components of a het job share what the first one writes: it alone runs the script.
    """

    def __init__(self, client: AsyncSlurmClient, job: AsyncJob, stream: Stream) -> None:
        self._client, self._job, self._stream = client, job, stream
        # Set when it turns out that the job writes to /dev/null.
        self.discarded = False

    async def tail(self, *, lines: int | None = None, max_bytes: int = MAX_TAIL) -> bytes:
        """Return the last lines, as many as fit into ``max_bytes``; nothing of a job that writes to /dev/null."""
        path = await self._existing()
        return b"" if path is None else (await self._client.files.tail(path, lines=lines, max_bytes=max_bytes)).data

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield all that has been written."""
        path = await self._existing()
        if path is not None:
            async with contextlib.aclosing(self._client.files.read_chunks(path)) as chunks:
                async for data in chunks:
                    yield data

    async def follow(self, *, lines: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield what is written until the job is over and its file read to the end; ``lines`` to begin with."""
        over = asyncio.ensure_future(self._job.wait())
        try:
            path = await self._awaited(over)
            if path is None:
                return
            offset = 0
            if lines is not None:
                with contextlib.suppress(FileMissing):
                    tail = await self._client.files.tail(path, lines=lines)
                    offset = tail.start + len(tail.data)
                    if tail.data:
                        yield tail.data
            try:
                async with contextlib.aclosing(self._client.files.follow(path, offset=offset, until=over)) as news:
                    async for data in news:
                        yield data
            except FileMissing:
                raise _missing(self._job.label, over.result(), path) from None
        finally:
            over.cancel()
            # Its error, if it has one, was raised before.
            await asyncio.wait([over])
            _ = over.cancelled() or over.exception()

    async def _existing(self) -> str | None:
        """Return the path of the file that is there, None for /dev/null."""
        record, file = await self._look()
        if file is None:
            raise _unknown(self._job.label, record)
        if file.is_nothing:
            return None
        path = await self._found(file, record)
        if path is None:
            raise _missing(self._job.label, record, file.path)
        return path

    async def _awaited(self, over: asyncio.Future[JobInfo]) -> str | None:
        """Return the path as soon as it is certain, None for /dev/null."""
        pause, last = _FASTEST, over.done()
        record, file = await self._look()
        while True:
            if file is not None and file.search is None:
                return None if file.is_nothing else file.path
            path = None if file is None or record.state.is_pending else await self._found(file, record)
            if path is not None:
                return path
            if last:
                over.result()
                raise _missing(self._job.label, record, file.path) if file else _unknown(self._job.label, record)
            await asyncio.wait([over], timeout=pause)
            pause, last = min(pause * 2, _SLOWEST), over.done()
            try:
                record, file = await self._look()
            except (TransportError, ControllerDown, AccountingDown) as error:
                # The wait for the end sits out an outage, and so does this; what never worked was an error at once.
                if last:
                    raise
                log.info("Job %s cannot be looked at: %s", self._job.label, error.message)

    async def _look(self) -> tuple[JobInfo, OutputFile | None]:
        record = await self._record()
        # A job that was found by its key may have been submitted with other options.
        spec = None if self._job.found else self._job.spec
        file = output_file(record, self._stream, release=self._client.slurm_release, spec=spec)
        self.discarded = file is not None and file.is_nothing
        return record, file

    async def _record(self) -> JobInfo:
        job = self._job
        if job.task_id is not None:
            return await self._client.info(job)
        records = await self._client.members(job)
        if not records or (job.offset is not None and job.offset not in {part.het_job_offset for part in records}):
            raise no_such_job(job.label, accounting=self._client.capabilities.accounting)
        tasks = [record for record in records if record.array_job_id == job.id]
        if len(tasks) > 1 or any(record.array_tasks for record in tasks if record.array_task_id is None):
            message = f"Job {job.id} is an array: each task has an output of its own"
            raise SpecError(message, field="job_id", hint=f"Ask a task: {_some_task(tasks)}, from job.tasks.")
        # The first component runs the script; a record of another one alone is better than none.
        return min(records, key=lambda record: (record.het_job_offset or 0, record.id != job.id))

    async def _found(self, file: OutputFile, record: JobInfo) -> str | None:
        """Return the path of the file if it is there, by whatever name the compute node gave it."""
        files = self._client.files
        with contextlib.suppress(FileMissing):
            await files.stat(file.path)
            return file.path
        if file.search is None:
            return None
        directory = posixpath.dirname(file.path)
        names: list[str] = []
        with contextlib.suppress(FilesError):
            names = [name for name in await files.names(directory) if file.search.fullmatch(name)]
        found: dict[str, FileStat] = {}
        for path in (posixpath.join(directory, name) for name in names):
            with contextlib.suppress(FileMissing):
                found[path] = await files.stat(path)
        return written_by(record, found)


def written_by(record: JobInfo, found: Mapping[str, FileStat]) -> str | None:
    """Return which of the files that a job's output may be is it, None while that is not certain.

    Others of that form can lie there: what was last written before the job started is older than its output. Of a job
    that is over even such a file is taken where it is the only one: one may append to it without a word.
    """
    files = {path: stat for path, stat in found.items() if stat.kind != "directory"}
    begun = record.start_time
    if begun is not None and not record.restart_count:
        begun -= _SKEW
        new = [path for path, stat in files.items() if stat.modified >= begun]
        if len(new) == 1 or not record.state.is_terminal:
            return new[0] if len(new) == 1 else None
    return next(iter(files)) if len(files) == 1 else None


def _some_task(tasks: list[JobInfo]) -> str:
    started = [task.array_task_id for task in tasks if task.array_task_id is not None]
    waiting = re.match("[0-9]+", "".join(task.array_tasks for task in tasks))
    return f"{tasks[0].array_job_id}_{min(started) if started else waiting[0] if waiting else 0}"


def _unknown(label: str, record: JobInfo) -> FileMissing:
    if record.state.is_pending:
        return _missing(label, record, "")
    hint = "Accounting has them since Slurm 24.11, over REST since v0.0.41; a handle from submit() knows by itself."
    return FileMissing(f"Slurm's records do not say where the output of job {label} went", hint=hint)


def _missing(label: str, record: JobInfo, path: str) -> FileMissing:
    """Return the error for a file that is not there, with the reason as far as the record tells it."""
    state = record.state
    if state.is_pending:
        why = f": {record.reason}" if record.reason else ""
        message = f"Job {label} has not started ({state}{why}), so there is no output yet"
        return FileMissing(message, path=path, hint="job.follow() waits for it.")
    if not state.is_terminal:
        message = f"Job {label} is {state}, and there is no {path} yet"
        return FileMissing(message, path=path, hint="Ask again in a moment; job.follow() waits for it.")
    lost = "Was it removed, or is it on a disk that only the node sees? slurm-rest ping checks the way to files."
    hint = why_none(record) or lost
    return FileMissing(f"Job {label} ended {state}, and there is no {path}", path=path, hint=hint)


def why_none(record: JobInfo) -> str:
    """Return why a job that is over has no output at all, as far as its record tells; empty when it may have one."""
    if record.exit_code.signal == _NOT_OPENED:
        user = record.user or "the user"
        return f"Slurm could not open it: is there such a directory, has it room, and may {user} write there?"
    if record.start_time is None or not record.nodes:
        return "The job never started."
    return ""
