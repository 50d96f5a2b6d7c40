"""Puts records together with the jobs that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .errors import SpecError
from .followed import Followed
from .identity import Identity
from .job import AsyncJob
from .models import JobInfo, group_record
from .outputs import NO_TASK
from .transport.ids import no_such_job, wrong_id

__all__ = ["JobRef", "JobRefs", "followed", "ids_of", "labels_of", "member_of", "one_of", "several"]

JobRef = AsyncJob | int
JobRefs = AsyncJob | int | Iterable[AsyncJob | int]


def several(jobs: JobRefs) -> list[JobRef]:
    """Return a list of jobs, also for a single one; raises SpecError for what is neither."""
    if isinstance(jobs, (AsyncJob, int)):
        return [jobs]
    if isinstance(jobs, (str, bytes)) or not isinstance(jobs, Iterable):
        hint = "Pass a handle, an id, or a list of them; of a text, client.job(text) makes a handle."
        raise wrong_id(jobs, "is neither a job nor several", hint)
    return list(jobs)


def ids_of(jobs: JobRefs) -> list[int]:
    """Return the ids of whole jobs; raises SpecError for members of a job and for what is no id."""
    # Plain numbers, the rule, need no second look.
    return [job if type(job) is int and job > 0 else _id_of(job) for job in several(jobs)]


def _id_of(job: JobRef) -> int:
    job_id = job.id if isinstance(job, AsyncJob) else job
    if isinstance(job, AsyncJob) and job.is_member:
        hint = "Ask the member itself: refresh(), info(), wait(), cancel()."
        raise SpecError(f"{job.label} is a member of job {job.id}", field="job_id", hint=hint)
    if isinstance(job_id, bool) or not isinstance(job_id, int) or job_id < 1:
        hint = "Job ids are numbers from 1 up; of a text, client.job(text) makes a handle."
        raise wrong_id(job, hint=hint)
    return job_id


def followed(job: JobRef) -> Followed:
    """Return what to follow for a handle or an id."""
    if isinstance(job, AsyncJob):
        return Followed(job.identity, (job.task_id, job.offset))
    return Followed(Identity(ids_of([job])[0]))


def labels_of(jobs: JobRefs) -> list[int | str]:
    """Return what a transport acts on: ids, and labels of array tasks and het components."""
    return [job.label if isinstance(job, AsyncJob) and job.is_member else ids_of([job])[0] for job in several(jobs)]


def member_of(job: AsyncJob, records: Iterable[JobInfo], *, accounting: bool = True) -> JobInfo:
    """Return the record of one member; a pending task has none of its own, so the array's stands for it."""
    key = (job.task_id, job.offset)
    for record in records:
        group = record.array_job_id if job.offset is None else record.het_job_id
        if group != job.id:
            continue
        if (record.array_task_id, record.het_job_offset) == key:
            return record
        if job.task_id is not None and record.array_task_id is None and record.stands_for(job.task_id):
            stdout, stderr = (_of_task(path, job.task_id) for path in (record.stdout, record.stderr))
            return replace(record, array_task_id=job.task_id, array_tasks="", stdout=stdout, stderr=stderr)
    raise no_such_job(job.label, accounting=accounting)


def _of_task(path: str | None, task_id: int) -> str | None:
    """Return the path that an array's record has, where Slurm's number for no task stands, as that of a task."""
    return path and path.replace(str(NO_TASK), str(task_id))


def one_of(job_id: int, members: Mapping[int, Sequence[JobInfo]], *, accounting: bool = True) -> JobInfo:
    """Return the record of one job; raises JobNotFound."""
    if job_id not in members:
        raise no_such_job(job_id, accounting=accounting)
    return group_record(job_id, members[job_id])
