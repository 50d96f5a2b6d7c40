"""Asks how jobs ended, all those of a tick together: controller, accounting, and what jobs left themselves.

What the answers mean for each of them is for Watched to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from .errors import AccountingDown, NoAccounting, SlurmError, TransportError
from .exit_files import ExitReader
from .identity import MemberKey, by_id, member_key
from .models import JobInfo
from .transport.base import StatusSource
from .transport.ids import latest_records
from .watched import Watched

__all__ = ["EndReader"]

# As many as a connection over SSH has channels.
_EXIT_READS = 8


class _MarkStale(Protocol):
    def __call__(self, entries: list[Watched], error: SlurmError) -> None: ...


class EndReader:
    """Reads full records, and settles with them what is followed. Each step returns whether anything moved.

    ``mark_stale`` is told of those whose news ``error`` keeps back; ``now`` is the poller's clock.
    """

    def __init__(
        self, source: StatusSource, exits: ExitReader | None, now: Callable[[], float], mark_stale: _MarkStale
    ) -> None:
        self.exits = exits
        self._source = source
        self._now = now
        self._mark_stale = mark_stale

    async def records(self, entries: list[Watched]) -> bool:
        """Ask for the full records of all that ended, at once."""
        whole = [entry for entry in entries if entry.wants_record]
        parts = [(entry, key) for entry in entries if not entry.wants_record for key in entry.ended_members()]
        ids = {entry.job_id for entry in whole} | {entry.own_ids.get(key, entry.job_id) for entry, key in parts}
        left = {entry.job_id for entry in whole if entry.missing_since is not None}
        try:
            records = by_id(await self._source.describe(ids, ended=True))
        except NoAccounting:
            # It is kept, but no way leads there: what left the controller is as unknown as without any.
            records = by_id(await self._source.describe(ids - left, ended=True)) if ids - left else {}
        except AccountingDown as error:
            if not ids - left:
                raise
            # What is still in the controller need not wait for accounting.
            records = by_id(await self._source.describe(ids - left, ended=True))
            self._mark_stale([entry for entry in whole if entry.job_id in left], error)
            whole = [entry for entry in whole if entry.job_id not in left]
        whole = await self._read_exits(await self._look_for_waiting(whole, records), records)
        now, accounting = self._now(), self._source.capabilities.accounting
        for entry, key in parts:
            entry.settle_member(key, records.get(entry.own_ids.get(key, entry.job_id), ()), now)
        doubtful = [
            entry for entry in whole if not entry.settle(records.get(entry.job_id, ()), now, accounting=accounting)
        ]
        if doubtful:
            again = by_id(await self._source.describe({entry.job_id for entry in doubtful}))
            for entry in doubtful:
                entry.settle(again.get(entry.job_id, ()), now, accounting=accounting)
        return any(entry.is_over for entry in whole) or bool(parts)

    async def _look_for_waiting(self, entries: list[Watched], records: dict[int, list[JobInfo]]) -> list[Watched]:
        """Ask accounting itself for members that vanished while they waited; return the entries that can be judged.

        That it has none makes them cancelled ones, so its word is needed: full records come without it, too, while it
        is away. What it has is added to the records.
        """
        doubted = {
            entry.job_id: keys for entry in entries if (keys := entry.never_seen_running(records.get(entry.job_id, ())))
        }
        if not doubted:
            return entries
        try:
            found = by_id(await self._source.incarnations(doubted))
        except NoAccounting:
            return entries
        except AccountingDown as error:
            self._mark_stale([entry for entry in entries if entry.job_id in doubted], error)
            return [entry for entry in entries if entry.job_id not in doubted]
        for job_id, keys in doubted.items():
            mine = [record for record in latest_records(found.get(job_id, ())) if member_key(record) in keys]
            records.setdefault(job_id, []).extend(mine)
        return entries

    async def _read_exits(self, entries: list[Watched], records: dict[int, list[JobInfo]]) -> list[Watched]:
        """Add to the records what jobs left themselves that nobody else knows; return the entries that can be judged.

        While the way to the files is broken, a job whose end nobody told stays as it is.
        """
        exits, away = self.exits, set[int]()
        if exits is None:
            return entries
        turns = asyncio.Semaphore(_EXIT_READS)

        async def read(entry: Watched, key: MemberKey) -> None:
            try:
                async with turns:
                    found = await exits.read(entry.job_id, key[0])
            except TransportError as error:
                away.add(id(entry))
                self._mark_stale([entry], error)
                return
            records.setdefault(entry.job_id, []).extend(entry.tell_exit(found, key))

        wanted = [(entry, key) for entry in entries for key in entry.unread(records.get(entry.job_id, ()))]
        # The script of a het job is its leader's, and leaves none.
        await asyncio.gather(*(read(entry, key) for entry, key in wanted if key[1] is None))
        return [entry for entry in entries if id(entry) not in away]

    async def replaced(self, entries: list[Watched]) -> bool:
        """Look for jobs whose id now belongs to another one."""
        try:
            records = by_id(await self._source.incarnations({entry.job_id for entry in entries}))
        except NoAccounting:
            records = {}
        for entry in entries:
            entry.settle_replaced(records.get(entry.job_id, ()))
        return True

    async def compare(self, entries: list[Watched]) -> bool:
        """Find out from accounting whose ids now belong to other jobs, and mark those for ``replaced``."""
        try:
            records = by_id(await self._source.incarnations({entry.job_id for entry in entries}))
        except AccountingDown:
            # The full record at the end tells it as well, only later.
            records = {}
        for entry in entries:
            entry.suspect = False
            entry.replaced = entry.is_another(records.get(entry.job_id, []))
        return False
