"""What one tick leaves for the next: whom to ask about, and who has to be looked at whatever the answer is. Pure.

Of 10,000 jobs few move between two ticks. To look at each of them costs ten times as much as to compare two answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .followed import Moment
from .identity import MemberKey
from .rows import grouped
from .states import JobState
from .transport.base import StateRow
from .watched import Watched

__all__ = ["Round"]

_NOTHING: dict[MemberKey, JobState] = {}


class Round:
    """Live jobs, and what was told of them the last time. ``looked`` are those that the last answer may have changed.

    Those that nothing changes share one moment of when they were told of, which moves on with each answer.
    """

    def __init__(self, entries: Sequence[Watched]) -> None:
        self.asked = [entry for entry in entries if not entry.replaced]
        self.ids = frozenset(entry.identity.job_id for entry in self.asked)
        self.looked = entries
        # These have to be looked at, whatever is told.
        self._restless: Sequence[Watched] = entries
        self._rows: list[StateRow] | None = None
        self._moment: Moment | None = None
        self._by_id: dict[int, Watched] = {}

    def take(self, rows: list[StateRow], moment: Moment, *, anew: bool = False) -> bool:
        """Take an answer and return whether any job moved; ``anew`` looks at each of them."""
        changed = None if anew or self._rows is None else _changed(self._rows, rows)
        self._rows = rows
        before = None
        if changed is None or self._moment is None:
            self._moment = moment
            self.looked = [*self.asked, *(entry for entry in self._restless if entry.replaced)]
        else:
            before = replace(self._moment)
            self._moment.now, self._moment.at = moment.now, moment.at
            self.looked = [*self._restless, *self._others(changed)]
            ids = {entry.job_id for entry in self.looked}
            rows = [row for row in rows if row[0] in ids] if ids else []
        found, own_ids = grouped(rows)
        moved = False
        for entry in self.looked:
            if entry.replaced:
                continue
            job_id = entry.identity.job_id
            members = found.get(job_id, _NOTHING)
            if not members and entry.told is self._moment:
                entry.told = before
            moved = entry.take(members, self._moment) or moved
            if own_ids and job_id in own_ids:
                entry.own_ids.update(own_ids[job_id])
        return moved

    def _others(self, changed: set[int]) -> list[Watched]:
        if not changed:
            return []
        known = {id(entry) for entry in self._restless}
        by_id = self._index()
        return [by_id[job_id] for job_id in changed if job_id in by_id and id(by_id[job_id]) not in known]

    def narrow(self) -> Sequence[Watched]:
        """Leave out those of whom there is nothing to be asked but their states."""
        self.looked = [entry for entry in self.looked if not entry.is_quiet]
        return self.looked

    def is_kept(self) -> bool:
        """Leave out those that are over; False asks for a new round, as where two are followed under one id."""
        if self._rows is None or len(self.ids) < len(self.asked):
            return False
        self._drop([entry for entry in self.looked if entry.is_over or entry.replaced])
        self.looked = self._restless = [entry for entry in self.looked if not entry.is_over]
        return True

    def _drop(self, gone: Sequence[Watched]) -> None:
        by_id = self._index() if gone else {}
        # The controller's other job under an id may be followed as well.
        ids = {entry.job_id for entry in gone if by_id.get(entry.job_id) is entry}
        for entry in gone:
            if entry.told is self._moment and self._moment is not None:
                entry.told = replace(self._moment)
        for job_id in ids:
            del by_id[job_id]
        if ids:
            self.asked, self.ids = [*by_id.values()], self.ids - ids
            self._rows = [row for row in self._rows or () if row[0] not in ids]

    def _index(self) -> dict[int, Watched]:
        self._by_id = self._by_id or {entry.job_id: entry for entry in self.asked}
        return self._by_id


def _changed(before: list[StateRow], rows: list[StateRow]) -> set[int] | None:
    """Return the ids of which not the same is told, None where that cannot be seen."""
    if before == rows:
        return set()
    if len(before) != len(rows):
        return None
    pairs = zip(before, rows, strict=True)
    return {job_id for one, other in pairs if one is not other and one != other for job_id in (one[0], other[0])}
