"""Values of the domain, free of any API version and of I/O.

Times are aware datetimes in UTC, sizes are MiB, limits are timedeltas. ``raw`` is the record as the server
sent it, for whatever these values leave out. All text comes from the cluster and is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from .states import JobState

__all__ = [
    "ActionResult",
    "CancelResult",
    "Diagnostics",
    "ExitCode",
    "FilesWay",
    "JobInfo",
    "JobUsage",
    "MemberKey",
    "Node",
    "Partition",
    "Ping",
    "Submission",
    "TransportHealth",
    "combined_state",
    "group_record",
    "in_order",
    "member_key",
    "member_order",
]

Record = Mapping[str, object]
_USED = (
    *("cpu_seconds", "cpu_user_seconds", "cpu_system_seconds", "memory_max_bytes"),
    *("gpu_utilization_percent", "gpu_memory_max_bytes"),
)


@dataclass(frozen=True, slots=True)
class ExitCode:
    """How a process ended; both None while that is not known.

    ``signal`` 53 is Slurm's own mark for a job whose output file or directory could not be opened.
    """

    code: int | None = None
    signal: int | None = None

    def __str__(self) -> str:
        """Return sacct's form, ``3:0`` or ``0:9``, and ``-`` when unknown."""
        if self.code is None and self.signal is None:
            return "-"
        return f"{self.code or 0}:{self.signal or 0}"


class _Printer(Protocol):
    """IPython's pretty printer, as far as it is used."""

    def text(self, obj: str, /) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo:
    """One record of one job: a plain job, an array task, a packed array, or a het component.

    ``source`` tells whether the controller or accounting said it, or the job's own exit record. ``start_time`` and
    ``end_time`` of a job that has not started or ended are the scheduler's expectations where it has any.
    ``time_limit`` is None for "no limit" as well as for "not known". ``restart_count`` grows with each requeue under
    the same id. ``submission_key`` is what this client put behind the comment; ``comment`` is without it.
    """

    id: int
    name: str = ""
    user: str = ""
    uid: int | None = None
    account: str = ""
    partition: str = ""
    qos: str = ""
    cluster: str = ""
    state: JobState
    reason: str = ""
    exit_code: ExitCode = ExitCode()
    derived_exit_code: ExitCode = ExitCode()
    array_job_id: int | None = None
    array_task_id: int | None = None
    array_tasks: str = ""
    het_job_id: int | None = None
    het_job_offset: int | None = None
    submit_time: datetime | None = None
    eligible_time: datetime | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    time_limit: timedelta | None = None
    nodes: str = ""
    node_count: int | None = None
    cpus: int | None = None
    tasks: int | None = None
    tres_requested: Mapping[str, str] = field(default_factory=dict, hash=False)
    tres_allocated: Mapping[str, str] = field(default_factory=dict, hash=False)
    stdout: str | None = None
    stderr: str | None = None
    stdin: str | None = None
    working_directory: str = ""
    command: str = ""
    comment: str = ""
    submission_key: str = ""
    dependency: str = ""
    priority: int | None = None
    restart_count: int = 0
    source: Literal["controller", "accounting", "exit record"] = "controller"
    raw: Record = field(default_factory=dict, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The id as Slurm shows it: ``12``, ``12_3``, ``12_[4-9]`` or ``12+1``."""
        if self.array_job_id and self.array_task_id is not None:
            return f"{self.array_job_id}_{self.array_task_id}"
        if self.array_job_id and self.array_tasks:
            return f"{self.array_job_id}_[{self.array_tasks}]"
        if self.het_job_id and self.het_job_offset is not None:
            return f"{self.het_job_id}+{self.het_job_offset}"
        return str(self.id)

    def __str__(self) -> str:
        """Return one line for people: ``<JobInfo 12_3 'train' FAILED (NonZeroExitCode) 3:0 n1>``; repr has all."""
        why = f" ({self.reason})" if self.reason else ""
        ended = f" {self.exit_code}" if self.state.is_terminal else ""
        nodes = f" {self.nodes}" if self.nodes else ""
        return f"<JobInfo {self.label} {self.name!r} {self.state}{why}{ended}{nodes}>"

    def _repr_pretty_(self, printer: _Printer, _cycle: bool) -> None:
        """Show the line in IPython and notebooks."""
        printer.text(str(self))

    def stands_for(self, task_id: int) -> bool:
        """Return whether a packed array's record has that task among those without a record of their own.

        Slurm cuts long lists short with ``...``; then every later task may be meant.
        """
        for part in self.array_tasks.split("%")[0].split(","):
            bounds, _, step = part.partition(":")
            first, _, last = bounds.partition("-")
            if part == "...":
                return True
            if first.isdigit() and task_id in range(int(first), int(last or first) + 1, int(step or 1)):
                return True
        return False


MemberKey = tuple[int | None, int | None]


def member_key(record: JobInfo) -> MemberKey:
    """Return the task id and component offset of a record, both None for a whole job."""
    return (record.array_task_id, record.het_job_offset)


def member_order(key: MemberKey) -> tuple[bool, int, int]:
    """Return what to sort members by: tasks by their numbers, then what never started; slurmctld has the last first."""
    task, offset = key
    return (task is None, task or 0, offset or 0)


def in_order(records: Iterable[JobInfo]) -> list[JobInfo]:
    """Return the records of a group's members in that order."""
    return sorted(records, key=lambda record: member_order(member_key(record)))


def combined_state(members: Mapping[MemberKey, JobState]) -> JobState:
    """Return the state of a group, whatever the order in which its members were told."""
    state = JobState.combine(members.values())
    if len(members) == 1 or not state.is_terminal or state.is_success:
        return state
    return JobState.combine(members[key] for key in sorted(members, key=member_order))


def group_record(job_id: int, records: Sequence[JobInfo]) -> JobInfo:
    """Return one record for a job: its own, or for an array or het job one that stands for all members.

    The group keeps its own id and was submitted when its first member was (a requeue sets a member's time anew); it has
    the combined state, and the exit code of the first member that failed, whatever the order of the records.
    """
    if len(records) == 1 and records[0].id == job_id:
        return records[0]
    records = in_order(records)
    leader = next((record for record in records if record.id == job_id), records[0])
    failed = next((record for record in records if record.state.is_terminal and not record.state.is_success), leader)
    submitted = [record.submit_time for record in records if record.submit_time]
    starts = [record.start_time for record in records if record.start_time]
    ends = [record.end_time for record in records if record.end_time]
    return replace(
        leader,
        id=job_id,
        state=JobState.combine(record.state for record in records),
        reason=failed.reason,
        exit_code=failed.exit_code,
        derived_exit_code=failed.derived_exit_code,
        array_task_id=None,
        array_tasks="",
        het_job_offset=None,
        submit_time=min(submitted, default=None),
        start_time=min(starts, default=None),
        end_time=max(ends, default=None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUsage:
    """What one start of a job used, as accounting has it: CPU time of all steps, else the most that any one task had.

    Seconds, bytes, percent; None where the site does not gather it (``JobAcctGatherType``), or no step has ended yet.
    ``id`` is an array task's own.
    """

    id: int
    name: str = ""
    submit_time: datetime | None = None
    cpu_seconds: float | None = None
    cpu_user_seconds: float | None = None
    cpu_system_seconds: float | None = None
    memory_max_bytes: float | None = None
    gpu_utilization_percent: float | None = None
    gpu_memory_max_bytes: float | None = None

    def values(self) -> dict[str, float]:
        """Return what is known of it, by the names of the fields."""
        known = {name: getattr(self, name) for name in _USED}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One compute node. ``memory`` is in MiB."""

    name: str
    state: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    cpus: int | None = None
    cpus_allocated: int | None = None
    memory: int | None = None
    memory_allocated: int | None = None
    gres: str = ""
    gres_used: str = ""
    features: tuple[str, ...] = ()
    reason: str = ""
    raw: Record = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition. ``max_time`` is None when it sets no limit."""

    name: str
    state: tuple[str, ...] = ()
    is_default: bool | None = None
    nodes: str = ""
    node_count: int | None = None
    cpus: int | None = None
    max_time: timedelta | None = None
    default_time: timedelta | None = None
    max_nodes: int | None = None
    raw: Record = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """What one slurmctld says of itself. ``latency`` is slurmrestd's own measurement."""

    hostname: str
    responding: bool
    primary: bool
    latency: timedelta | None = None
    cluster: str = ""
    slurm: str = ""
    api_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """Counters of slurmctld since ``since``."""

    server_threads: int | None = None
    agent_queue: int | None = None
    jobs_submitted: int | None = None
    jobs_started: int | None = None
    jobs_completed: int | None = None
    jobs_cancelled: int | None = None
    jobs_failed: int | None = None
    jobs_pending: int | None = None
    jobs_running: int | None = None
    since: datetime | None = None
    raw: Record = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A job that Slurm created. ``warnings`` are Slurm's remarks, for instance that it is held.

    ``found`` says that it was there already, by its key: an answer was lost, or the caller had submitted it before.
    ``owner`` is the user whose job Slurm made it, as far as that was looked at.
    """

    job_id: int
    cluster: str = ""
    warnings: tuple[str, ...] = ()
    user_message: str = ""
    found: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelResult:
    """What came of a cancel request for one id.

    ``outcome``: ``signalled`` (Slurm took it), ``already_over``, ``not_found`` or ``denied``. ``confirmed`` is False
    where the API version in use says nothing and a second look could not settle it.
    """

    job_id: int
    outcome: Literal["signalled", "already_over", "not_found", "denied"]
    message: str = ""
    confirmed: bool = True

    @property
    def ok(self) -> bool:
        """True when the job is ending or has ended."""
        return self.outcome in ("signalled", "already_over")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What came of holding, releasing or requeueing one id.

    ``outcome``: ``done``, ``already_over`` (nothing to hold or release), ``not_found`` or ``denied``; ``message`` is
    Slurm's reason. For an array it is ``done`` when it was for one of its tasks.
    """

    job_id: int
    outcome: Literal["done", "already_over", "not_found", "denied"]
    message: str = ""

    @property
    def ok(self) -> bool:
        """True when Slurm did it."""
        return self.outcome == "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesWay:
    """One way to the cluster's files: a shared ``directory``, this ``host``'s own files, ``sftp``, or ``none`` at all.

    ``reachable`` is None while nobody has tried it. ``reason`` says why it is not, ``hint`` what to do, ``error`` the
    class of the error.
    """

    kind: Literal["directory", "host", "sftp", "none"]
    where: str
    reachable: bool | None = None
    reason: str = ""
    hint: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportHealth:
    """One way to Slurm and how it fares; ``transport`` is ``files`` in the row for all ways to the cluster's files.

    ``state``: ``closed`` (good for use), ``open`` (given up for now; ``reason`` says why) or ``half-open`` (being tried
    again), since ``since``, None if that never changed. ``active`` marks the way that is used now; ``switches`` counts
    how often the client changed over to it from another one.
    """

    transport: str
    where: str
    state: Literal["closed", "open", "half-open"] = "closed"
    reason: str = ""
    since: datetime | None = None
    active: bool = False
    switches: int = 0
