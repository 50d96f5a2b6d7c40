"""What a client tells of the cluster: jobs, nodes, partitions, daemons, and slurmrestd's own operations."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from .history import Moment, make_query, read_states
from .models import Diagnostics, FilesWay, JobUsage, Ping, TransportHealth
from .past import read_history
from .tables import JobTable, NodeTable, PartitionTable
from .transport.base import Capabilities, SlurmTransport
from .transport.files.checking import FilesCheck
from .transport.ids import check_id

if TYPE_CHECKING:
    from .api import AsyncSlurmApi

__all__ = ["JOBS_LIMIT", "Looking"]

# Above this many, one full listing costs slurmrestd 80 MB and 5 s, and each of its threads keeps the memory.
JOBS_LIMIT = 10_000


class Looking:
    """The part of a client that looks around."""

    _transport: SlurmTransport
    _files_check: FilesCheck

    @cached_property
    def api(self) -> AsyncSlurmApi:
        """Every operation of slurmrestd, generated and typed: ``await client.api.get_reservations()``."""
        from .api import AsyncSlurmApi  # thousands of lines, for those who use it

        return AsyncSlurmApi(self._transport.api)

    @property
    def capabilities(self) -> Capabilities:
        """What can be done with the Slurm that answered; before the first answer, what can be done with any."""
        return self._transport.capabilities

    def health(self) -> list[TransportHealth]:
        """Return each way to Slurm, the best first, with its state and the reason; nothing is asked.

        A way that is open was given up for now; requests go over the next one, and it is probed from time to time.
        The last row, ``files``, is for the ways to the cluster's files: open where there is none, or where the last
        ``ping_files()`` did not reach one.
        """
        return [*self._transport.health(), self._files_check.health()]

    async def jobs(
        self,
        *,
        user: str | None = None,
        state: str | Collection[str] | None = None,
        partition: str | None = None,
        name: str | None = None,
        limit: int | None = JOBS_LIMIT,
    ) -> JobTable:
        """Return the records of the jobs in the controller, filtered here.

        This is expensive for slurmrestd: it has no filter, a full record is 8 kB, 10,000 jobs take it 5 s, and it
        keeps the memory afterwards (measured on 24.11). So ``states()`` is what to poll with; with ``state`` alone the
        states are asked first and only the matching jobs read; and above ``limit`` live jobs nothing is read but
        SpecError raised. ``limit=None`` reads all the same.
        """
        wanted = read_states(state)
        return JobTable(
            record
            for record in await self._transport.job_records(wanted, limit=limit)
            if (user is None or record.user == user)
            and (not wanted or record.state.is_any_of(wanted))
            and (partition is None or record.partition == partition)
            and (name is None or record.name == name)
        )

    async def history(
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
        """Return accounting's records of the jobs that were there between two times, oldest first.

        ``start`` is by default this day's midnight, ``end`` now; each is a datetime (without a zone: this host's) or a
        timedelta before now. A job counts if it waited or ran at any moment between; with several starts under one
        id, its last record stands for it. Accounting is asked for one span after the other, newest first, until there
        are ``limit`` records. Raises SpecError for a state or span that makes no sense, NoAccounting, AccountingDown.
        """
        query = make_query(start, end, user=user, state=state, name=name, partition=partition, account=account)
        return await read_history(self._transport, query, limit)

    async def usage(self, ids: int | Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used, as accounting has it of their steps, in order.

        Of an array or het job each member that has started counts by itself, under the id that is its own. Raises
        NoAccounting, AccountingDown.
        """
        asked = [ids] if isinstance(ids, int) else ids
        return await self._transport.usage({int(check_id(job_id)) for job_id in asked})

    async def nodes(self) -> NodeTable:
        """Return all nodes."""
        return NodeTable(await self._transport.nodes())

    async def partitions(self) -> PartitionTable:
        """Return all partitions."""
        return PartitionTable(await self._transport.partitions())

    async def ping(self) -> list[Ping]:
        """Prove with an authenticated read that the controller answers; raises the error that says what is wrong."""
        return await self._transport.ping()

    async def ping_accounting(self) -> None:
        """Prove that accounting answers; raises AccountingDown or what else is wrong."""
        await self._transport.ping_accounting()

    async def ping_files(self) -> list[FilesWay]:
        """Try each way to the cluster's files, in the order in which they are taken; a single ``none`` without any.

        It looks at the top of each mapped directory, and opens an SFTP session. A broken way raises nothing.
        """
        return await self._files_check.check()

    async def diag(self) -> Diagnostics:
        """Return slurmctld's counters, which slurmrestd alone tells."""
        return await self._transport.diag()

    async def api_version(self) -> str:
        """Return the API version in use, negotiated at the first request; ConfigError without slurmrestd."""
        return await self._transport.api.api_version()
