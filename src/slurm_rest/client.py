"""AsyncSlurmClient: the one implementation behind both faces."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .acting import Acting
from .config import EnvironmentRule, SshOptions, TokenArgument, TransportName, load_settings
from .grouping import JobRef, both, by_id, ids_of, member_of, one_of
from .job import AsyncJob
from .looking import Looking
from .metrics import Metrics
from .models import JobInfo, group_record
from .poller import Poller
from .sbatch import JobSpec, Script, read_script
from .states import JobState
from .submission import Surroundings, Target, prepare, read_spec, try_releases
from .transport.base import PreparedJob, SlurmTransport
from .transport.choice import choose_transport
from .transport.files import Files, choose_files
from .transport.once import RECOVERY_TIMEOUT

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self, Unpack

    from .sbatch.getopt import Given
    from .sbatch.keywords import JobOptions

__all__ = ["AsyncSlurmClient"]


class AsyncSlurmClient(Acting, Looking):
    """A client of one cluster, for one user. Use it as ``async with``, or call ``close``.

    Without arguments everything comes from the environment (SLURM_REST_URL, SLURM_JWT, ...) and the profile file.
    ``token`` is a token's text, a provider, or a list of sources of which the first that has one serves; ``user`` the
    user to act as, when the token allows it; ``cluster`` names a profile. ``transport`` pins rest, ssh or cli; by
    itself REST is used where there is a URL, else SSH where there is a host (``ssh_host``, ``ssh_port``, ``ssh_user``,
    ``ssh_key`` or ``ssh_key_file``, ``ssh_known_hosts``, ``ssh_proxy_jump``). With ``ssh_tunnel`` the URL is as seen
    from the SSH host. ``timeout`` is how long one answer may take, ``recovery_timeout`` how long a submission whose
    answer was lost is looked for. ``transport`` may also be a transport itself, such as ``slurm_rest.testing`` has.
    Nothing is sent before the first call.
    """

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
        cluster: str | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        timeout: float | None = None,
        recovery_timeout: float = RECOVERY_TIMEOUT,
        **ssh: Unpack[SshOptions],
    ) -> None:
        given = None if isinstance(transport, str) else transport
        self.settings = load_settings(
            {
                "url": url,
                "token": token,
                "user": user,
                "api_version": api_version,
                "token_file": token_file,
                "token_command": token_command,
                "jwt_key_file": jwt_key_file,
                "jwt_key_id": jwt_key_id,
                "token_ssh": token_ssh,
                "ca_file": ca_file,
                # One that is given goes where it goes; rest is the way that supposes nothing of this host.
                "transport": "rest" if given else transport,
                "environment": environment,
                "workdir": workdir,
                "path_map": path_map,
                "cluster": cluster,
                **ssh,
            }
        )
        self.metrics = Metrics()
        self._transport: SlurmTransport = given or choose_transport(
            self.settings,
            http_transport=http_transport,
            read_timeout=timeout,
            recovery_timeout=recovery_timeout,
            metrics=self.metrics,
        )
        self._poller = Poller(self._transport)

    def __repr__(self) -> str:
        """Return the address and the user, never a token."""
        return f"{type(self).__name__}({self.address!r}, user={self.settings.user!r})"

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the client."""
        await self.close()

    async def close(self) -> None:
        """Stop watching and close connections. Jobs are left alone."""
        await self._poller.close()
        if "files" in vars(self):
            await self.files.close()
        await self._transport.close()

    @cached_property
    def files(self) -> Files:
        """The cluster's files, by the paths that the cluster knows: docs/files.md says which ways lead to them."""
        return choose_files(self.settings, self._transport)

    @property
    def slurm_release(self) -> str:
        """Slurm's release as far as it is known yet, for instance ``24.11.5``."""
        return self._transport.slurm_release

    @property
    def transport(self) -> str:
        """How Slurm is reached: rest, ssh or cli."""
        return self._transport.name

    @property
    def address(self) -> str:
        """Where Slurm is reached: slurmrestd's URL, the SSH host, or this host."""
        return self._transport.where

    @property
    def requests(self) -> int:
        """How many requests this client has made: over HTTP, or commands that it ran."""
        return self._transport.counters.requests

    # --- submitting -----------------------------------------------------------------------------------------

    async def submit(
        self,
        script: str | os.PathLike[str] | JobSpec,
        /,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> AsyncJob:
        """Submit one job and return its handle.

        ``script`` is a path, text that starts with ``#!``, or a JobSpec. It is read as sbatch reads it: its directives,
        then ``SBATCH_*`` variables, then the keyword options, which are sbatch's long options with ``_`` for ``-`` and
        win as a command line would. ``env`` and ``args`` go along.

        With ``idempotency_key``, a text of the caller's choice, submitting again returns the first job, also from
        another process and when that job has ended or was cancelled; it costs a listing of states and a question to
        accounting before, and once more after. Accounting is asked for jobs of the last 7 days with the same name.

        Raises SpecError for what is wrong before anything is sent, SubmitRejected with Slurm's reason, and
        SubmitUncertain when the answer was lost and it could not be told in time whether there is a job.
        """
        # A file is read, and refused, before anything is asked.
        source = script if isinstance(script, JobSpec) else read_script(script)
        return await self.submit_read(source, options, words=idempotency_key)

    async def submit_read(
        self,
        source: Script | JobSpec,
        options: Mapping[str, object],
        given: list[Given] | None = None,
        *,
        words: str | None = None,
    ) -> AsyncJob:
        """Submit what was read already; ``given`` are options of a command line, which win over directives.

        ``words`` are an idempotency key.
        """
        user, here = await self.user_name(), Surroundings.here()
        if not user and not self.capabilities.generated_api:
            # A login node tells who one is there.
            await self._transport.target()
            user = await self.user_name()

        def ready(target: Target) -> tuple[JobSpec, PreparedJob]:
            read = read_spec(source, options, environ=self.settings.environ, release=target.release, given=given)
            return read.spec, prepare(read, self.settings, target, user=user, here=here, words=words)

        if not self._transport.slurm_release:
            # What no release would take is refused before anything is sent.
            try_releases(ready, commands=not self.capabilities.generated_api)
        version, release, cluster = await self._transport.target()
        user = await self.user_name()
        spec, prepared = ready(Target(version, release, cluster, commands=not version))
        submission = await self._transport.submit(prepared)
        return AsyncJob(self, submission.job_id, spec=spec, submission=submission)

    async def user_name(self) -> str:
        """Return the user that jobs will belong to, as far as settings and token tell; empty if they do not."""
        return self.settings.user or await self._transport.user_name()

    # --- following ------------------------------------------------------------------------------------------

    def job(self, job_id: int) -> AsyncJob:
        """Return a handle for a job by its id. Nothing is asked yet."""
        return AsyncJob(self, job_id)

    async def states(self, jobs: Iterable[JobRef] | None = None) -> dict[int, JobState]:
        """Return the states of these jobs in one request, or of all jobs; unknown ids are absent.

        An array or het job has one combined state. A job that left the controller (MinJobAge, 300 s by default) is
        absent too; ``history`` and ``job(id).info()`` still know it.
        """
        rows = await (self._transport.all_states() if jobs is None else self._transport.states(ids_of(jobs)))
        members: dict[int, list[JobState]] = {}
        for row in rows:
            members.setdefault(row.job_id, []).append(row.state)
        return {job_id: JobState.combine(states) for job_id, states in members.items()}

    async def info(self, job: JobRef) -> JobInfo:
        """Return the full record of one job, from accounting when the controller no longer has it.

        Raises JobNotFound when neither knows it.
        """
        if isinstance(job, AsyncJob) and job.is_member:
            return member_of(job, await self._transport.describe([job.id]))
        (job_id,) = ids_of([job])
        return one_of(job_id, by_id(await self._transport.describe([job_id])))

    async def describe(self, jobs: Iterable[JobRef], *, ended: bool = False) -> dict[int, JobInfo]:
        """Return the full record of each job; those that neither controller nor accounting knows are absent.

        One small request a job. ``ended=True`` promises that all are over: accounting then answers for 100 at once.
        """
        ids = ids_of(jobs)
        members = by_id(await self._transport.describe(dict.fromkeys(ids), ended=ended))
        return {job_id: group_record(job_id, members[job_id]) for job_id in ids if job_id in members}

    async def member_states(self, job_id: int) -> dict[tuple[int | None, int | None], JobState]:
        """Return the state of each member of an array or het job, by task id and component offset.

        A task that was cancelled while it was pending leaves no trace in Slurm (24.11 and 26.05), so it is absent.
        """
        rows = await self._transport.states([job_id])
        found = {(row.task_id, row.offset): row.state for row in rows if (row.task_id, row.offset) != (None, None)}
        if found and all(not state.is_terminal for state in found.values()):
            return found
        # Members that left the controller are known to accounting alone.
        for record in await self._transport.describe([job_id], ended=True) if rows or not found else ():
            key = (record.array_task_id, record.het_job_offset)
            if key != (None, None):
                found.setdefault(key, record.state)
        return found

    async def wait_member(self, job: AsyncJob, timeout: float | None = None) -> JobState:
        """Wait for the end of one array task or het component and return its state."""
        return await self._poller.wait_member(job.id, (job.task_id, job.offset), timeout)

    async def members(self, job: JobRef) -> list[JobInfo]:
        """Return a record for each array task or het component that has one of its own."""
        (job_id,) = ids_of([job])
        return await self._transport.describe([job_id])

    async def wait(
        self,
        jobs: Iterable[JobRef],
        *,
        timeout: float | None = None,
        progress: bool = False,
        on_change: Callable[[Mapping[int, JobState]], None] | None = None,
    ) -> list[JobInfo]:
        """Wait until all jobs are over and return their final records, in the order given.

        All waits of this client share one request per interval. ``progress`` shows a live display on stderr;
        ``on_change`` is called with the states whenever one moves. Raises WaitTimeout after ``timeout`` seconds.
        """
        listed = list(jobs)
        if any(isinstance(job, AsyncJob) and job.is_member for job in listed):
            return await self._wait_for_members(listed, timeout)
        ids = ids_of(listed)
        if progress:
            from .progress import Progress  # loads rich, only for those who look

            names = {job.id: job.name for job in listed if isinstance(job, AsyncJob)}
            with Progress(ids, names) as display:
                states = await self._poller.wait(ids, timeout, both(display.show, on_change))
        else:
            states = await self._poller.wait(ids, timeout, on_change)
        for job in listed:
            if isinstance(job, AsyncJob):
                job.state = states[job.id]
        members = by_id(await self._transport.describe(dict.fromkeys(ids), ended=True))
        return [one_of(job_id, members) for job_id in ids]

    async def _wait_for_members(self, jobs: list[JobRef], timeout: float | None) -> list[JobInfo]:
        handles = [job if isinstance(job, AsyncJob) else self.job(job) for job in jobs]
        return list(await asyncio.gather(*(handle.wait(timeout) for handle in handles)))
