"""``slurm-rest status`` and ``slurm-rest wait``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from slurm_rest.errors import JobNotFound
from slurm_rest.models import JobInfo
from slurm_rest.tables import OutcomeTable

from .documents import JOB_KEYS, describe
from .failures import Failed
from .following import follow, jobs_go_on, split_known
from .shared import JobId, Seconds, json_option, with_client
from .terminal import complain, out_json, out_table

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient

__all__ = ["status", "wait"]

_NOBODY_KNOWS = "Neither the controller nor accounting knows it."


@click.command()
@click.argument("jobs", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@json_option(JOB_KEYS)
@click.pass_context
def status(ctx: click.Context, jobs: tuple[int, ...], as_json: bool) -> None:
    """Show how jobs are doing, or how they ended.

    Exit status 1 if one of them does not exist; how a job ended does not matter.
    """
    ids = list(dict.fromkeys(jobs))
    records = with_client(ctx, lambda client: _records(client, ids))
    _show([record for record in records if record], as_json)
    unknown = [job_id for job_id, record in zip(ids, records, strict=True) if record is None]
    _report_unknown(unknown)
    if unknown:
        raise Failed


@click.command()
@click.argument("jobs", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@click.option("--timeout", metavar="TIME", type=Seconds(), help="Give up after this long: 90 (seconds), 30m, 1:30:00.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@json_option(JOB_KEYS)
@click.pass_context
def wait(ctx: click.Context, jobs: tuple[int, ...], timeout: float | None, quiet: bool, as_json: bool) -> None:
    """Wait until jobs are over, and show how they ended.

    Exit status 0 if all of them succeeded, 1 otherwise and when the time was not enough. ^C leaves the jobs alone.
    """
    ids = list(dict.fromkeys(jobs))

    async def work(client: AsyncSlurmClient) -> tuple[list[int], list[JobInfo]]:
        known, unknown = await split_known(client, ids)
        _report_unknown(unknown)
        return unknown, await follow(client, known, timeout=timeout, quiet=quiet) if known else []

    with jobs_go_on(ids):
        unknown, records = with_client(ctx, work)
    _show(records, as_json)
    if unknown or not all(record.state.is_success for record in records):
        raise Failed


async def _records(client: AsyncSlurmClient, ids: Sequence[int]) -> list[JobInfo | None]:
    async def one(job_id: int) -> JobInfo | None:
        try:
            return await client.info(job_id)
        except JobNotFound:
            return None

    return await asyncio.gather(*(one(job_id) for job_id in ids))


def _report_unknown(ids: Iterable[int]) -> None:
    for job_id in ids:
        complain(f"there is no job {job_id}", _NOBODY_KNOWS)


def _show(records: Sequence[JobInfo], as_json: bool) -> None:
    if as_json:
        out_json([describe(record, JOB_KEYS) for record in records])
    elif records:
        out_table(OutcomeTable(records))
