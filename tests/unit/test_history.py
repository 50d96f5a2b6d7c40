"""The past: what is asked of accounting, in which pieces, and which words mean which states."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import httpx
import pytest

from slurm_rest import JobState, SlurmClient, SpecError
from slurm_rest.errors import AccountingDown, AnswerTooLarge, ApiError, NoAccounting
from slurm_rest.history import HistoryQuery, Slices, make_query, newest, read_states
from slurm_rest.models import JobInfo
from slurm_rest.transport.commands import failure
from slurm_rest.transport.job_texts import history_question
from slurm_rest.transport.rest import fetching
from slurm_rest.transport.shell import Finished

from .wire import Server, accounted, client, good, no_pauses, query_of, server

__all__ = ["no_pauses", "server"]

START, END = datetime(2026, 3, 1, tzinfo=timezone.utc), datetime(2026, 3, 2, tzinfo=timezone.utc)
QUERY = HistoryQuery(start=START, end=END)


def job(job_id: int, hour: int = 0) -> JobInfo:
    return JobInfo(id=job_id, state=JobState.parse("COMPLETED"), submit_time=START + timedelta(hours=hour))


# --- words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "states"),
    [
        ("running", {"RUNNING"}),
        ("R,pd", {"RUNNING", "PENDING"}),
        (["CG", "NODE_FAIL"], {"COMPLETING", "NODE_FAIL"}),
        (None, set()),
        ([], set()),
    ],
)
def test_states_by_long_and_short_names(words: str | list[str] | None, states: set[str]) -> None:
    assert read_states(words) == states


def test_an_unknown_state_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"'RUNING' is not a state. Did you mean RUNNING\?") as caught:
        read_states("RUNING")
    assert caught.value.field == "state"


async def test_a_listing_refuses_an_unknown_state_before_it_asks() -> None:
    async with client() as slurm:
        with pytest.raises(SpecError, match="Did you mean RUNNING"):
            await slurm.jobs(state="RUNING")
        with pytest.raises(SpecError, match="Did you mean FAILED"):
            await slurm.history(state=["FAILD"])
        assert slurm.requests == 0


def test_spans_are_before_now_and_times_without_a_zone_are_local() -> None:
    now = datetime.now(timezone.utc)
    query = make_query(timedelta(hours=2), timedelta(hours=1))
    assert abs(now - timedelta(hours=2) - query.start) < timedelta(minutes=1)
    assert query.end - query.start == timedelta(hours=1)
    naive = datetime(2026, 3, 1, 12)
    assert make_query(naive, datetime(2026, 3, 2)).start.timestamp() == naive.timestamp()
    abroad = START.astimezone(timezone(timedelta(hours=-9, minutes=-30)))
    assert make_query(abroad, END).pairs() == make_query(START, END).pairs()
    midnight = make_query(None, None).start.astimezone()
    assert (midnight.hour, midnight.minute) == (0, 0)


def test_a_day_on_which_clocks_are_changed_begins_at_midnight_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """This very day, half an hour after it began."""
    today = datetime.now(timezone.utc)
    if (today.month, today.day) == (2, 29):
        today -= timedelta(days=1)  # the rule's days are counted without it
    day = today.replace(year=2027).timetuple().tm_yday
    monkeypatch.setenv("TZ", f"AAA0BBB,J{day}/0:30,J{(day + 180) % 365 + 1}/0:30")
    time.tzset()
    try:
        midnight = make_query(None, None).start.astimezone()
        assert (midnight.hour, midnight.minute) == (0, 0)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"start": timedelta(hours=1), "end": timedelta(hours=2)}, "ends before it starts"),
        ({"start": None, "end": None, "state": "COMPLETING"}, "keeps no jobs in COMPLETING"),
        ({"start": "2026-03-01", "end": None}, "'2026-03-01' is no moment"),
        ({"start": None, "end": 5}, "5 is no moment"),
        ({"start": None, "end": None, "name": "a,b"}, "'a,b' is no single name"),
        ({"start": None, "end": None, "user": [""]}, "'' is no single name"),
    ],
)
def test_what_accounting_would_misread_is_refused(words: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_query(**words)  # type: ignore[arg-type]  # wrong on purpose


# --- both languages -------------------------------------------------------------------------------------------

FULL = HistoryQuery(start=START, end=END, users=("alice", "bob"), states=("FAILED",), names=("x y",), partitions=("p",))


def test_slurmrestd_gets_repeated_parameters_and_marked_times() -> None:
    assert FULL.pairs() == [
        ("start_time", f"uts{int(START.timestamp())}"),
        ("end_time", f"uts{int(END.timestamp())}"),
        ("users", "alice"),
        ("users", "bob"),
        ("state", "FAILED"),
        ("job_name", "x y"),
        ("partition", "p"),
    ]


def test_sacct_gets_lists() -> None:
    assert FULL.words()[2:] == ["--user=alice,bob", "--state=FAILED", "--name=x y", "--partition=p"]
    program = history_question(FULL, paths=False).program.text
    assert "'--name=x y'" in program
    assert " -D" not in program


def test_sacct_without_accounting_is_told_apart() -> None:
    said = Finished("sacct", "", "Slurm accounting storage is disabled\n", 1)
    assert isinstance(failure(said, "here"), NoAccounting)
    assert not isinstance(failure(Finished("sacct", "", "sacct: error: connect refused\n", 1), "here"), NoAccounting)


# --- pieces ---------------------------------------------------------------------------------------------------


def spans(counts: list[int], query: HistoryQuery = QUERY) -> list[float]:
    """Return the hours of each span, given how many records each had."""
    cut, found = Slices(query), []
    numbers = iter(counts)
    for span in cut:
        found.append((span.end - span.start) / timedelta(hours=1))
        cut.found(next(numbers, 0))
    return found


def test_an_empty_past_takes_few_questions() -> None:
    year = HistoryQuery(start=START - timedelta(days=365), end=END)
    assert len(spans([], year)) == 7
    assert spans([]) == [6, 18]


def test_many_records_make_the_next_span_shorter() -> None:
    assert spans([10_000, 2000, 2000, 2000])[:4] == [6, 1.5, 1.5, 1.5]
    assert spans([10_000, 10_000, 10_000], QUERY)[2] == 1.5 / 4


def test_a_span_with_too_much_is_asked_for_in_parts() -> None:
    cut = Slices(QUERY)
    spans = iter(cut)
    whole = next(spans)
    assert cut.shorten()
    parts = []
    for span in spans:
        parts.append(span)
        cut.found(2000)
    assert parts[0].end == whole.end == QUERY.end
    assert parts[0].end - parts[0].start < whole.end - whole.start
    assert [late.start for late in parts[:-1]] == [early.end for early in parts[1:]]
    assert parts[-1].start == QUERY.start


def test_the_shortest_span_is_not_cut() -> None:
    cut = Slices(QUERY)
    spans = iter(cut)
    shortest = next(spans)
    while cut.shorten():
        shortest = next(spans)
    assert timedelta(0) < shortest.end - shortest.start <= timedelta(minutes=1)


def test_spans_meet_and_cover_everything() -> None:
    cut = Slices(QUERY)
    listed = list(cut)
    assert listed[0].end == END
    assert listed[-1].start == START
    assert all(later.start == earlier.end for later, earlier in pairwise(listed))


def test_a_job_of_two_spans_is_one_and_the_newest_remain() -> None:
    assert [record.id for record in newest([job(3, 3), job(1, 1), job(2, 2), job(1, 1)], None)] == [1, 2, 3]
    assert [record.id for record in newest([job(3, 3), job(1, 1), job(2, 2)], 2)] == [2, 3]


# --- over the wire --------------------------------------------------------------------------------------------


async def test_the_past_is_read_newest_first_until_there_is_enough(server: Server) -> None:
    server.ping()
    late = accounted(9, "FAILED", 3, time={"submission": int(END.timestamp()) - 60})
    early = accounted(8, "FAILED", 3, time={"submission": int(START.timestamp())})
    read = server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[late]), good(jobs=[early]))
    async with client() as slurm:
        found = await slurm.history(start=START, end=END, user="alice", state="F", limit=5)
    assert [(record.id, record.source) for record in found] == [(8, "accounting"), (9, "accounting")]
    assert str(found).splitlines()[-1].split()[4:6] == ["FAILED", "3:0"]
    first, second = read.calls
    assert query_of(first, "end_time") == [f"uts{int(END.timestamp())}"]
    assert query_of(first, "start_time") == query_of(second, "end_time")
    assert query_of(first, "users") == ["alice"]
    assert query_of(first, "state") == ["FAILED"]
    assert query_of(first, "skip_steps") == ["true"]


async def test_a_day_of_more_than_an_answer_holds_is_read_in_parts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MAX_ANSWER", 10_000)
    server.ping()
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        start, end = (int(request.url.params[name].removeprefix("uts")) for name in ("start_time", "end_time"))
        asked.append(end - start)
        moments = range(-(-start // 600) * 600, end, 600)
        return good(jobs=[accounted(at // 600, name="x" * 300) for at in moments]).response

    server.on("GET", "/slurmdb/v0.0.45/jobs/", answer)
    async with client() as slurm:
        end = datetime(2026, 3, 2, tzinfo=timezone.utc)
        found = await slurm.history(start=end - timedelta(hours=24), end=end)
        assert len(found) == len({record.id for record in found}) == 144
        monkeypatch.setattr(fetching, "MAX_ANSWER", 100)
        with pytest.raises(AnswerTooLarge, match="shorter span"):
            await slurm.history(start=end - timedelta(hours=1), end=end)
    assert asked[0] > asked[1]


async def test_enough_is_enough(server: Server) -> None:
    server.ping()
    both = [accounted(n, time={"submission": int(START.timestamp()) + n}) for n in (1, 2, 3)]
    read = server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=both))
    async with client() as slurm:
        assert [record.id for record in await slurm.history(start=START, end=END, limit=2)] == [2, 3]
    assert len(read.calls) == 1


async def test_what_a_job_has_become_counts(server: Server) -> None:
    """With a state, accounting finds earlier starts of a job as well, and jobs that were in that state for a while."""
    server.ping()
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[accounted(1, "COMPLETED"), accounted(2, "FAILED")]))
    async with client() as slurm:
        found = await slurm.history(start=START, end=START + timedelta(hours=1), state="FAILED")
    assert [record.id for record in found] == [2]


def test_the_blocking_face_has_it(server: Server) -> None:
    server.ping()
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[accounted(1)]))
    with SlurmClient("http://slurm:6820", token="tok") as slurm:
        assert [record.id for record in slurm.history(start=timedelta(minutes=1), end=timedelta(0))] == [1]


# --- a user that nobody knows ---------------------------------------------------------------------------------


async def test_a_user_that_slurmrestds_host_does_not_know_is_named(server: Server) -> None:
    server.ping()
    refused = good(errors=[{"description": "Unable to resolve user: nosuch", "error_number": 2166, "error": "no name"}])
    server.on("GET", "/slurmdb/v0.0.45/jobs/", httpx.Response(422, json=refused.body))
    async with client() as slurm:
        with pytest.raises(ApiError, match=r"^There is no user nosuch at http://slurm:6820") as caught:
            await slurm.history(user="nosuch")
    assert caught.value.error_number == 2166


def test_sacct_that_does_not_know_a_user_is_no_accounting_that_is_away() -> None:
    error = failure(Finished("sacct", "", "sacct: error: Invalid user id: nosuch\n", 1), "login1")
    assert isinstance(error, ApiError)
    assert not isinstance(error, AccountingDown)
    assert str(error).startswith("There is no user nosuch at login1")
