"""The jobs of a fake cluster: what was asked for, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ENDED", "FakeJob", "JobRequest", "Owner", "task_list"]

ENDED = frozenset(
    {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"}
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose request it is. ``uid`` 0 may do everything."""

    name: str
    uid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """One component of a submission, read. ``fields`` is what was sent for it; ``memory`` is in MiB a node."""

    script: str = ""
    name: str | None = None
    directory: str = "/"
    environment: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    partition: str = ""
    tasks: int = 1
    cpus_per_task: int = 1
    node_count: int = 1
    memory: int | None = None
    time_limit: int | None = None
    begin: float = 0.0
    dependency: str = ""
    array: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)

    @property
    def cpus(self) -> int:
        """How many CPUs it takes."""
        return max(self.tasks * self.cpus_per_task, self.node_count)

    def text(self, name: str) -> str:
        """Return a field that is text, empty when it was not sent."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def words(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of words."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return (value,)
        return tuple(str(word) for word in value) if isinstance(value, list) else ()


@dataclass(slots=True, eq=False)
class FakeJob:
    """One job, array task or het component. Times are Unix seconds, 0 for what has not come yet.

    ``id`` is 0 for an array task that has no id of its own yet; ``cause`` is what the job's end will be called, when
    something else than its script decides that. ``is_remainder`` is true for what is left of an array whose last
    waiting task was cancelled.
    """

    id: int
    request: JobRequest
    owner: Owner
    submit_time: float
    array_id: int = 0
    task_id: int | None = None
    array_limit: int = 0
    het_id: int = 0
    offset: int | None = None
    base: str = "PENDING"
    flags: set[str] = field(default_factory=set)
    reason: str = "None"
    description: str = ""
    held: str = ""
    begin: float = 0.0
    time_limit: int | None = None
    comment: str = ""
    start_time: float = 0.0
    end_time: float = 0.0
    exit_code: int = 0
    signal: int = 0
    nodes: tuple[str, ...] = ()
    restarts: int = 0
    cause: str = ""
    is_remainder: bool = False
    killed_by: str = ""

    @property
    def is_pending(self) -> bool:
        """True while it waits."""
        return self.base == "PENDING"

    @property
    def is_over(self) -> bool:
        """True once nothing more comes."""
        return self.base in ENDED and "COMPLETING" not in self.flags

    @property
    def states(self) -> list[str]:
        """The state as slurmrestd writes it: the base state, then flags."""
        return [self.base, *sorted(self.flags)]

    @property
    def group(self) -> int:
        """The id that its submission returned."""
        return self.array_id or self.het_id or self.id

    @property
    def label(self) -> str:
        """The id as Slurm shows it."""
        if self.task_id is not None:
            return f"{self.array_id}_{self.task_id}"
        return f"{self.het_id}+{self.offset}" if self.offset is not None else str(self.id)


def task_list(text: str, largest: int) -> tuple[list[int], int]:
    """Read ``1-5:2,9%3`` into indices and the limit of tasks at a time (0: none); ValueError for nonsense."""
    spec, _, limit = text.partition("%")
    found: set[int] = set()
    for part in spec.strip("[]").split(","):
        bounds, _, step = part.partition(":")
        first, dash, last = bounds.partition("-")
        top = int(last) if dash else int(first)
        if int(first) < 0 or top > largest or int(first) > top:
            raise ValueError(text)
        found.update(range(int(first), top + 1, int(step or 1)))
    return sorted(found), int(limit or 0)
