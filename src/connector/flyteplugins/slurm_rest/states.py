"""What each state of a Slurm job is to Flyte: one table. Pure, and free of flyte's own types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from slurm_rest import BaseState, JobInfo, JobState

__all__ = ["UNLAUNCHED", "Phase", "goes_on", "is_held_after_launch", "is_unlaunched", "phase_of"]

# The signals that slurmd makes up for a script that it never began (seen with 22.05, 24.11, 26.05). Its output cannot
# be opened, as in a directory that the node lacks: the job is FAILED. Its prolog failed, with PrologFlags=Alloc: it is
# CANCELLED, by root in accounting's eyes, or where it may be requeued PENDING again and held until it is released.
# So it is after other failures of a node, but then without a signal.
_NO_OUTPUT, _PROLOG_FAILED = 53, 54
_LAUNCH_FAILED = ("launch failed requeued held", "launch_failed_requeued_held")
_HELD = ("JobHeld", *_LAUNCH_FAILED)
# Why slurmctld holds a job of a user whom it knows no more: its system comment.
_NO_CREDENTIAL = "slurm_cred_create failure"
# Slurm's word for it, here for the jobs whose nodes tell it (see ``launches``).
UNLAUNCHED = "JobLaunchFailure"


class Phase(str, Enum):
    """The phases of Flyte that a Slurm job can be in, under the names of ``TaskExecution.Phase``."""

    QUEUED = "QUEUED"
    WAITING_FOR_RESOURCES = "WAITING_FOR_RESOURCES"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    RETRYABLE_FAILED = "RETRYABLE_FAILED"
    ABORTED = "ABORTED"

    @property
    def is_terminal(self) -> bool:
        """True for a phase that nothing follows."""
        return self in (Phase.SUCCEEDED, Phase.FAILED, Phase.RETRYABLE_FAILED, Phase.ABORTED)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row. It holds for a base state, with one of ``flags`` and a reason that begins with one of ``reasons``."""

    base: BaseState
    phase: Phase
    flags: Collection[str] = ()
    reasons: Collection[str] = ()


_S = BaseState
# Beginnings of reasons: what a job waits for is there, and others have it, or its account has all that it may have.
_WAITS = (
    *("Resources", "Priority", "Nodes_required", "Nodes required", "ReqNodeNotAvail", "NodeDown", "Licenses"),
    *("Reservation", "BurstBufferResources", "QOS", "Assoc", "JobArrayTaskLimit", "PartitionDown", "PartitionInactive"),
)
# The first row that fits counts. A job that is being requeued, or whose nodes are being cleaned up, is not over.
_LIVE = (
    _Row(_S.PENDING, Phase.INITIALIZING, reasons=("Prolog", "BurstBufferStageIn", "Cleaning")),
    _Row(_S.PENDING, Phase.WAITING_FOR_RESOURCES, reasons=_WAITS),
    _Row(_S.PENDING, Phase.QUEUED),
    _Row(_S.RUNNING, Phase.INITIALIZING, flags=("CONFIGURING", "POWER_UP_NODE")),
    _Row(_S.RUNNING, Phase.RUNNING),
    # It has started: Flyte's phases go back for a requeue alone.
    _Row(_S.SUSPENDED, Phase.RUNNING),
)
# Slurm's own troubles are worth another attempt, the task's are not.
_OVER = (
    _Row(_S.COMPLETED, Phase.SUCCEEDED),
    _Row(_S.FAILED, Phase.RETRYABLE_FAILED, flags=("LAUNCH_FAILED", "RECONFIG_FAIL")),
    _Row(_S.FAILED, Phase.RETRYABLE_FAILED, reasons=("JobLaunchFailure", "LaunchFailure", "NodeDown", "SystemFailure")),
    _Row(_S.FAILED, Phase.FAILED),
    _Row(_S.TIMEOUT, Phase.FAILED),
    _Row(_S.DEADLINE, Phase.FAILED),
    _Row(_S.OUT_OF_MEMORY, Phase.FAILED),
    _Row(_S.NODE_FAIL, Phase.RETRYABLE_FAILED),
    _Row(_S.BOOT_FAIL, Phase.RETRYABLE_FAILED),
    _Row(_S.PREEMPTED, Phase.RETRYABLE_FAILED),
    _Row(_S.CANCELLED, Phase.RETRYABLE_FAILED, flags=("PREEMPTED", "NODE_FAIL")),
    _Row(_S.CANCELLED, Phase.RETRYABLE_FAILED, reasons=("JobLaunchFailure",)),
    # Somebody else's doing: for a cancellation that Flyte asked for, ``phase_of`` says ABORTED.
    _Row(_S.CANCELLED, Phase.FAILED),
)


def goes_on(state: JobState) -> bool:
    """Tell whether a job neither is over nor is being ended: one that was signalled is COMPLETING from then on."""
    return state.base in (_S.PENDING, _S.RUNNING, _S.SUSPENDED) and state.flags.isdisjoint(("COMPLETING", "SIGNALING"))


def is_unlaunched(record: JobInfo) -> bool:
    """Tell whether a node failed to launch a job, so that its end is nobody's wish, and none of the task's doing."""
    signal = record.exit_code.signal
    if record.state.base is _S.FAILED:
        return signal == _NO_OUTPUT
    if record.state.base is not _S.CANCELLED:
        return False
    # One that was held after its launch had failed keeps saying so when it is cancelled.
    held = not record.nodes and record.restart_count > 0 and _says_launch_failed(record)
    return signal == _PROLOG_FAILED or record.reason.startswith(UNLAUNCHED) or held


def is_held_after_launch(record: JobInfo) -> bool:
    """Tell whether Slurm has requeued a job that a node failed to launch, and lets it start no more by itself."""
    # No exit code of a job that goes on is kept but this one, which only REST tells.
    failed = _raw_signal(record) == _PROLOG_FAILED or _says_launch_failed(record)
    failed = failed or _raw_text(record, "system_comment").startswith(_NO_CREDENTIAL)
    return record.state.is_pending and record.restart_count > 0 and failed and record.reason.startswith(_HELD)


def _says_launch_failed(record: JobInfo) -> bool:
    """squeue shows it as the reason, REST beside a reason that only says that the job is held."""
    return record.reason.startswith(_LAUNCH_FAILED) or _raw_text(record, "state_description").startswith(_LAUNCH_FAILED)


def _raw_text(record: JobInfo, name: str) -> str:
    found = record.raw.get(name)
    return found if isinstance(found, str) else ""


def _raw_signal(record: JobInfo) -> object:
    found: object = record.raw.get("exit_code")
    for name in ("signal", "id", "number"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def phase_of(
    state: JobState, reason: str = "", *, cancelled_by_us: bool = False, record: JobInfo | None = None
) -> Phase:
    """Return the phase of a job in a state, as far as Slurm tells: what became of the task itself is not looked at.

    ``record`` tells a job that could not be launched from one that somebody cancelled.
    """
    if state.is_terminal:
        if cancelled_by_us and state.base is BaseState.CANCELLED:
            return Phase.ABORTED
        if record is not None and is_unlaunched(record):
            return Phase.RETRYABLE_FAILED
        if record is not None and reason == UNLAUNCHED and record.exit_code.signal:
            # What 22.05 calls a script that a signal ended; later releases call it RaisedSignal.
            reason = ""
        return _find(_OVER, state, reason) or Phase.FAILED
    if state.base not in (BaseState.PENDING, BaseState.RUNNING, BaseState.SUSPENDED, BaseState.UNKNOWN):
        # A base state of the end with COMPLETING is still cleaning up; with a requeue's flag it waits again.
        return Phase.RUNNING if state.flags <= {"COMPLETING", "STAGE_OUT", "EPILOG"} else Phase.QUEUED
    return _find(_LIVE, state, reason) or Phase.QUEUED


def _find(rows: Collection[_Row], state: JobState, reason: str) -> Phase | None:
    for row in rows:
        fits = not row.flags or not state.flags.isdisjoint(row.flags)
        if row.base is state.base and fits and (not row.reasons or reason.startswith(tuple(row.reasons))):
            return row.phase
    return None
