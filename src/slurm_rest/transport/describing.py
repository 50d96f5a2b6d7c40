"""Which source is asked for which job's record: the controller, and accounting for what it no longer has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from slurm_rest.errors import AccountingDown, NoAccounting
from slurm_rest.models import JobInfo

from .ids import MAX_JOB_ID, check_id, group_ids

__all__ = ["Ask", "closed", "describe", "missing", "nothing"]

Ask = Callable[[Sequence[int]], Awaitable[list[JobInfo]]]


async def describe(ids: Collection[int], *, controller: Ask, accounting: Ask, first: Ask) -> list[JobInfo]:
    """Return the records of these jobs; unknown ids are absent.

    ``first`` may find some before the controller is asked. ``accounting`` returns the last record of each id; raises
    AccountingDown where it is needed and does not answer, NoAccounting where another way may lead to it, and what it
    raises for a cluster without one counts as none.
    """
    asked = [job_id for job_id in sorted({int(check_id(job_id)) for job_id in ids}) if job_id <= MAX_JOB_ID]
    found = await first(asked)
    asked = missing(asked, found)
    here = await controller(asked) if asked else []
    gone = missing(asked, here)
    try:
        accounted = await accounting(gone) if gone else []
    except NoAccounting as error:
        if error.elsewhere:
            raise
        accounted = []
    return [*found, *here, *accounted, *await _purged_tasks(asked, here, accounting)]


async def _purged_tasks(asked: Collection[int], here: Sequence[JobInfo], accounting: Ask) -> list[JobInfo]:
    """Return the ended tasks of arrays that are in the controller only in part: it forgets each on its own."""
    arrays = sorted({record.array_job_id for record in here if record.array_job_id}.intersection(asked))
    try:
        records = await accounting(arrays) if arrays else []
    except AccountingDown:
        return []
    known = {record.id for record in here}
    return [record for record in records if record.id not in known and record.state.is_terminal]


def missing(asked: Iterable[int], records: Iterable[JobInfo]) -> list[int]:
    """Return the ids that none of the records belongs to."""
    known = {job_id for record in records for job_id in group_ids(record)}
    return [job_id for job_id in asked if job_id not in known]


def closed(records: Collection[JobInfo]) -> list[JobInfo]:
    """Return the records of jobs that are over, with all their members.

    slurmdbd may be a moment behind the controller: a group with an open member has to be asked for again.
    """
    late = {member for record in records if not record.state.is_terminal for member in group_ids(record)}
    return [record for record in records if not late & group_ids(record)]


async def nothing(ids: Sequence[int]) -> list[JobInfo]:
    """Find none of them."""
    return []
