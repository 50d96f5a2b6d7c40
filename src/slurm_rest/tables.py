"""Lists of records that show themselves as tables, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Generic, TypeVar

from .models import JobInfo, Node, Partition

__all__ = ["JobTable", "NodeTable", "PartitionTable", "Table"]

T = TypeVar("T")
Columns = Sequence[tuple[str, Callable[[T], str]]]
_HTML_ROWS = 100


class Table(list[T], Generic[T]):
    """A list whose ``columns`` say how each element is shown."""

    columns: Columns[T] = ()

    def rows(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[show(item) for _, show in self.columns] for item in self]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(title)}</th>" for title, _ in self.columns)
        rows = [
            "<tr>" + "".join(f"<td>{escape(show(item))}</td>" for _, show in self.columns) + "</tr>"
            for item in self[:_HTML_ROWS]
        ]
        if len(self) > _HTML_ROWS:
            rows.append(f'<tr><td colspan="{len(self.columns)}">and {len(self) - _HTML_ROWS} more</td></tr>')
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def show_time(value: datetime | None) -> str:
    """Return a time in the reader's own zone, ``-`` for none."""
    return value.astimezone().strftime("%Y-%m-%d %H:%M:%S") if value else "-"


def show_span(value: timedelta | None) -> str:
    """Return Slurm's ``D-HH:MM:SS``, ``-`` for none."""
    if value is None:
        return "-"
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02}:{minutes:02}:{seconds:02}" if days else f"{hours:02}:{minutes:02}:{seconds:02}"


class JobTable(Table[JobInfo]):
    """Jobs, one row each."""

    columns: Columns[JobInfo] = (
        ("ID", lambda job: job.label),
        ("NAME", lambda job: job.name),
        ("USER", lambda job: job.user),
        ("PARTITION", lambda job: job.partition),
        ("STATE", lambda job: str(job.state)),
        ("REASON", lambda job: job.reason or "-"),
        ("EXIT", lambda job: str(job.exit_code)),
        ("NODES", lambda job: job.nodes or "-"),
        ("SUBMITTED", lambda job: show_time(job.submit_time)),
    )


class NodeTable(Table[Node]):
    """Nodes, one row each."""

    columns: Columns[Node] = (
        ("NAME", lambda node: node.name),
        ("STATE", lambda node: "+".join(node.state)),
        ("CPUS", lambda node: f"{_count(node.cpus_allocated)}/{_count(node.cpus)}"),
        ("MEMORY", lambda node: f"{_count(node.memory_allocated)}/{_count(node.memory)} MiB"),
        ("GRES", lambda node: node.gres or "-"),
        ("FEATURES", lambda node: ",".join(node.features) or "-"),
        ("PARTITIONS", lambda node: ",".join(node.partitions)),
        ("REASON", lambda node: node.reason or "-"),
    )


class PartitionTable(Table[Partition]):
    """Partitions, one row each."""

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
