"""What a client tells of jobs, and how it follows them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import datetime

from . import watching
from .followed import Followed
from .grouping import JobRef, JobRefs, followed, ids_of, member_of, one_of, several
from .identity import by_id
from .job import AsyncJob
from .models import JobInfo, group_record
from .poller import Poller
from .reuse import find_replaced
from .states import JobState
from .tables import OutcomeTable
from .tracking import TrackedJob
from .transport.base import SlurmTransport
from .watching import JobChange, States

__all__ = ["Following"]


class Following:
    """The part of a client that follows jobs; all of it shares one poller."""

    _transport: SlurmTransport
    _poller: Poller

    async def states(self, jobs: JobRefs | None = None, *, max_age: float = 0.0) -> dict[int, JobState]:
        """Return the states of these jobs in one request, or of all jobs; unknown ids are absent.

        What this client heard within the last ``max_age`` seconds, for instance while it waits for the same jobs, is
        not asked for again. An array or het job has one combined state. A job that left the controller (MinJobAge,
        300 s by default) is absent too; ``history`` and ``job(id).info()`` still know it. So is one whose id Slurm has
        given to another job: a handle is compared with the record of that job where it seems to start anew, and every
        few minutes.
        """
        if jobs is not None:
            return await self._states_of(several(jobs), max_age)
        members: dict[int, list[JobState]] = {}
        for row in await self._transport.all_states():
            members.setdefault(row.job_id, []).append(row.state)
        return {job_id: JobState.combine(states) for job_id, states in members.items()}

    def stale_since(self, job: JobRef | None = None) -> datetime | None:
        """Return since when Slurm gives no answer, about one job or at all; None if it does, or was not asked.

        What is known of the job's state is then the last that was heard. Nothing is asked.
        """
        return self._poller.stale_since(None if job is None else followed(job))

    async def _states_of(self, jobs: list[JobRef], max_age: float) -> dict[int, JobState]:
        found = await self._poller.states(ids_of(jobs), max_age)
        doubtful = [job for job in jobs if isinstance(job, AsyncJob) and job.id in found and job.doubts(found[job.id])]
        if not doubtful:
            return found
        replaced = await find_replaced(self._transport, [job.identity for job in doubtful])
        kept = {followed(job).identity.job_id for job in jobs if followed(job).identity not in replaced}
        for job in doubtful:
            if job.identity not in replaced:
                job.trust()
        return {job_id: state for job_id, state in found.items() if job_id in kept}

    async def _records_of(self, jobs: list[JobRef], *, ended: bool = False) -> dict[int, list[JobInfo]]:
        """Return the records of each job, by id; those of a job whose id has been given anew accounting keeps."""
        identities = [followed(job).identity for job in jobs]
        records = by_id(await self._transport.describe(dict.fromkeys(one.job_id for one in identities), ended=ended))
        mine = {one: one.pick(records.get(one.job_id, [])) for one in identities}
        missing = {one.job_id for one in identities if not mine[one] and records.get(one.job_id)}
        if missing:
            older = by_id(await self._transport.incarnations(missing))
            mine = {one: found or one.pick(older.get(one.job_id, [])) for one, found in mine.items()}
        return {one.job_id: found for one, found in mine.items() if found}

    async def info(self, job: JobRef) -> JobInfo:
        """Return the full record of one job, from accounting when the controller no longer has it.

        Raises JobNotFound when neither knows it.
        """
        if isinstance(job, AsyncJob) and job.task_id is not None and (own := await self._record_of_task(job)):
            return own
        mine = await self._records_of([job])
        if isinstance(job, AsyncJob) and job.is_member:
            return member_of(job, mine.get(job.id, []), accounting=self._transport.capabilities.accounting)
        return one_of(followed(job).identity.job_id, mine, accounting=self._transport.capabilities.accounting)

    async def _record_of_task(self, job: AsyncJob) -> JobInfo | None:
        """Return the record of a task that has started and is in the controller, without those of its whole array.

        A row of a state is 80 bytes and a record 8 kB, and the array's id stands for all of them.
        """
        if job.own_id is None:
            rows = await self._transport.states([job.id])
            job.own_id = next((row.own_id for row in rows if row.task_id == job.task_id), None)
        # The last task to start takes the array's own id.
        if job.own_id is None or job.own_id == job.id:
            return None
        records = job.identity.pick(await self._transport.describe([job.own_id]))
        return next((one for one in records if (one.array_job_id, one.array_task_id) == (job.id, job.task_id)), None)

    async def describe(self, jobs: JobRefs, *, ended: bool = False) -> dict[int, JobInfo]:
        """Return the full record of each job; those that neither controller nor accounting knows are absent.

        One small request a job. ``ended=True`` promises that all are over: accounting then answers for 100 at once.
        """
        ids = ids_of(jobs)
        members = await self._records_of(several(jobs), ended=ended)
        return {job_id: group_record(job_id, members[job_id]) for job_id in ids if job_id in members}

    async def member_states(self, job: JobRef) -> dict[tuple[int | None, int | None], JobState]:
        """Return the state of each member of an array or het job, by task id and component offset.

        A task that was cancelled while it was pending leaves no trace in Slurm (24.11 and 26.05), so it is absent.
        """
        job_id = followed(job).identity.job_id
        rows = await self._transport.states([job_id])
        if isinstance(job, AsyncJob) and rows and job.doubts(JobState.combine(row.state for row in rows)):
            if await find_replaced(self._transport, [job.identity]):
                rows = []
            else:
                job.trust()
        found = {(row.task_id, row.offset): row.state for row in rows if (row.task_id, row.offset) != (None, None)}
        if found and all(not state.is_terminal for state in found.values()):
            return found
        # Members that left the controller are known to accounting alone.
        records = await self._records_of([job], ended=True) if rows or not found else {}
        for record in records.get(job_id, ()):
            key = (record.array_task_id, record.het_job_offset)
            if key != (None, None):
                found.setdefault(key, record.state)
        return found

    async def members(self, job: JobRef) -> list[JobInfo]:
        """Return a record for each array task or het component that has one of its own; of a member, its group's.

        By task id or offset, whatever has none last: the one record of tasks that have not started.
        """
        return sorted((await self._records_of([job])).get(followed(job).identity.job_id, []), key=_place)

    async def wait(
        self,
        jobs: JobRefs,
        *,
        timeout: float | None = None,
        progress: bool = False,
        on_change: Callable[[States], None] | None = None,
    ) -> list[JobInfo]:
        """Wait until all jobs are over and return their final records, in the order given.

        All waits of this client share one request per interval. ``progress`` shows a live display on stderr;
        ``on_change`` is called with the states whenever one moves, by id, and by label for members (``12_3``). Raises
        WaitTimeout after ``timeout`` seconds; 0 asks once. Raises OutcomeUnknown for a job that vanished untold.
        """
        listed = several(jobs)
        targets = [followed(job) for job in listed]
        if progress:
            from .progress import Progress  # loads rich, only for those who look

            names = {followed(job).key: job.name for job in listed if isinstance(job, AsyncJob)}
            with Progress([target.key for target in targets], names) as display:
                records = await watching.wait(self._poller, targets, timeout, on_change, display)
        else:
            records = await watching.wait(self._poller, targets, timeout, on_change)
        pairs = zip(listed, records, strict=True)
        return OutcomeTable(job.learn(record) if isinstance(job, AsyncJob) else record for job, record in pairs)

    async def as_completed(self, jobs: JobRefs, *, timeout: float | None = None) -> AsyncGenerator[JobInfo, None]:
        """Yield the final record of each job as it ends. An error of one is raised after all others have been yielded.

        Raises WaitTimeout after ``timeout`` seconds; 0 asks once.
        """
        handles: dict[Followed, list[AsyncJob]] = {}
        targets = []
        for job in several(jobs):
            targets.append(followed(job))
            handles.setdefault(targets[-1], []).extend([job] if isinstance(job, AsyncJob) else [])
        async for target, record in watching.as_completed(self._poller, targets, timeout):
            for handle in handles[target]:
                record = handle.learn(record)
            yield record

    async def track(self, job: JobRef) -> TrackedJob:
        """Follow a job without waiting for it; what is known of it can be looked at until its ``close``."""
        tracked = TrackedJob(self._poller, followed(job))
        tracked.start()
        return tracked

    async def watch(self, jobs: JobRefs, *, timeout: float | None = None) -> AsyncGenerator[JobChange, None]:
        """Yield every change of these jobs' states, first the present ones, until all are over.

        A requeue, an outage and its end are changes, too. An error of one job comes with its last change.
        """
        async for change in watching.watch(self._poller, [followed(job) for job in several(jobs)], timeout):
            yield change


def _place(member: JobInfo) -> tuple[bool, int]:
    place = member.het_job_offset if member.array_task_id is None else member.array_task_id
    return (place is None, place or 0)
