"""``scontrol token`` on the SSH host of the settings."""

from __future__ import annotations

from slurm_rest.auth.claims import redact
from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError, ErrorContext

from .shell import LINE, Program, quote, read_output, wrap

__all__ = ["scontrol_token"]

_SECONDS = 30.0


async def scontrol_token(settings: Settings) -> str:
    """Log in, run ``scontrol token`` and return what it printed. The connection is not kept: one serves half an hour.

    Raises ConfigError with scontrol's reason when it makes none, and what the SSH login raises.
    """
    from .ssh import SshRunner  # only where it is asked for

    runner = SshRunner(settings)
    program = Program("scontrol", quote(["scontrol", "token"]))
    wrapped = wrap(program)
    try:
        stdout, stderr = await runner.execute(LINE, wrapped, _SECONDS)
    finally:
        await runner.close()
    done = read_output(program, wrapped, stdout, stderr, runner.where)
    if done.status:
        complaint = redact(done.stderr)
        reason = complaint.strip().rpartition("\n")[2][:200] or "no message"
        context = ErrorContext(command="scontrol", exit_status=done.status, stderr=complaint[:2000])
        hint = "Try it there: scontrol token. The cluster may have switched it off (disable_token_creation)."
        raise ConfigError(f"scontrol token on {runner.where} failed: {reason}", hint=hint, context=context)
    return done.stdout
