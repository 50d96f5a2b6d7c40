"""Asks ``jobs/state/`` for many ids at once, and gives each row the id that was asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from slurm_rest.transport.answers import Answer
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.ids import MAX_JOB_ID, check_id

from .readings import assign_rows, choose_separator, separated, split_rows

__all__ = ["IDS_PER_REQUEST", "StateReader", "Told", "chunks"]

# A query above 64 KiB is cut silently by 24.11; 1000 ids make 16 KiB and cost slurmrestd 5 ms, 4000 cost 40 ms.
IDS_PER_REQUEST = 1000
# Questions about fewer are cheap, and must not displace what is known of those that are asked again and again.
_FEW = 100


@dataclass(frozen=True, slots=True)
class Told:
    """What slurmrestd told: the rows as they come, and the answer that they were read from, without them."""

    rows: Sequence[StateRow]
    answer: Answer


@dataclass(frozen=True, slots=True)
class _Piece:
    """The rows of some ids under these ids, those that are not clear, and which ids are arrays."""

    told: Told
    rows: Sequence[StateRow]
    mixed: Collection[int]
    arrays: frozenset[int]

    @classmethod
    def of(cls, ids: Sequence[int], told: Told) -> _Piece:
        rows, mixed = assign_rows(ids, told.rows)
        return cls(told, rows, mixed, frozenset(row.job_id for row in rows if row.task_id is not None))


class StateReader:
    """Keeps in mind which ids are arrays, and a job that can stand between them in a question.

    ``ask`` sends one request for ids. It gets what was told about the same ids the last time, and returns just that if
    the answer was the same: most of what a poller asks has not moved, and need not be read again.
    """

    def __init__(self, ask: Callable[[Sequence[int], Told | None], Awaitable[Told]]) -> None:
        self._ask = ask
        self._arrays: set[int] = set()
        self._separator: tuple[int, int] | None = None
        self._pieces: dict[tuple[int, ...], _Piece] = {}
        self._starts: list[int] = []
        self._ids: frozenset[int] = frozenset()
        self._asked: list[int] = []

    async def read(self, ids: Collection[int]) -> list[StateRow]:
        """Return the rows of exactly these ids, under these ids.

        Several arrays whose tasks come under their own ids are told apart by a known job between them.
        """
        asked = self._sorted(ids)
        arrays = [job_id for job_id in asked if job_id in self._arrays] if self._arrays else []
        pieces: dict[tuple[int, ...], _Piece] = {}
        if self._separator is None or len(arrays) < 2:
            rows = [row for chunk in self._chunks(asked) for row in await self._rows_of(chunk, pieces)]
        else:
            rows = await self._rows_apart(asked, arrays, *self._separator, pieces)
        if len(asked) > _FEW:
            self._pieces = pieces
        self._arrays.update(*(piece.arrays for piece in pieces.values()))
        self._separator = choose_separator(rows) if self._arrays else None
        return rows

    def _sorted(self, ids: Collection[int]) -> list[int]:
        if ids is not self._ids:
            # Plain numbers, the rule, need no second look.
            asked = sorted({one if type(one) is int and one > 0 else int(check_id(one)) for one in ids})
            # Nobody has these.
            del asked[bisect_right(asked, MAX_JOB_ID) :]
            if not isinstance(ids, frozenset):
                return asked
            # A set that cannot change is asked for again and again.
            self._ids, self._asked = ids, asked
        return self._asked

    def _chunks(self, asked: Sequence[int]) -> list[Sequence[int]]:
        """Cut where it was cut the last time, in no more pieces than are needed.

        Else one id that left would move all that follow, and every piece would be another question.
        """
        if len(asked) <= IDS_PER_REQUEST:
            return chunks(asked, IDS_PER_REQUEST)
        places = [0, *(bisect_left(asked, start) for start in self._starts[1:]), len(asked)]
        pieces = [asked[start:end] for start, end in pairwise(places)]
        if len(pieces) * IDS_PER_REQUEST >= len(asked) + IDS_PER_REQUEST or not all(
            0 < len(piece) <= IDS_PER_REQUEST for piece in pieces
        ):
            pieces = chunks(asked, IDS_PER_REQUEST)
        self._starts = [piece[0] for piece in pieces]
        return pieces

    async def _rows_apart(
        self, asked: list[int], arrays: list[int], separator: int, owner: int, pieces: dict[tuple[int, ...], _Piece]
    ) -> list[StateRow]:
        # The array that the separator is a task of stands in front, where one row more does no harm.
        apart = [job_id for job_id in arrays if job_id != owner]
        heads = chunks([job_id for job_id in asked if job_id not in set(apart)], IDS_PER_REQUEST)
        rows: list[StateRow] = []
        for piece in chunks(apart, IDS_PER_REQUEST // 2):
            fits = heads and len(heads[-1]) + 2 * len(piece) <= IDS_PER_REQUEST
            head = heads.pop() if fits else []
            told = await self._ask(separated(head, piece, separator), None)
            parts = split_rows(piece, separator, told.rows)
            if parts is None:
                rows += await self._rows_of([*head, *piece], pieces)
                continue
            settled, mixed = assign_rows(head, parts[0])
            rows += [*settled, *parts[1], *await self._halves(mixed, pieces)]
        for head in heads:
            rows += await self._rows_of(head, pieces)
        self._arrays |= {row.job_id for row in rows if row.task_id is not None}
        return rows

    async def _rows_of(self, ids: Sequence[int], pieces: dict[tuple[int, ...], _Piece]) -> list[StateRow]:
        """Ask for ids; those whose tasks cannot be told apart are asked for by halves, until each stands alone."""
        name = tuple(ids)
        before = self._pieces.get(name)
        told = await self._ask(ids, before.told if before else None)
        piece = before if before is not None and told is before.told else _Piece.of(ids, told)
        pieces[name] = piece
        return [*piece.rows, *await self._halves(piece.mixed, pieces)] if piece.mixed else [*piece.rows]

    async def _halves(self, mixed: Collection[int], pieces: dict[tuple[int, ...], _Piece]) -> list[StateRow]:
        unclear = sorted(mixed)
        middle = len(unclear) // 2
        halves = (unclear[:middle], unclear[middle:])
        return [row for half in halves if half for row in await self._rows_of(half, pieces)]


def chunks(ids: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the ids in pieces of at most ``size``."""
    return [ids[start : start + size] for start in range(0, len(ids), size)]
