"""Runs Slurm's commands through a runner: counted, timed, logged, and once more where a read broke off."""

from __future__ import annotations

import itertools
import logging
import secrets
import time
from dataclasses import replace
from typing import Protocol

from slurm_rest.errors import AnswerTooLarge, CommandMissing, ErrorContext, ProtocolError, SlurmError
from slurm_rest.metrics import Metrics, RequestRecord, request_fields

from . import commands
from .base import Counters
from .command_submit import HostClock
from .shell import LINE, Finished, Program, Wrapped, read_output, wrap

__all__ = ["CommandCaller", "Runner"]

log = logging.getLogger("slurm_rest")

_READ_SECONDS = 60.0
# An answer that took longer says too little about the host's clock.
_PROMPT = 5.0
_NOT_HERE = "Slurm's commands must be on PATH."
_NOT_THERE = "Slurm's commands must be on the path of a login without a terminal."


class Runner(Protocol):
    """Runs one line in a login shell somewhere.

    ``where`` names the place for messages, ``user`` is whom the commands run as, empty where that is not known.
    """

    name: str
    where: str
    user: str

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        """Feed the program; return stdout and stderr as far as they came; how it ended is in them.

        Raises Timeout when it took too long, AnswerTooLarge when it printed too much, and any other error only
        before it started.
        """

    async def close(self) -> None:
        """Let go of connections and end what still runs."""


class CommandCaller:
    """Gives programs to a runner, and tells what the host's clock showed."""

    def __init__(self, runner: Runner, metrics: Metrics) -> None:
        self.runner = runner
        self.metrics = metrics
        self.counters = Counters()
        self._id, self._numbers = secrets.token_hex(4), itertools.count(1)
        self._clock: HostClock | None = None

    @property
    def clock(self) -> HostClock:
        """The host's clock; known as soon as one command has run."""
        if self._clock is None:
            raise ProtocolError(f"{self.runner.where} does not tell its time", hint="Try there: date +%s")
        return self._clock

    async def run(self, program: Program, *, repeatable: bool = True, timeout: float = _READ_SECONDS) -> Finished:
        """Run a program; one that only reads once more after a connection that broke under it."""
        try:
            return await self._run_once(program, timeout)
        except ProtocolError as error:
            if not repeatable or isinstance(error, AnswerTooLarge):
                raise
            log.info("%s; trying again", error.message)
            return await self._run_once(program, timeout)

    async def good(self, program: Program) -> Finished:
        """Run a program that only reads; raises what its failure means."""
        done = await self.run(program)
        if done.status:
            raise commands.failure(done, self.runner.where)
        return done

    async def _run_once(self, program: Program, timeout: float) -> Finished:
        context = ErrorContext(command=program.name, request_id=f"{self._id}-{next(self._numbers)}")
        self.counters.requests += 1
        received, status, outcome, started = 0, None, "cancelled", time.perf_counter()
        asked = time.monotonic()
        try:
            wrapped = wrap(program)
            stdout, stderr = await self.runner.execute(LINE, wrapped, timeout)
            received = len(stdout) + len(stderr)
            done = read_output(program, wrapped, stdout, stderr, self.runner.where)
            status, outcome = done.status, "failed" if done.status else "ok"
        except SlurmError as error:
            outcome = type(error).__name__
            error.context = replace(error.context, command=program.name, request_id=context.request_id)
            raise
        finally:
            self.counters.bytes_received += received
            seconds = time.perf_counter() - started
            record = RequestRecord(
                self.runner.name, program.name, outcome, seconds, received, status, context.request_id
            )
            self.metrics.record(record)
            self._log_command(record)
        answered = time.monotonic()
        if done.clock and (self._clock is None or answered - asked < _PROMPT):
            self._clock = HostClock(done.clock, asked, answered)
        if done.status in (126, 127):
            hint = _NOT_HERE if self.runner.name == "cli" else _NOT_THERE
            told = replace(context, exit_status=done.status, stderr=done.stderr[:2000])
            raise CommandMissing(f"There is no {program.name} on {self.runner.where}", hint=hint, context=told)
        return done

    def _log_command(self, record: RequestRecord) -> None:
        log.debug(
            "%s %s on %s: %s, exit status %s, %d bytes, %.4f s",
            record.request_id,
            record.operation,
            self.runner.where,
            record.outcome,
            "-" if record.status is None else record.status,
            record.bytes_received,
            record.seconds,
            extra=request_fields(record),
        )
