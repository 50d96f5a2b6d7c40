from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

import pytest

from slurm_rest.models import ExitCode, JobInfo, Node
from slurm_rest.states import JobState
from slurm_rest.tables import (
    JobTable,
    NodeTable,
    OutcomeTable,
    cell_width,
    clean,
    elapsed,
    fit,
    format_table,
    show_day,
    show_span,
)

START = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


def info(state: str = "RUNNING", *, job_id: int = 7, name: str = "", end_time: datetime | None = None) -> JobInfo:
    return JobInfo(id=job_id, name=name, state=JobState.parse(state), start_time=START, end_time=end_time)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name, é 漢", "plain name, é 漢"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\udcff\udc80", "\\xff\\x80"),
        ("\ud800", "\\ud800"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("a\u202eb\u2028c", "a\\u202eb\\u2028c"),
    ],
)
def test_text_of_a_cluster_is_made_harmless(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(text).isprintable()


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字漢字", 5, "漢字…"),
        ("漢字", 2, "…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_text_is_cut_by_columns(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown
    assert cell_width(fit(text, width)) <= max(width, 0)


def test_columns_are_aligned_whatever_is_in_them() -> None:
    lines = format_table(["A", "B"], [["漢字", "1"], ["e\u0301", ""], ["x\x1b", "3"]])
    assert lines == ["A      B", "漢字   1", "e\u0301      -", "x\\x1b  3"]


def test_without_a_width_nothing_is_cut() -> None:
    name = "n" * 1024
    assert name in "\n".join(format_table(["NAME", "STATE"], [[name, "RUNNING"]]))


@pytest.mark.parametrize("width", [0, 1, 10, 20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [["123", "漢" * 50, "COMPLETED", "reason " * 9], ["1", "b", "RUNNING", ""]]
    for line in format_table(["ID", "NAME", "STATE", "REASON"], rows, width=width):
        assert cell_width(line) <= width


def test_the_widest_columns_give_way_and_the_id_never() -> None:
    (_, row) = format_table(["ID", "NAME", "STATE"], [["1234567890_12345", "n" * 50, "RUNNING"]], width=50)
    assert row.startswith("1234567890_12345  nnn")
    assert row.endswith("…  RUNNING")
    (_, row) = format_table(["ID", "NAME", "STATE"], [["1234567890_12345", "n" * 50, "RUNNING"]], width=30)
    assert row.startswith("1234567890_12345  nnnnnnn…  ")


def test_a_table_prints_itself() -> None:
    assert str(JobTable([info(name="a\nb")])).splitlines()[1].split()[:2] == ["7", "a\\nb"]
    assert str(JobTable()) == "ID  NAME  USER  PARTITION  STATE  ELAPSED  NODES  REASON  SUBMITTED"


def test_a_repr_is_bounded() -> None:
    lines = repr(JobTable(info(job_id=number) for number in range(1, 150))).splitlines()
    assert len(lines) == 102
    assert lines[-1] == "and 49 more"
    assert repr(JobTable([info()])) == str(JobTable([info()]))


def test_html_is_escaped_and_bounded() -> None:
    table = NodeTable(Node(name=f"<b>{number}\x1b") for number in range(150))
    html = table._repr_html_()
    assert '<td style="text-align: left">&lt;b&gt;0\\x1b</td>' in html
    assert "and 50 more" in html


def test_elapsed_counts_from_the_start_only() -> None:
    now = START + timedelta(seconds=90)
    assert elapsed(info(), now) == timedelta(seconds=90)
    assert elapsed(info("COMPLETED", end_time=START + timedelta(seconds=5)), now) == timedelta(seconds=5)
    assert elapsed(info("PENDING"), now) is None
    assert elapsed(info("COMPLETED"), now) is None
    assert elapsed(info(), START - timedelta(seconds=5)) == timedelta(0)


def test_an_exit_code_is_shown_once_it_is_final() -> None:
    running = JobInfo(id=1, state=JobState.parse("RUNNING"), exit_code=ExitCode(0, 0))
    failed = JobInfo(id=1, state=JobState.parse("FAILED"), exit_code=ExitCode(3, 0))
    assert OutcomeTable([running, failed]).rows()[0][4] == "-"
    assert OutcomeTable([running, failed]).rows()[1][4] == "3:0"


def test_spans_are_written_as_slurm_does() -> None:
    assert show_span(timedelta(days=2, hours=3, seconds=4)) == "2-03:00:04"
    assert show_span(timedelta(minutes=61)) == "01:01:00"
    assert show_span(None) == "-"


def test_a_day_of_another_year_shows_the_year() -> None:
    assert show_day(datetime(2001, 5, 17, 12, tzinfo=timezone.utc)) == "2001-05-17"
    assert show_day(None) == "-"
    now = datetime.now().astimezone()
    assert show_day(now) == now.strftime("%m-%d %H:%M")


JOB_TITLES = ["ID", "NAME", "USER", "PARTITION", "STATE", "ELAPSED", "NODES", "REASON", "SUBMITTED"]


def job_row(name: str, user: str = "alice", reason: str = "", partition: str = "normal") -> list[str]:
    return ["12345", name, user, partition, "COMPLETED", "00:00:01", "n1", reason, "11-30 09:26"]


def test_a_narrow_terminal_does_without_what_every_row_says() -> None:
    rows = [job_row("train"), job_row("a" * 40)]
    (head, _, row) = format_table(JOB_TITLES, rows, width=80)
    assert head.split() == ["ID", "NAME", "USER", "PARTITION", "STATE", "ELAPSED", "NODES", "SUBMITTED"]
    assert row.endswith("11-30 09:26")
    assert len(row) <= 80
    (head, *_) = format_table(JOB_TITLES, rows, width=70)
    assert head.split() == ["ID", "NAME", "PARTITION", "STATE", "ELAPSED", "NODES", "SUBMITTED"]


def test_a_column_that_says_nothing_when_cut_is_left_out() -> None:
    rows = [job_row("train", "alice", "Priority", "gpu"), job_row("a" * 40, "bob")]
    for width in range(10, 90):
        for line in format_table(JOB_TITLES, rows, width=width)[1:]:
            assert not re.search(r"(11-30|00:0)\S*…", line)
            assert ("11-30" in line) == ("11-30 09:26" in line)


def test_what_tells_rows_apart_stays() -> None:
    rows = [job_row("train", "alice", "Priority", "gpu"), job_row("a" * 40, "bob")]
    (head, *_) = format_table(JOB_TITLES, rows, width=83)
    assert [word[:4] for word in head.split()] == [title[:4] for title in JOB_TITLES]


def test_a_reason_of_all_rows_stays() -> None:
    rows = [job_row("a" * 40, reason="Priority"), job_row("train", reason="Priority")]
    (head, row, _) = format_table(JOB_TITLES, rows, width=80)
    assert "USER" not in head
    assert "Priority" in row


def test_in_a_wide_terminal_and_in_a_file_no_column_is_left_out() -> None:
    rows = [job_row("train")]
    for width in (None, 120):
        assert format_table(JOB_TITLES, rows, width=width)[0].split() == JOB_TITLES
