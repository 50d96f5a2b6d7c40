"""How long a job may wait: the task's ``max_queued_time``. Pure.

Slurm has no such limit, so the connector cancels the job; that it did is read off the job's record again, since
another replica may be asked next.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from slurm_rest import BaseState

from .follower import Look
from .states import is_held_after_launch

__all__ = ["gave_up", "is_overdue", "is_stuck"]

# Slurm's times are whole seconds.
_ROUNDING = timedelta(seconds=1)


def is_overdue(look: Look, limit: timedelta | None, sent: datetime | None, now: datetime) -> bool:
    """Tell whether a job still waits for its first start, for longer than it may. What is not known is not overdue."""
    # Both by this host's clock, where this was seen.
    began = sent or _submitted(look)
    if limit is None or began is None or look.is_over or look.stale_since is not None:
        return False
    return look.state.is_pending and not _restarts(look) and now - began > limit


def is_stuck(look: Look) -> bool:
    """Tell whether a job could not be launched and is held by Slurm: without a person's help it waits for ever."""
    record = look.record
    return record is not None and look.state.is_pending and not look.is_over and is_held_after_launch(record)


def gave_up(look: Look, limit: timedelta | None, sent: datetime | None, *, by_us: bool = False) -> str:
    """Return why a job was cancelled for having waited too long, empty for one that ended in another way.

    With ``by_us`` this process did it: the job may have got its nodes in that very moment.
    """
    record = look.record
    if limit is None or record is None or not look.is_over or record.state.base is not BaseState.CANCELLED:
        return ""
    began, end = _submitted(look) or sent, record.end_time
    waited = began is not None and end is not None and end - began >= limit - _ROUNDING
    if not by_us and (not waited or record.nodes or _restarts(look)):
        return ""
    waited_for = f" for {record.reason}" if record.reason not in ("", "None") else ""
    return (
        f"Slurm job {record.id} waited{waited_for} longer than the {limit} that the task allows (max_queued_time of its"
        " timeout), and was cancelled"
    )


def _submitted(look: Look) -> datetime | None:
    return look.record.submit_time if look.record is not None else None


def _restarts(look: Look) -> int:
    """Return how often it was requeued: it has had its resources once then."""
    return max(look.restarts, look.record.restart_count if look.record is not None else 0)
