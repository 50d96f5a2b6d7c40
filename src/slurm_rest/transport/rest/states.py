"""Asks ``jobs/state/`` for many ids at once, and gives each row the id that was asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from slurm_rest.transport.base import StateRow
from slurm_rest.transport.ids import MAX_JOB_ID, check_id

from .readings import assign_rows, choose_separator, separated, split_rows

__all__ = ["IDS_PER_REQUEST", "StateReader", "chunks"]

# A query above 64 KiB is cut silently by 24.11; 1000 ids make 16 KiB and cost slurmrestd 5 ms, 4000 cost 40 ms.
IDS_PER_REQUEST = 1000


class StateReader:
    """Keeps in mind which ids are arrays, and a job that can stand between them in a question.

    ``ask`` sends one request and returns its rows as they come.
    """

    def __init__(self, ask: Callable[[Sequence[int]], Awaitable[list[StateRow]]]) -> None:
        self._ask = ask
        self._arrays: set[int] = set()
        self._separator: tuple[int, int] | None = None

    async def read(self, ids: Collection[int]) -> list[StateRow]:
        """Return the rows of exactly these ids, under these ids.

        Several arrays whose tasks come under their own ids are told apart by a known job between them.
        """
        # Plain numbers, the rule, need no second look.
        numbers = {one if type(one) is int and one > 0 else int(check_id(one)) for one in ids}
        asked = [job_id for job_id in sorted(numbers) if job_id <= MAX_JOB_ID]
        arrays = [job_id for job_id in asked if job_id in self._arrays]
        if self._separator is None or len(arrays) < 2:
            rows = [row for chunk in chunks(asked, IDS_PER_REQUEST) for row in await self._rows_of(chunk)]
        else:
            rows = await self._rows_apart(asked, arrays, *self._separator)
        self._arrays |= {row.job_id for row in rows if row.task_id is not None}
        self._separator = choose_separator(rows)
        return rows

    async def _rows_apart(self, asked: list[int], arrays: list[int], separator: int, owner: int) -> list[StateRow]:
        # The array that the separator is a task of stands in front, where one row more does no harm.
        apart = [job_id for job_id in arrays if job_id != owner]
        heads = chunks([job_id for job_id in asked if job_id not in set(apart)], IDS_PER_REQUEST)
        rows: list[StateRow] = []
        for piece in chunks(apart, IDS_PER_REQUEST // 2):
            fits = heads and len(heads[-1]) + 2 * len(piece) <= IDS_PER_REQUEST
            head = heads.pop() if fits else []
            parts = split_rows(piece, separator, await self._ask(separated(head, piece, separator)))
            if parts is None:
                rows += await self._rows_of([*head, *piece])
                continue
            settled, mixed = assign_rows(head, parts[0])
            rows += [*settled, *parts[1], *await self._halves(mixed)]
        for head in heads:
            rows += await self._rows_of(head)
        return rows

    async def _rows_of(self, ids: Sequence[int]) -> list[StateRow]:
        """Ask for ids; those whose tasks cannot be told apart are asked for by halves, until each stands alone."""
        found, mixed = assign_rows(ids, await self._ask(ids))
        return [*found, *await self._halves(mixed)]

    async def _halves(self, mixed: Collection[int]) -> list[StateRow]:
        unclear = sorted(mixed)
        middle = len(unclear) // 2
        return [row for half in (unclear[:middle], unclear[middle:]) if half for row in await self._rows_of(half)]


def chunks(ids: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the ids in pieces of at most ``size``."""
    return [ids[start : start + size] for start in range(0, len(ids), size)]
