"""A live display of many jobs on stderr: a bar on a terminal, one plain line for each change anywhere else."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from .states import BaseState, JobState
from .tables import cell_width, clean, fit

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text
    from typing_extensions import Self

__all__ = ["Progress"]

_WAITING, _GOING, _GOOD, _BAD = "yellow", "cyan", "green", "red"
_SYMBOLS = {_WAITING: "·", _GOING: "▶", _GOOD: "✓", _BAD: "✗"}
_PLAIN_SYMBOLS = {_WAITING: ".", _GOING: ">", _GOOD: "+", _BAD: "x"}
_BAR = 40
_NAMED = 8
_REFRESHES = 4
# An outage is remarked at every tick, of which there is one in 10 s at least, and each may take slurmrestd 20 s.
_NOTE_SECONDS = 45.0
# A state that nobody has told yet; UNKNOWN with words behind it is one that this release does not know.
_ASKING = "asking"
_RANK = {state.value: place for place, state in enumerate(BaseState)}

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What is shown until the next news, worked out once: the terminal is redrawn far more often."""

    summary: str
    shares: tuple[tuple[str, int], ...]
    over: int
    jobs: tuple[tuple[str, str, str], ...] = ()


class Progress:
    """Shows how many jobs are in which state.

    ``show`` takes the states as the poller reports them, and of arrays how many tasks are over; ``stale`` since when
    there is no news of some, ``note`` a remark. While the display is open it shows the library's own warnings that way.
    All may be called from any one thread. On a terminal the display redraws itself; elsewhere (a pipe, a file, a
    notebook, ``TERM=dumb``) each change is one plain line.
    """

    def __init__(
        self,
        ids: Iterable[int | str],
        names: Mapping[int | str, str] | None = None,
        *,
        file: TextIO | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._ids = list(dict.fromkeys(ids))
        self._names = names or {}
        self._file = file or sys.stderr
        self._clock = clock
        self._started = clock()
        self._now = self._count({}, {})
        self._note: tuple[str, float] = ("", 0.0)
        self._stale: datetime | None = None
        # Its age, less the clock: the clock that goes on while the display is redrawn is not that of dates.
        self._stale_for = 0.0
        self._live: Live | None = None
        self._console: Console | None = None
        self._last_line = ""
        self._log = _LogNotes(self.note)

    def __enter__(self) -> Self:
        """Start drawing, if there is a terminal to draw on."""
        logging.getLogger("slurm_rest").addHandler(self._log)
        if _is_terminal(self._file):
            self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Draw a last time, stop, and give the terminal back as it was."""
        logging.getLogger("slurm_rest").removeHandler(self._log)
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def show(
        self,
        states: Mapping[Any, JobState],  # ids, or labels among them
        parts: Mapping[Any, tuple[int, int]] | None = None,  # ids, too
    ) -> None:
        """Take new states. Without a terminal, print one line when the counts have changed."""
        self._now = self._count(states, parts or {})
        self._note = ("", 0.0)
        self._print(self._now.summary)

    def note(self, text: str) -> None:
        """Show a remark beside the states until the next news; one that repeats is printed once."""
        self._note = (clean(text), self._clock() + _NOTE_SECONDS)
        self._print(f"{self._now.summary} ({self._note[0]})")

    def stale(self, since: datetime | None) -> None:
        """Show that what is shown is old and since when, as long as it is; None: there is news again."""
        before, self._stale = self._stale, since
        if since is not None:
            self._stale_for = max(0.0, (datetime.now(timezone.utc) - since).total_seconds()) - self._clock()
            self._print(f"{self._now.summary} (no news since {since.astimezone():%H:%M:%S}, as last known)")
        elif before is not None:
            self._note = ("", 0.0)
            if self._last_line != self._now.summary:
                self._print(f"{self._now.summary} (news again)")

    def _age(self) -> str:
        if self._stale is None:
            return ""
        age = _span(self._clock() + self._stale_for)
        return f"no news for {age}, since {self._stale.astimezone():%H:%M:%S}; as last known"

    def summary(self) -> str:
        """Return ``25 jobs: 3 PENDING, 2 RUNNING, 20 COMPLETED``."""
        return self._now.summary

    def _print(self, line: str) -> None:
        if self._live is None and self._file is not None and line != self._last_line:
            self._last_line = line
            self._file.write(f"[{self._elapsed()}] {line}\n")
            self._file.flush()

    def _count(self, states: Mapping[Any, JobState], parts: Mapping[Any, tuple[int, int]]) -> _Snapshot:
        unknown = JobState.parse(None)
        listed = [states.get(job_id, unknown) for job_id in self._ids]
        words: Counter[str] = Counter()
        shares: Counter[str] = Counter()
        over = 0
        for state, count in Counter(listed).items():
            words[_word(state)] += count
            shares[_colour(state)] += count
            over += count if state.is_terminal else 0
        jobs = "1 job" if len(self._ids) == 1 else f"{len(self._ids)} jobs"
        ranked = sorted(words, key=lambda word: (_RANK.get(word.split("+")[0], len(_RANK)), word))
        told = _ASKING if set(words) == {_ASKING} else ", ".join(f"{words[word]} {word}" for word in ranked)
        if parts:
            done, tasks = (sum(column) for column in zip(*parts.values(), strict=True))
            told += f" ({done} of {tasks} tasks over)"
        named = zip(self._ids, listed, strict=True) if len(self._ids) <= _NAMED else ()
        return _Snapshot(
            summary=f"{jobs}: {told or 'nothing to wait for'}",
            shares=tuple((colour, shares[colour]) for colour in (_GOOD, _BAD, _GOING, _WAITING) if shares[colour]),
            over=over,
            jobs=tuple(
                (
                    _colour(state),
                    clean(f"{job_id} {self._names.get(job_id, '')}".rstrip()),
                    _row_word(state, parts.get(job_id)),
                )
                for job_id, state in named
            ),
        )

    def _label(self, job_id: int | str) -> str:
        return clean(f"{job_id} {self._names.get(job_id, '')}".rstrip())

    def _elapsed(self) -> str:
        return _span(self._clock() - self._started)

    # --- the terminal ---------------------------------------------------------------------------------------

    def _start(self) -> None:
        from rich.console import Console  # 60 ms that only a terminal is worth
        from rich.live import Live

        self._console = Console(file=self._file, highlight=False, force_terminal=True, force_jupyter=False)
        # What others print to a piped stdout has to stay there.
        redirect = _is_terminal(sys.stdout)
        self._live = Live(self, console=self._console, refresh_per_second=_REFRESHES, redirect_stdout=redirect)
        self._live.start()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        width = options.max_width
        now = self._now
        yield self._bar_line(width, now)
        yield Text(now.summary)
        if age := self._age():
            yield Text(fit(age, width, self._ellipsis), style="yellow")
        text, until = self._note
        if text and self._clock() < until:
            yield Text(fit(text, width, self._ellipsis), style="yellow")
        symbols = _SYMBOLS if self._unicode else _PLAIN_SYMBOLS
        longest = max((cell_width(label) for _, label, _ in now.jobs), default=0)
        for colour, label, word in now.jobs:
            room = max(1, min(longest, width - len(word) - 4))
            shown = fit(label, room, self._ellipsis)
            padding = " " * (room - cell_width(shown))
            yield Text(f"{symbols[colour]} {shown}{padding}  {word}", style=colour, no_wrap=True, overflow="crop")

    def _bar_line(self, width: int, now: _Snapshot) -> Text:
        tail = f" {now.over}/{len(self._ids)}  {self._elapsed()}"
        line = _bar(now.shares, max(1, min(_BAR, width - len(tail))), "━" if self._unicode else "=")
        line.append(tail, style="dim")
        line.no_wrap, line.overflow = True, "crop"
        return line

    @property
    def _unicode(self) -> bool:
        return self._console is not None and self._console.encoding.startswith("utf")

    @property
    def _ellipsis(self) -> str:
        return "…" if self._unicode else "..."


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class _LogNotes(logging.Handler):
    """Brings the library's warnings into the display, which they would tear up if they went to stderr."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._take = note

    def emit(self, record: logging.LogRecord) -> None:
        self._take(record.getMessage())


def _is_terminal(file: TextIO | None) -> bool:
    """Return whether the cursor can be moved there; a notebook's stderr is no terminal, whatever FORCE_COLOR says."""
    try:
        return file is not None and file.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except ValueError:  # closed
        return False


def _word(state: JobState) -> str:
    return _ASKING if state.base is BaseState.UNKNOWN and not state.raw else str(state)


def _row_word(state: JobState, parts: tuple[int, int] | None) -> str:
    return f"{_word(state)}  {parts[0]}/{parts[1]}" if parts else _word(state)


def _colour(state: JobState) -> str:
    if state.is_terminal:
        return _GOOD if state.is_success else _BAD
    return _WAITING if state.is_pending or state.base is BaseState.UNKNOWN else _GOING


def _bar(shares: Iterable[tuple[str, int]], width: int, symbol: str) -> Text:
    """Return a bar in which each colour has its share, none rounded away to nothing while there is room."""
    from rich.text import Text

    listed = list(shares)
    total = sum(count for _, count in listed)
    bar = Text()
    left = width
    for place, (colour, count) in enumerate(listed):
        rest = len(listed) - place - 1
        part = left if not rest else min(max(1, round(count * width / total)), max(0, left - rest))
        bar.append(symbol * part, style=colour)
        left -= part
    return bar
