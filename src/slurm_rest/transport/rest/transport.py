"""SlurmTransport over slurmrestd."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from slurm_rest.api.base import ApiCaller, ApiRequest
from slurm_rest.auth import read_claims
from slurm_rest.config import Settings
from slurm_rest.errors import (
    ApiError,
    AuthError,
    ControllerDown,
    JobNotFound,
    SlurmError,
)
from slurm_rest.history import HistoryQuery
from slurm_rest.metrics import Metrics
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
from slurm_rest.records import items, read_controller_job, read_diagnostics, read_ping
from slurm_rest.transport.answers import NO_SUCH_USER, Answer, controller_down, listing_of, unknown_user
from slurm_rest.transport.base import Counters, PreparedJob, StateRow
from slurm_rest.transport.capabilities import Capabilities, rest_capabilities
from slurm_rest.transport.describing import describe, missing, nothing
from slurm_rest.transport.once import RECOVERY_TIMEOUT
from slurm_rest.transport.recovery import Look
from slurm_rest.transport.streams import Dialer

from . import listing
from .accounting import AccountingReader
from .acting import Actor
from .building import Query, ids_query
from .connection import Connection
from .names import Names
from .readings import parse_rows
from .search import Search
from .states import StateReader, Told
from .submitting import Submitter

if TYPE_CHECKING:
    import httpx

__all__ = ["RestTransport"]

# slurmdbd hears of an end within 10 ms on an idle cluster; these pauses come before asking for each job by itself.
_LATE = (0.0, 0.1, 0.5)
# How many jobs a client keeps in mind with their keys.
_KEPT = 5000


class RestTransport:
    """Slurm through slurmrestd of 24.11 and later."""

    name = "rest"

    def __init__(
        self,
        settings: Settings,
        *,
        dialer: Dialer | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        read_timeout: float | None = None,
        recovery_timeout: float = RECOVERY_TIMEOUT,
        metrics: Metrics | None = None,
    ) -> None:
        timeout = {} if read_timeout is None else {"read_timeout": read_timeout}
        self.connection = Connection(settings, dialer=dialer, http_transport=http_transport, metrics=metrics, **timeout)
        self.made: dict[int, str] = {}
        # The highest id among them.
        self.newest = 0
        self.seen: dict[int, str] = {}
        self.names = Names()
        # A job's id, and a moment before which it was submitted, and so all jobs before it.
        self.aged = (0, 0.0)
        self.looking = asyncio.Lock()
        self._began: datetime | None = None
        self._submitter = Submitter(self, recovery_timeout)
        self._actor = Actor(self)
        self._states = StateReader(self._tell_states)
        self._accounting = AccountingReader(self.connection)

    @property
    def counters(self) -> Counters:
        """Requests made and bytes received."""
        return self.connection.counters

    @property
    def capabilities(self) -> Capabilities:
        """What slurmrestd can do for us, in the API version in use."""
        table = rest_capabilities(_minor(self.connection.release), self.connection.known_version)
        return replace(table, accounting=False) if self._accounting.is_absent else table

    @property
    def where(self) -> str:
        """The URL, and through which SSH host it is reached."""
        return self.connection.where

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known yet."""
        return self.connection.cluster

    def health(self) -> list[TransportHealth]:
        """Return that this is the only way."""
        return [TransportHealth(transport=self.name, where=self.where, active=True)]

    async def reach(self) -> None:
        """Ask ``ping/``, which any slurmrestd answers at once."""
        await self.connection.controller_responds()

    @property
    def api(self) -> ApiCaller:
        """This transport: it sends what the generated operations build."""
        return self

    async def user_name(self) -> str:
        """Return the user whom the token names."""
        return read_claims(await self.connection.tokens.token()).user

    async def close(self) -> None:
        """Close the connections."""
        await self.connection.close()

    # --- the generated API's way in -------------------------------------------------------------------------

    async def api_version(self) -> str:
        """Return the negotiated API version."""
        return await self.connection.version()

    async def target(self) -> tuple[str, str, str]:
        """Return the API version, the Slurm release as ``24.11``, and the cluster's name, asking if need be."""
        version = await self.connection.version()
        if not self.connection.release:
            await self.connection.controller_responds()
        return version, _minor(self.connection.release), self.connection.cluster

    async def older_versions(self) -> Sequence[str]:
        """Return the API versions that are served too, newest first; none where one is asked for."""
        return await self.connection.older_versions()

    @property
    def slurm_release(self) -> str:
        """Slurm's release as far as it is known yet."""
        return self.connection.release

    async def send(self, request: ApiRequest) -> bytes:
        """Send a request of the generated API and return the body of a good answer."""
        service, path = request.operation.service, request.path.split("/", 3)[3]
        answer = await self.connection.call(
            request.operation.method,
            service,
            f"/{path}",
            request.query,
            request.body,
            repeatable=request.operation.safe,
        )
        return answer.raw

    # --- submission -----------------------------------------------------------------------------------------

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job; see Submitter."""
        return await self._submitter.submit(job)

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        """Look once, everywhere, for the job of a submission that was made over another transport."""
        return await Search(self, job, since=since).whole()

    def remember(self, job_id: int, key: str) -> None:
        """Keep in mind which job a key made, so that it is not looked at again."""
        _keep(self.made, job_id, key)
        if job_id > self.newest:
            self.newest = job_id
        elif self.newest not in self.made:
            # Ids began anew, and the last one of before has been dropped.
            self.newest = max(self.made)

    def saw(self, job_id: int, key: str) -> None:
        """Keep in mind whose key a job carries that was read."""
        _keep(self.seen, job_id, key)

    def forget(self) -> None:
        """Trust no id any more: a controller that was killed forgets its newest jobs and gives their ids to others."""
        self.made.clear()
        self.newest = 0
        self.seen.clear()
        self.names.clear()
        self.aged = (0, 0.0)

    async def notice_restart(self) -> None:
        """Forget if the controller began anew since this was last asked; its counters say when it did."""
        try:
            began = (await self.diag()).since
        except ApiError:
            began = None
        if began is None or began != self._began:
            self.forget()
        self._began = began

    # --- reading --------------------------------------------------------------------------------------------

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Ask ``jobs/state/`` for exactly these ids; 1000 of them are one request of 82 KB and about 5 ms."""
        return await self._states.read(ids)

    async def state_rows(self, ids: Collection[int]) -> list[StateRow]:
        """Return the rows of ``jobs/state/`` as they come, for these ids or for all jobs."""
        return [*(await self._tell_states(ids)).rows]

    async def _tell_states(self, ids: Collection[int], before: Told | None = None) -> Told:
        self.count_batch("GET jobs/state", ids)
        like = None if before is None else before.answer
        answer = await self.connection.get("slurm", "/jobs/state/", ids_query(ids), like=like)
        if before is not None and answer.body is before.answer.body:
            return before
        # Kept without its rows, which are several times as large as its bytes.
        slim = replace(answer, body={name: value for name, value in answer.body.items() if name != "jobs"})
        return Told(parse_rows(listing_of(answer, "jobs")), slim)

    def count_batch(self, operation: str, ids: Collection[object]) -> None:
        """Note how many jobs a request is about."""
        if ids:
            self.connection.metrics.record_batch(self.name, operation, len(ids))

    async def all_states(self) -> list[StateRow]:
        """Return a row for every job in the controller, under its own id: 80 bytes a job, against 8000 in ``jobs/``."""
        return await self.state_rows([])

    async def records(self, path: str, key: str, query: Query = ()) -> tuple[Answer, list[Mapping[str, object]]]:
        """Read a list of records from slurmctld."""
        answer = await self.connection.get("slurm", path, query)
        return answer, listing_of(answer, key)

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Ask the controller for each id, then accounting, many at once, for those it no longer has.

        ``ended`` says that all are over: then accounting is asked first, where one request serves 100 jobs, and the
        controller only for what is missing or not final there, or where it is one job.
        """
        return await describe(
            ids,
            controller=self._each_from_controller,
            accounting=self._accounting.latest,
            first=self._many_closed if ended else nothing,
        )

    async def _many_closed(self, ids: Sequence[int]) -> list[JobInfo]:
        """Return the records of those that accounting knows to be over, given a moment to hear of it."""
        found: list[JobInfo] = []
        asked = list(ids)
        for pause in _LATE:
            if len(asked) < 2:
                break
            await asyncio.sleep(pause)
            records = await self._accounting.closed(asked)
            if records is None:
                break
            found += records
            asked = missing(asked, records)
        return found

    async def _each_from_controller(self, ids: Sequence[int]) -> list[JobInfo]:
        answers = await asyncio.gather(*(self.controller_records(job_id) for job_id in ids))
        return [record for answer in answers for record in answer]

    async def controller_records(self, job_id: int) -> list[JobInfo]:
        """Return the controller's records of one job, none when it does not know it."""
        try:
            _, records = await self.records(f"/job/{job_id}", "jobs")
        except JobNotFound:
            return []
        return [read_controller_job(record) for record in records]

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record that accounting has under these ids."""
        return await self._accounting.incarnations(ids)

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return the records of jobs that were there in a span of time; see HistoryQuery."""
        return await self._accounting.history(query)

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used."""
        return await self._accounting.usage(ids)

    async def accounting(self, path: str, query: Query = ()) -> Answer:
        """Read from slurmdbd."""
        return await self._accounting.get(path, query)

    # --- lists ----------------------------------------------------------------------------------------------

    async def job_records(self, states: Collection[str] = (), *, limit: int | None = None) -> list[JobInfo]:
        """Return a record for every job in the controller, or those in some states where they are few."""
        return await listing.job_records(self, states, limit)

    async def nodes(self) -> list[Node]:
        """Return all nodes."""
        return await listing.nodes(self)

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        return await listing.partitions(self)

    async def diag(self) -> Diagnostics:
        """Return slurmctld's counters."""
        answer, _ = await self.records("/diag/", "statistics")
        return read_diagnostics(answer.body)

    # --- acting ---------------------------------------------------------------------------------------------

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Cancel or signal jobs; see Actor for all of these."""
        return await self._actor.cancel(ids, signal)

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Keep jobs from starting."""
        return await self._actor.hold(ids, held=True)

    async def release(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Let held jobs start."""
        return await self._actor.hold(ids, held=False)

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        """Send jobs back to the queue (v0.0.45)."""
        return await self._actor.requeue(ids, hold=hold)

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change options of a job."""
        await self._actor.update(job_id, changes)

    async def ping(self) -> list[Ping]:
        """Ask ``ping/`` and then make a read that needs a good token: ping alone takes any."""
        version = await self.connection.version()
        answer = await self.connection.get("slurm", "/ping/")
        pings = read_ping(answer.body, version)
        if any(ping.responding for ping in pings):
            await self.connection.prove_token()
            return pings
        # A refused token looks like a dead controller here. The read tells, though it takes 10 s when it is dead.
        try:
            await self.connection.prove_token()
        except (AuthError, ControllerDown):
            raise
        except SlurmError as error:
            raise controller_down(answer.context) from error
        return pings

    async def ping_accounting(self) -> None:
        """Make a small read from slurmdbd; raises AccountingDown, UnknownUser, or what else is wrong."""
        user = self.connection.settings.user or read_claims(await self.connection.tokens.token()).user
        if not user:
            await self.accounting("/clusters/")
            return
        try:
            await self.accounting("/jobs/", [("users", user), ("step", "1"), ("skip_steps", "true")])
        except ApiError as error:
            if error.error_number != NO_SUCH_USER:
                raise
            await self._require_known(user, error)

    async def _require_known(self, user: str, error: ApiError) -> None:
        """Where slurmrestd's own host does not know a user, accounting may; 24.11 takes the reads of anybody."""
        answer = await self.accounting(f"/user/{quote(user, safe='')}")
        if not items(answer.body.get("users")):
            told = f"Neither slurmrestd's host nor accounting knows the user {user!r}"
            raise unknown_user(error.context, self.connection.settings.user or "", told) from error


def _minor(release: str) -> str:
    return ".".join(release.split(".")[:2])


def _keep(keys: dict[int, str], job_id: int, key: str) -> None:
    keys[job_id] = key
    if len(keys) > _KEPT:
        del keys[next(iter(keys))]
