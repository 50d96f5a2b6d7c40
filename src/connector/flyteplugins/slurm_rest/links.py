"""Links beside a task: pages of the site, from templates of the deployment, and copies of the job's output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import posixpath
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import flyte.storage as storage
from flyteidl2.core.execution_pb2 import TaskLog

from slurm_rest import JobInfo, SlurmError
from slurm_rest.errors import FileMissing
from slurm_rest.sbatch.hostlist import expand_hostlist
from slurm_rest.transport.files import Files
from slurm_rest.within import within

from . import objects
from .members import output_of, task_ids
from .presigned import signed_url
from .settings import LinkTemplate

if TYPE_CHECKING:
    from .metadata import SlurmJobMetadata

__all__ = ["Copies", "site_links"]

log = logging.getLogger("flyteplugins.slurm_rest")

_COPY_BYTES = 1024 * 1024
# A job's end is told when its output is copied, or after so long: its outcome must not wait for a page to read.
_COPY_PATIENCE = 20.0
_KEPT = 2000
# Of an array's tasks so many are copied.
_TASKS = 10


def site_links(templates: Sequence[LinkTemplate], meta: SlurmJobMetadata, record: JobInfo | None) -> list[TaskLog]:
    """Return the links whose every value is known by now."""
    values = _values(meta, record)
    links = []
    for template in templates:
        if all(values.get(name) for name in template.names):
            uri = template.url.format_map(
                {name: quote(value, safe="", errors="replace") for name, value in values.items()}
            )
            links.append(TaskLog(name=template.name, uri=uri, link_type=TaskLog.DASHBOARD, ready=True))
    return links


def _values(meta: SlurmJobMetadata, record: JobInfo | None) -> Mapping[str, str]:
    values = {
        "job_id": meta.job_id,
        "job_name": meta.job_name,
        "stdout": meta.stdout_path,
        "stderr": meta.stderr_path,
        "user": meta.username,
    }
    if record is None:
        return values
    has_begun = not record.state.is_pending
    return values | {
        "user": record.user or meta.username,
        "cluster": record.cluster,
        "partition": record.partition,
        "account": record.account,
        "qos": record.qos,
        "nodes": record.nodes,
        "node": next(iter(expand_hostlist(record.nodes)), "") if record.nodes else "",
        "start_ms": _milliseconds(record.start_time) if has_begun else "",
        # What graphs take for "until now".
        "end_ms": _milliseconds(record.end_time) if record.state.is_terminal else "now",
    }


def _milliseconds(time: datetime | None) -> str:
    return str(int(time.timestamp() * 1000)) if time else ""


class Copies:
    """Copies the end of each finished job's output beside its outputs, once, and has links to it signed."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[list[TaskLog]]] = {}

    async def links(
        self,
        key: str,
        meta: SlurmJobMetadata,
        files: Files,
        lifetime: timedelta,
        *,
        patience: float,
        failed: Sequence[int] = (),
    ) -> list[TaskLog] | None:
        """Return links to what there is, None while it is being copied. Raises nothing for want of a way or a store.

        Of an array these are some tasks' output, those that ``failed`` first.
        """
        if not meta.output_prefix or not storage.is_remote(meta.output_prefix):
            return []
        if key not in self._tasks:
            while len(self._tasks) >= _KEPT:
                self._tasks.pop(next(iter(self._tasks))).cancel()
            self._tasks[key] = asyncio.create_task(_copied(meta, files, lifetime, failed), name=f"copy logs {key}")
        task = self._tasks[key]
        done, _ = await asyncio.wait([task], timeout=patience)
        # It has made room for others, and is made anew when it is asked for again.
        return task.result() if done and not task.cancelled() else None


async def _copied(meta: SlurmJobMetadata, files: Files, lifetime: timedelta, failed: Sequence[int]) -> list[TaskLog]:
    links: list[TaskLog] = []
    try:
        await within(_COPY_PATIENCE, _copy(meta, files, lifetime, failed, links))
    except Exception as error:  # a store has its own; a link less is no reason to fail a task
        text = error.message if isinstance(error, SlurmError) else type(error).__name__
        log.info("Job %s has no copy of its output in the store: %s", meta.job_id, text)
    return links


async def _copy(
    meta: SlurmJobMetadata, files: Files, lifetime: timedelta, failed: Sequence[int], links: list[TaskLog]
) -> None:
    tasks: Sequence[int | None] = list(dict.fromkeys([*failed, *task_ids(meta.array, _TASKS)]))[:_TASKS]
    for task in tasks or [None]:
        for stream, path in (("stdout", meta.stdout_path), ("stderr", meta.stderr_path)):
            label = stream if task is None else f"{stream} of task {task}"
            member = "" if task is None else f"_{task}"
            uri = posixpath.join(meta.output_prefix, f"slurm-{meta.job_id}{member}.{stream}.txt")
            with contextlib.suppress(FileMissing):
                if link := await _copy_one(files, output_of(path, task), uri, label, lifetime):
                    links.append(link)


async def _copy_one(files: Files, path: str, uri: str, label: str, lifetime: timedelta) -> TaskLog | None:
    """Return a link to the copy of one file, which another replica may have made; None for an empty one."""
    tail = await files.tail(path, max_bytes=_COPY_BYTES)
    if not tail.data:
        return None
    if not await storage.exists(uri):
        await objects.create(uri, bytes(tail.data))
    link = await signed_url(uri, "GET", lifetime)
    shown = TaskLog(name=f"{label} (last MiB)" if tail.cut else label, uri=link, link_type=TaskLog.EXTERNAL, ready=True)
    shown.ttl.FromTimedelta(lifetime)
    return shown
