"""Which job an id means: Slurm gives ids again, and keeps a job's id when it starts the job anew.

An id comes round when slurmctld lost its saved state, or at MaxJobId. A requeue keeps the id and sets the submit time
to the moment of the requeue, so a later submit time alone proves nothing (24.11, 26.05; 22.05 does so in squeue).
Accounting has one record for each start: the earlier ones say REQUEUED, NODE_FAIL, PREEMPTED, or FAILED.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .models import JobInfo, MemberKey, in_order, member_key

__all__ = ["Identity", "MemberKey", "by_id", "incarnations", "member_key"]

# How far the clocks of this host and of the cluster may be apart. It can be wide: among several jobs the one that
# began closest counts, and in the controller the key in the comment decides.
_SKEW = timedelta(days=1)
# slurmctld makes the components of a het job one after another, each with the second it is then (24.11, 26.05).
_STAGGER = timedelta(seconds=10)
# With these words accounting closes an incarnation that another one follows; FAILED, too, but not for certain.
_REQUEUED = frozenset({"NODE_FAIL", "PREEMPTED", "REQUEUED", "BOOT_FAIL"})


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of a job beside its id: the key in its comment, its submit time, or when it was sent.

    ``submit_time`` is the cluster's own, of any incarnation. ``sent`` is this host's clock when the submission's answer
    came, so it bounds the submit time only up to the clocks' difference. An identity without any of them means
    whatever job has the id. ``owner`` is whose job Slurm made it: another user's without a key is not this one.
    """

    job_id: int
    key: str = ""
    submit_time: datetime | None = None
    sent: datetime | None = None
    owner: str = ""

    @property
    def is_pinned(self) -> bool:
        """True when another job under the same id can be told from this one."""
        return bool(self.key or self.submit_time or self.sent)

    def owns(self, chain: Sequence[JobInfo]) -> bool:
        """Tell whether the incarnations of one job are this job's. What cannot be told counts as yes."""
        keys = {record.submission_key for record in chain if record.submission_key}
        if self.key and keys:
            return self.key in keys
        if self.owner and any(record.user and record.user != self.owner for record in chain):
            return False
        times = [record.submit_time for record in chain if record.submit_time]
        if not times:
            return True
        # Earlier incarnations may be missing: accounting gives only the last one where it is not asked for all.
        whole = not any(record.restart_count for record in chain[:1])
        if self.submit_time is not None:
            return self._has_time(times, chain[0]) or (not whole and min(times) > self.submit_time)
        if self.sent is not None:
            return min(times) >= self.sent - _SKEW and (not whole or min(times) <= self.sent + _SKEW)
        return True

    def _has_time(self, times: Sequence[datetime], record: JobInfo) -> bool:
        apart = _STAGGER if record.het_job_id else timedelta()
        return any(abs(time - self.submit_time) <= apart for time in times if self.submit_time)

    def pick(self, records: Iterable[JobInfo]) -> list[JobInfo]:
        """Return the last incarnation of each member of this job, none of any other job that had its id."""
        members: dict[MemberKey, list[JobInfo]] = {}
        for record in records:
            members.setdefault(member_key(record), []).append(record)
        found = []
        for listed in members.values():
            mine = [chain for chain in incarnations(listed) if self.owns(chain)]
            if mine:
                found.append((self._nearest(mine) if self.is_pinned else mine[-1])[-1])
        return in_order(found)

    def _nearest(self, chains: list[list[JobInfo]]) -> list[JobInfo]:
        """Return the job that began closest to the time when this one was sent; a key or a time leaves one anyway."""
        sent = self.sent
        if sent is None:
            return chains[-1]

        def distance(chain: list[JobInfo]) -> timedelta:
            began = chain[0].submit_time
            return abs(began - sent) if began else _SKEW

        return min(reversed(chains), key=distance)

    def pinned_by(self, record: JobInfo) -> Identity:
        """Return the identity with the submit time of a record that is certainly of this job."""
        return replace(self, submit_time=record.submit_time) if record.submit_time else self


def incarnations(records: Iterable[JobInfo]) -> list[list[JobInfo]]:
    """Return the records of one id as jobs, oldest first, each with its incarnations in order.

    A restart count above 0 continues the job before. v0.0.40, v0.0.41 and 22.05's accounting do not tell it; there
    the end of the record before decides.
    """
    chains: list[list[JobInfo]] = []
    for record in sorted(records, key=_age):
        if chains and _continues(chains[-1][-1], record):
            chains[-1].append(record)
        else:
            chains.append([record])
    return chains


def _continues(before: JobInfo, record: JobInfo) -> bool:
    if record.restart_count:
        return record.restart_count >= before.restart_count
    if before.submit_time == record.submit_time:
        return True
    if before.restart_count or _tells_restarts(record):
        return False
    return before.state.base.value in _REQUEUED or bool(before.state.flags & _REQUEUED)


def _tells_restarts(record: JobInfo) -> bool:
    return any(record.raw.get(name) not in (None, "") for name in ("restart_cnt", "Restarts", "RestartCnt"))


def _age(record: JobInfo) -> tuple[float, int]:
    return (record.submit_time.timestamp() if record.submit_time else 0.0, record.restart_count)


def by_id(records: Iterable[JobInfo]) -> dict[int, list[JobInfo]]:
    """Return the records under each id that they belong to: their own, and their array's or het job's."""
    found: dict[int, list[JobInfo]] = {}
    for record in records:
        for job_id in {record.id, record.array_job_id, record.het_job_id}:
            if job_id:
                found.setdefault(job_id, []).append(record)
    return found
