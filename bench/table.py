"""What the benchmarks print, and how they judge."""

from __future__ import annotations

from collections.abc import Sequence

Promise = tuple[str, float, float, str]


def show(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, first column to the left, numbers to the right."""
    table = [list(head), *map(list, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def judge(most: Sequence[Promise] = (), least: Sequence[Promise] = ()) -> int:
    """Print each promise (what, measured, limit, unit) with its verdict; return 1 if one is broken."""
    limits = [*((promise, "at most") for promise in most), *((promise, "at least") for promise in least)]
    broken = 0
    for (what, measured, limit, unit), words in limits:
        kept = measured <= limit if words == "at most" else measured >= limit
        broken += not kept
        shown = f"{measured:.2f}" if measured < 100 else f"{measured:,.0f}"
        verdict = "kept" if kept else "BROKEN"
        print(f"{verdict:<6}  {what}: {shown} {unit}".rstrip() + f", {words} {limit:,g} {unit}".rstrip(), flush=True)
    return int(broken > 0)
