"""Cancelling at the wire: the truth about each job, and nothing sent that would do something else."""

from __future__ import annotations

import signal

import httpx
import pytest

from slurm_rest.errors import ControllerDown, ProtocolError, SlurmError, SpecError, Timeout, TokenRejected, Unreachable
from slurm_rest.models import CancelResult
from slurm_rest.records import items
from slurm_rest.transport.ids import check_id, check_signal
from slurm_rest.transport.rest.readings import cancel_results

from .captures import PLACES, capture, failure
from .wire import DOWN, NEW, UP, Server, body_of, client, good, no_pauses, query_of, server, states

__all__ = ["no_pauses", "server"]


def failed(label: str, code: int) -> dict[str, object]:
    return {"step_id": label, "error": {"code": code, "message": f"because of {code}"}}


def outcomes(results: list[CancelResult]) -> list[tuple[int, str]]:
    return [(result.job_id, result.outcome) for result in results]


# --- reading --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_the_batch_endpoint_tells_the_truth_in_every_version(place: str) -> None:
    status = items(capture(place, "cancel_batch").body["status"])
    foreign = str(status[0]["step_id"])
    results, members = cancel_results(["1", foreign, "60000000"], status)
    assert outcomes(results) == [(1, "signalled"), (int(foreign), "denied"), (60000000, "not_found")]
    assert [result.message for result in results] == ["", "Access/permission denied", "Invalid job id specified"]
    assert [result.ok for result in results] == [True, False, False]
    assert members == {}


def test_a_job_that_was_over_is_ok() -> None:
    status = items(capture(NEW, "cancel_again").body["status"])
    (result,), _ = cancel_results([str(status[0]["step_id"])], status)
    assert (result.outcome, result.ok) == ("already_over", True)


def test_a_single_task_is_matched_though_slurm_writes_it_otherwise() -> None:
    results, members = cancel_results(["12_1", "12_[2-3]"], [failed("12_[1]", 2021), failed("12_[2-3]", 2002)])
    assert outcomes(results) == [(12, "already_over"), (12, "denied")]
    assert members == {}


def test_tasks_that_were_over_are_counted_for_their_array() -> None:
    results, members = cancel_results(["12", "13"], [failed("12_1", 2021), failed("12_2", 2021)])
    assert outcomes(results) == [(12, "already_over"), (13, "signalled")]
    assert members == {12: 2}


@pytest.mark.parametrize("record", [{}, {"error": None}, {"step_id": 7, "error": {"code": "x"}}, failed("12", 0)])
def test_a_record_that_says_nothing_is_no_failure(record: dict[str, object]) -> None:
    results, _ = cancel_results(["12"], [record])
    assert outcomes(results) == [(12, "signalled")]


# --- what is sent ---------------------------------------------------------------------------------------------


async def test_one_request_for_many_and_a_result_for_each(server: Server) -> None:
    server.ping()
    send = server.on("DELETE", "/jobs/", good(status=[failed("2", 2017), failed("3", 2002), failed("4", 2021)]))
    async with client() as slurm:
        results = await slurm.cancel([1, 2, 3, 4, 67108864])
    assert outcomes(results) == [
        (1, "signalled"),
        (2, "not_found"),
        (3, "denied"),
        (4, "already_over"),
        (67108864, "not_found"),
    ]
    assert body_of(send.calls[0]) == {"jobs": ["1", "2", "3", "4"]}
    assert send.calls[0].request.headers["content-type"] == "application/json"


async def test_only_huge_ids_send_nothing(server: Server) -> None:
    async with client() as slurm:
        assert outcomes(await slurm.cancel(10**9)) == [(10**9, "not_found")]
        assert slurm.requests == 0


async def test_2500_ids_are_three_requests(server: Server) -> None:
    server.ping()
    send = server.on("DELETE", "/jobs/", good(status=[]))
    async with client() as slurm:
        assert len(await slurm.cancel(range(1, 2501))) == 2500
    assert [len(body_of(call)["jobs"]) for call in send.calls] == [1000, 1000, 500]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("TERM", "TERM"),
        ("SIGTERM", "TERM"),
        (" usr1 ", "USR1"),
        (9, "9"),
        ("15", "15"),
        (signal.SIGUSR1, "10"),
        (None, None),
    ],
)
def test_signals_that_slurm_knows(given: str | int | None, word: str | None) -> None:
    assert check_signal(given) == word


@pytest.mark.parametrize("given", ["BOGUS", "", "SIG", "SIGSIGTERM", 0, 65, -9, "1.5", True, "²", "WINCH"])
async def test_a_signal_that_slurm_does_not_know_would_kill_so_it_is_not_sent(given: object, server: Server) -> None:
    async with client() as slurm:
        with pytest.raises(SpecError, match="is not a signal") as caught:
            await slurm.cancel(7, signal=given)  # type: ignore[arg-type]  # wrong on purpose
        assert caught.value.field == "signal"
        assert slurm.requests == 0


async def test_a_signal_by_number_reaches_any_way(server: Server) -> None:
    server.ping()
    send = server.on("DELETE", "/jobs/", good(status=[]))
    async with client() as slurm:
        for given in (10, signal.SIGUSR1):
            await slurm.cancel(7, signal=given)
    async with client(transport="auto", environ={"PATH": "", "SLURM_REST_SSH_HOST": "login.test"}) as slurm:
        assert slurm.transport == "rest"
        await slurm.cancel(7, signal=10)
    assert [body_of(call)["signal"] for call in send.calls] == ["10", "10", "10"]


async def test_a_signal_goes_to_the_script_too(server: Server) -> None:
    server.ping()
    send = server.on("DELETE", "/jobs/", good(status=[]))
    async with client() as slurm:
        await slurm.cancel(7, signal="SIGUSR1")
    assert body_of(send.calls[0]) == {"jobs": ["7"], "signal": "USR1", "flags": ["FULL_JOB"]}


@pytest.mark.parametrize("label", ["12", "12_3", "12_[1-3,7]", "12_[1-9%2]", "12_[0-8:2]", "12+1", 12, " 12 "])
def test_ids_as_slurm_writes_them(label: object) -> None:
    assert check_id(label) == str(label).strip()


@pytest.mark.parametrize(
    "label", ["", "0", "0_1", "x", "12.batch", "12_", "12_x", "-1", "1,2", "12 13", None, True, 1.0]
)
def test_what_is_no_id(label: object) -> None:
    with pytest.raises(SpecError, match="is not a job id"):
        check_id(label)


# --- arrays in part -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ((("12_1", "COMPLETED"), ("12_2", "CANCELLED")), "signalled"),
        ((("12_1", "COMPLETED"),), "already_over"),
        ((), "already_over"),
    ],
)
async def test_an_array_of_which_some_tasks_were_over(
    rows: tuple[tuple[str, str], ...], outcome: str, server: Server
) -> None:
    server.ping()
    server.on("DELETE", "/jobs/", good(status=[failed("12_1", 2021)]))
    look = server.on("GET", "/jobs/state/", states(*rows))
    async with client() as slurm:
        assert outcomes(await slurm.cancel(12)) == [(12, outcome)]
    assert query_of(look.calls[0], "job_id") == ["12"]


# --- failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind", "calls"),
    [
        (httpx.ConnectError("refused"), Unreachable, 3),
        (httpx.ConnectTimeout("slow"), Unreachable, 3),
        (httpx.ReadTimeout("slow"), Timeout, 1),
        (httpx.RemoteProtocolError("disconnected"), ProtocolError, 3),
        (httpx.WriteError("broken pipe"), ProtocolError, 3),
        (capture(NEW, "bad_token_jobs"), TokenRejected, 1),
        (failure(502, 1800), ControllerDown, 1),
        (failure(504, 5004), ControllerDown, 1),
    ],
    ids=str,
)
async def test_a_cancel_that_fails(reply: object, kind: type[SlurmError], calls: int, server: Server) -> None:
    server.ping()
    send = server.on("DELETE", "/jobs/", reply)  # type: ignore[arg-type]  # a Capture or an error
    async with client() as slurm:
        with pytest.raises(kind) as caught:
            await slurm.cancel(7)
    assert type(caught.value) is kind
    assert send.call_count == calls


@pytest.mark.parametrize(("status", "number"), [(403, 1), (500, 1), (500, -1)])
async def test_a_dead_controller_behind_a_refusal(status: int, number: int, server: Server) -> None:
    server.ping(UP, DOWN)
    server.on("DELETE", "/jobs/", failure(status, number))
    async with client() as slurm:
        with pytest.raises(ControllerDown):
            await slurm.cancel(7)
