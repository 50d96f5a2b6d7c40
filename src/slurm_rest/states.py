"""Job states: Slurm's base state, the flags beside it, and the words as they came.

Slurm 24.11 and later answer a list of words, base state first; squeue, sacct and v0.0.38 answer one word.
Words that this release does not know are kept as flags and never raise (v0.0.44 added ``EXPEDITING``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

__all__ = ["BaseState", "JobState"]


class BaseState(str, Enum):
    """Slurm's base states of a job, and UNKNOWN where none was given."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    PREEMPTED = "PREEMPTED"
    BOOT_FAIL = "BOOT_FAIL"
    DEADLINE = "DEADLINE"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    UNKNOWN = "UNKNOWN"

    def __str__(self) -> str:
        return self.value


_BASES = {state.value: state for state in BaseState}
# Which of several live members speaks for their group: one that runs before one that stands still.
_GOING = {BaseState.RUNNING: 0, BaseState.SUSPENDED: 1}
_NOT_OVER = frozenset({BaseState.PENDING, BaseState.RUNNING, BaseState.SUSPENDED, BaseState.UNKNOWN})
# Beside a base state of the end: the nodes are being cleaned up, or the job is about to wait again under its id.
_UNSETTLED = frozenset({"COMPLETING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})


@dataclass(frozen=True, slots=True, repr=False)
class JobState:
    """The state of one job at one moment.

    ``raw`` holds the words as Slurm sent them; ``base`` and ``flags`` are read from it.
    """

    base: BaseState
    flags: frozenset[str] = frozenset()
    raw: tuple[str, ...] = ()

    @classmethod
    def parse(cls, value: object) -> JobState:
        """Read what Slurm sends: a word, a list of words, sacct's ``CANCELLED by 1000``, or nothing."""
        return _parse(tuple(_words(value)))

    @classmethod
    def combine(cls, states: Iterable[JobState]) -> JobState:
        """Return the state of a group from the states of all its members.

        While any member goes on, the group does: RUNNING once one has started, PENDING before. When all have ended,
        it is COMPLETED if all are, else the state of the first member that is not.
        """
        members = list(states)
        if len(members) == 1:
            return members[0]
        if not members:
            return cls(BaseState.UNKNOWN)
        live = [member for member in members if not member.is_terminal]
        if not live:
            return next((member for member in members if not member.is_success), members[0])
        known = [member for member in live if member.base is not BaseState.UNKNOWN] or live
        if all(member.is_pending or member.base is BaseState.UNKNOWN for member in members):
            return known[0]
        if any(member.is_pending for member in known) and not any(member.base in _GOING for member in known):
            return cls(BaseState.RUNNING, raw=("RUNNING",))
        return min(known, key=lambda member: _GOING.get(member.base, len(_GOING)))

    @property
    def is_pending(self) -> bool:
        """True while the job waits to start, held ones included."""
        return self.base is BaseState.PENDING

    @property
    def is_running(self) -> bool:
        """True from start to end, also while nodes are being configured or the end is being cleaned up."""
        return self.base is BaseState.RUNNING or (self.base not in _NOT_OVER and not self.is_terminal)

    @property
    def is_terminal(self) -> bool:
        """True once the job is over and its exit code final: a base state of the end, without COMPLETING or a requeue.

        A job that is requeued shows PENDING+COMPLETING, or FAILED+COMPLETING after an exit code of RequeueExit, and
        PENDING in the same moment in which COMPLETING goes (22.05, 24.11, 26.05): no automatic requeue is ever seen
        as an end. Only somebody who requeues a job by hand after its end makes it live again.
        """
        return self.base not in _NOT_OVER and not self.flags & _UNSETTLED

    @property
    def is_success(self) -> bool:
        """True for a job that ended COMPLETED."""
        return self.is_terminal and self.base is BaseState.COMPLETED

    def is_any_of(self, words: Collection[str]) -> bool:
        """Tell whether the base state, or one of the flags, is among these words (in capitals)."""
        return self.base.value in words or not self.flags.isdisjoint(words)

    def __repr__(self) -> str:
        return f"<JobState {self}>"

    def __str__(self) -> str:
        """Return ``RUNNING`` or ``PENDING+REQUEUED``."""
        return "+".join([self.base.value, *sorted(self.flags)])


@lru_cache(maxsize=512)
def _parse(words: tuple[str, ...]) -> JobState:
    """A listing of thousands of jobs has a handful of different states."""
    upper = [word.split(" ", 1)[0].rstrip("+").upper() for word in words]
    base = next((_BASES[word] for word in upper if word in _BASES), BaseState.UNKNOWN)
    flags = frozenset(word for word in upper if word and word != base.value)
    return JobState(base, flags, words)


def _words(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield from (word for word in [value.strip()] if word)
    elif isinstance(value, Iterable):
        for item in value:
            if isinstance(item, str) and item.strip():
                yield item.strip()
