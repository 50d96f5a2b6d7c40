"""What every transport does, and the values that it exchanges."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from slurm_rest.models import CancelResult, JobInfo, Ping, Submission
from slurm_rest.sbatch import JobSpec
from slurm_rest.states import JobState

__all__ = ["Capabilities", "Counters", "PreparedJob", "SlurmTransport", "StateRow"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a transport can do in its present state; ask before, instead of failing after."""

    accounting: bool = True
    expanded_paths: bool = False
    generated_api: bool = False


@dataclass(slots=True)
class Counters:
    """How many requests were made and how many bytes came back."""

    requests: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """A submission, ready to send: the REST body, and the key in its comment that finds it again.

    ``repeated`` says that the key is the caller's own, so that an earlier attempt may have made the job already.
    ``spec`` is what the body was made of; a transport that runs commands takes the options from it, and the rest
    (script, environment, directory, comment) from the body.
    """

    body: dict[str, object]
    key: str
    user: str = ""
    name: str = ""
    repeated: bool = False
    spec: JobSpec | None = None


@dataclass(frozen=True, slots=True)
class StateRow:
    """The state of one job, array task or het component.

    ``job_id`` is the id that was asked for: the array's, or the het leader's. ``task_id`` and ``offset`` tell the
    members apart, both None for a plain job.
    """

    job_id: int
    state: JobState
    task_id: int | None = None
    offset: int | None = None


class SlurmTransport(Protocol):
    """One way to Slurm. Methods raise errors of slurm_rest.errors and nothing else."""

    name: str

    @property
    def counters(self) -> Counters:
        """Requests made and bytes received so far."""

    @property
    def capabilities(self) -> Capabilities:
        """What this transport can do."""

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job, also when the answer is lost; SubmitUncertain when that cannot be told in time."""

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Return a row for each job, task or component; ids that the controller does not know are absent."""

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Return full records, from accounting for those that left the controller; unknown ids are absent.

        ``ended`` promises that all are over, so that the cheaper source may answer.
        """

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Signal or cancel jobs and say what became of each. Idempotent."""

    async def ping(self) -> list[Ping]:
        """Prove that the controller answers this user; raises what is wrong."""

    async def close(self) -> None:
        """Let go of connections. Jobs are left alone."""
