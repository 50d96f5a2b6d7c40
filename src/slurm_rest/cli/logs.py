"""``slurm-rest logs``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import click

from .following import jobs_go_on
from .shared import JobId, Named, with_client
from .terminal import out_bytes

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient

__all__ = ["logs"]

# As much of the last lines as is held in memory.
_MAX_TAIL = 64 * 1024 * 1024


@click.command()
@click.argument("job", metavar="JOB", type=JobId())
@click.option("-f", "--follow", is_flag=True, help="Go on until the job is over; wait for one that has not started.")
@click.option("-e", "--stderr", is_flag=True, help="Standard error, where the job keeps it apart.")
@click.option("-n", "--lines", metavar="N", type=click.IntRange(min=0), help="Only the last N lines, to begin with.")
@click.pass_context
def logs(ctx: click.Context, job: Named, follow: bool, stderr: bool, lines: int | None) -> None:
    """Print what a job has written: 12, or a task of an array 12_3. Bytes go out as they are.

    Needs a way to the cluster's files: SLURM_REST_PATH_MAP for directories that are mounted here, or
    SLURM_REST_SSH_HOST. A job without --error has one file for both streams. ^C leaves the job alone.
    """

    async def work(client: AsyncSlurmClient) -> None:
        async with contextlib.aclosing(_output(client, job, follow, stderr, lines)) as output:
            async for data in output:
                out_bytes(data)

    with jobs_go_on([job] if follow else []):
        with_client(ctx, work)


async def _output(
    client: AsyncSlurmClient, job: Named, follow: bool, stderr: bool, lines: int | None
) -> AsyncGenerator[bytes, None]:
    from slurm_rest.logs import Output

    output = Output(client, job.of(client), "stderr" if stderr else "stdout")
    if follow:
        async with contextlib.aclosing(output.follow(lines=lines)) as news:
            async for data in news:
                yield data
    elif lines is not None:
        yield await output.tail(lines=lines, max_bytes=_MAX_TAIL)
    else:
        async for data in output.chunks():
            yield data
