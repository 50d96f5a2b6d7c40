"""Tokens at the wire: refusals that lead to another one, the server's time, and whose job it became."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from slurm_rest.auth import ChainToken
from slurm_rest.errors import ConfigError, TokenExpired, TokenRejected, UnknownUser
from tests.support.transports import rest_of

from .captures import capture, failure
from .sources import Source, fresh, make
from .wire import NEW, Server, client, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

REJECTED = capture(NEW, "bad_token_jobs")
DATABASE = capture(NEW, "bad_token_slurmdb_users")


async def test_reads_are_made_once_more_after_a_401(server: Server) -> None:
    source = Source(["old", "new"])
    server.ping()
    plain = httpx.Response(401, headers={"content-type": "text/plain"}, text="Authentication failure")
    read = server.on("GET", "/jobs/state/", plain, states(("1", "RUNNING")))
    async with client(token=source) as slurm:
        assert list(await slurm.states([1])) == [1]
    assert (read.call_count, source.renewed) == (2, 1)


async def test_reads_of_accounting_are_made_once_more_when_the_token_was_the_reason(server: Server) -> None:
    """26.05 says of a refused token there only that the database is away."""

    def judge(request: httpx.Request) -> httpx.Response:
        good_one = request.headers["x-slurm-user-token"] == "new"
        accounts = "slurmdb" in request.url.path
        return (good(jobs=[]) if good_one else DATABASE if accounts else REJECTED).response

    server.ping()
    accounting = server.on("GET", "/slurmdb/v0.0.45/jobs/", judge)
    probe = server.on("GET", "/jobs/state/", judge)
    source = Source(["old", "new"])
    async with client(token=source) as slurm:
        await rest_of(slurm).accounting("/jobs/")
    assert (accounting.call_count, probe.call_count, source.renewed) == (2, 2, 1)


async def test_a_refused_submission_is_not_sent_again_but_the_next_has_a_new_token(server: Server) -> None:
    source = Source(["old", "new"])
    server.ping()
    post = server.on("POST", "/job/submit", REJECTED)
    async with client(token=source) as slurm:
        with pytest.raises(TokenRejected, match="There is another token now: try again"):
            await slurm.submit("#!/bin/sh\n")
        with pytest.raises(TokenRejected, match="Make a new one"):
            await slurm.submit("#!/bin/sh\n")
    sent = [call.request.headers["x-slurm-user-token"] for call in post.calls]
    assert sent == ["old", "new"]


async def test_the_reason_why_there_is_no_other_token_is_part_of_the_error(server: Server) -> None:
    source = Source([make(-10, now=time.time()), ConfigError("no ticket for you")])
    server.ping()
    server.on("GET", "/jobs/state/", REJECTED)
    async with client(token=source) as slurm:
        with pytest.raises(ConfigError, match="no ticket for you"):
            await slurm.states([1])
    chain = ChainToken([Source([make(-10, now=time.time())], "a"), Source([ConfigError("no ticket")], "b")])
    async with client(token=chain) as slurm:
        with pytest.raises(TokenExpired, match=r"b: no ticket"):
            await slurm.states([1])


async def test_a_proxys_date_is_noted(server: Server) -> None:
    answer = states().response
    answer.headers["date"] = "Tue, 14 Nov 2023 22:13:20 GMT"
    server.ping()
    server.on("GET", "/jobs/state/", answer)
    async with client() as slurm:
        await slurm.states([1])
        assert rest_of(slurm).connection.tokens.clock.now() == pytest.approx(1_700_000_000, abs=60)


@pytest.mark.parametrize(("path", "content"), [("/job/1", {"jobs": []}), ("/jobs/", {"jobs": []})])
async def test_slurms_own_time_is_noted(path: str, content: dict[str, object], server: Server) -> None:
    server.ping()
    last = {"set": True, "infinite": False, "number": 1_700_000_000}
    server.on("GET", path, good(last_update=last, **content))
    async with client() as slurm:
        await rest_of(slurm).records(path, "jobs")
        assert rest_of(slurm).connection.tokens.clock.now() == pytest.approx(1_700_000_000, abs=60)


async def test_a_refusal_that_this_clock_cannot_explain_leads_to_the_servers(server: Server) -> None:
    source = Source([fresh(1000), fresh(2000)])
    server.ping()
    server.on("GET", "/jobs/state/", REJECTED, states(), states())
    diag = server.on("GET", "/diag/", good(statistics={"req_time": {"set": True, "number": int(time.time()) + 600}}))
    async with client(token=source) as slurm:
        await slurm.states([1])
        await slurm.states([1])
        assert rest_of(slurm).connection.tokens.clock.skew == pytest.approx(600, abs=60)
    assert diag.call_count == 1


async def test_the_time_is_asked_once_even_if_nobody_tells_it(server: Server) -> None:
    source = Source([fresh(1000), fresh(2000)])
    server.ping()
    server.on("GET", "/jobs/state/", REJECTED, states(), states())
    diag = server.on("GET", "/diag/", good(statistics={}))
    async with client(token=source) as slurm:
        await slurm.states([1])
        await slurm.states([1])
    assert diag.call_count == 1


async def test_slurms_time_is_not_overruled_by_a_proxys(server: Server) -> None:
    dated = states().response
    dated.headers["date"] = "Tue, 14 Nov 2023 22:13:20 GMT"
    server.ping()
    server.on("GET", "/jobs/state/", dated)
    server.on("GET", "/diag/", good(statistics={"req_time": {"set": True, "number": int(time.time())}}))
    async with client() as slurm:
        clock = rest_of(slurm).connection.tokens.clock
        await slurm.states([1])
        assert clock.skew < -1000
        await slurm.diag()
        await slurm.states([1])
        assert clock.skew == pytest.approx(0, abs=60)


async def test_a_token_is_over_by_the_servers_clock(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", REJECTED)
    async with client(token=fresh(300)) as slurm:
        with pytest.raises(TokenRejected, match="or the server's clock is ahead of this one"):
            await slurm.states([1])
        rest_of(slurm).connection.tokens.note_time(time.time() + 600, time.time(), time.time())
        with pytest.raises(TokenExpired):
            await slurm.states([1])


async def test_closing_a_client_ends_the_search_for_a_token(server: Server) -> None:
    source = Source(["old"])
    server.ping()
    async with client(token=source) as slurm:
        await slurm.api_version()
        source.gate = asyncio.Event()
        tokens = rest_of(slurm).connection.tokens
        task = asyncio.ensure_future(tokens.token())
        await asyncio.sleep(0)
        flight = tokens._flight
    assert flight is not None
    assert flight.cancelled()
    await asyncio.wait([task])


async def test_each_users_first_job_is_looked_at(server: Server) -> None:
    source = Source([fresh(1000)])
    server.ping()
    numbers = iter([7, 8, 9])
    server.on("POST", "/job/submit", lambda _: good(job_id=next(numbers)).response)
    for number, user in ((7, "alice"), (9, "bob")):
        server.on("GET", f"/job/{number}", good(jobs=[job(number, user_name=user)]))
    async with client(token=source) as slurm:
        for _ in range(2):
            await slurm.submit("#!/bin/sh\n")
        source.tokens = [fresh(1000, user="bob")]
        await slurm.submit("#!/bin/sh\n")


@pytest.mark.parametrize(("users", "known"), [([], False), ([{"name": "alice"}], True)])
async def test_a_user_is_unknown_when_neither_host_nor_accounting_knows_it(
    users: list[object], known: bool, server: Server
) -> None:
    server.ping()
    server.on("GET", "/slurmdb/v0.0.45/jobs/", failure(422, 2166))
    server.on("GET", "/slurmdb/v0.0.45/user/alice", good(users=users))
    async with client(token=fresh(1000)) as slurm:
        if known:
            await slurm.ping_accounting()
        else:
            with pytest.raises(UnknownUser, match="'alice'"):
                await slurm.ping_accounting()


async def test_a_refused_change_with_a_source_that_fails_is_still_a_refusal(server: Server) -> None:
    source = Source([fresh(1000), ConfigError("no ticket for you")])
    server.ping()
    cancel = server.on("DELETE", "/jobs/", REJECTED)
    async with client(token=source) as slurm:
        with pytest.raises(TokenRejected, match=r"\(no ticket for you\)"):
            await slurm.cancel([1], signal="USR1")
    assert cancel.call_count == 1


async def test_a_token_that_was_refused_too_is_not_tried_a_third_time(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", REJECTED, REJECTED, states())
    async with client(token=Source(["old", "new", "newest"])) as slurm:
        with pytest.raises(TokenRejected):
            await slurm.states([1])
        await slurm.states([1])
    assert [call.request.headers["x-slurm-user-token"] for call in read.calls] == ["old", "new", "newest"]
