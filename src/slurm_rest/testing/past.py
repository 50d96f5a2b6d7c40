"""What accounting is asked for: which jobs were there in a span of time, and which records somebody wants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from .jobs import FakeJob

if TYPE_CHECKING:
    from .cluster import FakeCluster

__all__ = ["is_wanted", "jobs_between", "last_starts"]


def jobs_between(cluster: FakeCluster, start: float, end: float, *, by_submission: bool = False) -> list[FakeJob]:
    """Return every start of the jobs that waited or ran between two times.

    What was never eligible, such as a job that was cancelled while it was held, is only found ``by_submission``.
    """
    found = []
    for group, jobs in cluster.records.items():
        for job in jobs:
            last = job.submit_time if by_submission else job.end_time or cluster.now()
            is_eligible = by_submission or not job.held or bool(job.nodes)
            if job.group == group and is_eligible and job.submit_time <= end and last >= start:
                found.append(job)
    return found


def is_wanted(record: Mapping[str, object], wanted: Mapping[str, Collection[str]]) -> bool:
    """Return whether a record has one of the wanted values of each field; no values mean any."""
    return all(not values or set(values) & _values(record.get(name)) for name, values in wanted.items())


def _values(value: object) -> set[str]:
    if isinstance(value, Mapping):
        value = value.get("current")
    return set(map(str, value)) if isinstance(value, list) else {str(value)}


def last_starts(records: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Return the last of several records of a job, which are oldest first."""
    return list({str((record["job_id"], record["array"])): record for record in records}.values())
