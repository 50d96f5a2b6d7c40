"""What a client does to jobs that exist: cancel, hold, release, requeue, change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from .errors import JobNotFound, SpecError
from .grouping import JobRef, JobRefs, labels_of, several
from .job import AsyncJob
from .keys import add_key
from .models import ActionResult, CancelResult
from .reuse import find_replaced
from .sbatch.changes import read_changes
from .transport.base import SlurmTransport
from .transport.ids import base_id, check_signal

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .sbatch.changes import JobChanges

__all__ = ["Acting"]

_ANOTHERS = "its id now belongs to another job"


def _id(job: JobRef) -> int:
    return job.id if isinstance(job, AsyncJob) else job


class Acting:
    """The part of a client that acts. Jobs are handles or ids; those of an array or het job mean all members."""

    _transport: SlurmTransport

    async def cancel(self, jobs: JobRefs, *, signal: str | int | None = None) -> list[CancelResult]:
        """Cancel jobs, or send a signal (a name or a number) to script and steps, and say for each what came of it.

        Cancelling twice does no harm. A handle whose id Slurm has given to another job is over: that one is left alone,
        here and in all that follows, which costs a look at the record of each handle's job before.
        """
        word = check_signal(signal)
        listed, others = await self._others(jobs)
        mine = [job for place, job in enumerate(listed) if place not in others]
        results = iter(await self._transport.cancel(labels_of(mine), word) if mine else [])
        return [
            CancelResult(job_id=_id(job), outcome="already_over", message=_ANOTHERS)
            if place in others
            else next(results)
            for place, job in enumerate(listed)
        ]

    async def hold(self, jobs: JobRefs) -> list[ActionResult]:
        """Keep jobs from starting, and say for each what came of it. One that runs goes on, but is held if requeued."""
        return await self._act(jobs, self._transport.hold)

    async def release(self, jobs: JobRefs) -> list[ActionResult]:
        """Let held jobs start, and say for each what came of it. What an operator holds only operators release."""
        return await self._act(jobs, self._transport.release)

    async def requeue(self, jobs: JobRefs, *, hold: bool = False) -> list[ActionResult]:
        """Send running or ended jobs back to the queue under their ids, held if ``hold``; say what came of each.

        Over REST this takes v0.0.45 (Slurm 26.05); UnsupportedVersion says so. A request whose answer is lost is not
        repeated.
        """
        return await self._act(jobs, lambda labels: self._transport.requeue(labels, hold=hold))

    async def update(self, job: JobRef, **changes: Unpack[JobChanges]) -> None:
        """Change options of a job: ``update(job, time="2:00:00", partition="long")``, named as for ``submit``.

        All are made or none. For an array they are made to every task that is not over. A new comment keeps the key of
        the submission behind it. Raises SpecError for what cannot be changed, JobNotFound, PermissionDenied, and
        ApiError with Slurm's reason.
        """
        (label,) = labels_of(job)
        if (await self._others(job))[1]:
            raise JobNotFound(f"Job {label} is over: {_ANOTHERS}", hint="What has ended cannot be changed.")
        values = read_changes(dict(changes), datetime.now())  # Slurm's tools resolve times in the caller's own zone
        if "comment" in values:
            values["comment"] = await self._with_key(label, str(values["comment"]))
        await self._transport.update(label, values)

    async def _others(self, jobs: JobRefs) -> tuple[list[JobRef], set[int]]:
        """Return all, and the places of handles whose ids now belong to other jobs."""
        listed = several(jobs)
        labels_of(listed)
        handles = {place: job.identity for place, job in enumerate(listed) if isinstance(job, AsyncJob)}
        replaced = await find_replaced(self._transport, handles.values())
        return listed, {place for place, identity in handles.items() if identity in replaced}

    async def _act(
        self, jobs: JobRefs, act: Callable[[list[int | str]], Awaitable[list[ActionResult]]]
    ) -> list[ActionResult]:
        listed, others = await self._others(jobs)
        mine = [job for place, job in enumerate(listed) if place not in others]
        results = iter(await act(labels_of(mine)) if mine else [])
        return [
            ActionResult(job_id=_id(job), outcome="already_over", message=_ANOTHERS)
            if place in others
            else next(results)
            for place, job in enumerate(listed)
        ]

    async def _with_key(self, label: int | str, comment: str) -> str:
        """Return a comment that still finds the job when somebody submits it again under the same key."""
        records = await self._transport.describe([base_id(str(label))])
        key = next((record.submission_key for record in records if record.submission_key), "")
        try:
            return add_key(comment, key) if key else comment
        except ValueError as error:
            raise SpecError(f"comment: {error}", field="comment", kind="value") from None
