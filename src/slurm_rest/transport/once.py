"""Creates exactly one job, whatever becomes of the answer: the same procedure over REST and over commands."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from slurm_rest.errors import AuthError, ControllerDown, SlurmError, SubmitUncertain
from slurm_rest.models import CancelResult, JobInfo, Submission
from slurm_rest.within import within

from . import recovery
from .base import PreparedJob
from .recovery import Case, Decision, Look, group_id

__all__ = ["RECOVERY_TIMEOUT", "STAYS", "ExactlyOnce", "Lost", "Search", "Way", "leave_open", "left_open"]

log = logging.getLogger("slurm_rest")

# Slurm's own time-outs are 10 s (MessageTimeout), and so long takes a look meanwhile; a restart takes some more.
RECOVERY_TIMEOUT = 60.0
# For so long every job stays in the controller after its end: slurm.conf(5) advises against a MinJobAge below 2 s.
STAYS = 1.0
# How long an interrupted submission may still take to tell its job id.
_ABANDON_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Lost:
    """One sending without a result. ``case`` is what is to be found out; None: nothing was done, for certain."""

    error: SlurmError
    case: Case | None


class Search(Protocol):
    """The search for one key."""

    def sending(self) -> None:
        """Take note that the job is about to be sent, for the first time or again."""

    async def look(self, *, final: bool) -> Look:
        """Look where the job most likely is, then elsewhere; only a ``final`` look can tell that there is none."""

    async def whole(self, *, back: float | None = None, every: bool = False) -> Look:
        """Look everywhere, in accounting ``back`` seconds into the past; ``every`` job, not just the first found."""

    async def beside(self, made: int) -> Look:
        """Look for every other job with the key than the one that was just made.

        Accounting need not be asked within STAYS seconds of a whole look: what was made since is in the controller.
        """


class Way(Protocol):
    """What the procedure needs of a transport."""

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known."""

    async def send(self, job: PreparedJob) -> Submission | Lost:
        """Send once; raises what Slurm refused, and what promises that there is no job."""

    async def cancel(self, ids: Sequence[int | str]) -> list[CancelResult]:
        """Cancel jobs."""

    def search(self, job: PreparedJob) -> Search:
        """Begin the search for a job that is to be sent."""

    async def known(self, job: PreparedJob) -> int | None:
        """Return the job that this client itself made under the key, if it is still there."""

    def remember(self, job_id: int, key: str) -> None:
        """Keep in mind which job a key made."""

    def forget(self) -> None:
        """Trust no id any more: a controller that was killed gives its newest ids to other jobs."""


class ExactlyOnce:
    """Submits over one transport.

    After a lost answer it looks for the key until it knows, ``recovery_timeout`` seconds long: then it returns the job,
    or sends again when there is certainly none, or raises SubmitUncertain. 0 means not to look.
    """

    def __init__(self, way: Way, recovery_timeout: float) -> None:
        self._way = way
        self._budget = recovery_timeout

    async def submit(self, job: PreparedJob) -> Submission:
        """Create one job. A caller who gives up meanwhile (^C, a time-out) leaves no job behind.

        With a key of the caller's own the job stays: trying again returns it.
        """
        task = asyncio.create_task(self._submit(job))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._abandon(task, job)
            raise

    async def _abandon(self, task: asyncio.Future[Submission], job: PreparedJob) -> None:
        """Let an interrupted submission end, and cancel the job that it made."""
        await asyncio.wait([task], timeout=_ABANDON_SECONDS)
        if not task.done() or task.cancelled():
            # Whoever ends all tasks of a loop (asyncio.run on ^C up to Python 3.10) ends this one as well.
            task.cancel()
            log.warning("Interrupted while submitting: there may be a job whose comment ends in %s", job.key)
        elif task.exception() is None:
            job_id = task.result().job_id
            if job.repeated:
                log.warning("Interrupted while submitting: job %d stays, under its idempotency_key", job_id)
            elif await self.take_back(job_id):
                log.warning("Interrupted while submitting: job %d was cancelled", job_id)

    async def _submit(self, job: PreparedJob) -> Submission:
        search = self._way.search(job)
        if job.repeated:
            before = await self._earlier(job, search)
            if before is not None:
                return before
        deadline: float | None = None
        sending = 0
        while True:
            sending += 1
            search.sending()
            outcome = await self._way.send(job)
            if isinstance(outcome, Lost):
                deadline = deadline or time.monotonic() + self._budget
                record = await self._recover(job, search, outcome, deadline)
                if record is None and sending < recovery.BOUNDS.sends:
                    log.warning("A submission was lost on its way (%s); sending it again", outcome.error.message)
                    continue
                if record is None:
                    raise outcome.error
                outcome = self._found(record, job)
            self._way.remember(outcome.job_id, job.key)
            if not job.repeated and sending == 1:
                return outcome
            return await self._alone(outcome, job, search, is_first=sending == 1)

    # --- after a lost answer --------------------------------------------------------------------------------

    async def _recover(self, job: PreparedJob, search: Search, gone: Lost, deadline: float) -> JobInfo | None:
        """Look for the job until it is found, or there is certainly none (None); raises SubmitUncertain in between."""
        case, looks = gone.case, 0
        if case is None:
            return None
        while time.monotonic() < deadline:
            looks += 1
            look = await self._look(job, search, case, deadline)
            if look is not None:
                decision = case.judge(look)
                if decision is Decision.ABSENT:
                    return None
                if decision is Decision.FOUND:
                    return min(look.jobs, key=group_id)
            await asyncio.sleep(min(case.pause(time.monotonic(), looks), max(deadline - time.monotonic(), 0)))
        raise _uncertain(job, gone.error, case if self._budget > 0 else None) from gone.error

    async def _look(self, job: PreparedJob, search: Search, case: Case, deadline: float) -> Look | None:
        """Make one look; None when it got no answer."""
        final = case.may_settle(time.monotonic())
        try:
            return await within(max(deadline - time.monotonic(), 0.01), search.look(final=final))
        except TimeoutError:
            return None
        except AuthError as error:
            raise _uncertain(job, error, case) from error
        except SlurmError as error:
            if isinstance(error, ControllerDown):
                self._way.forget()
            log.info("Looking for %s: %s", job.key, error.message)
            return None

    def _found(self, record: JobInfo, job: PreparedJob) -> Submission:
        job_id = group_id(record)
        self._way.remember(job_id, job.key)
        log.info("Job %d carries the key %s", job_id, job.key)
        owner = record.user if record.user == job.user else ""
        return Submission(job_id=job_id, cluster=self._way.cluster, found=True, owner=owner)

    # --- a caller's own key ---------------------------------------------------------------------------------

    async def _earlier(self, job: PreparedJob, search: Search) -> Submission | None:
        """Return the job that an earlier attempt with the same key made."""
        own = await self._way.known(job)
        if own is not None:
            return Submission(job_id=own, cluster=self._way.cluster, found=True)
        look = await search.whole(back=recovery.BOUNDS.horizon, every=True)
        if look.jobs:
            # Two that submitted at once, and ended before either saw the other's job, leave two.
            first = self._found(min(look.jobs, key=group_id), job)
            await self._take_back_others(first.job_id, look)
            return first
        # Where a cluster has none nobody knows more than the controller, which forgets a job MinJobAge after its end.
        if not (look.complete or look.lacks == "none" or (look.lacks and await _never_began(job))):
            why = "accounting is away" if look.lacks else "too many jobs look alike"
            raise SubmitUncertain(
                f"Whether the job was submitted before cannot be told: {why}",
                key=job.key,
                hint="Nothing was sent. Try again later with the same idempotency_key.",
            )
        return None

    async def _alone(self, made: Submission, job: PreparedJob, search: Search, *, is_first: bool) -> Submission:
        """Look once more after a submission that may not be the only one: the lowest id stays, others are cancelled.

        Who came later sees who came first, so all that submit under one key at once agree.
        """
        try:
            look = await (search.beside(made.job_id) if is_first else search.whole(every=True))
        except SlurmError as error:
            log.warning("Job %d: could not look for another one with its key: %s", made.job_id, error.message)
            return made
        first = min({made.job_id, *(group_id(record) for record in look.jobs)})
        await self._take_back_others(first, look, made.job_id)
        if first == made.job_id:
            return made
        self._way.remember(first, job.key)
        return Submission(job_id=first, cluster=made.cluster, found=True)

    async def _take_back_others(self, first: int, look: Look, *made: int) -> None:
        """Cancel what a look found beside the first job, as far as it is not over, and what was made."""
        live = {group_id(record) for record in look.jobs if not record.state.is_terminal}
        for job_id in sorted({*live, *made} - {first}):
            if await self.take_back(job_id):
                log.warning("Job %d was cancelled: job %d carries its key", job_id, first)

    async def take_back(self, job_id: int) -> bool:
        """Cancel a job that must not stay; False when that failed."""
        try:
            (result,) = await self._way.cancel([job_id])
        except SlurmError as error:
            log.warning("Job %d could not be cancelled: %s", job_id, error.message)
            return False
        return result.outcome != "denied"


async def _never_began(job: PreparedJob) -> bool:
    return job.never_began is not None and await job.never_began()


def _uncertain(job: PreparedJob, error: SlurmError, case: Case | None) -> SubmitUncertain:
    again = (
        "Submitting again with the same idempotency_key is safe." if job.repeated else "Look before you submit again."
    )
    left = SubmitUncertain(
        f"The answer to the submission was lost, so the job may exist or still come: {error.message}",
        key=job.key,
        hint=f"It is the job whose comment ends in {job.key}. {again}",
        context=error.context,
    )
    return leave_open(left, case)


def leave_open(error: SubmitUncertain, case: Case | None) -> SubmitUncertain:
    """Keep with an error what somebody who can look another way may still find out; without it nobody is to."""
    vars(error)["_case"] = case
    return error


def left_open(error: SubmitUncertain) -> Case | None:
    """Return what ``leave_open`` kept."""
    case = vars(error).get("_case")
    return case if isinstance(case, Case) else None
