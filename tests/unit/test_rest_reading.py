"""States and records at the wire: rows assigned to the ids that were asked for, and records from where they are."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import pytest

from slurm_rest import JobState
from slurm_rest.api import API_VERSIONS
from slurm_rest.errors import (
    AccountingDown,
    ControllerDown,
    ErrorContext,
    JobNotFound,
    NoAccounting,
    SlurmError,
    SpecError,
    TokenRejected,
)
from slurm_rest.transport.answers import Answer
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.rest.readings import assign_rows, parse_rows
from slurm_rest.transport.rest.states import StateReader, Told

from .captures import PLACES, capture, failure
from .wire import DOWN, NEW, NOT_SERVED, UP, Server, accounted, client, good, job, no_pauses, query_of, server, states

__all__ = ["no_pauses", "server"]

UNKNOWN = capture(NEW, "job_unknown")
DATABASE = capture(NEW, "bad_token_slurmdb_users")


def shown(found: dict[int, JobState]) -> dict[int, str]:
    return {job_id: str(state) for job_id, state in found.items()}


# --- rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_rows_of_real_answers(place: str) -> None:
    """Asked were a running, a pending, a completed, a failed and a cancelled job, an array and one more."""
    asked = [int(value) for value in capture(place, "jobs_state").path.replace("&", "=").split("=")[1::2]][:-1]
    rows = parse_rows(capture(place, "jobs_state").body["jobs"])
    found, mixed = assign_rows(asked, rows)
    assert mixed == set()
    by_id: dict[int, list[StateRow]] = {}
    for row in found:
        by_id.setdefault(row.job_id, []).append(row)
    assert list(by_id) == asked
    plain = [str(by_id[job_id][0].state) for job_id in asked[:5]]
    assert plain == ["RUNNING", "PENDING", "COMPLETED", "FAILED", "CANCELLED"]
    assert [(row.task_id, str(row.state)) for row in by_id[asked[5]]] == [(1, "RUNNING"), (2, "PENDING")]


def test_rows_of_an_unknown_form_are_left_out() -> None:
    rows = parse_rows(
        [
            {"job_id": "1", "state": ["RUNNING"]},
            {"job_id": "1.batch"},
            {"job_id": 7},
            {},
            {"job_id": "x"},
            {"job_id": ""},
        ]
    )
    assert [row.job_id for row in rows] == [1]


def test_one_array_adopts_the_tasks_that_come_under_their_own_ids() -> None:
    rows = [StateRow(11, JobState.parse("RUNNING"), 1), StateRow(10, JobState.parse("PENDING"), 2)]
    found, mixed = assign_rows([10, 20], [*rows, StateRow(20, JobState.parse("FAILED"))])
    assert mixed == set()
    assert [(row.job_id, row.task_id) for row in found] == [(10, 1), (10, 2), (20, None)]


def test_an_array_keeps_a_row_for_what_was_cancelled_of_it_unstarted() -> None:
    rows = parse_rows([{"job_id": "17_0", "state": ["RUNNING"]}, {"job_id": "16_*", "state": ["CANCELLED"]}])
    found, mixed = assign_rows([16], rows)
    assert mixed == set()
    assert [(row.job_id, row.task_id, str(row.state)) for row in found] == [(16, 0, "RUNNING"), (16, None, "CANCELLED")]
    found, mixed = assign_rows([16, 20], [*rows, *parse_rows([{"job_id": "20", "state": ["RUNNING"]}])])
    assert mixed == set()
    assert sorted((row.job_id, row.task_id or 0) for row in found) == [(16, 0), (16, 0), (20, 0)]


def test_an_array_whose_own_id_ended_long_ago_has_strays_only() -> None:
    rows = [StateRow(11, JobState.parse("RUNNING"), 1), StateRow(12, JobState.parse("RUNNING"), 2)]
    found, mixed = assign_rows([10], rows)
    assert mixed == set()
    assert [(row.job_id, row.task_id) for row in found] == [(10, 1), (10, 2)]


def test_tasks_of_two_arrays_are_never_mixed_up() -> None:
    rows = [
        StateRow(11, JobState.parse("RUNNING"), 1),
        StateRow(10, JobState.parse("PENDING"), 2),
        StateRow(20, JobState.parse("PENDING"), 2),
        StateRow(30, JobState.parse("FAILED")),
    ]
    found, mixed = assign_rows([10, 20, 30], rows)
    assert mixed == {10, 20}
    assert [row.job_id for row in found] == [30]


def test_het_components_belong_to_their_leader() -> None:
    rows = [StateRow(33, JobState.parse("RUNNING"), None, 0), StateRow(34, JobState.parse("PENDING"), None, 1)]
    found, _ = assign_rows([33], rows)
    assert [(row.job_id, row.offset) for row in found] == [(33, 0), (33, 1)]


ONE, TWO = (("11_1", "RUNNING"), ("10_2", "PENDING")), (("21_1", "FAILED"), ("20_2", "FAILED"))


async def test_two_arrays_are_asked_for_alone_and_then_with_a_job_between(server: Server) -> None:
    server.ping()
    plain = ("5", "RUNNING")
    together, apart = states(plain, *ONE, *TWO), states(plain, plain, *ONE, plain, *TWO)
    read = server.on("GET", "/jobs/state/", together, states(*ONE), states(*TWO), apart)
    wanted = {10: "RUNNING", 20: "FAILED", 5: "RUNNING"}
    async with client() as slurm:
        assert shown(await slurm.states([10, 20, 5])) == wanted
        assert shown(await slurm.states([10, 20, 5])) == wanted
    asked = [query_of(call, "job_id") for call in read.calls]
    assert asked == [["5", "10", "20"], ["10"], ["20"], ["5", "5", "10", "5", "20"]]


async def test_a_task_can_stand_between_arrays_and_its_own_array_stands_in_front(server: Server) -> None:
    server.ping()
    apart = states(*ONE, ("11_1", "RUNNING"), *TWO)
    read = server.on("GET", "/jobs/state/", states(*ONE, *TWO), states(*ONE), states(*TWO), apart)
    async with client() as slurm:
        for _ in range(2):
            assert shown(await slurm.states([10, 20])) == {10: "RUNNING", 20: "FAILED"}
    assert query_of(read.calls[3], "job_id") == ["10", "11", "20"]


async def test_a_job_between_that_has_left_is_done_without(server: Server) -> None:
    server.ping()
    together, gone, both = states(("5", "RUNNING"), *ONE, *TWO), states(*ONE, *TWO), states(*ONE, *TWO)
    alone = (states(*ONE), states(*TWO))
    read = server.on("GET", "/jobs/state/", together, *alone, gone, gone, states(), both, *alone)
    async with client() as slurm:
        await slurm.states([10, 20, 5])
        assert shown(await slurm.states([10, 20, 5])) == {10: "RUNNING", 20: "FAILED"}
    assert len(read.calls) == 9


async def test_no_question_is_longer_than_slurmrestd_reads_arrays_between_known_jobs_included() -> None:
    """24.11 cuts a query above 64 KiB and answers for the rest: 1,000 ids of 8 digits are 17 kB."""
    plain, arrays = range(50_000_001, 50_002_501), range(60_000_001, 60_001_801, 2)
    asked: list[int] = []

    async def answer(ids: Sequence[int], before: Told | None) -> Told:
        # As slurmctld does: id by id, and a started task under an id of its own.
        asked.append(len(ids))
        rows = [
            {"job_id": f"{job_id + 1}_7" if job_id in arrays else str(job_id), "state": ["RUNNING"]} for job_id in ids
        ]
        return Told(parse_rows(rows), Answer(ErrorContext()))

    reader = StateReader(answer)
    await reader.read([*plain, *arrays])
    asked.clear()
    found = await reader.read([*plain, *arrays])
    assert max(asked) <= 1000
    assert len(asked) == 5, "2,500 jobs, and 900 arrays with a job before each"
    assert sorted(row.job_id for row in found) == [*plain, *arrays]
    assert {row.task_id for row in found if row.job_id in arrays} == {7}


async def test_ids_that_slurm_does_not_know_are_absent_and_huge_ones_not_sent(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", states(("1", "RUNNING")))
    async with client() as slurm:
        assert shown(await slurm.states([1, 2, 67108863, 67108864, 10**12])) == {1: "RUNNING"}
    assert query_of(read.calls[0], "job_id") == ["1", "2", "67108863"]


@pytest.mark.parametrize("job_id", [0, -1, "12", "x", "12_3", True, 1.5, None])
async def test_what_is_no_job_id_is_refused_before_anything_is_sent(job_id: object, server: Server) -> None:
    async with client() as slurm:
        for call in (slurm.states, slurm.wait, slurm.cancel):
            with pytest.raises(SpecError, match="is not a job id"):
                await call([job_id])  # type: ignore[list-item]  # wrong on purpose
        with pytest.raises(SpecError, match="is not a job id"):
            await slurm.info(job_id)  # type: ignore[arg-type]
        assert slurm.requests == 0


async def test_nothing_asked_is_nothing_sent(server: Server) -> None:
    async with client() as slurm:
        assert await slurm.states([]) == {}
        assert await slurm.wait([]) == []
        assert await slurm.cancel([]) == []
        assert slurm.requests == 0


# --- records --------------------------------------------------------------------------------------------------


async def test_a_record_comes_from_the_controller_if_it_has_it(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", good(jobs=[job(7, "FAILED", 3)]))
    async with client() as slurm:
        info = await slurm.info(7)
    assert (info.source, str(info.state), info.exit_code.code) == ("controller", "FAILED", 3)


async def test_a_record_that_left_comes_from_accounting_in_its_last_incarnation(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", UNKNOWN)
    records = [
        accounted(7, "NODE_FAIL", time={"submission": 100}),
        accounted(7, "COMPLETED", time={"submission": 300}, restart_cnt=1),
        accounted(7, "PENDING+REQUEUED", time={"submission": 200}),
    ]
    read = server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=records))
    async with client() as slurm:
        info = await slurm.info(7)
    assert (info.source, str(info.state), info.restart_count) == ("accounting", "COMPLETED", 1)
    assert read.calls[0].request.url.query == b"step=7&skip_steps=true"


async def test_a_record_that_nobody_has(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", UNKNOWN)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", capture(NEW, "slurmdb_jobs_none"))
    async with client() as slurm:
        with pytest.raises(JobNotFound, match="no job 7"):
            await slurm.info(7)


async def test_a_dead_accounting_is_not_read_as_no_job(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", UNKNOWN)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", DATABASE)
    server.on("GET", "/jobs/state/", states())
    async with client() as slurm:
        with pytest.raises(AccountingDown):
            await slurm.info(7)


async def test_a_slurmrestd_that_serves_no_accounting_still_tells_what_the_controller_has(server: Server) -> None:
    # 24.11 with -s openapi/slurmctld on a cluster that keeps accounting: ping/ names the storage, /slurmdb is a 404.
    server.ping()
    for version in API_VERSIONS[:-1]:
        server.on("GET", f"/slurm/{version}/ping/", NOT_SERVED)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", NOT_SERVED)
    server.on("GET", "/jobs/state/", states(("7", "FAILED"), ("8", "FAILED")))
    for job_id in (7, 8):
        server.on("GET", f"/job/{job_id}", good(jobs=[job(job_id, "FAILED")]))
    server.on("GET", "/job/9", UNKNOWN)
    async with client() as slurm:
        assert [str(record.state) for record in await slurm.wait([7, 8])] == ["FAILED", "FAILED"]
        with pytest.raises(NoAccounting, match="serves no accounting") as caught:
            await slurm.info(9)
        assert "openapi/slurmdbd" in caught.value.hint
        assert not slurm.capabilities.accounting


async def test_a_task_that_left_the_controller_still_counts_for_its_array(server: Server) -> None:
    server.ping()
    here = [job(12, "COMPLETED", array_job_id=10, array_task_id={"set": True, "number": 2})]
    before = [
        accounted(11, "FAILED", 3, array={"job_id": 10, "task_id": {"set": True, "number": 1}}),
        accounted(12, "COMPLETED", array={"job_id": 10, "task_id": {"set": True, "number": 2}}),
        accounted(10, "PENDING", array={"job_id": 10, "task": "0xC"}),
    ]
    server.on("GET", "/job/10", good(jobs=here))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=before))
    async with client() as slurm:
        info, members = await slurm.info(10), await slurm.members(10)
    assert (info.id, str(info.state), info.exit_code.code) == (10, "FAILED", 3)
    assert [member.label for member in members] == ["10_1", "10_2"]


async def test_an_array_is_readable_while_accounting_is_away(server: Server) -> None:
    server.ping()
    here = [job(12, "COMPLETED", array_job_id=10, array_task_id={"set": True, "number": 2})]
    server.on("GET", "/job/10", good(jobs=here))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", DATABASE)
    server.on("GET", "/jobs/state/", states())
    async with client() as slurm:
        assert str((await slurm.info(10)).state) == "COMPLETED"


async def test_many_ended_jobs_are_read_from_accounting_100_at_a_time(server: Server) -> None:
    server.ping()
    ids = list(range(1, 251))
    chunks = [good(jobs=[accounted(job_id) for job_id in ids[start : start + 100]]) for start in (0, 100, 200)]
    read = server.on("GET", "/slurmdb/v0.0.45/jobs/", *chunks)
    server.on("GET", "/jobs/state/", states(*((str(job_id), "COMPLETED") for job_id in ids)))
    async with client() as slurm:
        records = await slurm.wait(ids)
        assert slurm.requests == 5
    assert [record.id for record in records] == ids
    assert [len(query_of(call, "step")) for call in read.calls] == [100, 100, 50]


@pytest.mark.parametrize("count", [2, 4])
async def test_a_few_ended_jobs_are_one_request_too(server: Server, count: int) -> None:
    server.ping()
    ids = list(range(1, count + 1))
    server.on("GET", "/jobs/state/", states(*((str(job_id), "FAILED") for job_id in ids)))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[accounted(job_id, "FAILED", 3) for job_id in ids]))
    async with client() as slurm:
        assert [record.exit_code.code for record in await slurm.wait(ids)] == [3] * count
        assert slurm.requests == 3


async def test_a_record_that_is_late_in_accounting_comes_from_the_controller(server: Server) -> None:
    server.ping()
    ids = [1, 2, 3, 4, 5]
    late = [accounted(job_id, "RUNNING" if job_id == 5 else "FAILED") for job_id in ids if job_id != 4]
    server.on("GET", "/jobs/state/", states(*((str(job_id), "FAILED") for job_id in ids)))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=late))
    for job_id in (4, 5):
        server.on("GET", f"/job/{job_id}", good(jobs=[job(job_id, "FAILED", job_id)]))
    async with client() as slurm:
        records = await slurm.wait(ids)
    assert [(record.source, record.exit_code.code) for record in records] == [
        *[("accounting", 0)] * 3,
        ("controller", 4),
        ("controller", 5),
    ]


async def test_bytes_that_are_not_utf8_spoil_no_record(server: Server) -> None:
    server.ping()
    spoilt = good(jobs=[job(7, name="caf?")])
    server.on("GET", "/job/7", type(spoilt)("GET", "/", 200, "application/json", spoilt.raw.replace(b"?", b"\xe9")))
    async with client() as slurm:
        assert (await slurm.info(7)).name == "caf\udce9"


# --- lists ----------------------------------------------------------------------------------------------------


async def test_jobs_in_a_state_are_read_one_by_one_and_once_each(server: Server) -> None:
    server.ping()
    tasks = [job(10 + n, "RUNNING", array_job_id=10, array_task_id={"set": True, "number": n}) for n in (0, 1)]
    server.on("GET", "/jobs/state/", states(("10_0", "RUNNING"), ("11_1", "RUNNING"), ("5", "PENDING")))
    server.on("GET", "/job/10", good(jobs=tasks))
    server.on("GET", "/job/11", good(jobs=tasks[1:]))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client() as slurm:
        assert [record.label for record in await slurm.jobs(state="running")] == ["10_0", "10_1"]


async def test_jobs_are_filtered_here(server: Server) -> None:
    server.ping()
    server.on("GET", "/diag/", good(statistics={"jobs_pending": 2, "jobs_running": 0}))
    records = [job(1, partition="a", name="x"), job(2, user_name="bob"), job(3, partition="b", name="x")]
    server.on("GET", "/jobs/", good(jobs=records))
    async with client() as slurm:
        assert [record.id for record in await slurm.jobs(user="alice", name="x")] == [1, 3]
        assert [record.id for record in await slurm.jobs(partition="b")] == [3]


async def test_a_listing_that_would_hurt_slurmrestd_is_refused(server: Server) -> None:
    server.ping()
    server.on("GET", "/diag/", good(statistics={"jobs_pending": 40_000, "jobs_running": 3}))
    async with client() as slurm:
        with pytest.raises(SpecError, match="40003 jobs"):
            await slurm.jobs()


# --- ping -----------------------------------------------------------------------------------------------------


async def test_ping_makes_a_read_that_proves_the_token(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", states())
    async with client() as slurm:
        (ping,) = await slurm.ping()
    assert (ping.responding, ping.primary, ping.api_version, ping.slurm) == (True, True, "v0.0.45", "26.05.5")
    assert read.call_count == 1


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (capture(NEW, "bad_token_jobs"), TokenRejected),
        (failure(500, -1), ControllerDown),
        (failure(502, 1800), ControllerDown),
        (failure(500, 2000), ControllerDown),
    ],
)
async def test_a_ping_that_says_down_may_be_a_bad_token(read: object, kind: type[SlurmError], server: Server) -> None:
    server.ping(DOWN)
    server.on("GET", "/jobs/state/", read)  # type: ignore[arg-type]  # a Capture
    async with client() as slurm:
        with pytest.raises(kind) as caught:
            await slurm.ping()
    assert type(caught.value) is kind
    assert caught.value.__cause__ is not caught.value


async def test_a_ping_with_a_refused_token_is_no_success(server: Server) -> None:
    server.ping(UP)
    server.on("GET", "/jobs/state/", capture(NEW, "bad_token_jobs"))
    async with client() as slurm:
        with pytest.raises(TokenRejected):
            await slurm.ping()


async def test_many_jobs_that_left_beside_an_array_cost_few_requests(server: Server) -> None:
    """An array whose own id has no row looks like any job that left: which one it is takes a search by halves."""

    def answer(request: httpx.Request) -> httpx.Response:
        asked = request.url.params.get_list("job_id")
        return states(*([("9001_1", "RUNNING"), ("9002_2", "RUNNING")] if "500" in asked else [])).response

    server.ping()
    read = server.on("GET", "/jobs/state/", answer)
    async with client() as slurm:
        assert shown(await slurm.states(range(1, 1001))) == {500: "RUNNING"}
    assert read.call_count <= 21


async def test_50_000_records_are_matched_without_comparing_each_with_each(server: Server) -> None:
    ids = range(1, 50_001)

    def rows(request: httpx.Request) -> httpx.Response:
        return states(*((job_id, "COMPLETED") for job_id in request.url.params.get_list("job_id"))).response

    def records(request: httpx.Request) -> httpx.Response:
        return good(jobs=[accounted(int(job_id)) for job_id in request.url.params.get_list("step")]).response

    server.ping()
    read = server.on("GET", "/jobs/state/", rows)
    count = server.on("GET", "/slurmdb/v0.0.45/jobs/", records)
    async with client() as slurm:
        assert [record.id for record in await slurm.wait(ids)] == list(ids)
    assert (read.call_count, count.call_count) == (50, 500)
