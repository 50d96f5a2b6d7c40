"""What every transport does, and the values that it exchanges."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from slurm_rest.api.base import ApiCaller
from slurm_rest.history import HistoryQuery
from slurm_rest.models import (
    ActionResult,
    CancelResult,
    Diagnostics,
    JobInfo,
    JobUsage,
    Node,
    Partition,
    Ping,
    Submission,
    TransportHealth,
)
from slurm_rest.sbatch import JobSpec
from slurm_rest.states import JobState

from .capabilities import Capabilities
from .recovery import Look

__all__ = ["Capabilities", "Counters", "PreparedJob", "SlurmTransport", "StateRow", "StatusSource"]


@dataclass(slots=True)
class Counters:
    """How many requests were made and how many bytes came back."""

    requests: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """A submission, ready to send: the REST body, and the key in its comment that finds it again.

    ``repeated`` says that the key is the caller's own, so that an earlier attempt may have made the job already;
    ``own_name`` that no other job has its name, which then tells it as well.
    ``never_began`` tells, while accounting is away, whether it is certain that no earlier attempt's job has begun: then
    it has not ended either, and is in the controller if there is one.
    ``spec`` is what the body was made of; a transport that runs commands takes the options from it, and the rest
    (script, environment, directory, comment) from the body. ``api_version`` is the one that the body was checked for,
    empty where it is for commands only; with ``older_version`` it is not the one in use, which cannot express the job.
    """

    body: dict[str, object]
    key: str
    user: str = ""
    name: str = ""
    repeated: bool = False
    spec: JobSpec | None = None
    api_version: str = ""
    older_version: bool = False
    own_name: bool = False
    never_began: Callable[[], Awaitable[bool]] | None = field(default=None, compare=False, repr=False)


class StateRow(NamedTuple):
    """The state of one job, array task or het component.

    ``job_id`` is the id that was asked for: the array's, or the het leader's. ``task_id`` and ``offset`` tell the
    members apart, both None for a plain job. ``own_id`` is the id that Slurm gives a member beside the group's, None
    where the answer does not tell it; without task and offset, the array's own: what was cancelled of it unstarted.
    """

    job_id: int
    state: JobState
    task_id: int | None = None
    offset: int | None = None
    own_id: int | None = None


class StatusSource(Protocol):
    """What a watcher needs of a transport. Methods raise errors of slurm_rest.errors and nothing else."""

    @property
    def capabilities(self) -> Capabilities:
        """What this transport can do with the Slurm that ``target`` found; before that, what it can in any case."""

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Return a row for each job, task or component; ids that the controller does not know are absent."""

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Return full records, from accounting for those that left the controller; unknown ids are absent.

        ``ended`` promises that all are over, so that the cheaper source may answer.
        """

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record that accounting has under these ids, of every start and of every job that had them.

        Raises AccountingDown, and NoAccounting where there is none.
        """


class SlurmTransport(StatusSource, Protocol):
    """One way to Slurm. Methods raise errors of slurm_rest.errors and nothing else.

    A job's label is its id as Slurm shows it: 12 or ``12``, ``12_3``, ``12+1``.
    """

    @property
    def name(self) -> str:
        """How Slurm is reached: rest, ssh, cli."""

    @property
    def where(self) -> str:
        """Where Slurm is reached, for people: a URL, ``USER@HOST:PORT``, ``this host``."""

    @property
    def counters(self) -> Counters:
        """Requests made and bytes received so far."""

    @property
    def slurm_release(self) -> str:
        """Slurm's release as far as it is known yet, for instance ``24.11.5``."""

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known yet."""

    @property
    def api(self) -> ApiCaller:
        """What the generated operations go through; ConfigError where there is no slurmrestd."""

    def health(self) -> list[TransportHealth]:
        """Return how this way to Slurm fares, or each of several, without asking anybody."""

    async def reach(self) -> None:
        """Prove that the way itself answers, also when slurmctld behind it does not; raises what is wrong."""

    async def target(self) -> tuple[str, str, str]:
        """Return the API version (empty for commands), the release as ``24.11``, and the cluster, asking if need be."""

    async def older_versions(self) -> Sequence[str]:
        """Return the API versions that are served beside ``target``'s and are older, newest first.

        None where the settings ask for one, and over commands.
        """

    async def user_name(self) -> str:
        """Return whose jobs those submitted here are, as far as the login tells; empty if it does not."""

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job, also when the answer is lost; SubmitUncertain when that cannot be told in time."""

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        """Look once for the job that carries the key of a submission sent at ``since``, in Unix seconds.

        Only the key, the user and the name of ``job`` count.
        """

    async def all_states(self) -> list[StateRow]:
        """Return a row for every job in the controller, under its own id."""

    async def job_records(self, states: Collection[str] = (), *, limit: int | None = None) -> list[JobInfo]:
        """Return a record for every job in the controller.

        With ``states`` (in capitals) others may be left out. Where a listing would cost the server too much, SpecError
        is raised for more than ``limit`` live jobs.
        """

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return accounting's records of the jobs that were there in a span of time, the last start of each.

        Raises AccountingDown, and NoAccounting where there is none.
        """

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used, in order, members of arrays and het jobs each by itself.

        Raises AccountingDown, and NoAccounting where there is none.
        """

    async def nodes(self) -> list[Node]:
        """Return all nodes."""

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""

    async def diag(self) -> Diagnostics:
        """Return slurmctld's counters; ConfigError where ``capabilities.diag`` is false."""

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Signal or cancel jobs and say what became of each. Idempotent."""

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Keep jobs from starting, and say what became of each. Idempotent."""

    async def release(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Let held jobs start, and say what became of each. Idempotent."""

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        """Send running or ended jobs back to the queue under their ids, never twice, held if ``hold``.

        Raises UnsupportedVersion where ``capabilities.requeue`` is false.
        """

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change options of a job; ``changes`` are canonical values, as ``read_changes`` returns them. Idempotent.

        An array's id means all of its tasks that are not over. Raises JobNotFound, PermissionDenied, or ApiError with
        Slurm's reason; UnsupportedVersion or SpecError for what this Slurm cannot change.
        """

    async def ping(self) -> list[Ping]:
        """Prove that the controller answers this user; raises what is wrong."""

    async def ping_accounting(self) -> None:
        """Prove that accounting answers; raises AccountingDown or what else is wrong."""

    async def close(self) -> None:
        """Let go of connections. Jobs are left alone."""
