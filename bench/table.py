"""What the benchmarks print, and how they judge."""

from __future__ import annotations

from collections.abc import Sequence


def show(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, first column to the left, numbers to the right."""
    table = [list(head), *map(list, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def judge(promises: Sequence[tuple[str, float, float, str]]) -> int:
    """Print each promise (what, measured, most allowed, unit) with its verdict; return 1 if one is broken."""
    broken = 0
    for what, measured, most, unit in promises:
        verdict = "kept" if measured <= most else "BROKEN"
        broken += measured > most
        print(f"{verdict:<6}  {what}: {measured:.2f} {unit}".rstrip() + f", at most {most:g} {unit}".rstrip())
    return int(broken > 0)
