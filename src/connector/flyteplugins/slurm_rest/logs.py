"""A job's output as log lines, and its metrics: what flyte's messages hold of them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from flyteidl2.connector.connector_pb2 import (
    GetTaskLogsResponse,
    GetTaskLogsResponseBody,
    GetTaskLogsResponseHeader,
    GetTaskMetricsResponse,
)
from flyteidl2.core.metrics_pb2 import ExecutionMetricResult
from flyteidl2.logs.dataplane.payload_pb2 import LogLine, LogLineOriginator
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from slurm_rest import JobInfo, SlurmError
from slurm_rest.errors import ConfigError, FileMissing
from slurm_rest.transport.files import Files
from slurm_rest.usage import summed

from .members import output_of, task_ids
from .messages import sendable
from .usage import allocated
from .wording import in_our_terms

if TYPE_CHECKING:
    from .clients import Cluster
    from .metadata import SlurmJobMetadata

__all__ = ["job_logs", "job_metrics", "job_use", "unreadable"]

log = logging.getLogger("flyteplugins.slurm_rest")

_ENDS = re.compile(r"\r?\n|\r")
USER, SYSTEM = LogLineOriginator.USER, LogLineOriginator.SYSTEM
_FIRST_LINES = 500
# Of an array's tasks; each costs two looks at files.
_MOST_TASKS = 50
# Of one stream to begin with, and of all streams of an array.
_FIRST_BYTES, _FIRST_BYTES_OF_ALL = 512 * 1024, 4 * 1024 * 1024
_PIECE = 256 * 1024
_NO_WAY = "Set FLYTE_SLURM_HOST (SFTP) or FLYTE_SLURM_FILES (a mount) on the connector; slurmrestd moves no files."
# One message must stay well under gRPC's 4 MiB; a line has so much beside its text.
_MESSAGE, _BESIDE = 1024 * 1024, 32


async def job_logs(
    files: Files, meta: SlurmJobMetadata, token: str, lines: int = 0
) -> AsyncIterator[GetTaskLogsResponse]:
    """Yield the lines of both streams from the offsets in ``token``, or their last ones, then the next token.

    ``lines`` is how many of each stream to begin with, 500 by default. Where nothing can be read, one line says why; it
    is not repeated to who follows.
    """
    offsets, lines = _read_token(token), lines if lines > 0 else _FIRST_LINES
    texts: list[str] = []
    notes: list[str] = []
    troubles: dict[str, str] = {}
    streams = _streams(meta)
    most = min(_FIRST_BYTES, _FIRST_BYTES_OF_ALL // len(streams)) if streams else 0
    for stream, path in streams:
        try:
            found = await _read(files, path, offsets.get(stream), lines, most)
        except FileMissing:
            continue
        except ConfigError as error:
            troubles[stream] = f"{error.message}. {_NO_WAY}"
            continue
        except SlurmError as error:
            troubles[stream] = _one_line(error)
            continue
        new = _split(found.data)
        if stream not in offsets and found.data:
            texts.append(f"--- {stream}: {path} ---")
            new = new[-lines:]
        texts += new
        offsets[stream] = (found.start + len(found.data), found.seen)
    if not token:
        notes = _explained(meta, troubles)
        if not texts and not notes:
            notes = [f"No output yet from Slurm job {meta.job_id}; it goes to {meta.stdout_path}"]
    for part in _messages([*_lines(texts, USER), *_lines(notes, SYSTEM)]):
        yield GetTaskLogsResponse(body=GetTaskLogsResponseBody(lines=part))
    yield GetTaskLogsResponse(header=GetTaskLogsResponseHeader(token=json.dumps(offsets)))


def _split(data: bytes) -> list[str]:
    """Return the lines, and each state of a progress bar as one; all other characters are the text's own."""
    texts = _ENDS.split(data.decode("utf-8", "replace"))
    return texts if texts[-1] else texts[:-1]


async def unreadable(meta: SlurmJobMetadata, error: SlurmError) -> AsyncIterator[GetTaskLogsResponse]:
    """Yield one line on why there is no way to the files of a job."""
    note = _explained(meta, {"stdout": _one_line(error), "stderr": ""})
    yield GetTaskLogsResponse(body=GetTaskLogsResponseBody(lines=_lines(note, SYSTEM)))


def _one_line(error: SlurmError) -> str:
    return in_our_terms(" ".join(str(error).split()))


def _streams(meta: SlurmJobMetadata) -> list[tuple[str, str]]:
    """Return the files of a job by what they are called; an array has two for each of its tasks."""
    both = (("stdout", meta.stdout_path), ("stderr", meta.stderr_path))
    if not meta.array:
        return [*both]
    tasks = task_ids(meta.array, _MOST_TASKS)
    return [(f"{stream} of task {task}", output_of(path, task)) for task in tasks for stream, path in both]


def _explained(meta: SlurmJobMetadata, troubles: Mapping[str, str]) -> list[str]:
    """Return one line for whatever cannot be read."""
    if not troubles:
        return []
    what = "output" if len(troubles) > 1 else next(iter(troubles))
    return [f"The {what} of Slurm job {meta.job_id} cannot be read: {next(iter(troubles.values()))}"]


def _lines(texts: Iterable[str], origin: LogLineOriginator) -> list[LogLine]:
    now = Timestamp()
    now.FromDatetime(datetime.now(timezone.utc))
    # A path or an error need not be UTF-8, and a message of protobuf has to.
    return [LogLine(timestamp=now, message=sendable(text), originator=origin) for text in texts]


def _messages(lines: Sequence[LogLine]) -> Iterator[Sequence[LogLine]]:
    """Yield the lines in parts that fit into messages, at least one of them."""
    first = weight = 0
    for number, line in enumerate(lines):
        weight += len(line.message.encode()) + _BESIDE
        if weight > _MESSAGE and number > first:
            yield lines[first:number]
            first, weight = number, len(line.message.encode()) + _BESIDE
    yield lines[first:]


@dataclass(frozen=True, slots=True)
class _Read:
    """A part of a file from ``start`` on. ``seen`` is where the file ended: a line may go on after ``data``."""

    start: int
    data: bytes
    seen: int


async def _read(files: Files, path: str, known: tuple[int, int] | None, lines: int, most: int) -> _Read:
    """Return the last lines, of ``most`` bytes at most, or whole lines from an offset on.

    A file that became shorter is read from its start.

    A line without its end comes once nothing was added to it between two calls, or when it fills a message.
    """
    if known is None:
        tail = await files.tail(path, lines=lines, max_bytes=most)
        return _Read(tail.start, tail.data, tail.start + len(tail.data))
    offset, seen = known
    if (await files.stat(path)).size < offset:
        offset, seen = 0, 0
    found = b""
    async for data in files.read_chunks(path, offset=offset, size=_PIECE):
        found += data
        if len(found) >= _PIECE:
            break
    end = found.rfind(b"\n") + 1
    is_quiet = offset + len(found) == seen
    if not is_quiet and not end and len(found) >= _PIECE:
        end = _whole_characters(found)
    return _Read(offset, found if is_quiet else found[:end], offset + len(found))


def _whole_characters(data: bytes) -> int:
    """Return how much of a part of a line is no beginning of a character that goes on behind it."""
    for back in (1, 2, 3):
        if data[-back] >= 0xC0:
            needed = 2 + (data[-back] >= 0xE0) + (data[-back] >= 0xF0)
            return len(data) - back if needed > back else len(data)
        if data[-back] < 0x80:
            break
    return len(data)


def _read_token(token: str) -> dict[str, tuple[int, int]]:
    """Return where each stream goes on, and where its file ended; anything that is no token of ours begins anew."""
    try:
        found = json.loads(token) if token else {}
    except (ValueError, RecursionError):
        return {}
    offsets: dict[str, tuple[int, int]] = {}
    for name, value in found.items() if isinstance(found, dict) else ():
        # An offset alone is what earlier releases gave.
        pair = value if isinstance(value, list) else [value, 0]
        is_stream = name.startswith(("stdout", "stderr"))
        if is_stream and len(pair) == 2 and all(type(one) is int and one >= 0 for one in pair):
            offsets[name] = (pair[0], pair[1])
    return offsets


async def job_use(cluster: Cluster, meta: SlurmJobMetadata) -> dict[str, float]:
    """Return what accounting knows that the job used; nothing where there is none, or it is away.

    Of each member of an array or het job the last start counts.
    """
    try:
        found = await cluster.client.usage(meta.identity().job_id)
    except SlurmError as error:
        log.info("Job %s: accounting does not tell what it used: %s", meta.job_id, error.message)
        return {}
    # An id comes again; a job's name is that of its attempt alone.
    last = {one.id: one.values() for one in found if one.name == meta.job_name}
    return summed(meta.identity().job_id, meta.job_name, None, last.values()).values()


def job_metrics(record: JobInfo, use: Mapping[str, float]) -> GetTaskMetricsResponse:
    """Return elapsed seconds, CPUs, the allocated TRES and what the job used, as far as they are known.

    ``use`` is what accounting has of its steps, by the names of ``JobUsage``.
    """
    values: dict[str, float] = {}
    if record.start_time and not record.state.is_pending:
        end = record.end_time if record.state.is_terminal and record.end_time else datetime.now(timezone.utc)
        values["elapsed_seconds"] = max(0.0, (end - record.start_time).total_seconds())
    if record.cpus:
        values["cpus"] = float(record.cpus)
    values |= allocated(record.tres_allocated)
    values |= use
    elapsed = values.get("elapsed_seconds", 0.0)
    is_one = record.array_job_id is None and record.het_job_id is None
    if "cpu_seconds" in use and elapsed and record.cpus and is_one:
        values["cpu_efficiency"] = use["cpu_seconds"] / (elapsed * record.cpus)
    results = []
    for name, number in values.items():
        data = Struct()
        data.update({"value": number})
        results.append(ExecutionMetricResult(metric=name, data=data))
    return GetTaskMetricsResponse(results=results)
