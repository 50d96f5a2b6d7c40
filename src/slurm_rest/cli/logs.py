"""``slurm-rest logs``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import click

from .following import jobs_go_on
from .shared import JobId, Named, with_client
from .terminal import out_bytes, remark

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.logs import Output

__all__ = ["logs"]

# As much of the last lines as is held in memory.
_MAX_TAIL = 64 * 1024 * 1024


@click.command(short_help="Print what a job has written.")
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
    from slurm_rest.logs import Output  # with the client, 0.2 s that --help need not take

    async def work(client: AsyncSlurmClient) -> None:
        output = Output(client, job.of(client), "stderr" if stderr else "stdout")
        async with contextlib.aclosing(_pieces(output, follow, lines)) as pieces:
            async for data in pieces:
                out_bytes(data)
        if output.discarded:
            remark(f"job {job} throws its output away (/dev/null)")

    with jobs_go_on([job] if follow else []):
        with_client(ctx, work)


async def _pieces(output: Output, follow: bool, lines: int | None) -> AsyncGenerator[bytes, None]:
    if follow:
        async with contextlib.aclosing(output.follow(lines=lines)) as news:
            async for data in news:
                yield data
    elif lines is not None:
        yield await output.tail(lines=lines, max_bytes=_MAX_TAIL)
    else:
        async with contextlib.aclosing(output.chunks()) as chunks:
            async for data in chunks:
                yield data
