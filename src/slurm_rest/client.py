"""AsyncSlurmClient: the one implementation behind both faces."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING

from .acting import Acting
from .config import EnvironmentRule, SshOptions, TokenArgument, TransportName, load_settings
from .errors import AccountingDown, ControllerDown, SubmitUncertain, TransportError, UnsupportedVersion
from .exit_files import ExitReader
from .following import Following
from .history import read_time
from .identity import Identity
from .job import AsyncJob
from .keys import callers_key, name_mark
from .looking import Looking
from .metrics import Metrics
from .poller import Poller
from .sbatch import JobSpec, Script, read_script
from .submission import Surroundings, Target, check_words, prepare, read_spec, try_releases
from .transport.base import PreparedJob, SlurmTransport
from .transport.choice import choose_transport
from .transport.files import Files, choose_files
from .transport.files.checking import FilesCheck
from .transport.ids import read_label
from .transport.once import RECOVERY_TIMEOUT
from .transport.recovery import group_id

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self, Unpack

    from .sbatch.getopt import Given
    from .sbatch.keywords import JobOptions

__all__ = ["AsyncSlurmClient"]

log = logging.getLogger("slurm_rest")


class AsyncSlurmClient(Acting, Following, Looking):
    """A client of one cluster, for one user. Use it as ``async with``, or call ``close``.

    Without arguments everything comes from the environment (SLURM_REST_URL, SLURM_JWT, ...) and the profile file.
    ``token`` is a token's text, a provider, or a list of sources of which the first that has one serves; ``user`` the
    user to act as, when the token allows it; ``cluster`` names a profile. ``transport`` pins rest, ssh or cli; by
    itself REST is used where there is a URL, else SSH where there is a host (``ssh_host``, ``ssh_port``, ``ssh_user``,
    ``ssh_key`` or ``ssh_key_file``, ``ssh_known_hosts``, ``ssh_proxy_jump``). With ``ssh_tunnel`` the URL is as seen
    from the SSH host. ``exit_records`` is a directory of the cluster where jobs leave how their scripts ended
    (docs/following.md). ``timeout`` is how long one answer may take, ``recovery_timeout`` how long a submission whose
    answer was lost is looked for. ``environ`` is where variables are looked up, this process's own by default.
    ``transport`` may also be a transport itself, such as ``slurm_rest.testing`` has.
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
        exit_records: str | None = None,
        cluster: str | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        timeout: float | None = None,
        recovery_timeout: float = RECOVERY_TIMEOUT,
        environ: Mapping[str, str] | None = None,
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
                "exit_records": exit_records,
                "cluster": cluster,
                **ssh,
            },
            environ,
        )
        self.metrics = Metrics()
        self._transport: SlurmTransport = given or choose_transport(
            self.settings,
            http_transport=http_transport,
            read_timeout=timeout,
            recovery_timeout=recovery_timeout,
            metrics=self.metrics,
        )
        # No part of the client refers to the client, so one that is dropped goes at once.
        settings, way = self.settings, self._transport
        self._files = cache(lambda: choose_files(settings, way))
        self._files_check = FilesCheck(settings, self._files)
        self._poller = Poller(way, exits=ExitReader(settings, way, self._files))

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
        if self._files.cache_info().currsize:
            await self.files.close()
        await self._transport.close()

    @property
    def files(self) -> Files:
        """The cluster's files, by the paths that the cluster knows: docs/files.md says which ways lead to them."""
        return self._files()

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
        SubmitUncertain when the answer was lost and it could not be told in time whether there is a job. After
        TransportError, ControllerDown and AccountingDown there is none.
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
        never_began: Callable[[], Awaitable[bool]] | None = None,
    ) -> AsyncJob:
        """Submit what was read already; ``given`` are options of a command line, which win over directives.

        ``words`` are an idempotency key; ``never_began`` is asked while accounting is away, see PreparedJob.
        """
        try:
            return await self._submit_read(source, options, given, words, never_began)
        except (TransportError, ControllerDown, AccountingDown) as error:
            # These leave one guessing; what is uncertain is SubmitUncertain.
            error.hint = f"No job was submitted. {error.hint}".rstrip()
            raise

    async def _submit_read(
        self,
        source: Script | JobSpec,
        options: Mapping[str, object],
        given: list[Given] | None,
        words: str | None,
        never_began: Callable[[], Awaitable[bool]] | None,
    ) -> AsyncJob:
        user, here = await self.user_name(), Surroundings.here(self.settings.environment)
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
        target = Target(version, release, cluster, commands=not version)
        try:
            spec, prepared = ready(target)
        except UnsupportedVersion as error:
            # What the newest version lost, an older one that is served may still have (24.11: the cores of a socket).
            spec, prepared = await self._ready_in_older(ready, target, error)
        if never_began is not None:
            prepared = replace(prepared, never_began=never_began)
        try:
            submission = await self._transport.submit(prepared)
        except SubmitUncertain:
            self.metrics.uncertain_submissions += 1
            raise
        done, whose = "was there already" if submission.found else "is submitted", user or "the token's user"
        log.info("Job %d %s: over %s (%s), for %s", submission.job_id, done, self.transport, self.address, whose)
        sent = None if submission.found else datetime.now(timezone.utc)
        identity = Identity(submission.job_id, key=prepared.key, sent=sent, owner=submission.owner)
        return AsyncJob(self, submission.job_id, spec=spec, submission=submission, identity=identity)

    async def _ready_in_older(
        self, ready: Callable[[Target], tuple[JobSpec, PreparedJob]], target: Target, error: UnsupportedVersion
    ) -> tuple[JobSpec, PreparedJob]:
        """Return the job in the newest older version that can express it; raises ``error`` when none can."""
        for version in await self._transport.older_versions():
            with contextlib.suppress(UnsupportedVersion):
                spec, prepared = ready(replace(target, version=version))
                return spec, replace(prepared, older_version=True)
        raise error

    async def find(self, idempotency_key: str, *, name: str = "") -> AsyncJob | None:
        """Return the job that was submitted under a key of the caller's, None when none is to be seen.

        ``name`` is the job's name: accounting is asked by it for a job that left the controller. It costs what a
        repeated ``submit`` with that key costs.
        """
        cluster = (await self._transport.target())[2]
        user = await self.user_name()
        key = callers_key(check_words(idempotency_key), user, cluster)
        job = PreparedJob({}, key, user, name, repeated=True, own_name=name.endswith(name_mark(idempotency_key)))
        ids = [group_id(record) for record in (await self._transport.find(job, since=time.time())).jobs]
        return AsyncJob(self, min(ids), identity=Identity(min(ids), key=job.key)) if ids else None

    async def user_name(self) -> str:
        """Return the user that jobs will belong to, as far as settings and token tell; empty if they do not."""
        return self.settings.user or await self._transport.user_name()

    # --- following ------------------------------------------------------------------------------------------

    def job(self, job_id: int | str, *, submit_time: datetime | None = None) -> AsyncJob:
        """Return a handle for a job by its id, or for a member: ``"12_3"``, ``"12+1"``. Nothing is asked yet.

        With the ``submit_time`` of a record it is that job for certain, also when its id has been given anew; one
        without a zone is this host's time.
        """
        number, task_id, offset = read_label(job_id)
        identity = Identity(number, submit_time=None if submit_time is None else read_time(submit_time))
        return AsyncJob(self, number, task_id=task_id, offset=offset, identity=identity)
