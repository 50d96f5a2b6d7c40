"""SlurmClient and Job: the async implementation, run on a loop of its own in a background thread.

So it also works where a loop runs already, as in notebooks. Nothing is implemented twice: each method hands its
arguments over and waits.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from .api import SlurmApi
from .auth import TokenProvider
from .client import AsyncSlurmClient
from .config import EnvironmentRule, Settings, SshOptions, TransportName
from .errors import SlurmError
from .job import AsyncJob
from .models import CancelResult, Diagnostics, JobInfo, Ping
from .sbatch import JobSpec
from .states import JobState
from .tables import JobTable, NodeTable, PartitionTable
from .transport.rest import RECOVERY_TIMEOUT

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self, Unpack

    from .sbatch.keywords import JobOptions

__all__ = ["Job", "SlurmClient"]

T = TypeVar("T")

# An interrupted submission takes up to 4 s to learn its job id, and a moment to cancel the job.
_CLEAN_UP_SECONDS = 8.0


class Portal:
    """An event loop in a daemon thread. ``run`` may be called from any other thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slurm_rest", daemon=True)
        self._thread.start()
        self._process = os.getpid()

    def run(self, coroutine: Coroutine[object, object, T], /) -> T:
        """Run a coroutine to its end and return its result; ^C cancels it and waits until it has cleaned up."""
        outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        tasks: list[asyncio.Task[T]] = []
        if os.getpid() != self._process:
            # The thread stayed with the parent: waiting for it would never end.
            coroutine.close()
            raise SlurmError("This client was made before the fork, by another process", hint="Make one in each.")
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            coroutine.close()
            if self._loop.is_closed():
                raise SlurmError("This client is closed", hint="Make a new one.")
            hint = "Act after the wait, or from a thread of your own."
            raise SlurmError("A callback of a client cannot wait for the same client", hint=hint)

        def start() -> None:
            task = self._loop.create_task(coroutine)
            task.add_done_callback(lambda done: _hand_over(done, outcome))
            tasks.append(task)

        self._loop.call_soon_threadsafe(start)
        try:
            return outcome.result()
        except BaseException:
            if not outcome.done():
                # Not outcome.cancel(): that would be done before the task is.
                self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
                concurrent.futures.wait([outcome], timeout=_CLEAN_UP_SECONDS)
            raise

    def close(self) -> None:
        """Stop the loop and the thread."""
        # A forked child shares the loop's files with its parent, who goes on.
        if self._loop.is_closed() or os.getpid() != self._process:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        if threading.current_thread() is self._thread:
            # The garbage collector may come here from any thread; the loop ends right after.
            return
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()


class SlurmClient:
    """A client of one cluster for blocking code: scripts and notebooks. Arguments are AsyncSlurmClient's."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | TokenProvider | None = None,
        user: str | None = None,
        api_version: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        token_command: str | Sequence[str] | None = None,
        jwt_key_file: str | os.PathLike[str] | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        transport: TransportName | None = None,
        environment: EnvironmentRule | None = None,
        workdir: str | None = None,
        cluster: str | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        timeout: float | None = None,
        recovery_timeout: float = RECOVERY_TIMEOUT,
        **ssh: Unpack[SshOptions],
    ) -> None:
        self._client = AsyncSlurmClient(
            url,
            token=token,
            user=user,
            api_version=api_version,
            token_file=token_file,
            token_command=token_command,
            jwt_key_file=jwt_key_file,
            ca_file=ca_file,
            transport=transport,
            environment=environment,
            workdir=workdir,
            cluster=cluster,
            http_transport=http_transport,
            timeout=timeout,
            recovery_timeout=recovery_timeout,
            **ssh,
        )
        self._portal = Portal()
        self._finalizer = weakref.finalize(self, _shut_down, self._client, self._portal)

    def __repr__(self) -> str:
        """Return the address and the user, never a token."""
        return f"SlurmClient({self.settings.url!r}, user={self.settings.user!r})"

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the client."""
        self.close()

    def close(self) -> None:
        """Close connections and the background thread. Jobs are left alone."""
        self._finalizer()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._client.settings

    @property
    def requests(self) -> int:
        """How many HTTP requests this client has made."""
        return self._client.requests

    @cached_property
    def api(self) -> SlurmApi:
        """Every operation of slurmrestd, generated and typed: ``slurm.api.get_reservations()``."""
        return SlurmApi(self._client.api, self._portal.run)

    def submit(
        self,
        script: str | os.PathLike[str] | JobSpec,
        /,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Job:
        """Submit one job and return its handle; see AsyncSlurmClient.submit."""
        made = self._client.submit(script, idempotency_key=idempotency_key, **options)
        return Job(self._portal, self._portal.run(made))

    def job(self, job_id: int) -> Job:
        """Return a handle for a job by its id. Nothing is asked yet."""
        return Job(self._portal, self._client.job(job_id))

    def states(self, jobs: Iterable[Job | int] | None = None) -> dict[int, JobState]:
        """Return the states of these jobs in one request, or of all jobs; see AsyncSlurmClient.states."""
        return self._portal.run(self._client.states(None if jobs is None else _inner(jobs)))

    def describe(self, jobs: Iterable[Job | int], *, ended: bool = False) -> dict[int, JobInfo]:
        """Return the full record of each job; those that nobody knows are absent. See AsyncSlurmClient.describe."""
        return self._portal.run(self._client.describe(_inner(jobs), ended=ended))

    def members(self, job: Job | int) -> list[JobInfo]:
        """Return a record for each array task or het component that has one of its own."""
        return self._portal.run(self._client.members(_inner([job])[0]))

    def wait(
        self,
        jobs: Iterable[Job | int],
        *,
        timeout: float | None = None,
        progress: bool = False,
        on_change: Callable[[Mapping[int, JobState]], None] | None = None,
    ) -> list[JobInfo]:
        """Wait until all jobs are over and return their final records; see AsyncSlurmClient.wait."""
        return self._portal.run(
            self._client.wait(_inner(jobs), timeout=timeout, progress=progress, on_change=on_change)
        )

    def cancel(self, jobs: Job | int | Iterable[Job | int], *, signal: str | None = None) -> list[CancelResult]:
        """Cancel jobs, or send them a signal, and say for each what came of it."""
        listed = [jobs] if isinstance(jobs, (Job, int)) else jobs
        return self._portal.run(self._client.cancel(_inner(listed), signal=signal))

    def jobs(
        self,
        *,
        user: str | None = None,
        state: str | Collection[str] | None = None,
        partition: str | None = None,
        name: str | None = None,
        limit: int | None = 10_000,
    ) -> JobTable:
        """Return the records of the jobs in the controller; what that costs stands at AsyncSlurmClient.jobs."""
        return self._portal.run(self._client.jobs(user=user, state=state, partition=partition, name=name, limit=limit))

    def nodes(self) -> NodeTable:
        """Return all nodes."""
        return self._portal.run(self._client.nodes())

    def partitions(self) -> PartitionTable:
        """Return all partitions."""
        return self._portal.run(self._client.partitions())

    def ping(self) -> list[Ping]:
        """Prove that the controller answers this user; raises the error that says what is wrong."""
        return self._portal.run(self._client.ping())

    def ping_accounting(self) -> None:
        """Prove that accounting answers; raises AccountingDown or what else is wrong."""
        self._portal.run(self._client.ping_accounting())

    def diag(self) -> Diagnostics:
        """Return slurmctld's counters."""
        return self._portal.run(self._client.diag())

    def api_version(self) -> str:
        """Return the API version in use."""
        return self._portal.run(self._client.api_version())


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

    def info(self) -> JobInfo:
        """Return the full record, from accounting when the controller no longer has it."""
        return self._portal.run(self.inner.info())

    def wait(self, timeout: float | None = None, *, progress: bool = False) -> JobInfo:
        """Wait until the job is over and return its final record. Raises WaitTimeout after ``timeout`` seconds."""
        return self._portal.run(self.inner.wait(timeout, progress=progress))

    def cancel(self, signal: str | None = None) -> CancelResult:
        """Cancel the job, or send it a signal, and say what came of it."""
        return self._portal.run(self.inner.cancel(signal))

    def __repr__(self) -> str:
        """Return id, name and the state last heard."""
        return repr(self.inner)

    def _repr_html_(self) -> str:
        return self.inner._repr_html_()


def _hand_over(task: asyncio.Task[T], outcome: concurrent.futures.Future[T]) -> None:
    error = concurrent.futures.CancelledError() if task.cancelled() else task.exception()
    if error is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _inner(jobs: Iterable[Job | int]) -> list[AsyncJob | int]:
    return [job.inner if isinstance(job, Job) else job for job in jobs]  # same module


def _shut_down(client: AsyncSlurmClient, portal: Portal) -> None:
    # At interpreter exit the daemon thread may be gone already; there is nothing left to lose then.
    with contextlib.suppress(RuntimeError, SlurmError, concurrent.futures.CancelledError):
        portal.run(client.close())
    portal.close()
