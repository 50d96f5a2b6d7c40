"""Lists of everything: cheap for a few, dear for slurmrestd when there are many jobs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from slurm_rest.errors import PermissionDenied, SpecError
from slurm_rest.models import JobInfo, Node, Partition
from slurm_rest.records import read_controller_job, read_node, read_partition

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["job_records", "nodes", "partitions"]

# Up to this many, single records are cheaper than a listing of everybody's jobs.
_FEW = 20


async def job_records(rest: RestTransport, states: Collection[str], limit: int | None) -> list[JobInfo]:
    """Read the full records of the jobs in these states one by one where they are few, else of all jobs at once."""
    if states:
        ids = {row.job_id for row in await rest.all_states() if row.state.is_any_of(states)}
        if len(ids) <= _FEW:
            # A task that has started comes under its own id and once more with its array.
            return list({record.label: record for record in await rest.describe(ids)}.values())
    if limit is not None:
        await _check_size(rest, limit)
    _, records = await rest.records("/jobs/", "jobs")
    return [read_controller_job(record) for record in records]


async def _check_size(rest: RestTransport, limit: int) -> None:
    try:
        counts = await rest.diag()
    except PermissionDenied:
        return
    live = (counts.jobs_pending or 0) + (counts.jobs_running or 0)
    if live > limit:
        hint = "Use states(), history(), job(id).info(), or limit=None if slurmrestd can afford it."
        raise SpecError(f"A listing of {live} jobs would cost slurmrestd too much", field="limit", hint=hint)


async def nodes(rest: RestTransport) -> list[Node]:
    """Read all nodes."""
    _, records = await rest.records("/nodes/", "nodes")
    return [read_node(record) for record in records]


async def partitions(rest: RestTransport) -> list[Partition]:
    """Read all partitions."""
    _, records = await rest.records("/partitions/", "partitions")
    return [read_partition(record) for record in records]
