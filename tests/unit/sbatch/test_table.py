"""The option table, the grammars of its rows, and that every part of it says the same."""

from __future__ import annotations

import time
from dataclasses import fields
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurm_rest import SpecError
from slurm_rest.sbatch import JobSpec
from slurm_rest.sbatch.keywords import JobOptions
from slurm_rest.sbatch.option import NONE
from slurm_rest.sbatch.options import OPTIONS, ROW_OF
from slurm_rest.sbatch.times import resolve

# What sbatch --usage of 24.11 and 26.05 list, with the hidden ones.
NEW = {"consolidate-segments", "container-type", "external", "mem-update", "resources", "spread-segments"}
NOW = datetime(2026, 11, 29, 17, 38)
WORDS = st.text(st.sampled_from("0123456789abcdekmgtKMGT:-,=@+.*/ xUSRpm"), max_size=14)


def test_the_table_has_all_options() -> None:
    names = [row.long for row in OPTIONS]
    assert len(names) == len(set(names)) == 120
    assert {row.long for row in OPTIONS if row.since} == NEW
    assert names == sorted(names)


def test_letters_and_variables_are_used_once() -> None:
    letters = [row.short for row in OPTIONS if row.short]
    variables = [variable for row in OPTIONS for variable in row.variables]
    assert len(letters) == len(set(letters))
    assert len(variables) == len(set(variables))


def test_keywords_and_fields_are_the_rows() -> None:
    rows = {row.name for row in OPTIONS if not row.inert}
    own = {"args", "env", "components"}
    assert {item.name for item in fields(JobSpec)} == rows | own | {"script"}
    assert set(JobOptions.__annotations__) == rows | own | {"job_name"}


@pytest.mark.parametrize("row", [row for row in OPTIONS if row.takes is not NONE], ids=lambda row: row.long)
@settings(max_examples=60, deadline=None)
@given(word=WORDS)
def test_reading_twice_and_showing_changes_nothing(row: object, word: str) -> None:
    try:
        value = row.read(word)  # type: ignore[attr-defined]
    except ValueError:
        return
    assert row.read(value) == value  # type: ignore[attr-defined]
    if value not in (False, ()) and not (row.name == "get_user_env" and value is True):  # type: ignore[attr-defined]
        assert row.read(row.show(value)) == value  # type: ignore[attr-defined]


@given(st.timedeltas(timedelta(minutes=1), timedelta(days=365)))
def test_times_come_back(span: timedelta) -> None:
    row = ROW_OF["time"]
    value = row.read(span)
    assert isinstance(value, timedelta)
    assert timedelta(0) <= value - span < timedelta(minutes=1)
    assert row.read(row.show(value)) == value


@pytest.mark.parametrize("name", ["time", "time_min"])
def test_a_time_that_sbatch_would_make_another_one_is_refused(name: str) -> None:
    assert ROW_OF[name].read("35791393") == timedelta(minutes=35791393)
    for value in ("35791394", "24855-03:14:08", 100_000_000, timedelta(days=30_000)):
        with pytest.raises(ValueError, match="takes less than 68 years"):
            ROW_OF[name].read(value)


@given(st.integers(0, 2**40))
def test_memory_comes_back(mib: int) -> None:
    row = ROW_OF["mem"]
    assert row.read(row.show(mib)) == mib
    assert row.read(f"{mib}") == row.read(f"{mib}m") == row.read(f"{mib}MB") == mib
    assert row.read(f"{mib}G") == mib * 1024
    assert row.read(f"{mib}K") == -(-mib // 1024)


@given(st.datetimes(datetime(2027, 1, 1), datetime(2090, 1, 1)))
def test_dates_come_back(moment: datetime) -> None:
    exact = moment.replace(microsecond=0)
    assert resolve(exact.strftime("%Y-%m-%dT%H:%M:%S"), NOW) == int(exact.timestamp())
    assert ROW_OF["begin"].read(moment.replace(tzinfo=timezone.utc)) == int(
        moment.replace(tzinfo=timezone.utc).timestamp()
    )


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now+1hour", datetime(2026, 11, 29, 18, 38)),
        ("now + 90 minutes", datetime(2026, 11, 29, 19, 8)),
        ("16:00", datetime(2026, 11, 30, 16, 0)),
        ("18:00", datetime(2026, 11, 29, 18, 0)),
        ("12:30am", datetime(2026, 11, 30, 0, 30)),
        ("11:00 PM", datetime(2026, 11, 29, 23, 0)),
        ("tomorrowTnoon", datetime(2026, 11, 30, 12, 0)),
        ("noon midnight", datetime(2026, 11, 30, 0, 0)),
        ("0101", datetime(2027, 1, 1)),
        ("1130", datetime(2026, 11, 30)),
        ("12/31/28", datetime(2028, 12, 31)),
        ("2027-02-29", datetime(2027, 3, 1)),
        ("2030-01-02 03:04", datetime(2030, 1, 2, 3, 4)),
        ("fika", datetime(2026, 11, 30, 15, 0)),
        (" now+12hours", datetime(2026, 11, 29, 19, 38)),
        ("Tnow+345minutes", datetime(2026, 11, 29, 18, 23)),
        ("2106-02-07", datetime(2106, 2, 7)),
        ("2400-02-30", datetime(2400, 3, 1)),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert resolve(text, NOW) == int(moment.timestamp())


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, 12), datetime(2026, 10, 24, 12), datetime(2026, 10, 25, 2, 30)])
def test_a_span_from_now_is_as_long_where_clocks_are_changed(day: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sbatch has it; the last of these comes twice, and so does what is 30 minutes later than its first time."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        for text, seconds in {"now": 0, "now+30minutes": 1800, "now+1day": 86400, "now+1week": 604800}.items():
            for now in (day, day.replace(fold=1)):
                assert resolve(text, now) - int(now.timestamp()) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


NO_MOMENTS = [
    "", "T", "0", "12", "TODAY", "yesterday", "25:00", "12:60", "13:00pm", "now+", "now+1month", "12/31/2028",
    "2028-13-01", "uts1", "utsx", "2028-01-02,03:04", "now 10:00",
    " now", "tomorrow now", "tomorrow now+1hour", " now+1hour", "now now", "now+1hour now+1hour", "now+9999999days",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_MOMENTS)
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match="takes a time"):
        resolve(text, NOW)


@pytest.mark.parametrize(
    "text", ["low:UserSpace", "1000:user", "hi:userspacex", "med-high:perf", "user", "LOW", "highm1:USER"]
)
def test_frequencies_of_cpus(text: str) -> None:
    assert ROW_OF["cpu_freq"].read(text) == text


@pytest.mark.parametrize(
    "text", ["low:use", "0:user", "me", "me-high:perf", "high:OnDemand", "1000:user-5", "con", "low-high:user"]
)
def test_what_is_no_frequency_of_cpus(text: str) -> None:
    with pytest.raises(ValueError, match="or a governor"):
        ROW_OF["cpu_freq"].read(text)


@pytest.mark.parametrize(("text", "names"), [(" ", ()), ("CORE AS", ("CORE", "AS")), (",RLIMIT_AS\t", ("AS",))])
def test_blanks_part_limits(text: str, names: tuple[str, ...]) -> None:
    assert ROW_OF["propagate"].read(text) == names


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pack:", "pack"),
        ("::nopack", "nopack"),
        ("pack,pack", "pack"),
        ("pack,", "pack"),
        ("block::cyclic,pack", "block:cyclic,pack"),
        (":HostFile:", "arbitrary"),
    ],
)
def test_distributions(text: str, shown: str) -> None:
    assert ROW_OF["distribution"].read(text) == shown


@pytest.mark.parametrize("text", ["block,,", "block,,pack", "block,pack,", ",pack", "pack:block", "block:pack", "*,x"])
def test_what_is_no_distribution(text: str) -> None:
    with pytest.raises(ValueError, match="takes"):
        ROW_OF["distribution"].read(text)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("nodes", "2-", "MIN-MAX"),
        ("ntasks", "1.5", "whole number"),
        ("time", "1h", "minutes"),
        ("mem", "1.5G", "MiB"),
        ("signal", "WINCH", "SIGNAL"),
        ("mail_type", "bogus", "BEGIN"),
        ("distribution", "pack,nopack", "only one"),
        ("gres_flags", "disable-binding,enforce-binding", "only one"),
        ("propagate", "nofile", "NOFILE"),
        ("exclusive", "no", "user"),
        ("priority", "high", "takes a number"),
        ("nice", "5x", "takes a number"),
    ],
)
def test_bad_values_name_the_option_and_what_it_takes(name: str, value: object, shown: str) -> None:
    with pytest.raises(SpecError) as caught:
        JobSpec(**{name: value})  # type: ignore[arg-type]
    assert caught.value.field == name
    assert caught.value.kind == "value"
    assert ROW_OF[name].long in str(caught.value)
    assert shown in str(caught.value)
