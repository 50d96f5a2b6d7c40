"""Whether a job that Slurm calls cancelled was never launched: then its node has been drained for that.

Where a prolog fails without PrologFlags=Alloc, or slurmd's spool directory is full, slurmd has slurmctld cancel the job
as root, with exit code 0:0 and no reason (22.05, 24.11, 26.05): what an administrator leaves who cancels a job that
ends well on SIGTERM. The node tells them apart: slurmd drains it in the same moment, with a reason of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from slurm_rest import AsyncSlurmClient, BaseState, JobInfo, SlurmError
from slurm_rest.errors import ConfigError
from slurm_rest.sbatch.hostlist import expand_hostlist
from slurm_rest.within import within

from .asking import TimeLeft
from .findings import Findings
from .follower import Look
from .states import UNLAUNCHED, is_unlaunched

__all__ = ["Drain", "add_launch_failures"]

log = logging.getLogger("flyteplugins.slurm_rest")

# As slurmd (the first two) and slurmctld put it when they drain a node over a job that was not launched.
_REASONS = ("Prolog error", "SlurmdSpoolDir is full", "batch job complete failure")
# For so long in all, over several answers, the end of a job waits for its node's word.
_LATE, _ASK = 10.0, 0.4
# slurmd tells of the job before it has its node drained; so long after the first look there are others.
_PAUSES = (0.2, 0.8, 2.0)
# Slurm's times are whole seconds.
_EARLY, _LATER = timedelta(seconds=1), timedelta(seconds=10)
# How long a prolog may have taken.
_BRIEF = timedelta(minutes=1)
# Of the members of an array.
_MOST_NODES = 20


@dataclass(frozen=True, slots=True)
class Drain:
    """Why a node takes no more jobs, and since when, as far as that is told."""

    reason: str
    since: datetime | None = None


async def add_launch_failures(
    findings: Findings[Mapping[str, Drain]], key: str, client: AsyncSlurmClient, look: Look, time: TimeLeft
) -> Look | None:
    """Return the look with a reason for the jobs that were not launched; None while their nodes may still tell it."""
    records = [one for one in (look.record, *look.members) if one is not None]
    names = list(dict.fromkeys(name for one in records if _is_doubtful(one) and (name := _batch_node(one))))
    if not names:
        return look

    async def ask() -> Mapping[str, Drain]:
        try:
            return await within(_LATE, _all_drains(client, names[:_MOST_NODES]))
        except (SlurmError, TimeoutError) as error:
            log.debug("Why the nodes of job %s take no more jobs is not known: %s", key, error)
            return {}

    drains = await findings.get(f"nodes {key} {look.restarts}", ask, patience=time.most(_ASK))
    if drains is None:
        return None
    record = None if look.record is None else _told(look.record, drains)
    return replace(look, record=record, members=[_told(one, drains) for one in look.members])


def _is_doubtful(record: JobInfo) -> bool:
    """Tell whether a job may not have been launched, by its record alone."""
    code = record.exit_code
    if record.state.base is not BaseState.CANCELLED or not record.nodes or code.code or code.signal:
        return False
    if record.source == "accounting" and record.derived_exit_code.code is not None and not _is_brief(record):
        # It has 0:0 for all that were cancelled (24.11), but 0:0 of the steps only where the script ended.
        return False
    return not is_unlaunched(record) and _may_be_root(record)


def _is_brief(record: JobInfo) -> bool:
    """Tell whether sacct tells of a job that ended soon after its start: it has 0:0 of steps that never ended, too.

    Of the jobs that root cancelled by the thousand the others need no look at their nodes then.
    """
    by_sacct, begin, end = any(" by " in word for word in record.state.raw), record.start_time, record.end_time
    return by_sacct and not record.derived_exit_code.signal and bool(begin and end and end - begin <= _BRIEF)


def _may_be_root(record: JobInfo) -> bool:
    who = record.raw.get("kill_request_user")
    if isinstance(who, str) and who:
        return who == "root"
    return all(word.rpartition(" by ")[2] == "0" for word in record.state.raw if " by " in word)


def _batch_node(record: JobInfo) -> str:
    """Return the node that begins a job's script, its first."""
    try:
        return expand_hostlist(record.nodes)[0]
    except ValueError:
        return ""


def _told(record: JobInfo, drains: Mapping[str, Drain]) -> JobInfo:
    drain = drains.get(_batch_node(record)) if _is_doubtful(record) else None
    if drain is None or not _fits(drain.since, record):
        return record
    return replace(record, reason=f"{UNLAUNCHED} ({drain.reason})")


def _fits(since: datetime | None, record: JobInfo) -> bool:
    """Tell whether a node was drained while it had that job; where one time is not known, nothing speaks against it."""
    begin, end = record.start_time, record.end_time
    if since is None or begin is None or end is None:
        return True
    return begin - _EARLY <= since <= end + _LATER


async def _all_drains(client: AsyncSlurmClient, names: Sequence[str]) -> Mapping[str, Drain]:
    """Ask until each of these nodes tells why it was drained, or some have not been for a while."""
    found: Mapping[str, Drain] = {}
    for pause in (*_PAUSES, None):
        try:
            found = await _drains(client, names)
        except SlurmError:
            if pause is None:
                raise
        if pause is None or len(found) == len(names):
            break
        await asyncio.sleep(pause)
    return found


async def _drains(client: AsyncSlurmClient, names: Sequence[str]) -> Mapping[str, Drain]:
    """Return why nodes are drained, without those that are not, or for other reasons than a job's launch."""
    try:
        found = dict(zip(names, await asyncio.gather(*(_over_rest(client, name) for name in names)), strict=True))
    except ConfigError:
        # Commands tell of all nodes at once, and not since when.
        nodes = {node.name: node for node in await client.nodes()}
        found = {name: _drain(nodes[name].state, nodes[name].reason) for name in names if name in nodes}
    return {name: drain for name, drain in found.items() if drain is not None}


async def _over_rest(client: AsyncSlurmClient, name: str) -> Drain | None:
    node = next(iter((await client.api.get_node(name)).nodes or ()), None)
    if node is None:
        return None
    since = node.reason_changed_at
    when = datetime.fromtimestamp(since, timezone.utc) if isinstance(since, int) and since else None
    return _drain(node.state or (), node.reason or "", when)


def _drain(states: Iterable[str], reason: str, since: datetime | None = None) -> Drain | None:
    drained = any(word.startswith("DRAIN") for word in states)
    return Drain(reason, since) if drained and reason.startswith(_REASONS) else None
