"""Runs Slurm's commands on this host."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Sequence

from slurm_rest.errors import CommandMissing, Timeout
from slurm_rest.metrics import Metrics
from slurm_rest.processes import TooMuchOutputError, run_command
from slurm_rest.within import within

from .command_line import CommandTransport
from .once import RECOVERY_TIMEOUT
from .shell import MAX_OUTPUT, Wrapped, too_much

__all__ = ["LocalRunner", "cli_transport"]

# As many as over SSH: more processes at once only slow the host down.
_AT_ONCE = 8


class LocalRunner:
    """Starts a shell on this host for each command. ``argv`` is what takes a line, a shell by default."""

    name = "cli"

    def __init__(self, argv: Sequence[str] = ("/bin/sh", "-c"), where: str = "this host") -> None:
        self.where = where
        self.user = _own_name()
        self._argv = tuple(argv)
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        """Run the line and return what it printed; it is ended with all that it started when time is up."""
        async with self._slots:
            try:
                done = await within(timeout, run_command([*self._argv, line], program.stdin, max_output=MAX_OUTPUT))
            except TimeoutError:
                raise Timeout(f"{self.where} gave no answer within {timeout:g} s", hint="Is slurmctld busy?") from None
            except TooMuchOutputError:
                raise too_much() from None
            except OSError as error:
                hint = "Is it installed on this host, and in PATH?"
                raise CommandMissing(f"Cannot start {self._argv[0]}: {error.strerror}", hint=hint) from error
        return done.stdout, done.stderr

    async def close(self) -> None:
        """Nothing stays open between two commands."""


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def cli_transport(metrics: Metrics | None = None, recovery_timeout: float = RECOVERY_TIMEOUT) -> CommandTransport:
    """Return the transport over this host's own commands."""
    return CommandTransport(LocalRunner(), metrics, recovery_timeout)
