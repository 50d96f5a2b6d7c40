"""Submits over slurmrestd: one request and what its answer means. What follows a lost answer is in ``once.py``."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slurm_rest.auth import read_claims
from slurm_rest.errors import SlurmError, SubmitRejected, SubmitUncertain
from slurm_rest.models import CancelResult, Submission
from slurm_rest.records import text
from slurm_rest.transport import recovery
from slurm_rest.transport.answers import Answer, submit_error, submitted_id, unknown_user
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.fields import require_fields
from slurm_rest.transport.once import ExactlyOnce, Lost
from slurm_rest.transport.recovery import NOBODY_UIDS, Case, Loss, held_until, is_still, loss_of

from .faults import lost
from .search import Search

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["Submitter"]

log = logging.getLogger("slurm_rest")

_JSON = json.JSONEncoder(ensure_ascii=False)


class Submitter:
    """Submits over one RestTransport; see ExactlyOnce for ``recovery_timeout``."""

    def __init__(self, rest: RestTransport, recovery_timeout: float) -> None:
        self._rest = rest
        self._once = ExactlyOnce(self, recovery_timeout)
        self._verified: str | None = None

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job."""
        return await self._once.submit(job)

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known."""
        return self._rest.connection.cluster

    def search(self, job: PreparedJob) -> Search:
        """Begin the search for a job that is to be sent."""
        return Search(self._rest, job, since=self._rest.connection.tokens.clock.local())

    async def known(self, job: PreparedJob) -> int | None:
        """Return the job that this client itself made under the key, if the controller still has it."""
        own = next((job_id for job_id, key in self._rest.made.items() if key == job.key), None)
        if own is None:
            return None
        records = await self._rest.controller_records(own)
        return own if any(is_still(record, job.key, job.user, job.name) for record in records) else None

    def remember(self, job_id: int, key: str) -> None:
        """Keep in mind which job a key made."""
        self._rest.remember(job_id, key)

    def forget(self) -> None:
        """Trust no id any more."""
        self._rest.forget()

    async def cancel(self, ids: Sequence[int | str]) -> list[CancelResult]:
        """Cancel jobs."""
        return await self._rest.cancel(ids)

    async def send(self, job: PreparedJob) -> Submission | Lost:
        """Send once. The job id in the answer is the outcome, whatever the HTTP status."""
        # Bytes that came as surrogates go out as the bytes that they were.
        body = _JSON.encode(job.body).encode("utf-8", "surrogateescape")
        sent = time.monotonic()
        try:
            answer = await self._rest.connection.post_once(
                "/job/submit",
                body,
                lambda version: require_fields(job.body, version),
                only=job.api_version if job.older_version else "",
            )
        except SlurmError as error:
            if lost(error):
                return Lost(error, _case(loss_of(error, from_slurm=False), sent))
            raise
        job_id = submitted_id(answer)
        if not job_id:
            connection = self._rest.connection
            problem, maybe = submit_error(answer, answer.token, connection.tokens.clock.now())
            if not maybe:
                raise await connection.explained(problem, answer)
            return Lost(problem, _case(loss_of(problem, from_slurm=bool(answer.numbers)), sent))
        if answer.context.errors:
            raise await self._withdraw(job_id, job, answer)
        expected = job.user or read_claims(answer.token).user
        if self._verified != expected:
            await self._verify_owner(job_id, expected, answer, job.name)
        warnings = tuple(str(issue) for issue in answer.context.warnings)
        message = text(answer.body.get("job_submit_user_msg"))
        owner = expected if self._verified == expected else ""
        return Submission(job_id=job_id, cluster=answer.cluster, warnings=warnings, user_message=message, owner=owner)

    async def _withdraw(self, job_id: int, job: PreparedJob, answer: Answer) -> SlurmError:
        """Cancel a job that Slurm created although it complained: it lacks what the complaint is about."""
        reasons = "; ".join(str(issue) for issue in answer.context.errors)
        if not await self._once.take_back(job_id):
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

    async def _verify_owner(self, job_id: int, expected: str, answer: Answer, name: str) -> None:
        """Look whose job it became, once for each user: 24.11 runs the jobs of users it does not know as uid 99.

        And whether it got its name, which a site's job_submit plugin may change.
        """
        try:
            info = next(iter(await self._rest.controller_records(job_id)), None)
        except SlurmError as error:
            # The job stands, whatever became of the look at it; the next submission looks again.
            log.info("Job %d: its owner could not be verified: %s", job_id, error.message)
            return
        if info is None:
            return
        if info.uid in NOBODY_UIDS or (info.user and expected and info.user != expected):
            gone = await self._once.take_back(job_id)
            end = "it was cancelled" if gone else f"job {job_id} could not be cancelled"
            owner = info.user or f"uid {info.uid}"
            told = f"Slurm made the job for {owner}, not for {expected or 'the user of the token'}; {end}"
            raise unknown_user(answer.context, answer.user, told)
        self._verified = expected
        if name and info.name and info.name != name:
            self._rest.names.are_kept = False


def _case(loss: Loss, sent: float) -> Case:
    now = time.monotonic()
    return Case(now, held_until(loss, sent, now, recovery.BOUNDS), recovery.BOUNDS)
