"""Writing to stdout and stderr: harmless text, tables, JSON, one-line complaints."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO, TypeVar

import click

from slurm_rest.tables import Table, clean, format_table

__all__ = [
    "INTERRUPTED",
    "Unwritable",
    "complain",
    "make_robust",
    "one_line",
    "out",
    "out_bytes",
    "out_json",
    "out_table",
    "remark",
    "silence_stdout",
]

T = TypeVar("T")

# What a shell reports for a command that ^C ended: 128 + SIGINT.
INTERRUPTED = 130


class Unwritable(Exception):
    """Standard output took no more, for instance because the disk is full."""


def make_robust() -> None:
    """Let no character stop the output: where the terminal's encoding lacks one, its escape is written."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(errors="backslashreplace")


def out(text: str) -> None:
    """Write a line to stdout at once. A reader that went away raises BrokenPipeError, other trouble Unwritable."""
    if sys.stdout is None:
        raise Unwritable("it is closed")
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise Unwritable(getattr(error, "strerror", None) or str(error)) from None


def out_bytes(data: bytes) -> None:
    """Write bytes to stdout at once, as they are; raises what ``out`` raises."""
    if sys.stdout is None:
        raise Unwritable("it is closed")
    try:
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            sys.stdout.write(data.decode("utf-8", "replace"))
        else:
            sys.stdout.flush()
            binary.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise Unwritable(getattr(error, "strerror", None) or str(error)) from None


def silence_stdout() -> None:
    """Let Python's own flush at exit go nowhere; otherwise it complains about what could not be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


def out_json(value: object) -> None:
    """Write one JSON document. It is ASCII: bytes that are not UTF-8 stay what they are, as ``\\udcXX``."""
    out(json.dumps(value, indent=2))


def out_table(table: Table[T]) -> None:
    """Write a table: fitted and coloured on a terminal, whole and plain elsewhere."""
    if sys.stdout is None:
        raise Unwritable("it is closed")
    titles, rows = table.titles(), [[_writable(cell) for cell in row] for row in table.rows()]
    if not _is_terminal(sys.stdout):
        out("\n".join(format_table(titles, rows)))
        return
    width = shutil.get_terminal_size().columns
    ellipsis = "…" if (sys.stdout.encoding or "").lower().startswith("utf") else "..."
    out("\n".join(format_table(titles, rows, width=width, ellipsis=ellipsis, paint=_painter())))


def _writable(text: str) -> str:
    """Write characters that the encoding lacks as escapes now, so that columns stay aligned."""
    encoding = sys.stdout.encoding or "ascii"
    return clean(text).encode(encoding, "backslashreplace").decode(encoding)


_COLOURS: Mapping[str, str] = {
    "COMPLETED": "green",
    "RUNNING": "cyan",
    "PENDING": "yellow",
    "SUSPENDED": "yellow",
    "IDLE": "green",
    "UP": "green",
    "ALLOCATED": "cyan",
    "MIXED": "cyan",
    "FAILED": "red",
    "CANCELLED": "red",
    "TIMEOUT": "red",
    "NODE_FAIL": "red",
    "OUT_OF_MEMORY": "red",
    "DEADLINE": "red",
    "BOOT_FAIL": "red",
    "PREEMPTED": "red",
    "DOWN": "red",
    "DRAIN": "red",
    "INACTIVE": "red",
}


def _painter() -> Callable[[str, str], str] | None:
    if not has_colour(sys.stdout):
        return None

    def paint(title: str, cell: str) -> str:
        if cell.strip() == title:
            return click.style(cell, bold=True)
        if title == "STATE":
            # The last word counts: IDLE+DRAIN is a node that takes no jobs.
            found = [_COLOURS[word] for word in cell.strip().split("+") if word in _COLOURS]
            return click.style(cell, fg=found[-1]) if found else cell
        return cell

    return paint


def has_colour(stream: TextIO | None) -> bool:
    """Return whether colours are welcome there."""
    return _is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def one_line(text: str) -> str:
    """Return a message as one line of printable characters, whatever a cluster wrote into it."""
    return clean(re.sub(r"\s*[\r\n]+\s*", " ", text.strip()))


def complain(message: str, hint: str = "", *, kind: str = "error") -> None:
    """Write ``slurm-rest: error: ...`` and a hint line to stderr."""
    lines = [f"slurm-rest: {kind}: {one_line(message)}" if message else f"slurm-rest: {kind}"]
    if hint:
        lines.append(f"hint: {one_line(hint)}")
    remark(*lines, colour="red" if kind == "error" else "yellow")


def remark(*lines: str, colour: str = "") -> None:
    """Write lines to stderr, the first one coloured; if that is closed there is nobody to tell."""
    first, *rest = lines
    if colour and has_colour(sys.stderr):
        first = click.style(first, fg=colour)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write("\n".join([first, *rest]) + "\n")
        sys.stderr.flush()


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table without titles."""
    return format_table([""] * max(map(len, rows), default=0), rows)[1:]
