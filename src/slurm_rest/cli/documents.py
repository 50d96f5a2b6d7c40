"""What ``--json`` prints. Keys are stable: they are only ever added to.

Times are ISO 8601 in UTC, spans are seconds, sizes MiB; null where Slurm says nothing or sets no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from slurm_rest.models import CancelResult, JobInfo, Node, Partition
from slurm_rest.tables import elapsed, reason

__all__ = ["CANCEL_KEYS", "JOB_KEYS", "NODE_KEYS", "PARTITION_KEYS", "describe", "instant"]

T = TypeVar("T")
Fields = Mapping[str, Callable[[T], object]]


def instant(value: datetime | None) -> str | None:
    """Return a time as ``2026-01-31T12:00:00+00:00``."""
    return value.isoformat(timespec="seconds") if value else None


def _span(value: timedelta | None) -> int | None:
    return None if value is None else int(value.total_seconds())


JOB_KEYS: Fields[JobInfo] = {
    "id": lambda job: job.id,
    "label": lambda job: job.label,
    "name": lambda job: job.name,
    "user": lambda job: job.user,
    "account": lambda job: job.account,
    "partition": lambda job: job.partition,
    "qos": lambda job: job.qos,
    "cluster": lambda job: job.cluster,
    "state": lambda job: job.state.base.value,
    "flags": lambda job: sorted(job.state.flags),
    "reason": reason,
    "exit_code": lambda job: job.exit_code.code if job.state.is_terminal else None,
    "signal": lambda job: job.exit_code.signal if job.state.is_terminal else None,
    "submit_time": lambda job: instant(job.submit_time),
    "start_time": lambda job: instant(job.start_time),
    "end_time": lambda job: instant(job.end_time),
    "elapsed": lambda job: _span(elapsed(job)),
    "time_limit": lambda job: _span(job.time_limit),
    "nodes": lambda job: job.nodes,
    "node_count": lambda job: job.node_count,
    "cpus": lambda job: job.cpus,
    "array_job_id": lambda job: job.array_job_id,
    "array_task_id": lambda job: job.array_task_id,
    "het_job_id": lambda job: job.het_job_id,
    "het_job_offset": lambda job: job.het_job_offset,
    "stdout": lambda job: job.stdout,
    "stderr": lambda job: job.stderr,
    "working_directory": lambda job: job.working_directory,
    "comment": lambda job: job.comment,
    "restart_count": lambda job: job.restart_count,
    "source": lambda job: job.source,
}

NODE_KEYS: Fields[Node] = {
    "name": lambda node: node.name,
    "state": lambda node: list(node.state),
    "partitions": lambda node: list(node.partitions),
    "cpus": lambda node: node.cpus,
    "cpus_allocated": lambda node: node.cpus_allocated,
    "memory": lambda node: node.memory,
    "memory_allocated": lambda node: node.memory_allocated,
    "gres": lambda node: node.gres,
    "gres_used": lambda node: node.gres_used,
    "features": lambda node: list(node.features),
    "reason": lambda node: node.reason,
}

PARTITION_KEYS: Fields[Partition] = {
    "name": lambda part: part.name,
    "state": lambda part: list(part.state),
    "is_default": lambda part: part.is_default,
    "nodes": lambda part: part.nodes,
    "node_count": lambda part: part.node_count,
    "cpus": lambda part: part.cpus,
    "max_time": lambda part: _span(part.max_time),
    "default_time": lambda part: _span(part.default_time),
    "max_nodes": lambda part: part.max_nodes,
}

CANCEL_KEYS: Fields[tuple[str, CancelResult]] = {
    "id": lambda pair: pair[1].job_id,
    "label": lambda pair: pair[0],
    "ok": lambda pair: pair[1].ok,
    "outcome": lambda pair: pair[1].outcome,
    "message": lambda pair: pair[1].message,
    "confirmed": lambda pair: pair[1].confirmed,
}


def describe(item: T, keys: Fields[T]) -> dict[str, object]:
    """Return the JSON object of one record."""
    return {name: read(item) for name, read in keys.items()}
