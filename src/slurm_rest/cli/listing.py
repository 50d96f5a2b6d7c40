"""``slurm-rest jobs``, ``nodes`` and ``partitions``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from slurm_rest.errors import SpecError
from slurm_rest.history import read_states

from .documents import JOB_KEYS, NODE_KEYS, PARTITION_KEYS, describe
from .failures import Failed
from .shared import json_option, with_client
from .terminal import out_json, out_table, remark

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.tables import JobTable

__all__ = ["States", "jobs", "nodes", "partitions"]


class States(click.ParamType):  # type: ignore[type-arg]  # generic in click's newer releases only
    """One or several states, by long or short name, joined by commas."""

    name = "state"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """Return the long names, or fail and name the nearest."""
        try:
            return sorted(read_states(str(value)))
        except SpecError as error:
            hint = error.hint.rstrip(".") if error.hint.endswith("?") else error.hint
            return self.fail(f"{error.message}; {hint[:1].lower()}{hint[1:].rstrip('.')}", param, ctx)


@click.command()
@click.option("-u", "--user", metavar="USER", help="Jobs of this user, instead of your own.")
@click.option("-a", "--all-users", is_flag=True, help="Jobs of everybody.")
@click.option("-t", "--state", "states", metavar="STATE", type=States(), multiple=True, help="Jobs in these states.")
@click.option("-p", "--partition", metavar="NAME", help="Jobs in this partition.")
@click.option("-n", "--name", metavar="NAME", help="Jobs of this name.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Show the newest N jobs only.")
@click.option("--large", is_flag=True, help="Also where there are more than 10,000 jobs, which is hard on slurmrestd.")
@json_option(JOB_KEYS)
@click.pass_context
def jobs(
    ctx: click.Context,
    user: str | None,
    all_users: bool,
    states: tuple[list[str], ...],
    partition: str | None,
    name: str | None,
    limit: int | None,
    large: bool,
    as_json: bool,
) -> None:
    """List your jobs in the controller, or those of others.

    Jobs that ended some minutes ago have left it (MinJobAge); `slurm-rest status ID` still knows them.
    """
    if user and all_users:
        raise click.UsageError("--user and --all-users exclude each other", ctx)
    wanted = [word for group in states for word in group]

    async def read(client: AsyncSlurmClient) -> JobTable:
        owner = user or (None if all_users else await client.user_name() or None)
        extra = {"limit": None} if large else {}
        return await client.jobs(user=owner, state=wanted or None, partition=partition, name=name, **extra)

    found = _guarded(ctx, read)
    hidden = max(0, len(found) - limit) if limit else 0
    # Ids grow with each submission; the controller lists jobs in no order of use to anybody.
    # A task that started has an id of its own, the last of an array the array's: they belong together all the same.
    found.sort(key=lambda job: (job.array_job_id or job.het_job_id or job.id, job.array_task_id or 0, job.id))
    del found[:hidden]
    if as_json:
        out_json([describe(job, JOB_KEYS) for job in found])
    else:
        out_table(found)
        if not found:
            remark("slurm-rest: no jobs match")
    if hidden:
        remark(f"slurm-rest: {hidden} older job{'s are' if hidden > 1 else ' is'} not shown")


def _guarded(ctx: click.Context, read: Callable[[AsyncSlurmClient], Awaitable[JobTable]]) -> JobTable:
    try:
        return with_client(ctx, read)
    except SpecError as error:
        if error.field != "limit":
            raise
        hint = "Name a --state of which there are few, or add --large if slurmrestd can afford it."
        raise Failed(error.message, hint) from None


@click.command()
@json_option(NODE_KEYS)
@click.pass_context
def nodes(ctx: click.Context, as_json: bool) -> None:
    """List the nodes."""
    found = with_client(ctx, lambda client: client.nodes())
    if as_json:
        out_json([describe(node, NODE_KEYS) for node in found])
    else:
        out_table(found)


@click.command(short_help="List the partitions.")
@json_option(PARTITION_KEYS)
@click.pass_context
def partitions(ctx: click.Context, as_json: bool) -> None:
    """List the partitions. The default one carries a star where Slurm tells it: over SSH, and over REST from API
    v0.0.45 on.
    """
    found = with_client(ctx, lambda client: client.partitions())
    if as_json:
        out_json([describe(part, PARTITION_KEYS) for part in found])
    else:
        out_table(found)
