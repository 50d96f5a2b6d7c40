"""``slurm-rest cancel``."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from slurm_rest.errors import AccountingDown, ControllerDown
from slurm_rest.models import CancelResult
from slurm_rest.tables import clean

from .documents import CANCEL_KEYS, describe
from .failures import Failed
from .following import record_of
from .shared import JobIds, Named, json_option, with_client
from .terminal import out, out_json

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient

__all__ = ["cancel"]

_REFUSED = {"not_found": "no such job", "denied": "not allowed"}


def _named(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> list[Named]:
    return [job for word in words for job in JobIds().several(word, param, ctx)]


@click.command(short_help="Cancel jobs, or send them a signal.")
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True, callback=_named)
@click.option("-s", "--signal", metavar="SIGNAL", help="Send this signal instead: a name such as USR1, or a number.")
@json_option(CANCEL_KEYS)
@click.pass_context
def cancel(ctx: click.Context, jobs: list[Named], signal: str | None, as_json: bool) -> None:
    """Cancel jobs, or send them a signal: 12, a task of an array 12_3, several of them 12_[3-5,9], a component of a het
    job 12+1.

    Says for each job what came of it. A job that is over already is no failure; one that does not exist or belongs to
    somebody else is, and the exit status is 1.
    """
    named = list(dict.fromkeys(jobs))

    async def work(client: AsyncSlurmClient) -> list[CancelResult]:
        results = await client.cancel([job.of(client) for job in named], signal=signal)
        return await asyncio.gather(*map(_looked_up, [client] * len(named), named, results))

    results = with_client(ctx, work)
    pairs = [(str(job), result) for job, result in zip(named, results, strict=True)]
    if as_json:
        out_json([describe(pair, CANCEL_KEYS) for pair in pairs])
    else:
        out("\n".join(f"{label}  {_outcome(result, signal)}" for label, result in pairs))
    if not all(result.ok for result in results):
        raise Failed


async def _looked_up(client: AsyncSlurmClient, job: Named, result: CancelResult) -> CancelResult:
    """Tell a job that ended, and left the controller some minutes later (MinJobAge), from one that never was."""
    if result.outcome != "not_found":
        return result
    try:
        record = await record_of(client, job)
    except (AccountingDown, ControllerDown):
        return result
    return replace(result, outcome="already_over") if record and record.state.is_terminal else result


def _outcome(result: CancelResult, signal: str | None) -> str:
    if result.outcome == "already_over":
        return "already over"
    if result.outcome == "signalled":
        done = f"sent {signal}" if signal else "cancelled"
        return done if result.confirmed else f"{done} (not confirmed by this API version)"
    reason = f": {clean(result.message)}" if result.message and result.outcome == "denied" else ""
    return f"{_REFUSED[result.outcome]}{reason}"
