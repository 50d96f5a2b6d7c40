"""Pure readers of slurmrestd's answers about several jobs: state rows, cancel reports, accounting records."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from slurm_rest.models import CancelResult
from slurm_rest.records import mapping, number, text
from slurm_rest.states import JobState
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.ids import base_id

__all__ = ["assign_rows", "cancel_results", "choose_separator", "parse_rows", "separated", "split_rows"]

_new_row = tuple.__new__
_ROW = re.compile(r"(?P<id>\d+)(?:_(?P<task>\d+)|_(?P<rest>\*)|\+(?P<offset>\d+))?")
_ALREADY_OVER, _UNKNOWN_ID, _NOT_ALLOWED = 2021, 2017, 2002


def parse_rows(records: Iterable[Mapping[str, object]]) -> list[StateRow]:
    """Read the elements of ``jobs/state/`` as they are; rows whose id has an unknown form are left out.

    An array whose last waiting tasks were cancelled by themselves keeps a row of its own, ``16_*`` (24.11, 26.05).
    """
    rows: list[StateRow] = []
    # There are tens of thousands of rows, and a handful of different states, nearly all of one word.
    states: dict[str, JobState] = {}
    label: Any
    words: Any
    for record in records:
        try:
            label, words = record["job_id"], record["state"]
            (word,) = words
            state = states[word]
        except (KeyError, TypeError, ValueError):
            label, words = record.get("job_id"), record.get("state")
            state = JobState.parse(words)
            if state.raw and words == [state.raw[0]]:
                states[state.raw[0]] = state
        if not isinstance(label, str):
            continue
        if label.isdecimal():
            # Half the time of StateRow(...).
            rows.append(_new_row(StateRow, (int(label), state, None, None, None)))
        elif found := _ROW.fullmatch(label):
            task, offset = (None if found[part] is None else int(found[part]) for part in ("task", "offset"))
            rows.append(StateRow(int(found["id"]), state, task, offset, int(found["id"]) if found["rest"] else None))
    return rows


def assign_rows(asked: Collection[int], rows: Sequence[StateRow]) -> tuple[list[StateRow], set[int]]:
    """Give each row the id that was asked for, and return the ids whose rows cannot be told apart.

    A started array task comes under its own id (``3250_1`` for task 1 of array 3249; only v0.0.40 says ``3249_1``),
    a het component too (``334+1`` behind its leader's ``333+0``). With one array in the question, stray tasks are
    its own; with several, they have to be asked for with something between them.
    """
    known = set(asked)
    # The rule: nothing came that was not asked for.
    if known.issuperset([row[0] for row in rows]):
        return [*rows], set()
    arrays = {row.job_id for row in rows if (row.task_id, row.own_id) != (None, None) and row.job_id in known}
    strays = any(row.task_id is not None and row.job_id not in known for row in rows)
    # An array whose own id ended long ago has stray rows only, so it looks absent.
    candidates = arrays | (known - {row.job_id for row in rows})
    if strays and len(candidates) != 1:
        settled = [row for row in rows if row.task_id is None]
        return _adopt(known, settled, None), candidates
    return _adopt(known, rows, next(iter(candidates)) if strays else None), set()


def separated(first: Sequence[int], arrays: Sequence[int], separator: int) -> list[int]:
    """Return the ids for a question in which a known job stands before each array, whose rows are then a block.

    slurmctld answers id by id in the order of the question, also when an id comes twice (24.11, 26.05).
    """
    return [*first, *(job_id for array in arrays for job_id in (separator, array))]


def split_rows(
    arrays: Sequence[int], separator: int, rows: Sequence[StateRow]
) -> tuple[list[StateRow], list[StateRow]] | None:
    """Take the answer to a separated question apart: the rows in front, and those of the arrays under their ids.

    None where the separator did not come as often as it was asked for: it has left the controller.
    """
    places = [place for place, row in enumerate(rows) if row.job_id == separator]
    if len(places) < len(arrays):
        return None
    # In front it may have come once more, for itself or with its own array.
    places = places[len(places) - len(arrays) :]
    found: list[StateRow] = []
    for array, start, end in zip(arrays, places, [*places[1:], len(rows)], strict=True):
        found += _adopt({array}, rows[start + 1 : end], array)
    return list(rows[: places[0]]), found


def choose_separator(rows: Sequence[StateRow]) -> tuple[int, int] | None:
    """Return an id with one row that will still be there, and the array that it is a task of (0: a job of its own).

    None where no task came under its own id, so that nothing needs to be kept apart.
    """
    if all(row.own_id is None for row in rows):
        return None
    chosen: tuple[int, int] | None = None
    for row in reversed(rows):
        if row.state.is_terminal or row.offset is not None:
            continue
        if row.task_id is None:
            return row.job_id, 0
        if chosen is None and row.own_id is not None:
            chosen = row.own_id, row.job_id
    return chosen


def _adopt(known: Collection[int], rows: Iterable[StateRow], array: int | None) -> list[StateRow]:
    found: list[StateRow] = []
    leader: int | None = None
    for row in rows:
        if row.offset == 0:
            leader = row.job_id
        if row.job_id in known:
            found.append(row)
        elif row.task_id is not None and array is not None:
            found.append(row._replace(job_id=array, own_id=row.job_id))
        elif row.offset is not None and leader is not None and leader in known:
            found.append(row._replace(job_id=leader, own_id=row.job_id))
    return found


def cancel_results(
    ids: Sequence[str], records: Iterable[Mapping[str, object]]
) -> tuple[list[CancelResult], dict[int, int]]:
    """Read ``status`` of a batch cancel: it lists only what went wrong, named by the id that was sent.

    An array is reported task by task, and its finished tasks as such even when others were signalled; the second
    value counts those, by array id, for a second look.
    """
    failures: dict[str, tuple[int, str]] = {}
    members: dict[int, int] = {}
    for record in records:
        error = mapping(record.get("error"))
        code, label = number(error.get("code")) or 0, _plain(text(record.get("step_id")))
        if not code:
            continue
        failures[label] = (code, text(error.get("message")) or text(error.get("string")))
        base = re.split(r"[_+]", label)[0]
        if base != label and base in ids:
            failures.setdefault(base, failures[label])
            members[int(base)] = members.get(int(base), 0) + (code == _ALREADY_OVER)
    return [_result(label, *failures.get(_plain(label), (0, ""))) for label in ids], members


def _plain(label: str) -> str:
    # slurmrestd writes 12_1 back as 12_[1].
    return label.replace("[", "").replace("]", "")


def _result(label: str, code: int, message: str) -> CancelResult:
    job_id = base_id(label)
    if not code:
        return CancelResult(job_id=job_id, outcome="signalled")
    if code == _ALREADY_OVER:
        return CancelResult(job_id=job_id, outcome="already_over", message=message)
    return CancelResult(job_id=job_id, outcome="not_found" if code == _UNKNOWN_ID else "denied", message=message)
