"""``slurm-rest submit``: sbatch's command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from .failures import FAILED, Failed
from .following import follow, jobs_go_on
from .sbatch_line import SbatchCommand, sbatch_options
from .shared import with_client
from .terminal import Unwritable, complain, out, remark, silence_stdout

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.job import AsyncJob
    from slurm_rest.models import JobInfo
    from slurm_rest.sbatch import JobSpec
    from slurm_rest.sbatch.keywords import JobOptions

__all__ = ["submit"]

_EPILOG = """\b
Examples:
  slurm-rest submit -N 2 -t 1:00:00 train.sh --epochs 3
  slurm-rest submit --wrap 'srun hostname' --wait
  generate-script | slurm-rest submit -J night"""


def _variables(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not name or not equals:
            # What was written stays out of the message: it may be a secret.
            raise click.BadParameter("it takes NAME=VALUE")
        found[name] = content
    return found


@click.command(
    cls=SbatchCommand, context_settings={"allow_interspersed_args": False}, epilog=_EPILOG, short_help="Submit a job."
)
@sbatch_options
@click.option("--wrap", metavar="COMMAND", help="Run this shell command instead of a script.")
@click.option(
    "--env", metavar="NAME=VALUE", multiple=True, callback=_variables, help="Variable for the job; may be repeated."
)
@click.option("-W", "--wait", is_flag=True, help="Follow the job to its end and exit with its exit code.")
@click.option("-Q", "--quiet", is_flag=True, help="No warnings and no progress display.")
@click.option("--parsable", is_flag=True, help="Accepted for sbatch's sake: the job id is all that is printed anyway.")
@click.argument("script", metavar="[SCRIPT [ARGS...]]", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def submit(
    ctx: click.Context,
    /,
    script: tuple[str, ...],
    wrap: str | None,
    env: dict[str, str],
    wait: bool,
    quiet: bool,
    parsable: bool,
    **options: object,
) -> None:
    """Submit a job and print its id, with sbatch's options and sbatch's form.

    Options stand in front of SCRIPT; what follows it are arguments of the script. Without SCRIPT, or with -, the script
    is read from standard input.
    """
    given = cast("JobOptions", {name: value for name, value in options.items() if value is not None})
    given["env"], given["args"] = env, script[1:]
    source = _source(ctx, script, wrap, given)
    ids: list[int] = []

    async def work(client: AsyncSlurmClient) -> int:
        # The options are in the spec already when the script is no file.
        job = await (client.submit(source, **given) if isinstance(source, Path) else client.submit(source))
        ids.append(job.id)
        _announce(job, quiet=quiet)
        if not wait:
            return 0
        (record,) = await follow(client, [job], quiet=quiet)
        return await _outcome(client, record, quiet=quiet)

    with jobs_go_on(ids):
        status = with_client(ctx, work)
    if status:
        raise Failed(status=status)


def _source(ctx: click.Context, script: tuple[str, ...], wrap: str | None, options: JobOptions) -> Path | JobSpec:
    """Return the script's path, or the job whose script was typed or came from standard input."""
    from slurm_rest.sbatch import JobSpec
    from slurm_rest.sbatch.script import check_script

    if wrap is not None:
        if script:
            raise click.UsageError("a script cannot be given together with --wrap", ctx)
        text, name = f"#!/bin/sh\n# Made by submit --wrap.\n\n{wrap}\n", "wrap"
    elif script and script[0] != "-":
        return Path(script[0])
    else:
        text, name = _read_stdin(), "sbatch"
    return JobSpec(check_script(text), **{"name": name, **options})  # type: ignore[arg-type]  # checked by JobSpec


def _read_stdin() -> str:
    from slurm_rest.sbatch.script import MAX_SCRIPT_BYTES

    if sys.stdin is None:
        raise Failed("there is no script: standard input is closed", "Name a script, or use --wrap.")
    if sys.stdin.isatty():
        remark("slurm-rest: reading the script from standard input, up to ^D")
    # One more than is allowed, so that the check can tell.
    return sys.stdin.buffer.read(MAX_SCRIPT_BYTES + 1).decode("utf-8", "surrogateescape")


def _announce(job: AsyncJob, *, quiet: bool) -> None:
    try:
        out(str(job.id))
    except (Unwritable, BrokenPipeError) as error:
        silence_stdout()
        reason = "the reader left" if isinstance(error, BrokenPipeError) else str(error)
        hint = f"See how it does: slurm-rest status {job.id}"
        raise Failed(f"job {job.id} is submitted, but its id could not be printed: {reason}", hint) from None
    for warning in () if quiet else job.warnings:
        complain(warning, kind="warning")


async def _outcome(client: AsyncSlurmClient, record: JobInfo, *, quiet: bool) -> int:
    """Return the exit status of ``sbatch --wait``: the job's own, for an array the highest, 1 for another end."""
    if record.state.is_success:
        return 0
    members = [record] if record.array_job_id is None else await client.members(record.id) or [record]
    status = max(FAILED if member.exit_code.signal else member.exit_code.code or 0 for member in members)
    if not quiet:
        how = f"exit code {record.exit_code.code or 0}"
        if record.exit_code.signal:
            how = f"signal {record.exit_code.signal}"
        hint = f"Its output went to {record.stdout}" if record.stdout else ""
        complain(f"job {record.id} ended {record.state}, {how}", hint)
    return status or FAILED
