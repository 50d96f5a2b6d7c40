"""Runs a command of this host to its end, or ends it with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from .within import within

__all__ = ["Completed", "TooMuchOutputError", "run_command"]

# What SIGKILL ends is gone at once, unless the kernel is in the middle of something for it.
_END_SECONDS = 5.0


class TooMuchOutputError(Exception):
    """A command printed more than it may."""


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended: its exit status, negative for a signal, and what it printed."""

    status: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


async def run_command(argv: Sequence[str], stdin: bytes | None = None, *, max_output: int) -> Completed:
    """Run a command in a session of its own; without ``stdin`` its standard input is empty.

    It has ended when it has exited and its output is closed: also by those whom it started. A caller who gives up ends
    its whole process group; what had left that, and keeps the output open, is not waited for. Raises OSError when it
    cannot be started, TooMuchOutputError above ``max_output`` bytes on one stream.
    """
    loop = asyncio.get_running_loop()
    # Never cancelled: asyncio would then wait for pipes that nobody closes.
    start = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: _Collector(max_output),
            *argv,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    )
    try:
        await asyncio.wait([start])
        transport, collector = start.result()
        if stdin is not None:
            pipe = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
            pipe.write(stdin)
            # Behind what is still to be written.
            pipe.close()
        await asyncio.wait([collector.ended, collector.failed], return_when=asyncio.FIRST_COMPLETED)
        if collector.failed.done():
            raise TooMuchOutputError(f"A command printed more than {max_output} bytes")
        return Completed(transport.get_returncode() or 0, *map(bytes, collector.output))
    finally:
        await asyncio.wait([start])
        if start.exception() is None:
            await _end(*start.result())


async def _end(transport: asyncio.SubprocessTransport, collector: _Collector) -> None:
    # Once it has been waited for, its number may be somebody else's.
    if transport.get_returncode() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await within(_END_SECONDS, asyncio.wait([collector.exited]))
    transport.close()
    with contextlib.suppress(TimeoutError):
        await within(_END_SECONDS, asyncio.wait([collector.ended]))


class _Collector(asyncio.SubprocessProtocol):
    """Keeps what a process prints. ``exited`` when it has, ``ended`` when its pipes are closed as well."""

    def __init__(self, max_output: int) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.failed: asyncio.Future[None] = loop.create_future()
        self.output = (bytearray(), bytearray())
        self._max = max_output

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self.output[fd - 1]
        if len(kept) + len(data) <= self._max:
            kept += data
        else:
            _settle(self.failed)

    def process_exited(self) -> None:
        _settle(self.exited)

    def connection_lost(self, exc: Exception | None) -> None:
        _settle(self.ended)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
