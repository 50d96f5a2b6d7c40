"""What jobs used, from accounting's records of their steps. Pure.

Steps are summed up as sacct does it for people: the CPU time of a job is that of its steps (slurmdb's own total for a
job is 0 on 24.11), memory the largest that any one task of any step had (``TRESUsageInMax``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from .models import JobUsage
from .records import items, mapping, moment, number, text

__all__ = ["USED_TRES", "read_usage", "summed"]

# TRES of a step, by type and name, and the fields of JobUsage that they are.
USED_TRES = {
    "mem": "memory_max_bytes",
    "gres/gpuutil": "gpu_utilization_percent",
    "gres/gpumem": "gpu_memory_max_bytes",
}
_TIMES = {"cpu_seconds": "total", "cpu_user_seconds": "user", "cpu_system_seconds": "system"}


def summed(job_id: int, name: str, submit_time: datetime | None, steps: Iterable[Mapping[str, float]]) -> JobUsage:
    """Return what a job used that had these steps; their values have the names of JobUsage's fields."""
    found: dict[str, float] = {}
    for step in steps:
        for field, value in step.items():
            known = found.get(field, 0.0)
            found[field] = known + value if field in _TIMES else max(known, value)
    return JobUsage(id=job_id, name=name, submit_time=submit_time, **found)


def read_usage(record: Mapping[str, object]) -> JobUsage:
    """Read one element of slurmdb's ``jobs``, with its steps."""
    submitted = moment(mapping(record.get("time")).get("submission"))
    steps = (_step(step) for step in items(record.get("steps")))
    return summed(number(record.get("job_id")) or 0, text(record.get("name")), submitted, steps)


def _step(step: Mapping[str, object]) -> dict[str, float]:
    found: dict[str, float] = {}
    times = mapping(step.get("time"))
    for name, word in _TIMES.items():
        span = mapping(times.get(word))
        if (seconds := number(span.get("seconds"))) is not None:
            found[name] = seconds + (number(span.get("microseconds")) or 0) / 1e6
    for item in items(mapping(mapping(step.get("tres")).get("requested")).get("max")):
        kind = "/".join(filter(None, (text(item.get("type")), text(item.get("name")))))
        count = number(item.get("count"))
        # Slurm has -2 for what it does not know.
        if (field := USED_TRES.get(kind)) and count is not None and count >= 0:
            found[field] = max(found.get(field, 0), count)
    return found
