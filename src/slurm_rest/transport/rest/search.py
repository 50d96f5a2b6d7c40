"""Looks for the job that carries a submission's key, cheaply: states first, records of candidates only.

One listing of states costs 80 bytes a job, a record 8 kB and 2 ms; ``jobs/`` with everybody's full records is never
read. Accounting knows what already left the controller, and which of the live jobs are the user's.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from slurm_rest.errors import AccountingDown, NoAccounting
from slurm_rest.models import JobInfo
from slurm_rest.records import read_accounting_job
from slurm_rest.transport import recovery
from slurm_rest.transport.answers import listing_of
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.once import STAYS
from slurm_rest.transport.recovery import (
    Bounds,
    Look,
    carries,
    given_after,
    is_foreign,
    is_older,
    is_suspect,
    newest_first,
)

from .building import Query

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["Search"]

# As many at a time as the connection sends at once, four times over.
_BATCH = 16
# So many are read whatever they are called; of those behind them the names are asked for, so many at a time.
_UNNAMED, _NAMED = 64, 1000
# Ids asked about behind the last known one: 16 KiB of query, 5 ms.
_NEAR = 1000
# Slurm's times are whole seconds, and clocks differ a little.
_ROUGHLY = 5.0
# Neither task nor offset nor another id.
_ALONE = (None, None, None)
# A name that accounting keeps as it is (it cuts off behind 255 bytes) and that its comma list does not split.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]{1,255}")


class Search:
    """The search for one key. What was read once and is another job is not read again."""

    def __init__(self, rest: RestTransport, job: PreparedJob, *, since: float, bounds: Bounds | None = None) -> None:
        self._rest = rest
        self._last = 0
        self._job = job
        self._since = since
        self._bounds = bounds or recovery.BOUNDS
        self._others: set[int] = set()
        self._left = self._names_left = 0
        self._looked = -STAYS

    def sending(self) -> None:
        """Keep in mind the newest job known before the job is sent."""
        self._last = self._rest.newest

    async def look(self, *, final: bool) -> Look:
        """Look behind the last known id first, where the job nearly always is; then everywhere."""
        last, self._last = self._last, 0
        if last:
            started = time.monotonic()
            jobs = await self.near(last)
            if jobs:
                return Look(started, time.monotonic(), tuple(jobs), complete=False)
        return await self.whole(final=final)

    async def near(self, last: int) -> list[JobInfo]:
        """Look among the ids that follow the last known one. Nothing found means nothing."""
        async with self._rest.looking:
            rows = await self._rest.state_rows(range(last + 1, last + 1 + _NEAR))
            self._left = self._bounds.records
            ids = {row.job_id for row in rows if row.job_id > last}
            jobs, _ = await self._read(sorted(ids - self._known()))
        return jobs

    async def whole(self, *, back: float | None = None, every: bool = False, final: bool = True) -> Look:
        """Look at everything that could be the job: in the controller, and in accounting ``back`` seconds ago and on.

        ``every`` goes on after the first job with the key. A look that is not ``final`` leaves accounting alone, so it
        cannot tell that there is none.
        """
        # One at a time: what one search reads, the next need not.
        async with self._rest.looking:
            return await self._whole(back, every=every, final=final, deep=self._job.repeated)

    async def beside(self, made: int) -> Look:
        """Look for every other job with the key than this one, whose record is not read.

        Soon after a whole look neither accounting nor the age of the controller need be asked: see STAYS.
        """
        async with self._rest.looking:
            self._others.add(made)
            return await self._whole(None, every=True, final=time.monotonic() - self._looked > STAYS)

    async def _whole(self, back: float | None, *, every: bool, final: bool, deep: bool = False) -> Look:
        started = time.monotonic()
        rows = await self._rest.all_states()
        listed = {row.job_id for row in rows}
        if final:
            await self._rest.notice_restart()
        self._left, self._names_left = self._bounds.records, self._bounds.names
        # A look that is not final leaves accounting alone, and of a group it would tell all members.
        named = {row.job_id for row in rows if row[2:] == _ALONE} if final else set()
        old = self._sent_there - self._bounds.skew
        jobs, complete = await self._walk(newest_first(listed - self._known()), old, every=every, named=named)
        lacks: Literal["", "away", "none"] = ""
        if final and (every or not jobs):
            try:
                more, certain = await self._accounted(listed, self._bounds.skew if back is None else back)
            except AccountingDown as error:
                lacks = "none" if isinstance(error, NoAccounting) else "away"
                if deep and complete and not jobs:
                    # What is older, too, only the controller tells now.
                    left = newest_first(listed - self._known())
                    jobs, complete = await self._walk(left, old - self._bounds.horizon, every=every, named=())
            else:
                jobs, complete = jobs + more, complete and certain
        if complete and final:
            self._looked = started
        unique = {record.id: record for record in jobs}
        whole = complete and final and not lacks
        return Look(started, time.monotonic(), tuple(unique.values()), whole, lacks if complete else "")

    def _known(self) -> set[int]:
        """Return the ids of jobs that are certainly others: read here, or with a key of another submission."""
        keys = (self._rest.made, self._rest.seen)
        keyed = ((one for one, key in ids.items() if key != self._job.key) for ids in keys)
        return self._others.union(self._rest.names.others(self._job.name), *keyed)

    async def _walk(
        self, ids: Sequence[int], old: float, *, every: bool, named: Collection[int]
    ) -> tuple[list[JobInfo], bool]:
        """Read from the newest id back to what was submitted before the moment ``old``.

        Behind the newest ones those of ``named`` whose names tell that they are others are not read.
        """
        found: list[JobInfo] = []
        doubt = False
        mark, moment = self._rest.aged
        if moment <= old:
            ids = given_after(ids, mark)
        left, chunk = ids[_UNNAMED:], ids[:_UNNAMED]
        while chunk or left:
            for start in range(0, len(chunk), _BATCH):
                jobs, records = await self._read(chunk[start : start + _BATCH])
                found += jobs
                doubt = doubt or any(self._could_be(record) for record in records)
                aged = [record.id for record in records if is_older(record, old)]
                if aged and moment <= old:
                    self._rest.aged = (newest_first(aged)[0], old)
                if aged or (found and not every) or self._left <= 0:
                    return found, self._left > 0 and not doubt
            chunk, left = left[:_NAMED], left[_NAMED:]
            await self._learn_names([job_id for job_id in chunk if job_id in named], old)
            known = self._known()
            chunk = [job_id for job_id in chunk if job_id not in known]
        return found, self._left > 0 and not doubt

    async def _learn_names(self, ids: Sequence[int], since: float) -> None:
        """Learn from accounting which jobs are others by their names, as many as one look may."""
        asked = ids[: max(self._names_left, 0)]
        self._names_left -= len(asked)
        if self._job.name and self._rest.names.are_kept:
            await self._rest.names.ask(self._rest, asked, since)

    async def _read(self, ids: Sequence[int]) -> tuple[list[JobInfo], list[JobInfo]]:
        """Read the records of candidates; returns those with the key, and all."""
        wanted = ids[: max(self._left, 0)]
        self._left -= len(wanted)
        answers = await asyncio.gather(*(self._rest.controller_records(job_id) for job_id in wanted))
        records = [record for answer in answers for record in answer]
        jobs = [record for record in records if self._carries(record)]
        for record in records:
            # What is read by one search, the next need not: a job of another key, and one of somebody else.
            if record.submission_key not in ("", self._job.key) or is_foreign(record, self._job.user):
                self._rest.saw(record.id, record.submission_key)
            elif record not in jobs and not self._could_be(record):
                self._others.add(record.id)
                self._rest.names.saw(record)
        return jobs, records

    @property
    def _sent_there(self) -> float:
        """When the job was sent by the cluster's clock, as far as its answers have told how that differs from here."""
        return self._since + self._rest.connection.tokens.clock.skew

    def _carries(self, record: JobInfo) -> bool:
        job = self._job
        return carries(record, job.key, job.user, job.name if job.own_name else "")

    def _could_be(self, record: JobInfo) -> bool:
        return is_suspect(record, self._job.name, self._job.user, self._sent_there - _ROUGHLY)

    async def _accounted(self, listed: Collection[int], back: float) -> tuple[list[JobInfo], bool]:
        """Ask accounting for the user's jobs that are live or ended lately; the live ones the controller describes."""
        answer = await self._rest.accounting("/jobs/", self._question(back))
        records = [read_accounting_job(record) for record in listing_of(answer, "jobs")]
        # What came after the listing may still be in the controller, where the comment is certain.
        here = {
            record.id
            for record in records
            if record.id in listed or not record.state.is_terminal or self._could_be(record)
        }
        jobs, read = await self._read(sorted(here - self._known()))
        gone = [record for record in records if record.id not in here] + self._purged(records, here, read)
        jobs += [record for record in gone if self._carries(record)]
        return jobs, self._left > 0 and not any(self._could_be(record) for record in gone)

    def _purged(self, records: Sequence[JobInfo], here: Collection[int], read: Sequence[JobInfo]) -> list[JobInfo]:
        known = {record.id for record in read} | self._known()
        return [record for record in records if record.id in here and record.id not in known]

    def _question(self, back: float) -> Query:
        # Without this flag neither held jobs nor those cancelled while held are listed. Relative times are the
        # only ones that every API version reads, and they follow the cluster's own clock.
        query = [("usage_time_as_submit_time", "true"), ("start_time", f"now-{int(back)}seconds")]
        query += [("skip_steps", "true")]
        if self._job.user:
            query.append(("users", self._job.user))
        if _PLAIN_NAME.fullmatch(self._job.name):
            query.append(("job_name", self._job.name))
        return query
