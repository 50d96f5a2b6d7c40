"""The members of an array or het job: which there are, where each one's output goes, and how they ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from slurm_rest import JobInfo

__all__ = ["TASK", "failed_members", "output_of", "task_ids", "told"]

# Slurm's pattern for the number of an array's task in the name of a file.
TASK = "%a"
_MOST_NAMED = 20


def task_ids(array: str, most: int) -> list[int]:
    """Return the first task ids of ``--array``: ``0-15:4%2`` has 0, 4, 8 and 12."""
    found: list[int] = []
    for part in array.partition("%")[0].strip("[]").split(","):
        bounds, _, step = part.partition(":")
        first, _, last = bounds.partition("-")
        if first.isdecimal() and (last or first).isdecimal() and (step or "1").isdecimal():
            found += islice(range(int(first), int(last or first) + 1, max(1, int(step or 1))), most)
    return sorted(set(found))[:most]


def output_of(pattern: str, task: int | None) -> str:
    """Return where a member's output goes; the components of a het job share one file."""
    head, found, tail = pattern.rpartition(TASK)
    return f"{head}{task}{tail}" if found and task is not None else pattern


def failed_members(records: Iterable[JobInfo]) -> list[JobInfo]:
    """Return those that ended without success, in their order; none for a job that has no members."""
    members = [record for record in records if _number(record) is not None]
    return sorted((one for one in members if one.state.is_terminal and not one.state.is_success), key=_place)


def told(records: Sequence[JobInfo]) -> str:
    """Return one line on the members that failed, empty where none did."""
    failed = failed_members(records)
    if not failed:
        return ""
    named = [f"{_label(one)} {one.state}{_exit(one)}" for one in failed[:_MOST_NAMED]]
    more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
    count = sum(_number(record) is not None for record in records)
    return f"{len(failed)} of its {count} members failed: {', '.join(named)}{more}"


def _number(record: JobInfo) -> int | None:
    return record.array_task_id if record.array_task_id is not None else record.het_job_offset


def _place(record: JobInfo) -> tuple[int, int]:
    return (record.array_task_id or 0, record.het_job_offset or 0)


def _label(record: JobInfo) -> str:
    return f"task {record.array_task_id}" if record.array_task_id is not None else f"component {record.het_job_offset}"


def _exit(record: JobInfo) -> str:
    return f" (exit code {record.exit_code})" if record.exit_code.code or record.exit_code.signal else ""
