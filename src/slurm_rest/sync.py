"""SlurmClient and Job: the async implementation, run on a loop of its own in a background thread.

So it also works where a loop runs already, as in notebooks. Nothing is implemented twice: each method hands its
arguments over and waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from .client import AsyncSlurmClient
from .config import EnvironmentRule, Settings, SshOptions, TokenArgument, TransportName
from .history import Moment
from .job import AsyncJob
from .looking import JOBS_LIMIT
from .metrics import Metrics
from .models import ActionResult, CancelResult, Diagnostics, FilesWay, JobInfo, JobUsage, Ping, TransportHealth
from .portal import Portal
from .sbatch import JobSpec
from .states import JobState
from .sync_files import SyncFiles, iterate
from .sync_job import Job
from .tables import JobTable, NodeTable, PartitionTable
from .transport.base import Capabilities, SlurmTransport
from .transport.once import RECOVERY_TIMEOUT
from .watching import JobChange, States

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self, Unpack

    from .api import SlurmApi
    from .sbatch.changes import JobChanges
    from .sbatch.keywords import JobOptions

__all__ = ["Job", "SlurmClient"]

Jobs: TypeAlias = "Job | int | Iterable[Job | int]"


class SlurmClient:
    """A client of one cluster for blocking code: scripts and notebooks. Arguments are AsyncSlurmClient's."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: TokenArgument | None = None,
        user: str | None = None,
        api_version: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        token_command: str | Sequence[str] | None = None,
        jwt_key_file: str | os.PathLike[str] | None = None,
        jwt_key_id: str | None = None,
        token_ssh: bool | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        transport: TransportName | SlurmTransport | None = None,
        environment: EnvironmentRule | None = None,
        workdir: str | None = None,
        path_map: str | Mapping[str, str] | None = None,
        exit_records: str | None = None,
        cluster: str | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        timeout: float | None = None,
        recovery_timeout: float = RECOVERY_TIMEOUT,
        environ: Mapping[str, str] | None = None,
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
            jwt_key_id=jwt_key_id,
            token_ssh=token_ssh,
            ca_file=ca_file,
            transport=transport,
            environment=environment,
            workdir=workdir,
            path_map=path_map,
            exit_records=exit_records,
            cluster=cluster,
            http_transport=http_transport,
            timeout=timeout,
            recovery_timeout=recovery_timeout,
            environ=environ,
            **ssh,
        )
        self._portal = Portal(self._client.close)

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
        self._portal.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._client.settings

    @property
    def requests(self) -> int:
        """How many HTTP requests this client has made."""
        return self._client.requests

    @property
    def metrics(self) -> Metrics:
        """What this client has counted and timed."""
        return self._client.metrics

    @property
    def capabilities(self) -> Capabilities:
        """What can be done with the Slurm that answered; before the first answer, what can be done with any."""
        return self._client.capabilities

    @property
    def slurm_release(self) -> str:
        """Slurm's release as far as it is known yet, for instance ``24.11.5``."""
        return self._client.slurm_release

    @cached_property
    def api(self) -> SlurmApi:
        """Every operation of slurmrestd, generated and typed: ``slurm.api.get_reservations()``."""
        from .api import SlurmApi  # thousands of lines, for those who use it

        return SlurmApi(self._client.api, self._portal.run)

    @cached_property
    def files(self) -> SyncFiles:
        """The cluster's files, by the paths that the cluster knows; see AsyncSlurmClient.files."""
        return SyncFiles(self._client.files, self._portal.run)

    def submit(
        self,
        script: str | os.PathLike[str] | JobSpec,
        /,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Job:
        """Submit one job and return its handle.

        ``script`` is a path, text that starts with ``#!``, or a JobSpec. The options are sbatch's long ones with ``_``
        for ``-`` (``time="1:00:00"``, ``gpus=1``, ``array="0-9"``), and win over the script's ``#SBATCH`` lines;
        ``env`` is a mapping of variables for the job, ``args`` the script's arguments. With an ``idempotency_key``
        submitting again returns the first job. AsyncSlurmClient.submit tells more, and what is raised when.
        """
        made = self._client.submit(script, idempotency_key=idempotency_key, **options)
        return Job(self._portal, self._portal.run(made))

    def find(self, idempotency_key: str, *, name: str = "") -> Job | None:
        """Return the job that was submitted under a key of the caller's, None when none is to be seen."""
        found = self._portal.run(self._client.find(idempotency_key, name=name))
        return Job(self._portal, found) if found else None

    def job(self, job_id: int | str, *, submit_time: datetime | None = None) -> Job:
        """Return a handle for a job by its id; see AsyncSlurmClient.job. Nothing is asked yet."""
        return Job(self._portal, self._client.job(job_id, submit_time=submit_time))

    def states(self, jobs: Jobs | None = None, *, max_age: float = 0.0) -> dict[int, JobState]:
        """Return the states of these jobs in one request, or of all jobs; see AsyncSlurmClient.states."""
        return self._portal.run(self._client.states(None if jobs is None else _inner(jobs), max_age=max_age))

    def describe(self, jobs: Jobs, *, ended: bool = False) -> dict[int, JobInfo]:
        """Return the full record of each job; those that nobody knows are absent. See AsyncSlurmClient.describe."""
        return self._portal.run(self._client.describe(_inner(jobs), ended=ended))

    def members(self, job: Job | int) -> list[JobInfo]:
        """Return a record for each array task or het component that has one of its own, by task id or offset."""
        return self._portal.run(self._client.members(_one(job)))

    def stale_since(self, job: Job | int | None = None) -> datetime | None:
        """Return since when Slurm gives no answer, about one job or at all; see AsyncSlurmClient.stale_since."""
        return self._client.stale_since(None if job is None else _one(job))

    def wait(
        self,
        jobs: Jobs,
        *,
        timeout: float | None = None,
        progress: bool = False,
        on_change: Callable[[States], None] | None = None,
    ) -> list[JobInfo]:
        """Wait until all jobs are over and return their final records; see AsyncSlurmClient.wait."""
        return self._portal.run(
            self._client.wait(_inner(jobs), timeout=timeout, progress=progress, on_change=on_change)
        )

    def as_completed(self, jobs: Jobs, *, timeout: float | None = None) -> Iterator[JobInfo]:
        """Yield the final record of each job as it ends; see AsyncSlurmClient.as_completed."""
        return iterate(self._client.as_completed(_inner(jobs), timeout=timeout), self._portal.run)

    def watch(self, jobs: Jobs, *, timeout: float | None = None) -> Iterator[JobChange]:
        """Yield every change of these jobs' states until all are over; see AsyncSlurmClient.watch."""
        return iterate(self._client.watch(_inner(jobs), timeout=timeout), self._portal.run)

    def cancel(self, jobs: Jobs, *, signal: str | int | None = None) -> list[CancelResult]:
        """Cancel jobs, or send them a signal, and say for each what came of it."""
        return self._portal.run(self._client.cancel(_inner(jobs), signal=signal))

    def hold(self, jobs: Jobs) -> list[ActionResult]:
        """Keep jobs from starting, and say for each what came of it."""
        return self._portal.run(self._client.hold(_inner(jobs)))

    def release(self, jobs: Jobs) -> list[ActionResult]:
        """Let held jobs start, and say for each what came of it."""
        return self._portal.run(self._client.release(_inner(jobs)))

    def requeue(self, jobs: Jobs, *, hold: bool = False) -> list[ActionResult]:
        """Send running or ended jobs back to the queue, held if ``hold``; see AsyncSlurmClient.requeue."""
        return self._portal.run(self._client.requeue(_inner(jobs), hold=hold))

    def update(self, job: Job | int, **changes: Unpack[JobChanges]) -> None:
        """Change options of a job: ``slurm.update(job, time="2:00:00")``; see AsyncSlurmClient.update."""
        self._portal.run(self._client.update(_one(job), **changes))

    def jobs(
        self,
        *,
        user: str | None = None,
        state: str | Collection[str] | None = None,
        partition: str | None = None,
        name: str | None = None,
        limit: int | None = JOBS_LIMIT,
    ) -> JobTable:
        """Return the records of the jobs in the controller; what that costs stands at AsyncSlurmClient.jobs."""
        return self._portal.run(self._client.jobs(user=user, state=state, partition=partition, name=name, limit=limit))

    def history(
        self,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        user: str | Collection[str] = (),
        state: str | Collection[str] = (),
        name: str | Collection[str] = (),
        partition: str | Collection[str] = (),
        account: str | Collection[str] = (),
        limit: int | None = JOBS_LIMIT,
    ) -> JobTable:
        """Return accounting's records of the jobs that were there between two times; see AsyncSlurmClient.history."""
        asked = self._client.history(
            start=start, end=end, user=user, state=state, name=name, partition=partition, account=account, limit=limit
        )
        return self._portal.run(asked)

    def usage(self, ids: int | Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used; see AsyncSlurmClient.usage."""
        return self._portal.run(self._client.usage(ids))

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

    def ping_files(self) -> list[FilesWay]:
        """Try each way to the cluster's files; see AsyncSlurmClient.ping_files."""
        return self._portal.run(self._client.ping_files())

    def health(self) -> list[TransportHealth]:
        """Return each way to Slurm with its state and the reason; nothing is asked. See AsyncSlurmClient.health."""
        return self._client.health()

    def diag(self) -> Diagnostics:
        """Return slurmctld's counters."""
        return self._portal.run(self._client.diag())

    def api_version(self) -> str:
        """Return the API version in use."""
        return self._portal.run(self._client.api_version())


def _one(job: Job | int) -> AsyncJob | int:
    return job.inner if isinstance(job, Job) else job


def _inner(jobs: Jobs) -> AsyncJob | int | list[AsyncJob | int]:
    if isinstance(jobs, (Job, str)) or not isinstance(jobs, Iterable):
        return _one(jobs)  # what is neither a job nor several, the client says itself
    # Without a call for each: there may be thousands.
    return [job.inner if isinstance(job, Job) else job for job in jobs]
