"""SlurmTransport over slurmrestd."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from slurm_rest.api.base import ApiRequest
from slurm_rest.auth import read_claims
from slurm_rest.config import Settings
from slurm_rest.errors import (
    AccountingDown,
    AuthError,
    ControllerDown,
    JobNotFound,
    SlurmError,
    SubmitRejected,
    SubmitUncertain,
    UnknownUser,
)
from slurm_rest.models import CancelResult, JobInfo, Ping, Submission
from slurm_rest.records import items, read_accounting_job, read_controller_job, read_ping, text
from slurm_rest.transport.answers import Answer, controller_down, submit_error, submitted_id
from slurm_rest.transport.base import Capabilities, Counters, PreparedJob, StateRow
from slurm_rest.transport.fields import require_fields

from .connection import Connection, Query, lost
from .readings import (
    MAX_JOB_ID,
    assign_rows,
    base_id,
    cancel_results,
    check_id,
    check_signal,
    latest_records,
    parse_rows,
)

if TYPE_CHECKING:
    import httpx

__all__ = ["RestTransport"]

log = logging.getLogger("slurm_rest")

# A query above 64 KiB is cut silently by 24.11; 1000 ids make 16 KiB and cost slurmrestd 5 ms, 4000 cost 40 ms.
_IDS_PER_REQUEST = 1000
_ACCOUNTING_IDS_PER_REQUEST = 100
# Up to this many jobs, one small request each beats a request to accounting.
_FEW = 4
# How long an interrupted submission may still take to tell its job id.
_ABANDON_SECONDS = 4.0
# The uid that 24.11 runs the jobs of unknown users as.
_NOBODY_UIDS = frozenset({99, 65534})


class RestTransport:
    """Slurm through slurmrestd of 24.11 and later."""

    name = "rest"

    def __init__(
        self,
        settings: Settings,
        *,
        http_transport: httpx.AsyncBaseTransport | None = None,
        read_timeout: float | None = None,
    ) -> None:
        timeout = {} if read_timeout is None else {"read_timeout": read_timeout}
        self.connection = Connection(settings, http_transport=http_transport, **timeout)
        self._owner_verified = False
        self._arrays: set[int] = set()

    @property
    def counters(self) -> Counters:
        """Requests made and bytes received."""
        return self.connection.counters

    @property
    def capabilities(self) -> Capabilities:
        """What slurmrestd can do for us."""
        return Capabilities(accounting=True, generated_api=True)

    async def close(self) -> None:
        """Close the connections."""
        await self.connection.close()

    # --- the generated API's way in -------------------------------------------------------------------------

    async def api_version(self) -> str:
        """Return the negotiated API version."""
        return await self.connection.version()

    async def target(self) -> tuple[str, str, str]:
        """Return the API version, the Slurm release as ``24.11``, and the cluster's name, asking if need be."""
        version = await self.connection.version()
        if not self.connection.release:
            await self.connection.controller_responds()
        return version, ".".join(self.connection.release.split(".")[:2]), self.connection.cluster

    @property
    def release(self) -> str:
        """Slurm's release as far as it is known yet."""
        return self.connection.release

    async def send(self, request: ApiRequest) -> bytes:
        """Send a request of the generated API and return the body of a good answer."""
        service, path = request.operation.service, request.path.split("/", 3)[3]
        answer = await self.connection.call(
            request.operation.method,
            service,
            f"/{path}",
            request.query,
            request.body,
            repeatable=request.operation.safe,
        )
        return answer.raw

    # --- submission -----------------------------------------------------------------------------------------

    async def submit(self, job: PreparedJob) -> Submission:
        """Create one job. A caller who gives up meanwhile (^C, a time-out) leaves no job behind."""
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
            if await self._take_back(job_id):
                log.warning("Interrupted while submitting: job %d was cancelled", job_id)

    async def _submit(self, job: PreparedJob) -> Submission:
        """Send once. The job id in the answer is the outcome, whatever the HTTP status."""
        # Bytes that came as surrogates go out as the bytes that they were.
        body = json.dumps(job.body, ensure_ascii=False).encode("utf-8", "surrogateescape")
        try:
            answer = await self.connection.post_once(
                "/job/submit", body, lambda version: require_fields(job.body, version)
            )
        except SlurmError as error:
            if lost(error):
                raise _uncertain(job, error) from error
            raise
        job_id = submitted_id(answer)
        if not job_id:
            raise self._no_job(job, answer)
        if answer.context.errors:
            raise await self._withdraw(job_id, job, answer)
        if not self._owner_verified:
            await self._verify_owner(job_id, job, answer)
        warnings = tuple(str(issue) for issue in answer.context.warnings)
        message = text(answer.body.get("job_submit_user_msg"))
        return Submission(job_id=job_id, cluster=answer.cluster, warnings=warnings, user_message=message)

    def _no_job(self, job: PreparedJob, answer: Answer) -> SlurmError:
        error, maybe = submit_error(answer, answer.token)
        return _uncertain(job, error) if maybe else error

    async def _take_back(self, job_id: int) -> bool:
        """Cancel a job that must not stay; False when that failed."""
        try:
            (result,) = await self.cancel([job_id])
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

    async def _verify_owner(self, job_id: int, job: PreparedJob, answer: Answer) -> None:
        """Look once whose job it became: 24.11 runs the jobs of users it does not know as uid 99."""
        try:
            info = next(iter(await self._controller_records(job_id)), None)
        except SlurmError as error:
            # The job stands, whatever became of the look at it; the next submission looks again.
            log.info("Job %d: its owner could not be verified: %s", job_id, error.message)
            return
        if info is None:
            return
        expected = job.user or read_claims(answer.token).user
        if info.uid in _NOBODY_UIDS or (info.user and expected and info.user != expected):
            end = "it was cancelled" if await self._take_back(job_id) else f"job {job_id} could not be cancelled"
            owner = info.user or f"uid {info.uid}"
            raise UnknownUser(
                f"Slurm made the job for {owner}, not for {expected or 'the user of the token'}; {end}",
                hint="The token's user does not exist on the cluster; check its claim sun.",
                context=answer.context,
            )
        self._owner_verified = True

    # --- reading --------------------------------------------------------------------------------------------

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Ask ``jobs/state/`` for exactly these ids; 1000 of them are one request of 82 KB and about 5 ms.

        Each array beyond the first costs a request of its own: their tasks cannot be told apart otherwise.
        """
        asked = [job_id for job_id in sorted({int(check_id(job_id)) for job_id in ids}) if job_id <= MAX_JOB_ID]
        alone = [job_id for job_id in asked if job_id in self._arrays][1:]
        together = sorted(set(asked).difference(alone))
        chunks = [together[start : start + _IDS_PER_REQUEST] for start in range(0, len(together), _IDS_PER_REQUEST)]
        rows: list[StateRow] = []
        for chunk in [*chunks, *([job_id] for job_id in alone)]:
            rows += await self._rows_of(chunk)
        self._arrays |= {row.job_id for row in rows if row.task_id is not None}
        return rows

    async def _rows_of(self, ids: Sequence[int]) -> list[StateRow]:
        """Ask for ids; those whose tasks cannot be told apart are asked for by halves, until each stands alone."""
        found, mixed = assign_rows(ids, await self._state_rows(ids))
        unclear = sorted(mixed)
        middle = len(unclear) // 2
        for half in (unclear[:middle], unclear[middle:]):
            if half:
                found += await self._rows_of(half)
        return found

    async def _state_rows(self, ids: Collection[int]) -> list[StateRow]:
        query = [("job_id", str(job_id)) for job_id in ids]
        return parse_rows(items((await self.connection.get("slurm", "/jobs/state/", query)).body.get("jobs")))

    async def all_states(self) -> list[StateRow]:
        """Return a row for every job in the controller, under its own id: 80 bytes a job, against 8000 in ``jobs/``."""
        return await self._state_rows([])

    async def records(self, path: str, key: str, query: Query = ()) -> tuple[Answer, list[Mapping[str, object]]]:
        """Read a list of records from slurmctld."""
        answer = await self.connection.get("slurm", path, query)
        return answer, items(answer.body.get(key))

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Ask the controller for each id, then accounting, many at once, for those it no longer has.

        ``ended`` says that all are over: then accounting is asked first, where one request serves 100 jobs, and the
        controller only for what is missing or not final there. A few are cheaper from the controller.
        """
        asked = [job_id for job_id in sorted({int(check_id(job_id)) for job_id in ids}) if job_id <= MAX_JOB_ID]
        found: list[JobInfo] = []
        if ended and len(asked) > _FEW:
            found = await self._final_records(asked)
            known = {job_id for record in found for job_id in _group_ids(record)}
            asked = [job_id for job_id in asked if job_id not in known]
        answers = await asyncio.gather(*(self._controller_records(job_id) for job_id in asked))
        here = [record for answer in answers for record in answer]
        gone = [job_id for job_id, answer in zip(asked, answers, strict=True) if not answer]
        return [*found, *here, *await self._accounting_records(gone), *await self._purged_tasks(asked, here)]

    async def _purged_tasks(self, asked: Collection[int], here: Sequence[JobInfo]) -> list[JobInfo]:
        """Return the ended tasks of arrays that are in the controller only in part: it forgets each on its own."""
        arrays = {record.array_job_id for record in here if record.array_job_id}.intersection(asked)
        try:
            records = await self._accounting_records(sorted(arrays))
        except AccountingDown:
            return []
        known = {record.id for record in here}
        return [record for record in records if record.id not in known and record.state.is_terminal]

    async def _final_records(self, ids: Sequence[int]) -> list[JobInfo]:
        try:
            records = await self._accounting_records(ids)
        except AccountingDown:
            return []
        # slurmdbd may be a moment behind: a group with an open member is asked for again.
        late = {member for record in records if not record.state.is_terminal for member in _group_ids(record)}
        return [record for record in records if not late & _group_ids(record)]

    async def _controller_records(self, job_id: int) -> list[JobInfo]:
        try:
            _, records = await self.records(f"/job/{job_id}", "jobs")
        except JobNotFound:
            return []
        return [read_controller_job(record) for record in records]

    async def _accounting_records(self, ids: Sequence[int]) -> list[JobInfo]:
        found: list[JobInfo] = []
        for start in range(0, len(ids), _ACCOUNTING_IDS_PER_REQUEST):
            chunk = ids[start : start + _ACCOUNTING_IDS_PER_REQUEST]
            query = [*(("step", str(job_id)) for job_id in chunk), ("skip_steps", "true")]
            answer = await self.accounting("/jobs/", query)
            found += latest_records(read_accounting_job(record) for record in items(answer.body.get("jobs")))
        return found

    async def accounting(self, path: str, query: Query = ()) -> Answer:
        """Read from slurmdbd; 26.05 reports a refused token there like a dead database, so look which it is."""
        try:
            return await self.connection.get("slurmdb", path, query)
        except AccountingDown:
            await self._prove_token()
            raise

    async def _prove_token(self) -> None:
        """Make the cheapest read that slurmctld checks the token for; raises what is wrong with it."""
        await self.connection.get("slurm", "/jobs/state/", [("job_id", "1")])

    # --- acting ---------------------------------------------------------------------------------------------

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Cancel by the batch endpoint: unlike ``job/{id}``, it reports failures in every API version."""
        labels = [check_id(job_id) for job_id in ids]
        word = check_signal(signal)
        sendable = [label for label in labels if base_id(label) <= MAX_JOB_ID]
        results: dict[str, CancelResult] = {}
        for start in range(0, len(sendable), _IDS_PER_REQUEST):
            chunk = sendable[start : start + _IDS_PER_REQUEST]
            # Without FULL_JOB a signal passes by the batch script, as it does for a plain scancel --signal.
            how = {"signal": word, "flags": ["FULL_JOB"]} if word else {}
            body = json.dumps({"jobs": chunk, **how}).encode()
            answer = await self.connection.call("DELETE", "slurm", "/jobs/", (), body, repeatable=True)
            found, members = cancel_results(chunk, items(answer.body.get("status")))
            results |= zip(chunk, await self._look_again(found, members) if members else found, strict=True)
        return [results.get(label) or CancelResult(job_id=base_id(label), outcome="not_found") for label in labels]

    async def _look_again(self, results: list[CancelResult], over: Mapping[int, int]) -> list[CancelResult]:
        """Tell an array that was over from one of which only some tasks were."""
        rows = [row.job_id for row in await self.states(over)]
        return [
            replace(result, outcome="signalled", message="")
            if result.outcome == "already_over" and rows.count(result.job_id) > over.get(result.job_id, len(rows))
            else result
            for result in results
        ]

    async def ping(self) -> list[Ping]:
        """Ask ``ping/`` and then make a read that needs a good token: ping alone takes any."""
        version = await self.connection.version()
        answer = await self.connection.get("slurm", "/ping/")
        pings = read_ping(answer.body, version)
        if any(ping.responding for ping in pings):
            await self._prove_token()
            return pings
        # A refused token looks like a dead controller here. The read tells, though it takes 10 s when it is dead.
        try:
            await self._prove_token()
        except (AuthError, ControllerDown):
            raise
        except SlurmError as error:
            raise controller_down(answer.context) from error
        return pings

    async def ping_accounting(self) -> None:
        """Make a small read from slurmdbd; raises AccountingDown or what else is wrong."""
        await self.accounting("/clusters/")


def _group_ids(record: JobInfo) -> set[int]:
    return {job_id for job_id in (record.id, record.array_job_id, record.het_job_id) if job_id}


def _uncertain(job: PreparedJob, error: SlurmError) -> SubmitUncertain:
    return SubmitUncertain(
        f"The answer to the submission was lost, so the job may exist: {error.message}",
        key=job.key,
        hint=f"Look for a job whose comment ends in {job.key} before you submit it again.",
        context=error.context,
    )
