"""``slurm-rest history``."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from slurm_rest.tables import PastTable

from .documents import JOB_KEYS, describe
from .listing import States
from .shared import Seconds, json_option, with_client
from .terminal import out_json, out_table, remark

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.tables import JobTable

__all__ = ["history"]


class When(click.ParamType):  # type: ignore[type-arg]  # generic in click's newer releases only
    """A time (``2026-01-31``, ``2026-01-31T12:00``, with or without a zone), or a span before now (``2h``, ``7d``)."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime | timedelta:
        """Return what is meant, or fail with the forms that are taken."""
        if isinstance(value, (datetime, timedelta)):
            return value
        words = str(value).strip()
        try:
            return datetime.fromisoformat(f"{words[:-1]}+00:00" if words.endswith("Z") else words)
        except ValueError:
            pass
        try:
            return timedelta(seconds=Seconds().convert(words, param, ctx))
        except click.BadParameter:
            problem = "is no time; write 2026-01-31, 2026-01-31T12:00, or a span before now as in 2h or 7d"
            return self.fail(f"{value!r} {problem}", param, ctx)


@click.command(short_help="List jobs of any span of time, from accounting.")
@click.option("-S", "--start", metavar="TIME", type=When(), help="From when on: 2026-01-31, 2h, 7d; default midnight.")
@click.option("-E", "--end", metavar="TIME", type=When(), help="Until when; default now.")
@click.option("-u", "--user", metavar="USER", help="Jobs of this user, instead of your own.")
@click.option("-a", "--all-users", is_flag=True, help="Jobs of everybody.")
@click.option("-t", "--state", "states", metavar="STATE", type=States(), multiple=True, help="Jobs in these states.")
@click.option("-p", "--partition", metavar="NAME", help="Jobs in this partition.")
@click.option("-n", "--name", metavar="NAME", help="Jobs of this name.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=1000, show_default=True, help="The newest N jobs only."
)
@json_option(JOB_KEYS)
@click.pass_context
def history(
    ctx: click.Context,
    start: datetime | timedelta | None,
    end: datetime | timedelta | None,
    user: str | None,
    all_users: bool,
    states: tuple[list[str], ...],
    partition: str | None,
    name: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List your jobs of today, or of any span of time, from accounting: also those that have left the controller.

    A job counts if it waited or ran at any moment of that span; of a requeued one, the last start is shown.
    """
    if user and all_users:
        raise click.UsageError("--user and --all-users exclude each other", ctx)

    async def read(client: AsyncSlurmClient) -> JobTable:
        owner = user or ("" if all_users else await client.user_name())
        return await client.history(
            start=start,
            end=end,
            user=owner or (),
            state=[word for group in states for word in group],
            partition=partition or (),
            name=name or (),
            limit=limit + 1,
        )

    found = with_client(ctx, read)
    hidden = len(found) > limit
    del found[: max(0, len(found) - limit)]
    if as_json:
        out_json([describe(job, JOB_KEYS) for job in found])
    else:
        out_table(PastTable(found))
    if hidden:
        remark(f"slurm-rest: there are older jobs than these {limit}; --limit shows more")
