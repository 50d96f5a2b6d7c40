"""AsyncJob: a handle for one job, array or het job."""

from __future__ import annotations

from collections.abc import Generator
from html import escape
from typing import TYPE_CHECKING

from .models import CancelResult, JobInfo, Submission
from .states import JobState

if TYPE_CHECKING:
    from .client import AsyncSlurmClient
    from .sbatch import JobSpec

__all__ = ["AsyncJob"]


class AsyncJob:
    """One job of a cluster. ``await job`` waits for its end; ``state`` is what was last heard, without asking."""

    def __init__(
        self,
        client: AsyncSlurmClient,
        job_id: int,
        *,
        spec: JobSpec | None = None,
        submission: Submission | None = None,
    ) -> None:
        self._client = client
        self.id = job_id
        self.spec = spec
        self.state = JobState.parse("PENDING" if submission else None)
        self.warnings: tuple[str, ...] = submission.warnings if submission else ()

    @property
    def name(self) -> str:
        """The name it was submitted under, empty for a handle made from an id."""
        return self.spec.name or "" if self.spec else ""

    def __await__(self) -> Generator[object, None, JobInfo]:
        """Wait for the end and return the final record."""
        return self.wait().__await__()

    async def refresh(self) -> JobState:
        """Ask for the present state. Accounting answers for a job that left the controller."""
        states = await self._client.states([self])
        self.state = states[self.id] if self.id in states else (await self.info()).state
        return self.state

    async def info(self) -> JobInfo:
        """Return the full record. Raises JobNotFound when neither controller nor accounting knows the job."""
        record = await self._client.info(self)
        self.state = record.state
        return record

    async def wait(self, timeout: float | None = None, *, progress: bool = False) -> JobInfo:
        """Wait until the job is over and return its final record. Raises WaitTimeout after ``timeout`` seconds."""
        (record,) = await self._client.wait([self], timeout=timeout, progress=progress)
        return record

    async def cancel(self, signal: str | None = None) -> CancelResult:
        """Cancel the job, or send it a signal, and say what came of it."""
        (result,) = await self._client.cancel([self], signal=signal)
        return result

    def __repr__(self) -> str:
        """Return id, name and the state last heard."""
        name = f" {self.name!r}" if self.name else ""
        return f"<Job {self.id}{name} {self.state}>"

    def _repr_html_(self) -> str:
        return f"<b>Job {self.id}</b> {escape(self.name)} <code>{escape(str(self.state))}</code>"
