"""Changes of jobs that exist: hold, release, requeue, other options. What slurmctld refuses is Refused by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import Refused
from .jobs import FakeJob, Owner
from .requests import read_number, with_changes

if TYPE_CHECKING:
    from .cluster import FakeCluster

__all__ = ["change", "requeue"]

# What may still be changed of a job that runs.
_OF_RUNNING = frozenset({"hold", "name", "comment", "time_limit", "requeue", "mail_user", "mail_type", "extra"})


def change(cluster: FakeCluster, jobs: Iterable[FakeJob], fields: Mapping[str, object], by: Owner) -> None:
    """Change fields of jobs, by the names that a submission has. Raises Refused, and then nothing was done."""
    chosen = list(jobs)
    if not chosen:
        raise Refused(2017)
    for job in chosen:
        _check(cluster, job, fields, by)
    for job in chosen:
        _apply(cluster, job, fields, by)
    cluster.settle(everything=True)


def _check(cluster: FakeCluster, job: FakeJob, fields: Mapping[str, object], by: Owner) -> None:
    if job.is_over:
        raise Refused(2084)
    if by.uid and by != job.owner:
        raise Refused(2010)
    if "priority" in fields and by.uid and fields.get("hold") is None:
        raise Refused(2042 if job.held else 2002)
    if not job.is_pending and not fields.keys() <= _OF_RUNNING:
        raise Refused(2073)
    partition = fields.get("partition")
    if partition is not None and not set(str(partition).split(",")) & cluster.machines.names:
        raise Refused(2000)
    limit, now = read_number(fields.get("time_limit")), job.time_limit
    if by.uid and not job.is_pending and limit is not None and now is not None and limit > now:
        raise Refused(2002)


def _apply(cluster: FakeCluster, job: FakeJob, fields: Mapping[str, object], by: Owner) -> None:
    hold = fields.get("hold")
    if hold is True:
        job.held = job.reason = "JobHeldUser" if by == job.owner else "JobHeldAdmin"
    elif hold is False:
        job.reason = "None" if job.reason == job.held else job.reason
        job.held = ""
    rest = {name: value for name, value in fields.items() if name not in ("hold", "priority")}
    if rest:
        job.request = with_changes(job.request, rest)
    if "comment" in rest:
        job.comment = job.request.text("comment")
    if "time_limit" in rest:
        job.time_limit = job.request.time_limit
    if "begin_time" in rest:
        job.begin = job.request.begin


def requeue(cluster: FakeCluster, jobs: Iterable[FakeJob], by: Owner, *, hold: bool = False) -> dict[FakeJob, int]:
    """Start jobs anew under their ids; returns Slurm's error number for each, 0 where it was done."""
    outcome = {job: _requeue(cluster, job, by, hold=hold) for job in jobs}
    cluster.settle(everything=True)
    return outcome


def _requeue(cluster: FakeCluster, job: FakeJob, by: Owner, *, hold: bool) -> int:
    if by.uid and by != job.owner:
        return 2002
    if job.is_pending:
        return 2024
    if hold:
        job.held = "JobHeldUser"
    cluster.restart(job)
    return 0
