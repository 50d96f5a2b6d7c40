"""What Flyte is told of a job: its phase and a message, from what Slurm and the task's own files say. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from slurm_rest.errors import JobNotFound, OutcomeUnknown

from .follower import Look
from .members import failed_members, told
from .messages import describe, describe_unheard
from .outcome import Outcome
from .states import Phase, phase_of
from .wording import in_our_terms

__all__ = ["Verdict", "judge", "settled"]

# Of the members of an array that did not end well. A cancellation of ours is what Flyte asked for.
_WORST = (Phase.ABORTED, Phase.FAILED, Phase.RETRYABLE_FAILED)
_ORDER = (Phase.QUEUED, Phase.WAITING_FOR_RESOURCES, Phase.INITIALIZING, Phase.RUNNING)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A phase, and the text that goes with it."""

    phase: Phase
    message: str


def judge(
    job_id: str,
    look: Look,
    *,
    cancelled_by_us: bool = False,
    last: tuple[Phase, int] | None = None,
    gave_up: str = "",
) -> Verdict:
    """Return what Slurm alone says of a job. ``last`` is the phase told before, and how often it had started by then.

    A phase goes back only when the job began anew. ``gave_up`` is why it was cancelled for having waited too long.
    """
    if look.error is not None:
        return _vanished(job_id, look)
    if gave_up:
        # The time is one attempt's, as flyte says: another one may have it again.
        return Verdict(Phase.RETRYABLE_FAILED, gave_up)
    reason = look.record.reason if look.record is not None and look.record.state.base is look.state.base else ""
    phase = _phase(look, reason, cancelled_by_us)
    if not look.is_over and phase.is_terminal:
        # The state of the end is heard, its record not yet: accounting is away, or a moment late.
        phase = Phase.RUNNING
    if last is not None and last[0] in _ORDER and phase in _ORDER and look.restarts <= last[1]:
        phase = max(phase, last[0], key=_ORDER.index)
    if look.is_heard:
        message = describe(job_id, look.state, look.record, stale_since=look.stale_since, is_ours=cancelled_by_us)
    else:
        message = describe_unheard(job_id, look.stale_since)
    if look.is_over and (failed := told(look.members)):
        message = f"{message}\n{failed}"
    if look.trouble:
        message = f"{message}\n{look.trouble}"
    return Verdict(phase, message)


def _phase(look: Look, reason: str, cancelled_by_us: bool) -> Phase:
    """Return the phase of a job, of an array or het job that of all members: one that failed for good decides."""
    failed = failed_members(look.members)
    phases = {phase_of(one.state, one.reason, cancelled_by_us=cancelled_by_us, record=one) for one in failed}
    decided = next((phase for phase in _WORST if phase in phases), None) if look.is_over else None
    return decided or phase_of(look.state, reason, cancelled_by_us=cancelled_by_us, record=look.record)


def _vanished(job_id: str, look: Look) -> Verdict:
    """Nothing more can be learned of it, which is certain: controller and accounting both answered."""
    error = look.error
    what = f"Slurm job {job_id} has vanished: {error.message if error else ''}"
    if isinstance(error, (OutcomeUnknown, JobNotFound)) and error.hint:
        what = f"{what}. {in_our_terms(error.hint)}"
    return Verdict(Phase.RETRYABLE_FAILED, what)


def settled(verdict: Verdict, outcome: Outcome | None) -> Verdict:
    """Return what the job and the task's own files say together: an error that the task wrote outweighs its exit code.

    Slurm's own troubles (a lost node, a preemption) stay worth another attempt.
    """
    if outcome is None or verdict.phase in (Phase.RETRYABLE_FAILED, Phase.ABORTED):
        return verdict
    if outcome.is_success:
        return verdict
    text = f"{outcome.code}: {outcome.message}" if outcome.code else outcome.message
    phase = Phase.RETRYABLE_FAILED if outcome.is_recoverable else Phase.FAILED
    return Verdict(phase, f"{text}\n{verdict.message}")
