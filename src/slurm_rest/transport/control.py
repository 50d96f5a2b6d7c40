"""scontrol's hold, release, requeue and update: what to run, and how to read its complaints. Nothing here does I/O.

scontrol says nothing of what went well. A complaint ends in ``for job 12``; of an array whose tasks fared differently
there is a line for each lot: ``12_1-2: No error``, in 26.05 ``12_[1-2]: No error``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from slurm_rest.errors import ApiError, JobNotFound, PermissionDenied, SlurmError
from slurm_rest.models import ActionResult
from slurm_rest.sbatch.changes import changed_words

from .advice import advice_on
from .commands import context_of, failure
from .ids import base_id
from .shell import Finished, Program, quote

__all__ = ["action_program", "read_actions", "read_update", "update_program"]

Action = Literal["hold", "release", "requeue", "requeuehold"]

_COMPLAINT = re.compile(r"(.+) for job (\d+(?:_\d+|\+\d+)?)")
_LOT = re.compile(r"(\d+)_\[?([\d,%:-]+)\]?: (.+)")
_DONE = "No error"
_NOTHING = re.compile(r"slurm_suspend error\b.*")
_DENIED = re.compile(r"Access/permission denied|Invalid user id")


def action_program(action: Action, labels: Sequence[str]) -> Program:
    """Return one command for these jobs."""
    return Program("scontrol", quote(["scontrol", action, *labels]))


def read_actions(done: Finished, labels: Sequence[str], where: str) -> list[ActionResult]:
    """Return what came of each label; a complaint about none of them means that nothing is known."""
    said: dict[str, list[str]] = {}
    for line in done.stderr.splitlines():
        if lot := _LOT.fullmatch(line.strip()):
            said.setdefault(lot[1], []).append(lot[3])
        elif complaint := _COMPLAINT.fullmatch(line.strip()):
            said.setdefault(complaint[2], []).append(complaint[1])
    if done.status and not said:
        raise failure(done, where)
    return [_result(label, said.get(label) or said.get(label.partition("_")[0])) for label in labels]


def _result(label: str, said: Sequence[str] | None) -> ActionResult:
    if not said or _DONE in said:
        return ActionResult(job_id=base_id(label), outcome="done")
    outcome: Literal["already_over", "not_found", "denied"] = "denied"
    if "already finished" in said[0] or "already complet" in said[0]:
        outcome = "already_over"
    elif "Invalid job id" in said[0]:
        outcome = "not_found"
    return ActionResult(job_id=base_id(label), outcome=outcome, message=said[0])


def update_program(label: str, changes: Mapping[str, object], release: str) -> Program:
    """Return the change of one job; raises SpecError for what this release cannot change."""
    return Program("scontrol", quote(["scontrol", "update", f"JobId={label}", *changed_words(changes, release)]))


def read_update(done: Finished, label: str, where: str) -> None:
    """Raise what scontrol complained about."""
    if not done.status:
        return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    lots = [lot[3] for line in lines if (lot := _LOT.fullmatch(line))]
    found = [complaint[1] for line in lines if (complaint := _COMPLAINT.fullmatch(line))]
    serious = [words for words in lots if words != _DONE and "already" not in words]
    # Tasks that are over cannot be changed; that is no failure where others were.
    if lots and not serious and _DONE in lots:
        return
    raise _refusal(done, label, (serious or found or [*lots])[0]) if (lots or found) else failure(done, where)


def _refusal(done: Finished, label: str, words: str) -> SlurmError:
    context = context_of(done)
    if "Invalid job id" in words:
        return JobNotFound(f"There is no job {label}", hint="The controller does not know it.", context=context)
    message = f"Slurm did not change job {label}: {words}"
    if _DENIED.search(words):
        return PermissionDenied(message, hint="Slurm's rules do not let this user do it.", context=context)
    hint = advice_on(words) or "Change what is wrong, and try again."
    return ApiError(message, hint=hint, context=context)
