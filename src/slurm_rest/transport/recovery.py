"""Decides what became of a submission whose answer was lost. Pure: looks come in, a decision comes out.

That a key is nowhere to be seen does not mean that no job will carry it: whoever still holds the request can carry it
out after the look. Measured on 24.11.5 and 26.05.5:

- A frozen slurmctld, and a frozen slurmrestd, carries out what lies in its sockets when it wakes up, also when client
  and slurmrestd gave up long ago. All of 30 requests were done 42 ms after that, but the first look that was answered,
  made after the loss, saw none of them in some runs. So two looks are needed, with a grace between them.
- slurmrestd tries for 10 s (MessageTimeout) to reach slurmctld, also for a client that is gone. So when it was not
  slurmrestd itself that gave up, its time has to pass as well.
- Nothing bounds the time for which a proxy that stays silent, or a network, holds a request. So after a client's own
  time-out over REST nothing is ever sent again.
- sbatch goes on when the SSH connection under it breaks (10 s with a frozen slurmctld, and up to 2 minutes where it is
  busy), and a frozen sshd runs later what lies in its sockets. So a submission by command carries its own end: it does
  not begin after ``start`` seconds by the host's clock, and sbatch is ended after ``run`` more.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from slurm_rest.errors import ControllerDown, ProtocolError, SlurmError, Timeout
from slurm_rest.models import JobInfo

__all__ = [
    "BOUNDS",
    "NOBODY_UIDS",
    "Bounds",
    "Case",
    "Decision",
    "Look",
    "Loss",
    "carries",
    "given_after",
    "group_id",
    "held_until",
    "is_foreign",
    "is_older",
    "is_still",
    "is_suspect",
    "loss_of",
    "newest_first",
]

# 24.11 runs the jobs of users it does not know under these.
NOBODY_UIDS = frozenset({99, 65534})
# Slurm's default MaxJobId is 0x03FF0000; behind it ids start anew.
_LAST_ID, _NEAR_THE_END = 0x03FF0000, 100_000
# What a proxy says when its own time is up: whoever it waited for may still hold the request, while another one behind
# the same proxy answers every look.
_LATE_PAGES = frozenset({408, 504, 524})


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how far to look, in seconds where it is time.

    ``grace`` is for what a daemon that just woke up still holds, ``held`` how long slurmrestd tries to reach
    slurmctld (MessageTimeout), ``skew`` how far the clocks of client and cluster may differ, ``horizon`` how far back
    accounting is asked for a caller's own key. ``sends`` counts the first one, ``records`` what one look may read, and
    ``names`` of how many more it may learn what they are called.
    ``start`` is how late a submission by command may begin, ``run`` how long its sbatch may take, ``end`` how much
    later it is certainly ended: SIGKILL follows 2 s behind SIGTERM.
    """

    grace: float = 2.0
    held: float = 10.0
    skew: float = 300.0
    horizon: float = 7 * 86400.0
    sends: int = 3
    records: int = 2000
    names: int = 20_000
    start: float = 10.0
    run: float = 25.0
    end: float = 3.0
    pauses: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0)


BOUNDS = Bounds()


class Loss(enum.Enum):
    """How the answer was lost, which says who may still hold the request."""

    ANSWERED = "slurmrestd itself gave up waiting for slurmctld"
    CUT = "the connection broke, or something between gave an answer of its own"
    SILENT = "no answer came in time"


class Decision(enum.Enum):
    """What is known after a look."""

    FOUND = "found"
    ABSENT = "absent"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at everything. ``complete`` says that nothing was left out in which the job could hide.

    ``lacks`` is what was left out, where that is accounting alone: it is away, or the cluster has none.
    """

    started: float
    answered: float
    jobs: tuple[JobInfo, ...] = ()
    complete: bool = True
    lacks: Literal["", "away", "none"] = ""


@dataclass(slots=True)
class Case:
    """One lost answer, given up at ``lost``.

    Until ``held`` somebody other than slurmctld may still hold the request; None: nobody knows how long.
    """

    lost: float
    held: float | None
    bounds: Bounds = field(default_factory=lambda: BOUNDS)
    first: float | None = None

    def judge(self, look: Look) -> Decision:
        """Return what is known with one more look."""
        if look.jobs:
            return Decision.FOUND
        settled = self.settles_at()
        if look.complete and settled is not None and look.started >= settled:
            return Decision.ABSENT
        if self.first is None and look.started >= self.lost:
            self.first = look.answered
        return Decision.OPEN

    def settles_at(self) -> float | None:
        """Return from when on a look without the job means that there is none; None while that is not known."""
        if self.first is None or self.held is None:
            return None
        return max(self.first + self.bounds.grace, self.held)

    def may_settle(self, now: float) -> bool:
        """Return whether a look that starts now can settle the case."""
        settled = self.settles_at()
        return settled is not None and now >= settled

    def pause(self, now: float, looks: int) -> float:
        """Return how long to wait before the next look: short at first, then until it can settle the case."""
        pauses = self.bounds.pauses
        pause = pauses[min(looks, len(pauses)) - 1]
        settled = self.settles_at()
        return pause if settled is None or now + pause < settled else max(settled - now, 0.0)


def held_until(loss: Loss, sent: float, lost: float, bounds: Bounds) -> float | None:
    """Return until when a request sent over REST may be held by somebody other than slurmctld."""
    if loss is Loss.SILENT:
        return None
    return lost if loss is Loss.ANSWERED else sent + bounds.held + bounds.grace


def loss_of(error: SlurmError, *, from_slurm: bool) -> Loss:
    """Return who may still hold a request that ended in ``error``, an answer of slurmrestd's own or not."""
    if isinstance(error, Timeout) or (isinstance(error, ProtocolError) and error.http_status in _LATE_PAGES):
        return Loss.SILENT
    return Loss.ANSWERED if from_slurm or isinstance(error, ControllerDown) else Loss.CUT


def carries(record: JobInfo, key: str, user: str, own_name: str = "") -> bool:
    """Return whether a job has the key in its comment, whatever else was written there, and is the user's.

    Somebody else can copy a comment; only nobody's job may still be the user's (see NOBODY_UIDS). A job without any
    key, whose script wrote another comment, is known by ``own_name`` where no other job has that.
    """
    if is_foreign(record, user):
        return False
    by_name = bool(own_name) and record.name == own_name and not _has_key(record)
    return by_name or key in f"{record.comment} {record.submission_key}"


def _has_key(record: JobInfo) -> bool:
    return bool(record.submission_key) or "slurm-rest:" in record.comment


def is_still(record: JobInfo, key: str, user: str, name: str) -> bool:
    """Return whether a job whose id was made under the key is that one, also with another comment of its user's.

    A job's own script may write one (``scontrol update comment=``).
    """
    return carries(record, key, user, own_name=name)


def is_foreign(record: JobInfo, user: str) -> bool:
    """Return whether a job is certainly not the user's, whatever becomes of its comment."""
    return bool(user and record.user) and record.user != user and record.uid not in NOBODY_UIDS


def is_suspect(record: JobInfo, name: str, user: str, since: float) -> bool:
    """Return whether a job could be the one although its comment says nothing: it was changed, or is not kept."""
    if _has_key(record):
        return False
    new = record.submit_time is not None and record.submit_time.timestamp() >= since
    return new and bool(user) and record.user == user and record.name == name


def group_id(record: JobInfo) -> int:
    """Return the id that a submission returns for this job: the array's, or the het leader's."""
    return record.array_job_id or record.het_job_id or record.id


def is_older(record: JobInfo, moment: float) -> bool:
    """Return whether all jobs with smaller ids were submitted before ``moment``, too.

    A started array task says nothing: its id is new, its time of submission that of the array.
    """
    if record.submit_time is None or record.array_job_id not in (None, record.id):
        return False
    return record.submit_time.timestamp() < moment


def newest_first(ids: Iterable[int]) -> Sequence[int]:
    """Return ids in the order in which they were given out, last one first; behind the largest they start anew."""
    found = set(ids)
    wrapped = max(found, default=0) > _LAST_ID - _NEAR_THE_END
    return sorted(found, key=lambda one: one + _LAST_ID if wrapped and one < _NEAR_THE_END else one, reverse=True)


def given_after(ids: Sequence[int], mark: int) -> Sequence[int]:
    """Return those of ids, newest first, that were given out after ``mark``; all where it is larger than each."""
    if mark > max(ids, default=0):
        return ids
    found = newest_first({*ids, mark})
    return found[: found.index(mark)]
