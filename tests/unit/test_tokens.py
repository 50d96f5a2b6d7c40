"""A client's tokens: one renewal for all, ahead of time by the server's clock, and sources that fail."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from slurm_rest.auth import ChainToken, KeyToken, ScontrolToken, ServerClock, StaticToken, TokenKeeper, read_claims
from slurm_rest.auth import keeper as keeper_module
from slurm_rest.errors import ConfigError, TokenExpired, TokenMissing, TokenRejected, TokenSourceError, UnknownUser
from tests.support.logs import logged
from tests.support.transports import rest_of

from .captures import capture, failure
from .wire import NEW, Server, client, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

KEY = bytes(range(32))
NOW = 1_700_000_000.0
REJECTED = capture(NEW, "bad_token_jobs")
DATABASE = capture(NEW, "bad_token_slurmdb_users")


def make(seconds: float, *, user: str = "alice", issued: float | None = NOW, now: float = NOW, **more: object) -> str:
    """Return a token that ends ``seconds`` after ``now``."""
    claims = {"sun": user, "exp": int(now + seconds), **({} if issued is None else {"iat": int(issued)}), **more}
    return jwt.encode(claims, KEY, algorithm="HS256")


@dataclass
class Time:
    """A clock that a test sets."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class Source:
    """A provider that gives what a test puts there, and counts how it was asked."""

    tokens: list[str | Exception] = field(default_factory=list)
    name: str = "the source"
    asked: int = 0
    renewed: int = 0
    gate: asyncio.Event | None = None

    async def token(self, *, renew: bool = False) -> str:
        self.asked += 1
        self.renewed += renew
        if self.gate is not None:
            await self.gate.wait()
        else:
            await asyncio.sleep(0)
        if renew and len(self.tokens) > 1:
            del self.tokens[0]
        first = self.tokens[0]
        if isinstance(first, Exception):
            raise first
        return first


@pytest.fixture
def now() -> Time:
    return Time()


def keep(source: object, now: Time) -> TokenKeeper:
    return TokenKeeper(source, clock=ServerClock(now))  # type: ignore[arg-type]  # sources of tests


@pytest.fixture
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a source that failed be asked again at once."""
    monkeypatch.setattr(keeper_module, "_RETRY_SECONDS", 0.0)


# --- one for all ----------------------------------------------------------------------------------------------


async def test_a_hundred_requests_at_once_ask_once(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    assert len(set(await asyncio.gather(*(tokens.token() for _ in range(100))))) == 1
    assert (source.asked, source.renewed) == (1, 0)
    await tokens.token()
    assert source.asked == 2


async def test_a_hundred_requests_at_the_end_of_a_token_cause_one_renewal(now: Time) -> None:
    source = Source([make(1800), make(3600)])
    tokens = keep(source, now)
    first = await tokens.token()
    now.now += 1700
    found = await asyncio.gather(*(tokens.token() for _ in range(100)))
    assert set(found) == {make(3600)} != {first}
    assert source.renewed == 1
    assert tokens.metrics.token_renewals == 1


async def test_a_hundred_refusals_at_once_cause_one_renewal(now: Time) -> None:
    source = Source([make(1800), make(1801)])
    tokens = keep(source, now)
    refused = await tokens.token()
    assert all(await asyncio.gather(*(tokens.replace(refused) for _ in range(100))))
    assert source.renewed == 1
    assert await tokens.token() == make(1801)
    assert await tokens.replace(refused), "one who hears of the refusal late takes what there is"
    assert source.renewed == 1


async def test_an_answer_that_was_asked_for_before_the_refusal_is_not_taken_for_a_new_token(now: Time) -> None:
    source = Source([make(1800), make(1801)], gate=asyncio.Event())
    tokens = keep(source, now)
    early = asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = asyncio.ensure_future(tokens.replace(make(1800)))
    await asyncio.sleep(0)
    tokens._refused = ""  # as it was when the early one was asked
    assert source.gate is not None
    source.gate.set()
    assert await early == make(1800)
    tokens._refused = make(1800)
    assert await late
    assert await tokens.token() == make(1801)


async def test_a_refused_token_is_replaced_before_the_next_request(now: Time) -> None:
    source = Source([make(1800), make(1801)])
    tokens = keep(source, now)
    tokens.refuse(await tokens.token())
    assert await tokens.token() == make(1801)


async def test_a_waiter_that_gives_up_disturbs_no_other(now: Time) -> None:
    source = Source([make(1800)], gate=asyncio.Event())
    tokens = keep(source, now)
    one, other = asyncio.ensure_future(tokens.token()), asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.wait([one])
    assert source.gate is not None
    source.gate.set()
    assert await other == make(1800)
    assert source.asked == 1


async def test_closing_ends_what_is_still_being_asked(now: Time) -> None:
    source = Source([make(1800)], gate=asyncio.Event())
    tokens = keep(source, now)
    waiting = asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    await tokens.close()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


# --- a source that fails --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_no_rest")
async def test_a_failing_source_is_reported_once_and_the_old_token_used(
    now: Time, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = Source([make(1800)])
    tokens = keep(source, now)
    first = await tokens.token()
    source.tokens = [ConfigError("no ticket for you")]
    assert [await tokens.token() for _ in range(5)] == [first] * 5
    assert [record.levelname for record in caplog.records if "no ticket" in record.message] == ["WARNING"]
    assert tokens.metrics.token_failures == 5
    assert tokens.why == "no ticket for you"
    source.tokens = [make(3600)]
    assert await tokens.token() == make(3600)
    assert "gives tokens again" in caplog.text
    assert tokens.why == ""


async def test_a_failing_source_is_left_alone_for_a_while(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    await tokens.token()
    source.tokens = [ConfigError("no")]
    for _ in range(5):
        await tokens.token()
    assert source.asked == 2


async def test_when_the_old_token_is_over_the_failure_is_raised(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    await tokens.token()
    source.tokens = [ConfigError("no ticket")]
    now.now += 1801
    with pytest.raises(ConfigError, match="no ticket"):
        await tokens.token()


async def test_a_source_that_hangs_does_not_hold_up_a_token_that_works(
    now: Time, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper_module, "_PATIENCE_SECONDS", 0.0)
    source = Source([make(1800)])
    tokens = keep(source, now)
    first = await tokens.token()
    source.gate = asyncio.Event()
    assert await tokens.token() == first
    # Once it is known to take its time, nobody waits for it at all.
    monkeypatch.setattr(keeper_module, "_PATIENCE_SECONDS", None)
    assert [await tokens.token() for _ in range(3)] == [first] * 3
    assert source.asked == 2
    assert caplog.text.count("takes its time") == 1
    await tokens.close()


async def test_a_source_without_a_fresher_token_is_not_pressed(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    now.now += 1700
    for _ in range(5):
        assert await tokens.token() == make(1800)
    assert source.renewed == 1


# --- the server's clock ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "before", "after", "skew"),
    [
        (100, 100.2, 100.9, 0.0),
        (100, 99.5, 100.1, 0.0),
        (100, 100.9, 101.5, 0.0),
        (700, 100.0, 100.0, 600.5),
        (100, 700.0, 700.0, -599.5),
    ],
)
def test_a_whole_second_tells_the_difference(told: int, before: float, after: float, skew: float) -> None:
    clock = ServerClock(Time(after))
    clock.note(told, before, after)
    assert clock.is_known
    assert clock.skew == skew
    assert clock.now() == after + skew


def test_slurms_word_counts_more_than_a_proxys() -> None:
    clock = ServerClock(Time(100))
    assert clock.note(700, 100, 100, from_slurm=False)
    assert clock.note(400, 100, 100)
    assert not clock.note(700, 100, 100, from_slurm=False)
    assert clock.skew == 300.5


def test_a_large_difference_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = ServerClock(Time(100))
    for _ in range(3):
        clock.note(700, 100, 100)
    assert logged(caplog) == ["The server's clock is 600 s ahead of this one"]


async def test_a_token_is_renewed_ahead_by_the_servers_clock(now: Time) -> None:
    source = Source([make(1800), make(3600)])
    tokens = keep(source, now)
    assert await tokens.token() == make(1800)
    tokens.note_time(NOW + 1650, NOW, NOW)
    assert await tokens.token() == make(3600)


async def test_sources_that_look_at_the_end_themselves_are_told_the_difference(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    key = KeyToken(tmp_path / "key", "alice", lifespan=300, clock=now)
    tokens = keep(ChainToken([key], clock=now), now)
    tokens.note_time(NOW + 600, NOW, NOW)
    expires = read_claims(await tokens.token()).expires
    assert expires is not None
    assert expires.timestamp() == NOW + 600 + 300


async def test_a_key_finds_out_when_the_servers_clock_is_ahead(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    provider = KeyToken(tmp_path / "key", "alice", lifespan=300, clock=now)
    lasts = [read_claims(await provider.token(renew=renew)).lifetime for renew in (False, True)]
    provider.note_skew(0.0)
    now.now += 1
    lasts.append(read_claims(await provider.token(renew=True)).lifetime)
    assert lasts == [300, 3900, 300]


async def test_a_short_life_is_used_to_nearly_its_end(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    provider = KeyToken(tmp_path / "key", "alice", lifespan=5, clock=now)
    found = []
    for _ in range(10):
        found.append(await provider.token())
        now.now += 1
    assert len(set(found)) == 2


async def test_a_source_whose_tokens_seem_over_at_once_is_not_asked_each_time(now: Time) -> None:
    made: list[str] = []

    async def scontrol() -> str:
        made.append(make(300 - 600 + len(made), issued=NOW - 600))
        return f"SLURM_JWT={made[-1]}\n"

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    tokens = keep(provider, now)
    for _ in range(10):
        await tokens.token()
    assert len(made) < 5
    assert tokens.wants_time
    tokens.note_time(NOW - 600, NOW, NOW)
    assert not tokens.wants_time


async def test_a_source_that_gives_the_same_again_is_given_time(now: Time) -> None:
    asked = 0

    async def scontrol() -> str:
        nonlocal asked
        asked += 1
        return make(30, issued=None)

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    for _ in range(10):
        await provider.token()
        now.now += 0.1
    assert asked == 2
    now.now += 6
    await provider.token()
    assert asked == 3


async def test_a_fresh_token_that_is_over_by_this_clock_lasts_as_long_as_it_says(now: Time) -> None:
    asked = 0

    async def scontrol() -> str:
        nonlocal asked
        asked += 1
        return make(-300 + asked, issued=NOW - 600 + asked)

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    for _ in range(10):
        await provider.token()
        now.now += 0.1
    assert asked == 1
    now.now += 280
    await provider.token()
    assert asked == 2


# --- chains ---------------------------------------------------------------------------------------------------


async def test_the_first_that_gives_one_is_taken_and_the_reasons_are_kept(now: Time) -> None:
    failing, expired = Source([ConfigError("no file")], "a"), Source([make(-1)], "b")
    working, never = Source([make(100)], "c"), Source([], "d")
    chain = ChainToken([failing, expired, working, never], clock=now)
    assert chain.name == "a or b or c or d"
    assert await chain.token() == make(100)
    assert chain.name == "c"
    assert chain.reasons == {"a": "no file", "b": "its token has expired"}
    assert never.asked == 0


async def test_an_earlier_source_is_used_again_when_it_is_back(now: Time, caplog: pytest.LogCaptureFixture) -> None:
    first, second = Source([ConfigError("no file")], "a"), Source([make(100)], "b")
    chain = ChainToken([first, second], clock=now)
    await chain.token()
    first.tokens = [make(200)]
    assert await chain.token() == make(200)
    assert "Tokens now come from a" in caplog.text


async def test_a_refused_token_leads_to_the_next_source(now: Time) -> None:
    first, second = Source([make(100)], "a"), Source([make(200)], "b")
    chain = ChainToken([first, second], clock=now)
    assert await chain.token() == make(100)
    assert await chain.token(renew=True) == make(200)
    assert first.renewed == 1
    assert "refused" in chain.reasons["a"]


async def test_a_chain_never_changes_who_one_is(now: Time) -> None:
    first, second = Source([make(100)], "a"), Source([make(200, user="bob")], "b")
    chain = ChainToken([first, second], clock=now)
    await chain.token()
    first.tokens = [ConfigError("gone")]
    with pytest.raises(TokenMissing, match="another user's \\(bob, not alice\\)"):
        await chain.token()


async def test_without_a_usable_one_slurm_has_the_last_word(now: Time) -> None:
    chain = ChainToken([Source([make(-5)], "a"), Source([ConfigError("no")], "b")], clock=now)
    assert await chain.token() == make(-5)
    assert chain.reasons == {"a": "its token has expired", "b": "no"}
    with pytest.raises(TokenMissing, match="None of 2 token sources gave one: a: no; b: no"):
        await ChainToken([Source([ConfigError("no")], "a"), Source([ConfigError("no")], "b")]).token()


def test_a_chain_shows_no_token() -> None:
    chain = ChainToken([StaticToken("s3cret"), StaticToken("s3cret")])
    assert "s3cret" not in f"{chain!r} {chain} {chain.name}"


# --- keys -----------------------------------------------------------------------------------------------------


def rsa_key() -> tuple[bytes, rsa.RSAPublicKey]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form), key.public_key()


async def test_a_pem_key_with_an_id_signs_rs256_and_without_one_hs256(tmp_path: Path) -> None:
    private, public = rsa_key()
    file = tmp_path / "key.pem"
    file.write_bytes(private)
    token = await KeyToken(file, "alice", key_id="k1").token()
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    assert jwt.decode(token, public, algorithms=["RS256"])["sun"] == "alice"
    assert read_claims(await KeyToken(file, "alice").token()).algorithm == "HS256"


@pytest.mark.parametrize("text", [b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", b"-----BEGIN x"])
async def test_what_is_no_key_for_rs256(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(text)
    with pytest.raises(ConfigError, match="is no key for RS256"):
        await KeyToken(tmp_path / "key.pem", "alice", key_id="k1").token()


async def test_an_unbound_scontrol_says_so() -> None:
    with pytest.raises(ConfigError, match="not bound"):
        await ScontrolToken("login").token()


# --- on the wire ----------------------------------------------------------------------------------------------


def fresh(seconds: float = 1800, **more: object) -> str:
    return make(seconds, issued=None, now=time.time(), **more)  # type: ignore[arg-type]  # claims


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


# --- a provider of the caller's own ---------------------------------------------------------------------------


async def test_what_a_callers_provider_raises_is_an_error_of_its_source(now: Time) -> None:
    text = make(1800)
    broken = Source([RuntimeError(f"the vault took {text} back")])
    with pytest.raises(TokenSourceError, match="the source failed: RuntimeError: the vault") as caught:
        await keep(broken, now).token()
    shown = traceback.format_exception(type(caught.value), caught.value, caught.value.__traceback__)
    assert text not in "".join(shown)
    assert caught.value.hint
    # Others step in.
    assert await keep(ChainToken([broken, Source([text], name="another")], clock=now), now).token() == text


@pytest.mark.parametrize("given", [None, b"token", 7])
async def test_what_is_no_text_is_no_token(now: Time, given: object) -> None:
    with pytest.raises(TokenSourceError, match=f"gave no text but {type(given).__name__}"):
        await keep(Source([given]), now).token()  # type: ignore[list-item]  # wrong on purpose


async def test_a_callers_token_may_have_blanks_around_it(now: Time) -> None:
    """As a file or a secret store has it."""
    assert await keep(Source([f"SLURM_JWT={make(1800)}\n"]), now).token() == make(1800)
