"""A job's output as log lines, and its metrics: what flyte's messages hold of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from flyteidl2.connector.connector_pb2 import (
    GetTaskLogsResponse,
    GetTaskLogsResponseBody,
    GetTaskLogsResponseHeader,
    GetTaskMetricsResponse,
)
from flyteidl2.core.metrics_pb2 import ExecutionMetricResult
from flyteidl2.logs.dataplane.payload_pb2 import LogLine
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from slurm_rest import JobInfo, SlurmError
from slurm_rest.errors import FileMissing
from slurm_rest.transport.files import Files

from .members import output_of, task_ids

if TYPE_CHECKING:
    from .metadata import SlurmJobMetadata

__all__ = ["job_logs", "job_metrics"]

_FIRST_LINES = 500
# Of an array's tasks; each costs two looks at files.
_MOST_TASKS = 50
_FIRST_BYTES = 512 * 1024
# One message must stay well under gRPC's 4 MiB, whatever the lines weigh beside their text.
_PIECE = 256 * 1024


async def job_logs(files: Files, meta: SlurmJobMetadata, token: str) -> AsyncIterator[GetTaskLogsResponse]:
    """Yield the lines of both streams from the offsets in ``token``, or their last ones, then the next token.

    Where nothing can be read, one line says why.
    """
    offsets = _read_token(token)
    lines: list[str] = []
    for stream, path in _streams(meta):
        try:
            start, data = await _read(files, path, offsets.get(stream))
        except FileMissing:
            continue
        except SlurmError as error:
            lines.append(f"The {stream} of Slurm job {meta.job_id} cannot be read: {error}")
            continue
        if stream not in offsets and data:
            lines.append(f"--- {stream}: {path} ---")
        lines += data.decode("utf-8", "replace").splitlines()
        offsets[stream] = start + len(data)
    if not lines and not token:
        lines = [f"No output yet from Slurm job {meta.job_id}; it goes to {meta.stdout_path}"]
    now = Timestamp()
    now.FromDatetime(datetime.now(timezone.utc))
    body = GetTaskLogsResponseBody(lines=[LogLine(timestamp=now, message=line) for line in lines])
    yield GetTaskLogsResponse(body=body)
    yield GetTaskLogsResponse(header=GetTaskLogsResponseHeader(token=json.dumps(offsets)))


def _streams(meta: SlurmJobMetadata) -> list[tuple[str, str]]:
    """Return the files of a job by what they are called; an array has two for each of its tasks."""
    both = (("stdout", meta.stdout_path), ("stderr", meta.stderr_path))
    if not meta.array:
        return [*both]
    tasks = task_ids(meta.array, _MOST_TASKS)
    return [(f"{stream} of task {task}", output_of(path, task)) for task in tasks for stream, path in both]


async def _read(files: Files, path: str, offset: int | None) -> tuple[int, bytes]:
    """Return where it begins and the bytes: the last lines, or whole lines from an offset on."""
    if offset is None:
        tail = await files.tail(path, lines=_FIRST_LINES, max_bytes=_FIRST_BYTES)
        return tail.start, tail.data
    found = b""
    async for data in files.read_chunks(path, offset=offset, size=_PIECE):
        found += data
        if len(found) >= _PIECE:
            break
    # A line that is still being written comes with the next call, unless it is longer than a message.
    end = found.rfind(b"\n") + 1
    return offset, found[:end] if end or len(found) < _PIECE else found


def _read_token(token: str) -> dict[str, int]:
    if not token:
        return {}
    try:
        found = json.loads(token)
    except ValueError:
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {
        name: value
        for name, value in pairs
        if name.startswith(("stdout", "stderr")) and isinstance(value, int) and value >= 0
    }


def job_metrics(record: JobInfo) -> GetTaskMetricsResponse:
    """Return elapsed seconds, CPUs and the allocated TRES, as far as they are known."""
    values: dict[str, float] = {}
    if record.start_time and not record.state.is_pending:
        end = record.end_time if record.state.is_terminal and record.end_time else datetime.now(timezone.utc)
        values["elapsed_seconds"] = max(0.0, (end - record.start_time).total_seconds())
    if record.cpus:
        values["cpus"] = float(record.cpus)
    for name, value in record.tres_allocated.items():
        if value.replace(".", "", 1).isdigit():
            values[f"tres/{name}"] = float(value)
    results = []
    for name, number in values.items():
        data = Struct()
        data.update({"value": number})
        results.append(ExecutionMetricResult(metric=name, data=data))
    return GetTaskMetricsResponse(results=results)
