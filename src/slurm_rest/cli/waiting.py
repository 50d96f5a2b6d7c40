"""``slurm-rest status`` and ``slurm-rest wait``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from slurm_rest.models import JobInfo
from slurm_rest.tables import OutcomeTable
from slurm_rest.transport.ids import no_such_job

from .documents import JOB_KEYS, describe
from .failures import Failed
from .following import by_state, failed_members, follow, jobs_go_on, logs_hint, record_of, split_known
from .shared import JobId, Named, Seconds, json_option, with_client
from .terminal import complain, out_json, out_table

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient

__all__ = ["status", "wait"]


@click.command(short_help="Show how jobs are doing, or how they ended.")
@click.argument("jobs", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@json_option(JOB_KEYS)
@click.pass_context
def status(ctx: click.Context, jobs: tuple[Named, ...], as_json: bool) -> None:
    """Show how jobs are doing, or how they ended: 12, a task of an array 12_3, a component of a het job 12+1.

    Exit status 1 if one of them does not exist; how a job ended does not matter.
    """
    named = list(dict.fromkeys(jobs))

    async def work(client: AsyncSlurmClient) -> tuple[list[JobInfo | None], bool]:
        return await _records(client, named), client.capabilities.accounting

    records, accounting = with_client(ctx, work)
    _show([record for record in records if record], as_json)
    unknown = [job for job, record in zip(named, records, strict=True) if record is None]
    _report_unknown(unknown, accounting=accounting)
    if unknown:
        raise Failed


@click.command(short_help="Wait until jobs are over, and show how they ended.")
@click.argument("jobs", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@click.option("--timeout", metavar="TIME", type=Seconds(), help="Give up after this long: 90 (seconds), 30m, 1:30:00.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@json_option(JOB_KEYS)
@click.pass_context
def wait(ctx: click.Context, jobs: tuple[Named, ...], timeout: float | None, quiet: bool, as_json: bool) -> None:
    """Wait until jobs are over, and show how they ended: 12, a task of an array 12_3, a component 12+1.

    Exit status 0 if all of them succeeded, 1 otherwise and when the time was not enough. ^C leaves the jobs alone.
    """
    named = list(dict.fromkeys(jobs))

    async def work(client: AsyncSlurmClient) -> tuple[list[Named], list[JobInfo], list[list[JobInfo]]]:
        begin = time.monotonic()
        known, unknown = await split_known(client, named, timeout, quiet=quiet)
        _report_unknown(unknown, accounting=client.capabilities.accounting)
        handles = [job.of(client) for job in known]
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - begin))
        records = await follow(client, handles, timeout=left, quiet=quiet) if handles else []
        return unknown, records, await asyncio.gather(*(failed_members(client, record) for record in records))

    with jobs_go_on(named):
        unknown, records, failed = with_client(ctx, work)
    _show(records, as_json)
    for record, members in zip(records, failed, strict=True):
        if members:
            hint = logs_hint(record.id, members) if record.array_job_id else ""
            complain(f"job {record.id} ended {record.state}{by_state(members)}", hint)
    if unknown or not all(record.state.is_success for record in records):
        raise Failed


async def _records(client: AsyncSlurmClient, jobs: Sequence[Named]) -> list[JobInfo | None]:
    return await asyncio.gather(*(record_of(client, job) for job in jobs))


def _report_unknown(jobs: Iterable[Named], *, accounting: bool) -> None:
    for job in jobs:
        error = no_such_job(str(job), accounting=accounting)
        complain(error.message[:1].lower() + error.message[1:], error.hint)


def _of_all(record: JobInfo) -> JobInfo:
    """Return a record without what is one task's alone where it stands for a whole array."""
    if not record.array_job_id or record.array_task_id is not None or record.array_tasks:
        return record
    return replace(record, nodes="", stdout=None, stderr=None)


def _show(records: Sequence[JobInfo], as_json: bool) -> None:
    records = [_of_all(record) for record in records]
    if as_json:
        out_json([describe(record, JOB_KEYS) for record in records])
    elif records:
        out_table(OutcomeTable(records))
