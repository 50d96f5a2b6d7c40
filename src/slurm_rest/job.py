"""AsyncJob: a handle for one job, array or het job."""

from __future__ import annotations

import codecs
import contextlib
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from .identity import Identity
from .logs import Output
from .models import ActionResult, CancelResult, JobInfo, Submission
from .states import JobState
from .transport.files.base import MAX_TAIL

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import AsyncSlurmClient
    from .sbatch import JobSpec
    from .sbatch.changes import JobChanges
    from .watching import JobChange

__all__ = ["AsyncJob"]


def _mangled(text: str) -> str:
    """Return a text as accounting keeps it: quotes as backquotes, bytes that are no UTF-8 as question marks."""
    return text.replace('"', "`").encode("utf-8", "replace").decode()


# How long a handle's id is taken for its job's without a look at the record, while nothing hints at another one.
_SURE_SECONDS = 300.0


class AsyncJob:
    """One job of a cluster. ``await job`` waits for its end; ``state`` is what was last heard, without asking.

    An array or het job is a group: its state is derived from all members, which ``tasks`` and ``components`` return as
    handles of their own (``12_3``, ``12+1``). ``found`` says of a submission that its job was there already.
    ``identity`` is what tells this job from another one that had, or will have, its id; ``own_id`` is the id that Slurm
    has given a task beside its array's, as far as that is known.
    """

    def __init__(
        self,
        client: AsyncSlurmClient,
        job_id: int,
        *,
        spec: JobSpec | None = None,
        submission: Submission | None = None,
        task_id: int | None = None,
        offset: int | None = None,
        identity: Identity | None = None,
    ) -> None:
        self._client = client
        self.id = job_id
        self.identity = identity or Identity(job_id)
        self.task_id = task_id
        self.offset = offset
        self.own_id: int | None = None
        self.spec = spec
        self.state = JobState.parse("PENDING" if submission and not submission.found else None)
        self.found = submission is not None and submission.found
        self.warnings: tuple[str, ...] = submission.warnings if submission else ()
        self._sure_at = time.monotonic() if submission else None

    @property
    def name(self) -> str:
        """The name it was submitted under, empty for a handle made from an id."""
        return self.spec.name or "" if self.spec else ""

    @property
    def stale_since(self) -> datetime | None:
        """Since when Slurm gives no answer about this job, and ``state`` is only the last known; None if it does."""
        return self._client.stale_since(self)

    @property
    def is_member(self) -> bool:
        """True for one task of an array or one component of a het job."""
        return self.task_id is not None or self.offset is not None

    @property
    def label(self) -> str:
        """The id as Slurm shows it: ``12``, ``12_3`` or ``12+1``."""
        if self.task_id is not None:
            return f"{self.id}_{self.task_id}"
        return f"{self.id}+{self.offset}" if self.offset is not None else str(self.id)

    async def tasks(self) -> list[AsyncJob]:
        """Return a handle for each task of an array, those that ended long ago included; empty for other jobs."""
        return [member for member in await self._members() if member.task_id is not None]

    async def components(self) -> list[AsyncJob]:
        """Return a handle for each component of a het job; empty for other jobs."""
        return [member for member in await self._members() if member.offset is not None]

    async def _members(self) -> list[AsyncJob]:
        found = []
        for key, state in (await self._client.member_states(self)).items():
            member = AsyncJob(
                self._client, self.id, spec=self.spec, task_id=key[0], offset=key[1], identity=self.identity
            )
            member.state = state
            found.append(member)
        return sorted(found, key=lambda member: (member.task_id or 0, member.offset or 0))

    def __await__(self) -> Generator[object, None, JobInfo]:
        """Wait for the end and return the final record."""
        return self.wait().__await__()

    async def refresh(self, *, max_age: float = 0.0) -> JobState:
        """Ask for the present state; one not older than ``max_age`` seconds is not asked for again.

        Accounting answers for a job that left the controller.
        """
        if self.is_member:
            members = await self._client.member_states(self)
            self.state = members.get((self.task_id, self.offset)) or (await self.info()).state
            return self.state
        states = await self._client.states([self], max_age=max_age)
        self.state = states[self.id] if self.id in states else (await self.info()).state
        return self.state

    async def info(self) -> JobInfo:
        """Return the full record. Raises JobNotFound when neither controller nor accounting knows the job."""
        return self.learn(await self._client.info(self))

    def learn(self, record: JobInfo) -> JobInfo:
        """Take the state and the submit time of a record of this job, and return it with what the handle knows better.

        Accounting keeps comments only where it is told to, and mangles names.
        """
        self.state = record.state
        self.identity = self.identity.pinned_by(record)
        self.trust()
        spec = self.spec
        if record.source == "controller" or spec is None or self.found or self.offset is not None:
            return record
        name, comment = spec.name or "", spec.comment or ""
        return replace(
            record,
            name=name if _mangled(name) == _mangled(record.name) else record.name,
            comment=comment if record.comment in ("", _mangled(comment)) else record.comment,
        )

    def doubts(self, state: JobState) -> bool:
        """Return whether ``state``, told under this job's id alone, may be another job's."""
        if not self.identity.is_pinned:
            return False
        if self._sure_at is None or time.monotonic() - self._sure_at > _SURE_SECONDS:
            return True
        before = self.state
        return (state.is_pending and before.is_running) or (before.is_terminal and not state.is_terminal)

    def trust(self) -> None:
        """Note that the id was this job's just now."""
        self._sure_at = time.monotonic()

    async def wait(self, timeout: float | None = None, *, progress: bool = False) -> JobInfo:
        """Wait until the job is over and return its final record.

        Raises WaitTimeout after ``timeout`` seconds; 0 asks once. A job that is requeued is followed on.
        """
        (record,) = await self._client.wait([self], timeout=timeout, progress=progress)
        return record

    async def watch(self, *, timeout: float | None = None) -> AsyncGenerator[JobChange, None]:
        """Yield every change of the state, first the present one, until the job is over."""
        async for change in self._client.watch([self], timeout=timeout):
            yield change

    async def cancel(self, signal: str | int | None = None) -> CancelResult:
        """Cancel the job, or send it a signal, and say what came of it."""
        (result,) = await self._client.cancel([self], signal=signal)
        return result

    async def hold(self) -> ActionResult:
        """Keep the job from starting, and say what came of it."""
        (result,) = await self._client.hold([self])
        return result

    async def release(self) -> ActionResult:
        """Let the job start when it is held, and say what came of it."""
        (result,) = await self._client.release([self])
        return result

    async def requeue(self, *, hold: bool = False) -> ActionResult:
        """Send the job back to the queue, held if ``hold``, and say what came of it; see the client's ``requeue``."""
        (result,) = await self._client.requeue([self], hold=hold)
        return result

    async def update(self, **changes: Unpack[JobChanges]) -> None:
        """Change options of the job; see the client's ``update``."""
        await self._client.update(self, **changes)

    async def stdout(self, *, max_bytes: int = MAX_TAIL) -> str:
        """Return what the job has written to standard output: its last lines, up to ``max_bytes`` (1 MiB).

        Bytes that are no UTF-8 become U+FFFD. Needs a way to the cluster's files: a path map, SSH, or this host's own
        (docs/files.md). An array has one output a task, so ask those. Raises FileMissing while there is none,
        FilesError for a file that may not be read, and ConfigError without a way to it.
        """
        return (await Output(self._client, self, "stdout").tail(max_bytes=max_bytes)).decode("utf-8", "replace")

    async def stderr(self, *, max_bytes: int = MAX_TAIL) -> str:
        """Return what the job has written to standard error, as ``stdout`` does.

        Without ``--error`` both go to one file, which this returns then.
        """
        return (await Output(self._client, self, "stderr").tail(max_bytes=max_bytes)).decode("utf-8", "replace")

    async def follow(self, *, stderr: bool = False, lines: int | None = None) -> AsyncGenerator[str, None]:
        """Yield the job's output as it is written, in pieces of up to 64 KiB, until the job is over.

        It waits for a job that has not started, and begins with the first line, or with the last ``lines``. A file that
        was cut or replaced, as after a requeue, is read from its beginning. Raises what ``stdout`` raises, and
        TransportError when the way to the file stays broken for a minute; it never ends early without an error.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        output = Output(self._client, self, "stderr" if stderr else "stdout")
        async with contextlib.aclosing(output.follow(lines=lines)) as news:
            async for data in news:
                if text := decoder.decode(data):
                    yield text
        if rest := decoder.decode(b"", final=True):
            yield rest

    def __repr__(self) -> str:
        """Return id, name and the state last heard."""
        name = f" {self.name!r}" if self.name else ""
        return f"<Job {self.label}{name} {self.state}>"

    def _repr_html_(self) -> str:
        return f"<b>Job {self.label}</b> {escape(self.name)} <code>{escape(str(self.state))}</code>"
