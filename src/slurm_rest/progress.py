"""A live display of many jobs on stderr: bars on a terminal, one line for each change when piped."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .states import BaseState, JobState

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Progress"]

_WAITING, _GOING, _GOOD, _BAD = "yellow", "cyan", "green", "red"
_SYMBOLS = {_WAITING: "·", _GOING: "▶", _GOOD: "✓", _BAD: "✗"}
_BAR = 40
_NAMED = 8


class Progress:
    """Shows how many jobs are in which state. ``show`` takes the states, as the poller reports them."""

    def __init__(
        self, ids: Iterable[int], names: Mapping[int, str] | None = None, *, file: TextIO | None = None
    ) -> None:
        self._ids = list(ids)
        self._names = names or {}
        self._started = time.monotonic()
        self._states: Mapping[int, JobState] = {}
        self._console = Console(file=file or sys.stderr, highlight=False)
        self._live: Live | None = None
        self._last_line = ""

    def __enter__(self) -> Self:
        """Start drawing, if there is a terminal to draw on."""
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Draw a last time and stop."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, states: Mapping[int, JobState]) -> None:
        """Take new states. Without a terminal, print one line when the counts have changed."""
        self._states = states
        if self._live is None:
            line = self.summary()
            if line != self._last_line:
                self._last_line = line
                self._console.print(f"[{self._elapsed()}] {line}", markup=False, soft_wrap=True)

    def summary(self) -> str:
        """Return ``25 jobs: 3 PENDING, 2 RUNNING, 20 COMPLETED``."""
        counts = Counter(str(self._state(job_id)) for job_id in self._ids)
        order = {state.value: place for place, state in enumerate(BaseState)}
        ranked = sorted(counts, key=lambda word: (order.get(word.split("+")[0], len(order)), word))
        jobs = "1 job" if len(self._ids) == 1 else f"{len(self._ids)} jobs"
        return f"{jobs}: " + ", ".join(f"{counts[word]} {word}" for word in ranked)

    def _state(self, job_id: int) -> JobState:
        return self._states.get(job_id) or JobState.parse(None)

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._started:.1f} s"

    def _draw(self) -> Table:
        colours = [_colour(self._state(job_id)) for job_id in self._ids]
        table = Table.grid(padding=(0, 1))
        table.add_row(_bar(colours), Text(self.summary()), Text(self._elapsed(), style="dim"))
        for job_id, colour in zip(self._ids, colours, strict=True) if len(self._ids) <= _NAMED else ():
            label = f"{_SYMBOLS[colour]} {job_id} {self._names.get(job_id, '')}".rstrip()
            # Names come from users: a newline or an escape sequence must not reach the terminal.
            clean = "".join(character if character.isprintable() else "?" for character in label)
            table.add_row(Text(clean[:60], style=colour), Text(str(self._state(job_id)), style=colour))
        return table


def _colour(state: JobState) -> str:
    if state.is_terminal:
        return _GOOD if state.is_success else _BAD
    return _WAITING if state.is_pending or state.base is BaseState.UNKNOWN else _GOING


def _bar(colours: list[str]) -> Text:
    """Return a bar in which each colour has its share, none rounded away to nothing."""
    bar = Text()
    counts = Counter(colours)
    left = _BAR
    order = [colour for colour in (_GOOD, _BAD, _GOING, _WAITING) if counts[colour]]
    for place, colour in enumerate(order):
        rest = len(order) - place - 1
        width = left if not rest else max(1, min(left - rest, round(counts[colour] * _BAR / max(1, len(colours)))))
        bar.append("━" * width, style=colour)
        left -= width
    return bar
