"""Reads jobs from slurmdbd, through slurmrestd."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

from slurm_rest.errors import AccountingDown, ApiError, NoAccounting, UnsupportedVersion, VersionNotServed
from slurm_rest.history import HistoryQuery
from slurm_rest.models import JobInfo, JobUsage
from slurm_rest.records import read_accounting_job
from slurm_rest.transport.answers import (
    NO_SUCH_USER,
    Answer,
    listing_of,
    no_accounting,
    no_such_user,
    unserved_accounting,
)
from slurm_rest.transport.describing import closed
from slurm_rest.transport.ids import latest_records
from slurm_rest.usage import read_usage

from .building import Query
from .connection import Connection
from .states import chunks

__all__ = ["AccountingReader"]

_IDS_PER_REQUEST = 100
# How long the word stands that there is no accounting.
_ABSENT_SECONDS = 60.0


class AccountingReader:
    """Asks for jobs by id, many at once, or by a span of time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._absent_until = 0.0
        self._elsewhere = False

    @property
    def is_absent(self) -> bool:
        """True when the cluster said that it keeps no accounting."""
        return self._absent_until > 0

    async def latest(self, ids: Collection[int]) -> list[JobInfo]:
        """Return the last record of each id and of each of its members."""
        return [record for answer in await self._by_id(ids) for record in latest_records(answer)]

    async def closed(self, ids: Collection[int]) -> list[JobInfo] | None:
        """Return the records of jobs that are over for accounting too, None when it does not answer."""
        try:
            return closed(await self.latest(ids))
        except AccountingDown:
            return None

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record under these ids."""
        # Beside skip_steps, slurmrestd leaves out all but the last record of an id unless it is asked for all.
        answers = await self._by_id(ids, ("show_duplicates", "true"))
        return [record for answer in answers for record in answer]

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return the records of a span of time, the last one of each job."""
        try:
            return await self._records(query.pairs())
        except ApiError as error:
            if error.error_number != NO_SUCH_USER:
                raise
            raise no_such_user(" or ".join(query.users), self._connection.where, error.context) from error

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what was used under these ids: the one question that reads steps."""
        found: list[JobUsage] = []
        for chunk in self._chunks(ids):
            answer = await self.get("/jobs/", [*_named(chunk), ("show_duplicates", "true")])
            found += [read_usage(record) for record in listing_of(answer, "jobs")]
        return found

    async def _by_id(self, ids: Collection[int], *more: tuple[str, str]) -> list[list[JobInfo]]:
        return [await self._records([*_named(chunk), *more]) for chunk in self._chunks(ids)]

    def _chunks(self, ids: Collection[int]) -> Iterator[Sequence[int]]:
        for chunk in chunks(sorted(ids), _IDS_PER_REQUEST):
            self._connection.metrics.record_batch("rest", "GET slurmdb/jobs", len(chunk))
            yield chunk

    async def _records(self, query: Sequence[tuple[str, str]]) -> list[JobInfo]:
        answer = await self.get("/jobs/", [*query, ("skip_steps", "true")])
        return [read_accounting_job(record) for record in listing_of(answer, "jobs")]

    async def get(self, path: str, query: Query = ()) -> Answer:
        """Read from slurmdbd; raises NoAccounting where the cluster has none."""
        if time.monotonic() < self._absent_until:
            raise self._absence()
        try:
            answer = await self._connection.get("slurmdb", path, query)
        except UnsupportedVersion as error:
            if isinstance(error, VersionNotServed):
                raise
            # A slurmrestd of a cluster without accounting cannot load what answers under /slurmdb; others need not.
            self._elsewhere = await self._connection.accounting_storage()
            self._absent_until = time.monotonic() + _ABSENT_SECONDS
            raise self._absence() from error
        self._absent_until = 0.0
        return answer

    def _absence(self) -> NoAccounting:
        return (unserved_accounting if self._elsewhere else no_accounting)(self._connection.settings.url)


def _named(ids: Sequence[int]) -> list[tuple[str, str]]:
    return [("step", str(job_id)) for job_id in ids]
