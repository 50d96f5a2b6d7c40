"""Decides which jobs may start, and when to look again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .dependencies import decide
from .jobs import FakeJob

if TYPE_CHECKING:
    from .cluster import FakeCluster

__all__ = ["Scheduler"]


class Scheduler:
    """First come, first served, as far as there are CPUs."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self._due = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = None, float("inf")

    def admit(self, jobs: Sequence[FakeJob]) -> None:
        """Start what can start of new jobs: they change nothing for the others."""
        if self._cluster.runs:
            for job in jobs:
                self._consider(job)
            self._set_timer()

    def settle(self, *, everything: bool) -> None:
        """End what is over its limit and start what can, if something happened or a time has come."""
        cluster = self._cluster
        if not cluster.runs or not (everything or cluster.now() >= self._due):
            return
        self._due = float("inf")
        live = list(self._live())
        for job in live:
            self._watch_limit(job)
        for job in live:
            if job.is_pending and not job.nodes:
                self._consider(job)
        self._set_timer()

    def _live(self) -> Iterator[FakeJob]:
        return (job for job in self._cluster.all_jobs() if not job.is_over)

    def _watch_limit(self, job: FakeJob) -> None:
        if job.base != "RUNNING" or job.time_limit is None:
            return
        ends = job.start_time + job.time_limit * 60
        if ends <= self._cluster.now():
            self._cluster.kill(job, "TIMEOUT")
        else:
            self._due = min(self._due, ends)

    def _consider(self, job: FakeJob) -> None:
        reason = self._obstacle(job)
        if reason == "DependencyNeverSatisfied" and "KILL_INVALID_DEPENDENCY" in job.request.words("flags"):
            job.reason = reason
            self._cluster.cancel([job], job.owner)
        elif reason:
            job.reason = reason
        else:
            self._start(job)

    def _start(self, job: FakeJob) -> None:
        components = self._cluster.members(job.het_id) if job.het_id else [job]
        if job.offset:
            return  # the leader starts them all
        for component in components:
            nodes = self._cluster.machines.room(component)
            self._cluster.start(component, nodes or ("n1",))
            self._watch_limit(component)

    def _obstacle(self, job: FakeJob) -> str:
        """Return why a job cannot start, empty when it can."""
        cluster = self._cluster
        if job.held:
            return job.held
        if job.begin > cluster.now():
            self._due = min(self._due, job.begin)
            return "BeginTime"
        if job.request.dependency:
            verdict = decide(job, job.request.dependency, cluster.find, self._live)
            if verdict != "met":
                return "Dependency" if verdict == "open" else "DependencyNeverSatisfied"
        partition = cluster.machines.partition_of(job)
        if partition.max_time is not None and (job.time_limit or 0) > partition.max_time:
            return "PartitionTimeLimit"
        if partition.max_nodes is not None and job.request.node_count > partition.max_nodes:
            return "PartitionNodeLimit"
        if job.array_limit:
            running = sum(not one.is_pending and not one.is_over for one in cluster.members(job.array_id))
            if running >= job.array_limit:
                return "JobArrayTaskLimit"
        return "" if cluster.machines.room(job) else "Resources"

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._due != float("inf"):
            delay = self._due - self._cluster.now()
            self._timer = self._cluster.call_later(delay, self._ring)

    def _ring(self) -> None:
        """Look whether a time has come; a loop's timer may be early by the clock of the day, and is set anew then."""
        self._timer = None
        self._cluster.settle()
        if self._timer is None:
            self._set_timer()
