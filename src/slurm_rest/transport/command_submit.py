"""Submits by sbatch: one run and what it printed means, and the search for the job when that did not arrive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from slurm_rest.errors import AccountingDown, NoAccounting, ProtocolError, SlurmError, Timeout
from slurm_rest.models import CancelResult, JobInfo, Submission

from . import commands, recovery
from .base import PreparedJob
from .key_texts import own_past_question, own_queue_question, read_own_past, read_own_queue
from .once import STAYS, ExactlyOnce, Lost
from .recovery import Case, Look, carries, is_suspect
from .shell import Finished, Program

if TYPE_CHECKING:
    from .command_line import CommandTransport

__all__ = ["CommandSearch", "CommandSubmitter", "HostClock"]

# Slurm's times are whole seconds.
_ROUGHLY = 5.0
# How much longer than a submission can take its answer is waited for.
_PATIENCE = 5.0
# As many as a runner runs at once: what only then waits for its turn has not begun to grow old.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class HostClock:
    """What the clock of the commands' host showed, asked and answered at these seconds of time.monotonic() here."""

    shown: int
    asked: float
    answered: float

    def begin_by(self, now: float, seconds: float) -> tuple[int, float]:
        """Return the host's second until which something may begin, ``seconds`` from now or a little later.

        The other value is when, by time.monotonic(), that second is certainly over there.
        """
        last = self.shown + 1 + int(now - self.asked + seconds + 0.999)
        return last, self.answered + last + 1 - self.shown

    def moment(self, now: float) -> float:
        """Return about which Unix second it is there."""
        return self.shown + now - self.asked


class Run(Protocol):
    """Runs a program on the host and returns how it ended, whatever its exit status."""

    def __call__(self, program: Program, *, repeatable: bool = ..., timeout: float = ...) -> Awaitable[Finished]:
        """Raise ProtocolError or Timeout when that did not arrive."""


Ask = Callable[[Program], Awaitable[Finished]]


class CommandSearch:
    """The search for one key among the jobs of the user who runs the commands: squeue, and sacct to be certain."""

    def __init__(self, ask: Ask, job: PreparedJob, since: float) -> None:
        """``ask`` runs a program that must succeed; ``since`` is when the job is sent, in Unix seconds there."""
        self._ask = ask
        self._job = job
        self._since = since
        self._looked = -STAYS

    def sending(self) -> None:
        """Nothing is kept: every look costs the same."""

    async def look(self, *, final: bool) -> Look:
        """Look in the controller, and if ``final`` in accounting too."""
        return await self._look(recovery.BOUNDS.skew, every=False, final=final)

    async def whole(self, *, back: float | None = None, every: bool = False) -> Look:
        """Look in both, in accounting ``back`` seconds into the past."""
        return await self._look(recovery.BOUNDS.skew if back is None else back, every=every, final=True)

    async def beside(self, made: int) -> Look:
        """Look for every job with the key, the one that was just made among them; soon after a look in squeue alone."""
        final = time.monotonic() - self._looked > STAYS
        return await self._look(recovery.BOUNDS.skew, every=True, final=final)

    async def _look(self, back: float, *, every: bool, final: bool) -> Look:
        started = time.monotonic()
        live = await self._queue()
        jobs = [record for record in live if self._carries(record)]
        complete = final and not any(self._could_be(record) for record in live)
        lacks: Literal["", "away", "none"] = ""
        if final and (every or not jobs):
            try:
                gone = await self._past(back, {record.id for record in live})
                if any(self._could_be(record) for record in gone):
                    # What came after the first question is in the controller, where the comment is certain.
                    came = [record for record in await self._queue() if record.id in {one.id for one in gone}]
                    gone = [record for record in gone if record.id not in {one.id for one in came}] + came
            except AccountingDown as error:
                lacks = "none" if isinstance(error, NoAccounting) else "away"
            else:
                jobs += [record for record in gone if self._carries(record)]
                complete = complete and not any(self._could_be(record) for record in gone)
        if complete:
            self._looked = started
        unique = {record.id: record for record in jobs}
        whole = complete and not lacks
        return Look(started, time.monotonic(), tuple(unique.values()), whole, lacks if complete else "")

    async def _queue(self) -> list[JobInfo]:
        """Return what the controller knows of the user's jobs."""
        queue = own_queue_question()
        return read_own_queue(queue, await self._ask(queue.program))

    async def _past(self, back: float, here: set[int]) -> list[JobInfo]:
        """Return what accounting knows of jobs that the controller has no more."""
        past = own_past_question(self._job.name, back)
        records = read_own_past(past, await self._ask(past.program))
        return [record for record in records if record.id not in here]

    def _carries(self, record: JobInfo) -> bool:
        return carries(record, self._job.key, "", self._job.name if self._job.own_name else "")

    def _could_be(self, record: JobInfo) -> bool:
        return is_suspect(record, self._job.name, record.user, self._since - _ROUGHLY)


class CommandSubmitter:
    """Submits over one CommandTransport; see ExactlyOnce for ``recovery_timeout``."""

    def __init__(self, transport: CommandTransport, run: Run, ask: Ask, recovery_timeout: float) -> None:
        self._transport = transport
        self._run, self._ask = run, ask
        self._once = ExactlyOnce(self, recovery_timeout)
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job."""
        # Learns the host's clock as well.
        await self._transport.target()
        return await self._once.submit(job)

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self._transport.cluster

    def search(self, job: PreparedJob) -> CommandSearch:
        """Begin the search for a job that is to be sent."""
        return CommandSearch(self._ask, job, self._transport.clock.moment(time.monotonic()))

    async def known(self, job: PreparedJob) -> int | None:
        """Nothing is kept: one question for all of the user's jobs is as cheap as one for a job."""
        return None

    def remember(self, job_id: int, key: str) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """Nothing is kept."""

    async def cancel(self, ids: Sequence[int | str]) -> list[CancelResult]:
        """Cancel jobs."""
        return await self._transport.cancel(ids)

    async def send(self, job: PreparedJob) -> Submission | Lost:
        """Run sbatch once, in such a way that it is known when it can do nothing any more."""
        bounds = recovery.BOUNDS
        timeout = bounds.start + bounds.run + bounds.end + _PATIENCE
        # Hundreds may be submitted at once: the time by which one has to begin runs from its turn on.
        async with self._turns:
            last, over = self._transport.clock.begin_by(time.monotonic(), bounds.start)
            program = commands.submit_program(job, begin_by=last, seconds=bounds.run)
            try:
                done = await self._run(program, repeatable=False, timeout=timeout)
            except (ProtocolError, Timeout) as error:
                return Lost(error, Case(time.monotonic(), over + bounds.run + bounds.end, bounds))
        outcome = commands.read_submission(done, self._transport.runner.where)
        if not isinstance(outcome, SlurmError):
            return replace(outcome, owner=await self._transport.user_name())
        now = time.monotonic()
        return Lost(outcome, None if commands.began_too_late(done) else Case(now, now, bounds))
