"""Job: the handle for blocking code, a thin face of AsyncJob."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from .job import AsyncJob
from .models import ActionResult, CancelResult, JobInfo
from .portal import Portal
from .sbatch import JobSpec
from .states import JobState
from .sync_files import iterate
from .transport.files.base import MAX_TAIL
from .watching import JobChange

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .sbatch.changes import JobChanges

__all__ = ["Job"]


class Job:
    """One job of a cluster. ``state`` asks Slurm; a repr never does. ``inner`` is the async handle behind it."""

    def __init__(self, portal: Portal, job: AsyncJob) -> None:
        self._portal = portal
        self.inner = job

    @property
    def id(self) -> int:
        """Slurm's job id."""
        return self.inner.id

    @property
    def name(self) -> str:
        """The name it was submitted under, empty for a handle made from an id."""
        return self.inner.name

    @property
    def label(self) -> str:
        """The id as Slurm shows it: ``12``, ``12_3`` or ``12+1``."""
        return self.inner.label

    @property
    def task_id(self) -> int | None:
        """The index of a task of an array, None for other jobs."""
        return self.inner.task_id

    @property
    def offset(self) -> int | None:
        """The position of a component of a het job, None for other jobs."""
        return self.inner.offset

    @property
    def is_member(self) -> bool:
        """True for one task of an array or one component of a het job."""
        return self.inner.is_member

    @property
    def found(self) -> bool:
        """True for a submission whose job was there already, under the same ``idempotency_key``."""
        return self.inner.found

    @property
    def tasks(self) -> list[Job]:
        """A handle for each task of an array, empty for other jobs: one small request."""
        return [Job(self._portal, task) for task in self._portal.run(self.inner.tasks())]

    @property
    def components(self) -> list[Job]:
        """A handle for each component of a het job, empty for other jobs: one small request."""
        return [Job(self._portal, part) for part in self._portal.run(self.inner.components())]

    @property
    def spec(self) -> JobSpec | None:
        """What was submitted, None for a handle made from an id."""
        return self.inner.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """What Slurm remarked at submission, for instance that the job is held."""
        return self.inner.warnings

    @property
    def state(self) -> JobState:
        """The present state: one small request."""
        return self._portal.run(self.inner.refresh())  # the client's other half

    @property
    def stale_since(self) -> datetime | None:
        """Since when Slurm gives no answer about this job; see AsyncJob.stale_since. Nothing is asked."""
        return self.inner.stale_since

    @property
    def own_id(self) -> int | None:
        """The id that Slurm has given a task beside its array's, as far as that is known."""
        return self.inner.own_id

    def info(self) -> JobInfo:
        """Return the full record, from accounting when the controller no longer has it."""
        return self._portal.run(self.inner.info())

    def wait(self, timeout: float | None = None, *, progress: bool = False) -> JobInfo:
        """Wait until the job is over and return its final record. Raises WaitTimeout after ``timeout`` seconds."""
        return self._portal.run(self.inner.wait(timeout, progress=progress))

    def watch(self, *, timeout: float | None = None) -> Iterator[JobChange]:
        """Yield every change of the state, first the present one, until the job is over."""
        return iterate(self.inner.watch(timeout=timeout), self._portal.run)

    def cancel(self, signal: str | int | None = None) -> CancelResult:
        """Cancel the job, or send it a signal, and say what came of it."""
        return self._portal.run(self.inner.cancel(signal))

    def hold(self) -> ActionResult:
        """Keep the job from starting, and say what came of it."""
        return self._portal.run(self.inner.hold())

    def release(self) -> ActionResult:
        """Let the job start when it is held, and say what came of it."""
        return self._portal.run(self.inner.release())

    def requeue(self, *, hold: bool = False) -> ActionResult:
        """Send the job back to the queue, held if ``hold``, and say what came of it."""
        return self._portal.run(self.inner.requeue(hold=hold))

    def update(self, **changes: Unpack[JobChanges]) -> None:
        """Change options of the job; see AsyncSlurmClient.update."""
        self._portal.run(self.inner.update(**changes))

    def stdout(self, *, max_bytes: int = MAX_TAIL) -> str:
        """Return what the job has written to standard output, up to ``max_bytes`` (1 MiB); see AsyncJob.stdout."""
        return self._portal.run(self.inner.stdout(max_bytes=max_bytes))

    def stderr(self, *, max_bytes: int = MAX_TAIL) -> str:
        """Return what the job has written to standard error; without ``--error`` that is its standard output."""
        return self._portal.run(self.inner.stderr(max_bytes=max_bytes))

    def follow(self, *, stderr: bool = False, lines: int | None = None) -> Iterator[str]:
        """Yield the job's output as it is written, until the job is over; see AsyncJob.follow."""
        return iterate(self.inner.follow(stderr=stderr, lines=lines), self._portal.run)

    def __repr__(self) -> str:
        """Return id, name and the state last heard."""
        return repr(self.inner)

    def _repr_html_(self) -> str:
        return self.inner._repr_html_()
