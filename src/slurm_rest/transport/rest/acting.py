"""What is done to jobs over slurmrestd: cancel, hold, release, requeue, change.

``POST job/{id}`` says of every change whether it was made, in all API versions (24.11 and 26.05). It takes one id, not
a task's label, and for an array's id it reaches only the tasks that have not started; so the others are changed each
under its own id.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from slurm_rest.errors import ApiError, JobNotFound, UnsupportedVersion
from slurm_rest.models import ActionResult, CancelResult, JobInfo
from slurm_rest.records import items, number, text
from slurm_rest.sbatch.changes import changed_fields
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.capabilities import REST_CAPABILITIES
from slurm_rest.transport.fields import require_fields
from slurm_rest.transport.ids import MAX_JOB_ID, base_id, check_id, check_signal

from .readings import cancel_results

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["Actor"]

_IDS_PER_REQUEST = 1000
_OVER, _COMPLETING = 2084, 2021
_PENDING_TASK = "over REST a task that has not started can only be reached with its whole array"


class Actor:
    """Acts on jobs through one RestTransport."""

    def __init__(self, rest: RestTransport) -> None:
        self._rest = rest

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
            self._rest.count_batch("DELETE jobs", chunk)
            body = json.dumps({"jobs": chunk, **how}).encode()
            # To cancel twice is to cancel; to send USR1 twice is not the same as once.
            again = word in (None, "KILL", "TERM")
            answer = await self._rest.connection.call("DELETE", "slurm", "/jobs/", (), body, repeatable=again)
            found, members = cancel_results(chunk, items(answer.body.get("status")))
            results |= zip(chunk, await self._look_again(found, members) if members else found, strict=True)
        return [results.get(label) or CancelResult(job_id=base_id(label), outcome="not_found") for label in labels]

    async def _look_again(self, results: list[CancelResult], over: Mapping[int, int]) -> list[CancelResult]:
        """Tell an array that was over from one of which only some tasks were."""
        rows = [row.job_id for row in await self._rest.states(over) if row.own_id != row.job_id]
        return [
            replace(result, outcome="signalled", message="")
            if result.outcome == "already_over" and rows.count(result.job_id) > over.get(result.job_id, len(rows))
            else result
            for result in results
        ]

    async def hold(self, ids: Sequence[int | str], *, held: bool) -> list[ActionResult]:
        """Hold jobs, or release them."""
        labels = [check_id(job_id) for job_id in ids]
        groups = await self._groups({int(label) for label in labels if label.isdigit() and int(label) <= MAX_JOB_ID})
        return list(await asyncio.gather(*(self._hold(label, groups, held=held) for label in labels)))

    async def _hold(self, label: str, groups: Collection[int], *, held: bool) -> ActionResult:
        try:
            own = await self._own_ids(label, groups)
        except JobNotFound as error:
            return _result(label, error)
        except UnsupportedVersion as error:
            return ActionResult(job_id=base_id(label), outcome="denied", message=error.message)
        if not own:
            return ActionResult(job_id=base_id(label), outcome="already_over")
        asked, failures = await self._post_all(label, own, groups, {"hold": held})
        return _result(label, failures[0] if len(failures) == asked else None)

    async def requeue(self, ids: Sequence[int | str], *, hold: bool) -> list[ActionResult]:
        """Requeue one by one. An answer that is lost is not asked for again: the job may run once more by then."""
        version = (await self._rest.target())[0]
        if not self._rest.capabilities.requeue:
            supported = sorted({version for (_, version), row in REST_CAPABILITIES.items() if row.requeue})
            hint = f"Over REST these can: {', '.join(supported)}; or use SSH (SLURM_REST_SSH_HOST)."
            message = f"API version {version} cannot requeue jobs"
            raise UnsupportedVersion(message, version=version, supported=supported, hint=hint)
        labels = [check_id(job_id) for job_id in ids]
        return list(await asyncio.gather(*(self._requeue(label, hold=hold) for label in labels)))

    async def _requeue(self, label: str, *, hold: bool) -> ActionResult:
        query = [("Hold", "true")] if hold else []
        try:
            answer = await self._rest.connection.call("GET", "slurm", f"/job/{label}/requeue", query, None)
        except ApiError as error:
            return _result(label, error)
        # An array's tasks are reported in lots; those that waited already are no failure beside others.
        lots = items(answer.body.get("status"))
        if lots and all(number(lot.get("error_code")) for lot in lots):
            return ActionResult(job_id=base_id(label), outcome="denied", message=text(lots[0].get("error")))
        return ActionResult(job_id=base_id(label), outcome="done")

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change one job, or all tasks of an array that are not over; raises what Slurm says."""
        label = check_id(job_id)
        body = changed_fields(changes)
        require_fields({"job": body}, (await self._rest.target())[0])
        groups = await self._groups([int(label)] if label.isdigit() and int(label) <= MAX_JOB_ID else [])
        asked, failures = await self._post_all(label, await self._own_ids(label, groups), groups, body)
        serious = [error for error in failures if error.error_number not in (_OVER, _COMPLETING)]
        if serious or (asked and len(failures) == asked):
            raise [*serious, *failures][0]
        if not asked:
            raise ApiError(f"Job {label} is over", hint="What has ended cannot be changed.")

    # --- ids that slurmrestd takes ---------------------------------------------------------------------------

    async def _groups(self, ids: Collection[int]) -> set[int]:
        """Return which of these ids are arrays or het jobs."""
        rows: list[StateRow] = await self._rest.states(ids) if ids else []
        return {row.job_id for row in rows if row.task_id is not None or row.offset is not None}

    async def _own_ids(self, label: str, groups: Collection[int]) -> list[int]:
        """Return the ids that are changed for a label, none when it is over; raises JobNotFound."""
        base = base_id(label)
        if base > MAX_JOB_ID:
            raise _unknown(label)
        if label.isdigit() and base not in groups:
            return [base]
        records = await self._rest.controller_records(base)
        mine = records if label.isdigit() else [record for record in records if _is_member(record, label)]
        if not mine:
            raise _unknown(label)
        if any(record.array_job_id and record.array_task_id is None for record in mine) and not label.isdigit():
            raise UnsupportedVersion(
                f"{label}: {_PENDING_TASK}", hint="Use the array's id, or SSH (SLURM_REST_SSH_HOST)."
            )
        return [record.id for record in mine if not record.state.is_terminal]

    async def _post_all(
        self, label: str, own: Sequence[int], groups: Collection[int], change: Mapping[str, object]
    ) -> tuple[int, list[ApiError]]:
        """Make a change to these ids, and to those of tasks that start meanwhile; return how many, and the refusals.

        A task that starts between the question and the change gets an id of its own, and the array's no longer reaches
        it. One that starts later starts changed; one that was not held need not be released.
        """
        failures = await self._post(own, change)
        base, late = base_id(label), list[int]()
        if base in groups and base in own and change != {"hold": False}:
            with contextlib.suppress(JobNotFound):
                late = [own_id for own_id in await self._own_ids(label, groups) if own_id not in own]
            failures += await self._post(late, change)
        return len(own) + len(late), failures

    async def _post(self, own: Sequence[int], change: Mapping[str, object]) -> list[ApiError]:
        """Make a change to each id and return the refusals; anything else is raised."""
        # Bytes that came as surrogates go out as the bytes that they were.
        body = json.dumps(change, ensure_ascii=False).encode("utf-8", "surrogateescape")

        async def one(job_id: int) -> ApiError | None:
            try:
                await self._rest.connection.call("POST", "slurm", f"/job/{job_id}", (), body, repeatable=True)
            except ApiError as error:
                if isinstance(error, UnsupportedVersion) or error.error_number is None:
                    raise
                return error
            return None

        return [error for error in await asyncio.gather(*(one(job_id) for job_id in own)) if error is not None]


def _is_member(record: JobInfo, label: str) -> bool:
    if label == record.label:
        return True
    _, _, task = label.partition("_")
    return task.isdigit() and record.array_task_id is None and record.stands_for(int(task))


def _unknown(label: str) -> JobNotFound:
    return JobNotFound(f"There is no job {label}", hint="The controller does not know it.")


def _result(label: str, error: ApiError | None) -> ActionResult:
    job_id = base_id(label)
    if error is None:
        return ActionResult(job_id=job_id, outcome="done")
    reason = error.error_name or error.message
    if isinstance(error, JobNotFound):
        return ActionResult(job_id=job_id, outcome="not_found", message=reason)
    over = error.error_number in (_OVER, _COMPLETING)
    return ActionResult(job_id=job_id, outcome="already_over" if over else "denied", message=reason)
