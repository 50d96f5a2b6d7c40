"""Creates exactly one job over slurmrestd, whatever becomes of the answer."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slurm_rest.auth import read_claims
from slurm_rest.errors import AuthError, ControllerDown, SlurmError, SubmitRejected, SubmitUncertain
from slurm_rest.models import JobInfo, Submission
from slurm_rest.records import text
from slurm_rest.transport.answers import Answer, submit_error, submitted_id, unknown_user
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.fields import require_fields

from . import recovery
from .connection import lost
from .recovery import NOBODY_UIDS, Case, Decision, Look, Loss, carries, group_id, loss_of
from .search import Search

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["RECOVERY_TIMEOUT", "Submitter"]

log = logging.getLogger("slurm_rest")

# slurmrestd gives up after 10 s (MessageTimeout), and so does each look meanwhile; a restart takes some more.
RECOVERY_TIMEOUT = 60.0
# How long an interrupted submission may still take to tell its job id.
_ABANDON_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class _Lost:
    """One sending whose answer was lost."""

    error: SlurmError
    case: Case


class Submitter:
    """Submits over one RestTransport.

    After a lost answer it looks for the key until it knows, ``recovery_timeout`` seconds long: then it returns the job,
    or sends again when there is certainly none, or raises SubmitUncertain. 0 means not to look.
    """

    def __init__(self, rest: RestTransport, recovery_timeout: float) -> None:
        self._rest = rest
        self._budget = recovery_timeout
        self._verified: str | None = None

    async def submit(self, job: PreparedJob) -> Submission:
        """Create one job. A caller who gives up meanwhile (^C, a time-out) leaves no job behind.

        With a key of the caller's own the job stays: trying again returns it.
        """
        task = asyncio.ensure_future(self._submit(job))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._abandon(task, job)
            raise

    async def _abandon(self, task: asyncio.Future[Submission], job: PreparedJob) -> None:
        """Let an interrupted submission end, and cancel the job that it made."""
        await asyncio.wait([task], timeout=_ABANDON_SECONDS)
        if not task.done():
            task.cancel()
            log.warning("Interrupted while submitting: there may be a job whose comment ends in %s", job.key)
        elif not task.cancelled() and task.exception() is None:
            job_id = task.result().job_id
            if job.repeated:
                log.warning("Interrupted while submitting: job %d stays, under its idempotency_key", job_id)
            elif await self._take_back(job_id):
                log.warning("Interrupted while submitting: job %d was cancelled", job_id)

    async def _submit(self, job: PreparedJob) -> Submission:
        search = Search(self._rest, job, since=time.time())
        if job.repeated:
            before = await self._earlier(job, search)
            if before is not None:
                return before
        deadline: float | None = None
        sending = 0
        while True:
            sending += 1
            last = max(self._rest.made, default=0)
            outcome = await self._send(job)
            if isinstance(outcome, _Lost):
                deadline = deadline or time.monotonic() + self._budget
                record = await self._recover(job, search, outcome, deadline, last)
                if record is None and sending < recovery.BOUNDS.sends:
                    log.warning("A submission was lost on its way (%s); sending it again", outcome.error.message)
                    continue
                if record is None:
                    raise outcome.error
                outcome = self._found(record, job)
            self._rest.remember(outcome.job_id, job.key)
            return await self._alone(outcome, job, search) if job.repeated or sending > 1 else outcome

    # --- one sending ----------------------------------------------------------------------------------------

    async def _send(self, job: PreparedJob) -> Submission | _Lost:
        """Send once. The job id in the answer is the outcome, whatever the HTTP status."""
        # Bytes that came as surrogates go out as the bytes that they were.
        body = json.dumps(job.body, ensure_ascii=False).encode("utf-8", "surrogateescape")
        sent = time.monotonic()
        try:
            answer = await self._rest.connection.post_once(
                "/job/submit", body, lambda version: require_fields(job.body, version)
            )
        except SlurmError as error:
            if lost(error):
                return _Lost(error, _case(loss_of(error, from_slurm=False), sent))
            raise
        job_id = submitted_id(answer)
        if not job_id:
            problem, maybe = submit_error(answer, answer.token)
            if not maybe:
                raise problem
            return _Lost(problem, _case(loss_of(problem, from_slurm=bool(answer.numbers)), sent))
        if answer.context.errors:
            raise await self._withdraw(job_id, job, answer)
        expected = job.user or read_claims(answer.token).user
        if self._verified != expected:
            await self._verify_owner(job_id, expected, answer)
        warnings = tuple(str(issue) for issue in answer.context.warnings)
        message = text(answer.body.get("job_submit_user_msg"))
        return Submission(job_id=job_id, cluster=answer.cluster, warnings=warnings, user_message=message)

    # --- after a lost answer --------------------------------------------------------------------------------

    async def _recover(
        self, job: PreparedJob, search: Search, gone: _Lost, deadline: float, last: int
    ) -> JobInfo | None:
        """Look for the job until it is found, or there is certainly none (None); raises SubmitUncertain in between."""
        case, looks = gone.case, 0
        while time.monotonic() < deadline:
            looks += 1
            looking = _one_look(search, last if looks == 1 else 0, final=case.may_settle(time.monotonic()))
            look = await self._look(job, looking, deadline)
            if look is not None:
                decision = case.judge(look)
                if decision is Decision.ABSENT:
                    return None
                if decision is Decision.FOUND:
                    return min(look.jobs, key=group_id)
            await asyncio.sleep(min(case.pause(time.monotonic(), looks), max(deadline - time.monotonic(), 0)))
        raise _uncertain(job, gone.error) from gone.error

    async def _look(self, job: PreparedJob, looking: Coroutine[object, object, Look], deadline: float) -> Look | None:
        """Make one look; None when it got no answer."""
        try:
            return await asyncio.wait_for(looking, max(deadline - time.monotonic(), 0.01))
        except asyncio.TimeoutError:
            return None
        except AuthError as error:
            raise _uncertain(job, error) from error
        except SlurmError as error:
            if isinstance(error, ControllerDown):
                self._rest.forget()
            log.info("Looking for %s: %s", job.key, error.message)
            return None

    def _found(self, record: JobInfo, job: PreparedJob) -> Submission:
        job_id = group_id(record)
        self._rest.remember(job_id, job.key)
        log.info("Job %d carries the key %s", job_id, job.key)
        return Submission(job_id=job_id, cluster=self._rest.connection.cluster, found=True)

    # --- a caller's own key ---------------------------------------------------------------------------------

    async def _earlier(self, job: PreparedJob, search: Search) -> Submission | None:
        """Return the job that an earlier attempt with the same key made."""
        own = next((job_id for job_id, key in self._rest.made.items() if key == job.key), None)
        if own is not None and any(carries(one, job.key, job.user) for one in await self._rest.controller_records(own)):
            return Submission(job_id=own, cluster=self._rest.connection.cluster, found=True)
        look = await search.whole(back=recovery.BOUNDS.horizon, every=True)
        if look.jobs:
            return self._found(min(look.jobs, key=group_id), job)
        if not look.complete:
            raise SubmitUncertain(
                "Whether the job was submitted before cannot be told: accounting is away, or too many jobs look alike",
                key=job.key,
                hint="Nothing was sent. Try again later with the same idempotency_key.",
            )
        return None

    async def _alone(self, made: Submission, job: PreparedJob, search: Search) -> Submission:
        """Look once more after a submission that may not be the only one: the lowest id stays, others are cancelled.

        Who came later sees who came first, so all that submit under one key at once agree.
        """
        try:
            look = await search.whole(every=True)
        except SlurmError as error:
            log.warning("Job %d: could not look for another one with its key: %s", made.job_id, error.message)
            return made
        ids = {group_id(record) for record in look.jobs if not record.state.is_terminal}
        first = min({made.job_id, *(group_id(record) for record in look.jobs)})
        for job_id in sorted((ids | {made.job_id}) - {first}):
            if await self._take_back(job_id):
                log.warning("Job %d was cancelled: job %d carries its key", job_id, first)
        if first == made.job_id:
            return made
        self._rest.remember(first, job.key)
        return Submission(job_id=first, cluster=made.cluster, found=True)

    # --- whose job it became --------------------------------------------------------------------------------

    async def _take_back(self, job_id: int) -> bool:
        """Cancel a job that must not stay; False when that failed."""
        try:
            (result,) = await self._rest.cancel([job_id])
        except SlurmError as error:
            log.warning("Job %d could not be cancelled: %s", job_id, error.message)
            return False
        return result.outcome != "denied"

    async def _withdraw(self, job_id: int, job: PreparedJob, answer: Answer) -> SlurmError:
        """Cancel a job that Slurm created although it complained: it lacks what the complaint is about."""
        reasons = "; ".join(str(issue) for issue in answer.context.errors)
        if not await self._take_back(job_id):
            return SubmitUncertain(
                f"Slurm complained about the job, made it all the same, and it could not be cancelled: {reasons}",
                key=job.key,
                hint=f"Cancel job {job_id} before you submit it again.",
                context=answer.context,
            )
        return SubmitRejected(
            f"Slurm complained about the job and made it all the same: {reasons}",
            hint=f"Job {job_id} lacked what was wrong, so it was cancelled again.",
            context=answer.context,
            cancelled_job_id=job_id,
        )

    async def _verify_owner(self, job_id: int, expected: str, answer: Answer) -> None:
        """Look whose job it became, once for each user: 24.11 runs the jobs of users it does not know as uid 99."""
        try:
            info = next(iter(await self._rest.controller_records(job_id)), None)
        except SlurmError as error:
            # The job stands, whatever became of the look at it; the next submission looks again.
            log.info("Job %d: its owner could not be verified: %s", job_id, error.message)
            return
        if info is None:
            return
        if info.uid in NOBODY_UIDS or (info.user and expected and info.user != expected):
            end = "it was cancelled" if await self._take_back(job_id) else f"job {job_id} could not be cancelled"
            owner = info.user or f"uid {info.uid}"
            told = f"Slurm made the job for {owner}, not for {expected or 'the user of the token'}; {end}"
            raise unknown_user(answer.context, answer.user, told)
        self._verified = expected


async def _one_look(search: Search, last: int, *, final: bool) -> Look:
    """Look behind the last known id first, where the job nearly always is; then everywhere."""
    if last:
        started = time.monotonic()
        jobs = await search.near(last)
        if jobs:
            return Look(started, time.monotonic(), tuple(jobs), complete=False)
    return await search.whole(final=final)


def _case(loss: Loss, sent: float) -> Case:
    return Case(loss, sent, time.monotonic(), recovery.BOUNDS)


def _uncertain(job: PreparedJob, error: SlurmError) -> SubmitUncertain:
    again = (
        "Submitting again with the same idempotency_key is safe." if job.repeated else "Look before you submit again."
    )
    return SubmitUncertain(
        f"The answer to the submission was lost, so the job may exist or still come: {error.message}",
        key=job.key,
        hint=f"It is the job whose comment ends in {job.key}. {again}",
        context=error.context,
    )
