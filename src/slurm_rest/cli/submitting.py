"""``slurm-rest submit`` and ``convert``: sbatch's command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .failures import FAILED, USAGE, Failed
from .following import by_state, failed_members, follow, jobs_go_on, logs_hint
from .sbatch_line import Line, SbatchCommand, script_of
from .shared import log_to_stderr, with_client
from .terminal import Unwritable, complain, out, remark, silence_stdout

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.job import AsyncJob
    from slurm_rest.models import JobInfo
    from slurm_rest.sbatch import Script

__all__ = ["convert", "submit"]

_EPILOG = """\b
Examples:
  slurm-rest submit -N 2 -t 1:00:00 train.sh --epochs 3
  slurm-rest submit --wrap 'srun hostname' --wait
  generate-script | slurm-rest submit -J night"""


@click.command(cls=SbatchCommand, own=("env", "idempotency-key"), epilog=_EPILOG, short_help="Submit a job.")
@click.pass_context
def submit(ctx: click.Context, /, line: Line) -> None:
    """Submit a job and print its id, with sbatch's options and sbatch's form.

    The script is read as sbatch reads it: its #SBATCH lines, then SBATCH_* variables, then the options here. Options
    stand in front of SCRIPT, with a : between those of a het job's components; what follows it are arguments of the
    script. Without SCRIPT, or with -, the script is read from standard input. --wait follows the job to its end and
    exits with its exit code.
    """
    source, quiet = _source(ctx, line), line.has("quiet")
    ids: list[int] = []

    async def work(client: AsyncSlurmClient) -> int:
        job = await client.submit_read(source, _options(line), line.given, words=line.idempotency_key)
        ids.append(job.id)
        _announce(job, quiet=quiet)
        # Also when the script or SBATCH_WAIT says so.
        if job.spec is None or job.spec.wait is not True:
            return 0
        if not quiet and not line.has("wait"):
            asks = "SBATCH_WAIT" if "SBATCH_WAIT" in client.settings.environ else "its script"
            remark(f"slurm-rest: following job {job.id} to its end, as {asks} asks")
        (record,) = await follow(client, [job], quiet=quiet)
        return await _outcome(client, record, quiet=quiet)

    with jobs_go_on(ids):
        status = with_client(ctx, work)
    if status:
        raise Failed(status=status)


def _source(ctx: click.Context, line: Line) -> Script:
    """Return the script that a line means, once it says how much to tell meanwhile."""
    if line.has("verbose"):
        log_to_stderr(ctx, line.count("verbose"))
    return script_of(line, _standard_input(line))


def _options(line: Line) -> dict[str, object]:
    """Return what goes along with sbatch's options."""
    return {"env": line.env, "args": tuple(line.words[1:])}


def _standard_input(line: Line) -> bytes:
    """Return what stands on standard input, where the script is to come from there."""
    return b"" if line.wrap is not None or (line.words and line.words[0] != "-") else _read_stdin()


@click.command(cls=SbatchCommand, own=("env", "api-version"), short_help="Print the request that submit would send.")
@click.pass_context
def convert(ctx: click.Context, /, line: Line) -> None:
    """Print the JSON body that submit would send for the same arguments and settings; asks nobody, sends nothing.

    It goes to POST /slurm/VERSION/job/submit, where VERSION is that of --api-version, else of
    SLURM_REST_API_VERSION, else the newest one known here. Only the key that submit puts behind the comment is not
    in it. What sbatch refuses is refused here too, and so is what that version of the API cannot express.
    """
    import json

    from slurm_rest.submission import convert_read

    arguments = {**ctx.obj, **({"api_version": line.api_version} if line.api_version is not None else {})}
    _check_version(arguments.get("api_version"))
    out(json.dumps(convert_read(_source(ctx, line), _options(line), line.given, arguments), indent=2))


def _check_version(version: str | None) -> None:
    from slurm_rest.api import API_VERSIONS

    if version is not None and version not in API_VERSIONS:
        raise Failed(f"no such API version: {version}", f"It is one of {', '.join(API_VERSIONS)}.", status=USAGE)


def _read_stdin() -> bytes:
    from slurm_rest.sbatch.script import MAX_SCRIPT_BYTES

    if sys.stdin is None:
        raise Failed("there is no script: standard input is closed", "Name a script, or use --wrap.")
    if sys.stdin.isatty():
        remark("slurm-rest: reading the script from standard input, up to ^D")
    # One more than is allowed, so that the check can tell.
    return sys.stdin.buffer.read(MAX_SCRIPT_BYTES + 1)


def _announce(job: AsyncJob, *, quiet: bool) -> None:
    try:
        out(str(job.id))
    except (Unwritable, BrokenPipeError) as error:
        silence_stdout()
        reason = "the reader left" if isinstance(error, BrokenPipeError) else str(error)
        hint = f"See how it does: slurm-rest status {job.id}"
        raise Failed(f"job {job.id} is submitted, but its id could not be printed: {reason}", hint) from None
    for warning in () if quiet else job.warnings:
        # Slurm says it twice, once behind "Job submission resulted in non-zero return code".
        if not any(other in warning for other in job.warnings if other != warning):
            complain(warning, kind="warning")


async def _outcome(client: AsyncSlurmClient, record: JobInfo, *, quiet: bool) -> int:
    """Return the exit status of ``sbatch --wait``: the job's own, for an array the highest, 1 for another end."""
    if record.state.is_success:
        return 0
    failed = await failed_members(client, record)
    counted = [record] if record.array_job_id is None else failed or [record]
    status = max(FAILED if member.exit_code.signal else member.exit_code.code or 0 for member in counted)
    if not quiet:
        how = f"exit code {record.exit_code.code or 0}"
        if record.exit_code.signal:
            how = f"signal {record.exit_code.signal}"
        complain(f"job {record.id} ended {record.state}, {how}{by_state(failed)}", _output_hint(record, failed))
    return status or FAILED


def _output_hint(record: JobInfo, failed: Sequence[JobInfo]) -> str:
    from slurm_rest.logs import why_none  # with the client, 0.2 s that --help need not take

    if record.array_job_id is not None:
        return logs_hint(record.id, failed)
    none = why_none(record)
    if not record.stdout:
        return none
    return f"There is no {record.stdout}. {none}" if none else f"Its output went to {record.stdout}"
