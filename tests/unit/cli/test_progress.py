from __future__ import annotations

import io
import logging
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest

from slurm_rest.progress import Progress
from slurm_rest.states import JobState
from slurm_rest.tables import cell_width

PENDING, RUNNING, DONE, FAILED = (JobState.parse(word) for word in ("PENDING", "RUNNING", "COMPLETED", "FAILED"))


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def written(file: io.StringIO) -> list[str]:
    return [re.sub(r"^\[.*?\] ", "", line) for line in file.getvalue().splitlines()]


def drawn(terminal: Terminal) -> list[str]:
    """Return the lines of the last picture, without colours and movements of the cursor."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", terminal.getvalue())
    lines = text.splitlines()
    last = max(place for place, line in enumerate(lines) if re.search(r"\d+/\d+  ", line))
    return [line.rstrip() for line in lines[last:] if line.strip()]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal of 60 columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_a_pipe_gets_one_plain_line_for_each_change() -> None:
    file = io.StringIO()
    with Progress([1, 2], file=file) as display:
        for states in ({}, {1: PENDING}, {1: PENDING}, {1: RUNNING, 2: RUNNING}, {1: DONE, 2: RUNNING}):
            display.show(states)

    assert written(file) == [
        "2 jobs: asking",
        "2 jobs: 1 PENDING, 1 asking",
        "2 jobs: 2 RUNNING",
        "2 jobs: 1 RUNNING, 1 COMPLETED",
    ]


def test_an_array_tells_how_many_of_its_tasks_are_over(terminal: Terminal) -> None:
    file = io.StringIO()
    with Progress([1, 2], file=file) as display:
        for over in (0, 3, 3, 40):
            display.show({1: RUNNING, 2: PENDING}, {1: (over, 40), 2: (0, 2)})
    assert written(file) == [f"2 jobs: 1 PENDING, 1 RUNNING ({over} of 42 tasks over)" for over in (0, 3, 40)]
    with Progress([1, 2], {1: "sweep"}, file=terminal, clock=Clock()) as display:
        display.show({1: RUNNING, 2: PENDING}, {1: (3, 40)})
    assert [line.split() for line in drawn(terminal)[2:]] == [
        ["▶", "1", "sweep", "RUNNING", "3/40"],
        ["·", "2", "PENDING"],
    ]


def test_force_color_does_not_make_a_pipe_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    file = io.StringIO()
    with Progress([1], file=file) as display:
        display.show({1: DONE})
    assert written(file) == ["1 job: 1 COMPLETED"]


def test_a_dumb_terminal_gets_plain_lines(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Progress([1], file=terminal) as display:
        display.show({1: DONE})
    assert written(terminal) == ["1 job: 1 COMPLETED"]


def test_nothing_but_a_terminal_loads_rich() -> None:
    script = (
        "import sys; from slurm_rest.progress import Progress\n"
        "with Progress([1]) as display: display.show({})\n"
        "sys.exit('rich' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "[0.0 s] 1 job: asking\n")


def test_words_that_this_release_does_not_know_are_shown() -> None:
    file = io.StringIO()
    with Progress([1], file=file) as display:
        display.show({1: JobState.parse("DREAMING")})
    assert written(file) == ["1 job: 1 UNKNOWN+DREAMING"]


def test_a_repeated_id_counts_once_and_none_is_no_error() -> None:
    assert Progress([1, 1], file=io.StringIO()).summary() == "1 job: asking"
    assert Progress([], file=io.StringIO()).summary() == "0 jobs: nothing to wait for"


def test_the_time_is_short_for_minutes_and_hours() -> None:
    clock, file = Clock(), io.StringIO()
    with Progress([1], file=file, clock=clock) as display:
        for seconds, states in ((1.25, {}), (125, {1: PENDING}), (3725, {1: RUNNING})):
            clock.now = 100.0 + seconds
            display.show(states)
    assert re.findall(r"\[(.*?)\]", file.getvalue()) == ["1.2 s", "0:02:05", "1:02:05"]


def test_a_terminal_shows_a_bar_and_each_of_a_few_jobs(terminal: Terminal) -> None:
    with Progress([1, 22], {22: "train\n\x1b[31m"}, file=terminal, clock=Clock()) as display:
        display.show({1: DONE, 22: FAILED})

    bar, summary, first, second = drawn(terminal)
    assert bar == "━" * 40 + " 2/2  0.0 s"
    assert summary == "2 jobs: 1 COMPLETED, 1 FAILED"
    assert first.split() == ["✓", "1", "COMPLETED"]
    assert second.split() == ["✗", "22", "train\\n\\x1b[31m", "FAILED"]


def test_the_cursor_is_given_back_even_after_an_error(terminal: Terminal) -> None:
    def interrupted() -> None:
        with Progress([1], file=terminal) as display:
            display.show({1: RUNNING})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


@pytest.mark.parametrize("width", [1, 8, 20, 40])
def test_a_narrow_terminal_gets_no_line_that_is_too_long(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    with Progress([1], {1: "漢字" * 40}, file=terminal) as display:
        display.show({1: RUNNING})
        display.note("a remark " * 20)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", terminal.getvalue())
    assert max(cell_width(line) for line in text.splitlines()) <= width


def test_a_terminal_without_unicode_gets_ascii(terminal: Terminal) -> None:
    terminal.encoding = "ascii"
    with Progress([1], {1: "n" * 100}, file=terminal) as display:
        display.show({1: RUNNING})
    assert terminal.getvalue().isascii()
    assert "=" * 40 in terminal.getvalue()


def test_no_color_is_respected(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with Progress([1], file=terminal) as display:
        display.show({1: DONE})
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal.getvalue())


def test_no_share_of_the_bar_is_rounded_away(terminal: Terminal) -> None:
    ids = range(1000)
    with Progress(ids, file=terminal) as display:
        display.show({**dict.fromkeys(ids, DONE), 1: FAILED, 2: PENDING})
    colours = Counter[str]()
    last = terminal.getvalue().rpartition("998 COMPLETED")[0].rpartition("\x1b[32m")
    for colour, part in re.findall(r"\x1b\[(3\d)m(━+)", last[1] + last[2]):
        colours[colour] += len(part)
    assert colours == {"32": 38, "31": 1, "33": 1}


def test_an_outage_is_shown_until_there_are_news(terminal: Terminal) -> None:
    with Progress([1], file=terminal) as display:
        display.show({1: RUNNING})
        logging.getLogger("slurm_rest").warning("No news of %d jobs", 1)
    assert "No news of 1 jobs" in drawn(terminal)[2]

    with Progress([1], file=terminal) as display:
        display.note("No news")
        display.show({1: RUNNING})
    assert not any("No news" in line for line in drawn(terminal))


def test_a_piped_outage_is_one_line_however_often_it_is_told() -> None:
    file = io.StringIO()
    with Progress([1], file=file) as display:
        display.show({1: RUNNING})
        for _ in range(3):
            logging.getLogger("slurm_rest").warning("No news\x1b")
        display.show({1: RUNNING})
    assert written(file) == ["1 job: 1 RUNNING", "1 job: 1 RUNNING (No news\\x1b)", "1 job: 1 RUNNING"]


def test_old_states_say_since_when(terminal: Terminal) -> None:
    since = datetime.now(timezone.utc) - timedelta(minutes=2)
    words = f"{since.astimezone():%H:%M:%S}"
    with Progress([1], file=terminal) as display:
        display.show({1: RUNNING})
        display.stale(since)
    assert re.fullmatch(rf"no news for 0:0[2-9]:\d\d, since {words}; as last known", drawn(terminal)[2])

    file = io.StringIO()
    with Progress([1], file=file) as display:
        display.show({1: RUNNING})
        display.stale(since)
        display.stale(None)
    old = f"1 job: 1 RUNNING (no news since {words}, as last known)"
    assert written(file) == ["1 job: 1 RUNNING", old, "1 job: 1 RUNNING (news again)"]


def test_the_log_is_left_as_it_was() -> None:
    before = list(logging.getLogger("slurm_rest").handlers)
    with Progress([1], file=io.StringIO()):
        assert logging.getLogger("slurm_rest").handlers != before
    assert logging.getLogger("slurm_rest").handlers == before


def test_without_stderr_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress([1]) as display:
        display.show({1: DONE})


def test_ten_thousand_jobs_are_counted_once_for_each_change(terminal: Terminal) -> None:
    ids = range(10_000)
    with Progress(ids, file=terminal) as display:
        display.show(dict.fromkeys(ids, RUNNING))
        snapshot = display._now
        for _ in range(3):
            assert display._live is not None
            display._live.refresh()
        assert display._now is snapshot
    assert drawn(terminal)[1] == "10000 jobs: 10000 RUNNING"
    assert len(drawn(terminal)) == 2
