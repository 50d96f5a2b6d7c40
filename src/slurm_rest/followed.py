"""What somebody follows, and when it was told of. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .identity import Identity, MemberKey

__all__ = ["WHOLE", "Followed", "Moment"]

WHOLE: MemberKey = (None, None)


@dataclass(frozen=True, slots=True)
class Followed:
    """What somebody follows: a job, or one member of an array or het job by its task id and component offset."""

    identity: Identity
    member: MemberKey = WHOLE

    @property
    def label(self) -> str:
        """The id as Slurm shows it: ``12``, ``12_3`` or ``12+1``."""
        task, offset = self.member
        if task is not None:
            return f"{self.identity.job_id}_{task}"
        return f"{self.identity.job_id}+{offset}" if offset is not None else str(self.identity.job_id)

    @property
    def key(self) -> int | str:
        """What the states of several are keyed by: the id of a job, the label of a member."""
        return self.identity.job_id if self.member == WHOLE else self.label


@dataclass(slots=True)
class Moment:
    """When an answer came, by the poller's clock and by the calendar: one for all jobs that it told of."""

    now: float
    at: datetime
