"""Lists of records that show themselves as tables, in a terminal and in a notebook."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from html import escape
from typing import Generic, TypeVar

from .models import JobInfo, Node, Partition

__all__ = ["JobTable", "NodeTable", "OutcomeTable", "PartitionTable", "PastTable", "Table", "clean", "format_table"]

T = TypeVar("T")
Columns = Sequence[tuple[str, Callable[[T], str]]]
Paint = Callable[[str, str], str]
_SHOWN_ROWS = 100
# A column that has to give way keeps this much, enough to tell most names apart.
_LEAST_WIDTH = 8
_GAP = "  "
# Jupyter has cells to the right, as numbers are.
_LEFT = 'style="text-align: left"'


class Table(list[T], Generic[T]):
    """A list whose ``columns`` say how each element is shown. Its text is the table, its repr the first rows."""

    columns: Columns[T] = ()

    @classmethod
    def titles(cls) -> list[str]:
        """Return the titles of the columns."""
        return [title for title, _ in cls.columns]

    def rows(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[show(item) for _, show in self.columns] for item in self]

    def __str__(self) -> str:
        return "\n".join(format_table(self.titles(), self.rows()))

    def __repr__(self) -> str:
        shown = type(self)(self[:_SHOWN_ROWS])
        more = [f"and {len(self) - len(shown)} more"] if len(self) > len(shown) else []
        return "\n".join([str(shown), *more])

    def _repr_html_(self) -> str:
        head = "".join(f"<th {_LEFT}>{escape(title)}</th>" for title, _ in self.columns)
        rows = [
            "<tr>" + "".join(f"<td {_LEFT}>{escape(clean(show(item)))}</td>" for _, show in self.columns) + "</tr>"
            for item in self[:_SHOWN_ROWS]
        ]
        if len(self) > _SHOWN_ROWS:
            rows.append(f'<tr><td colspan="{len(self.columns)}">and {len(self) - _SHOWN_ROWS} more</td></tr>')
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def clean(text: str) -> str:
    r"""Make text from a cluster harmless to show: what cannot be printed becomes ``\n``, ``\x1b`` or ``\xff``.

    Bytes that were not UTF-8 arrive as surrogates and are shown as the bytes that they were.
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def cell_width(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Return ``text``, cut to ``width`` columns with an ellipsis at its end where it is longer."""
    if cell_width(text) <= width:
        return text
    room = max(0, width - len(ellipsis))
    kept, used = 0, 0
    for character in text:
        used += _character_width(character)
        if used > room:
            break
        kept += 1
    return (text[:kept] + ellipsis)[: max(0, width)]


def format_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    ellipsis: str = "…",
    paint: Paint | None = None,
) -> list[str]:
    """Return the lines of an aligned table, titles first.

    ``width`` is that of the terminal; without one nothing is cut or left out. ``paint`` gets a column's title and a
    padded cell and may put colour around it.
    """
    shown_columns = [[title, *(clean(row[place]) or "-" for row in rows)] for place, title in enumerate(titles)]
    if width is not None:
        shown_columns = _without_idle(shown_columns, width)
    titles = [column[0] for column in shown_columns]
    natural = [max(map(cell_width, column)) for column in shown_columns]
    widths = natural if width is None else _narrowed(natural, titles, width)
    lines = []
    for row in zip(*shown_columns, strict=True):
        used = 0
        shown = []
        for place, (title, cell, most) in enumerate(zip(titles, row, widths, strict=True)):
            room = most if width is None else min(most, width - used)
            if room <= 0 or (room < most and title in _WHOLE):
                break
            text = fit(cell, room, ellipsis)
            used += room + len(_GAP)
            padded = text if place == len(titles) - 1 else text + " " * (room - cell_width(text))
            shown.append(paint(title, padded) if paint else padded)
        lines.append(_GAP.join(shown).rstrip())
    return lines


# These say nothing when cut.
_RIGID = frozenset({"ID", "STATE", "EXIT", "ELAPSED", "SUBMITTED", "CPUS"})
# A date of which the month is left says worse than nothing.
_WHOLE = frozenset({"EXIT", "ELAPSED", "SUBMITTED"})
# What a narrow terminal does without while every row says the same there, in this order.
_IDLE = ("REASON", "FEATURES", "USER", "PARTITION", "PARTITIONS")


def _without_idle(columns: list[list[str]], width: int) -> list[list[str]]:
    """Leave out columns that tell rows apart in nothing, until whole titles fit; a reason only where there is none."""
    kept = list(columns)
    for title in _IDLE:
        least = [
            widest if column[0] in _RIGID else min(widest, max(_LEAST_WIDTH, cell_width(column[0])))
            for column in kept
            for widest in [max(map(cell_width, column))]
        ]
        if sum(least) + len(_GAP) * (len(kept) - 1) <= width:
            break
        kept = [column for column in kept if column[0] != title or not _is_idle(column)]
    return kept


def _is_idle(column: Sequence[str]) -> bool:
    title, *cells = column
    return set(cells) == {"-"} if title == "REASON" else len(set(cells)) == 1


def _narrowed(widths: Sequence[int], titles: Sequence[str], width: int) -> list[int]:
    """Take columns from the widest cells that may be cut until the table fits, as far as that goes."""
    result = list(widths)
    spare = sum(result) + len(_GAP) * (len(result) - 1) - width
    elastic = [place for place, title in enumerate(titles) if title not in _RIGID and result[place] > _LEAST_WIDTH]
    while spare > 0 and elastic:
        widest = max(elastic, key=lambda place: result[place])
        result[widest] -= 1
        spare -= 1
        elastic = [place for place in elastic if result[place] > _LEAST_WIDTH]
    return result


def show_time(value: datetime | None) -> str:
    """Return a time in the reader's own zone, ``-`` for none."""
    return value.astimezone().strftime("%Y-%m-%d %H:%M:%S") if value else "-"


def show_day(value: datetime | None) -> str:
    """Return ``01-31 12:00`` for a time of this year, the date for an older one: what a column has room for."""
    if value is None:
        return "-"
    local = value.astimezone()
    return local.strftime("%m-%d %H:%M" if local.year == datetime.now().astimezone().year else "%Y-%m-%d")


def show_span(value: timedelta | None) -> str:
    """Return Slurm's ``D-HH:MM:SS``, ``-`` for none."""
    if value is None:
        return "-"
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02}:{minutes:02}:{seconds:02}" if days else f"{hours:02}:{minutes:02}:{seconds:02}"


def elapsed(job: JobInfo, now: datetime | None = None) -> timedelta | None:
    """Return how long a job has run, None while it waits: its start time is only an expectation then."""
    if job.start_time is None or job.state.is_pending:
        return None
    end = job.end_time if job.state.is_terminal else now or datetime.now(timezone.utc)
    # The cluster's clock may be ahead of this machine's.
    return max(end - job.start_time, timedelta(0)) if end else None


class JobTable(Table[JobInfo]):
    """Jobs, one row each."""

    columns: Columns[JobInfo] = (
        ("ID", lambda job: job.label),
        ("NAME", lambda job: job.name),
        ("USER", lambda job: job.user),
        ("PARTITION", lambda job: job.partition),
        ("STATE", lambda job: str(job.state)),
        ("ELAPSED", lambda job: show_span(elapsed(job))),
        ("NODES", lambda job: job.nodes),
        ("REASON", lambda job: reason(job)),
        ("SUBMITTED", lambda job: show_day(job.submit_time)),
    )


class OutcomeTable(Table[JobInfo]):
    """Jobs of somebody who waits for them: how each is doing, or how it ended."""

    columns: Columns[JobInfo] = (
        ("ID", lambda job: job.label),
        ("NAME", lambda job: job.name),
        ("STATE", lambda job: str(job.state)),
        ("REASON", lambda job: reason(job)),
        ("EXIT", lambda job: str(job.exit_code) if job.state.is_terminal else "-"),
        ("NODES", lambda job: job.nodes),
        ("ELAPSED", lambda job: show_span(elapsed(job))),
    )


def reason(job: JobInfo) -> str:
    """Return why a job is in its state; Slurm's word for "no reason" is ``None``."""
    return "" if job.reason == "None" else job.reason


class PastTable(JobTable):
    """Jobs of the past, one row each."""

    columns: Columns[JobInfo] = (
        ("ID", lambda job: job.label),
        ("NAME", lambda job: job.name),
        ("USER", lambda job: job.user),
        ("PARTITION", lambda job: job.partition),
        ("STATE", lambda job: str(job.state)),
        ("EXIT", lambda job: str(job.exit_code) if job.state.is_terminal else "-"),
        ("ELAPSED", lambda job: show_span(elapsed(job))),
        ("NODES", lambda job: job.nodes),
        ("REASON", lambda job: reason(job)),
        ("SUBMITTED", lambda job: show_day(job.submit_time)),
    )


class NodeTable(Table[Node]):
    """Nodes, one row each."""

    columns: Columns[Node] = (
        ("NAME", lambda node: node.name),
        ("STATE", lambda node: "+".join(node.state)),
        ("CPUS", lambda node: f"{_count(node.cpus_allocated)}/{_count(node.cpus)}"),
        ("MEMORY", lambda node: f"{_count(node.memory_allocated)}/{_count(node.memory)} MiB"),
        ("GRES", lambda node: node.gres),
        ("FEATURES", lambda node: ",".join(node.features)),
        ("PARTITIONS", lambda node: ",".join(node.partitions)),
        ("REASON", lambda node: node.reason),
    )


class PartitionTable(Table[Partition]):
    """Partitions, one row each. The default one carries a star."""

    columns: Columns[Partition] = (
        ("NAME", lambda part: part.name + ("*" if part.is_default else "")),
        ("STATE", lambda part: "+".join(part.state)),
        ("NODES", lambda part: _count(part.node_count)),
        ("CPUS", lambda part: _count(part.cpus)),
        ("MAX TIME", lambda part: show_span(part.max_time) if part.max_time else "unlimited"),
        ("HOSTS", lambda part: part.nodes),
    )


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)
