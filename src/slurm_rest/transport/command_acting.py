"""What is done to jobs by commands: scancel, and scontrol's hold, release, requeue and update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from slurm_rest.models import ActionResult, CancelResult

from . import commands, control
from .ids import MAX_JOB_ID, base_id, check_id, check_signal

if TYPE_CHECKING:
    from .command_line import CommandTransport
    from .command_submit import Run

__all__ = ["CommandActor"]

_IDS_PER_COMMAND = 1000


class CommandActor:
    """Acts on jobs through one CommandTransport; ``run`` runs a program there."""

    def __init__(self, transport: CommandTransport, run: Run) -> None:
        self._transport = transport
        self._run = run

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Run scancel, which reports each id that it could not cancel."""
        labels = [check_id(job_id) for job_id in ids]
        word = check_signal(signal)
        results: dict[str, CancelResult] = {}
        sendable = [label for label in dict.fromkeys(labels) if base_id(label) <= MAX_JOB_ID]
        if word and sendable:
            results = await self._unsignallable(sendable, word)
            sendable = [label for label in sendable if label not in results]
        for start in range(0, len(sendable), _IDS_PER_COMMAND):
            chunk = sendable[start : start + _IDS_PER_COMMAND]
            done = await self._run(commands.cancel_program(chunk, word))
            results |= zip(chunk, commands.read_cancelled(done, chunk, self._transport.runner.where), strict=True)
        return [results.get(label) or CancelResult(job_id=base_id(label), outcome="not_found") for label in labels]

    async def _unsignallable(self, labels: Sequence[str], signal: str) -> dict[str, CancelResult]:
        """Return results for jobs that only wait: scancel would try to signal them for minutes."""
        if signal in ("KILL", "9"):
            return {}
        live: dict[str, bool] = {}
        for row in await self._transport.states({base_id(label) for label in labels}):
            for label in {str(row.job_id), f"{row.job_id}_{row.task_id}", f"{row.job_id}+{row.offset}"}:
                live[label] = live.get(label, False) or not row.state.is_pending
        said = "The job has not started, so there is nothing to signal"
        return {
            label: CancelResult(job_id=base_id(label), outcome="denied", message=said)
            for label in labels
            if live.get(label.replace("[", "").replace("]", "")) is False
        }

    async def act(
        self, action: control.Action, ids: Sequence[int | str], *, repeatable: bool = True
    ) -> list[ActionResult]:
        """Run scontrol, which says nothing of what went well."""
        labels = [check_id(job_id) for job_id in ids]
        sendable = [label for label in dict.fromkeys(labels) if base_id(label) <= MAX_JOB_ID]
        results: dict[str, ActionResult] = {}
        for start in range(0, len(sendable), _IDS_PER_COMMAND):
            chunk = sendable[start : start + _IDS_PER_COMMAND]
            done = await self._run(control.action_program(action, chunk), repeatable=repeatable)
            results |= zip(chunk, control.read_actions(done, chunk, self._transport.runner.where), strict=True)
        return [results.get(label) or ActionResult(job_id=base_id(label), outcome="not_found") for label in labels]

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change options of a job, or of all tasks of an array that are not over."""
        label = check_id(job_id)
        release = (await self._transport.target())[1]
        done = await self._run(control.update_program(label, changes, release))
        control.read_update(done, label, self._transport.runner.where)
