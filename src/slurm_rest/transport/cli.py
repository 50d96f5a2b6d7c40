"""Runs Slurm's commands on this host."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import signal
from collections.abc import Sequence

from slurm_rest.errors import CommandMissing, Timeout
from slurm_rest.metrics import Metrics
from slurm_rest.within import within

from .command_line import CommandTransport
from .once import RECOVERY_TIMEOUT
from .shell import MAX_OUTPUT, too_much

__all__ = ["LocalRunner", "cli_transport"]

# As many as over SSH: more processes at once only slow the host down.
_AT_ONCE = 8
_CHUNK = 1 << 16


class LocalRunner:
    """Starts a shell on this host for each command. ``argv`` is what takes a line, a shell by default."""

    name = "cli"

    def __init__(self, argv: Sequence[str] = ("/bin/sh", "-c"), where: str = "this host") -> None:
        self.where = where
        self.user = _own_name()
        self._argv = tuple(argv)
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def execute(self, line: str, stdin: bytes, timeout: float) -> tuple[bytes, bytes]:
        """Run the line and return what it printed; it is ended with all that it started when time is up."""
        async with self._slots:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._argv,
                    line,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandMissing(f"Cannot start {self._argv[0]}: {error.strerror}") from error
            try:
                return await within(timeout, _talk(process, stdin))
            except TimeoutError:
                raise Timeout(f"{self.where} gave no answer within {timeout:g} s", hint="Is slurmctld busy?") from None
            finally:
                await _end(process)

    async def close(self) -> None:
        """Nothing stays open between two commands."""


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


async def _talk(process: asyncio.subprocess.Process, stdin: bytes) -> tuple[bytes, bytes]:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise TypeError("a process without pipes")

    async def feed(pipe: asyncio.StreamWriter) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(stdin)
            await pipe.drain()
            pipe.close()

    _, output, errors = await asyncio.gather(feed(process.stdin), _read(process.stdout), _read(process.stderr))
    await process.wait()
    return output, errors


async def _read(pipe: asyncio.StreamReader) -> bytes:
    found = bytearray()
    while chunk := await pipe.read(_CHUNK):
        found += chunk
        if len(found) > MAX_OUTPUT:
            raise too_much()
    return bytes(found)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what is left of a command, its children too."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def cli_transport(metrics: Metrics | None = None, recovery_timeout: float = RECOVERY_TIMEOUT) -> CommandTransport:
    """Return the transport over this host's own commands."""
    return CommandTransport(LocalRunner(), metrics, recovery_timeout)
