"""Puts records together with the jobs that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .errors import JobNotFound
from .models import JobInfo, group_record
from .states import JobState

if TYPE_CHECKING:
    from .job import AsyncJob

__all__ = ["both", "by_id", "has_state", "member_of", "one_of"]


def member_of(job: AsyncJob, records: Iterable[JobInfo]) -> JobInfo:
    """Return the record of one member; a pending task has none of its own, so the array's stands for it."""
    key = (job.task_id, job.offset)
    for record in records:
        group = record.array_job_id if job.offset is None else record.het_job_id
        if group != job.id:
            continue
        if (record.array_task_id, record.het_job_offset) == key:
            return record
        if job.task_id is not None and record.array_task_id is None and record.stands_for(job.task_id):
            return replace(record, array_task_id=job.task_id, array_tasks="")
    raise JobNotFound(f"There is no job {job.label}", hint="Neither the controller nor accounting knows it.")


def by_id(records: Iterable[JobInfo]) -> dict[int, list[JobInfo]]:
    """Return the records under each id that they belong to: their own, and their array's or het job's."""
    found: dict[int, list[JobInfo]] = {}
    for record in records:
        for job_id in {record.id, record.array_job_id, record.het_job_id}:
            if job_id:
                found.setdefault(job_id, []).append(record)
    return found


def one_of(job_id: int, members: Mapping[int, Sequence[JobInfo]]) -> JobInfo:
    """Return the record of one job; raises JobNotFound."""
    if job_id not in members:
        raise JobNotFound(f"There is no job {job_id}", hint="Neither the controller nor accounting knows it.")
    return group_record(job_id, members[job_id])


def has_state(state: JobState, wanted: Collection[str]) -> bool:
    """Tell whether a state is, or has as a flag, one of these words."""
    return state.base.value in wanted or bool(state.flags & set(wanted))


def both(
    first: Callable[[Mapping[int, JobState]], None], second: Callable[[Mapping[int, JobState]], None] | None
) -> Callable[[Mapping[int, JobState]], None]:
    """Return one function that calls both."""

    def call(states: Mapping[int, JobState]) -> None:
        first(states)
        if second is not None:
            second(states)

    return call
