"""HTTP to slurmrestd: negotiation, headers, repeats, tokens, and httpx's errors in our words."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import jwt
import pytest

from slurm_rest import AsyncSlurmClient
from slurm_rest.api import API_VERSIONS
from slurm_rest.auth import FileToken
from slurm_rest.errors import (
    AccountingDown,
    ApiError,
    ConfigError,
    ControllerDown,
    ProtocolError,
    SlurmError,
    Timeout,
    TokenMissing,
    TokenRejected,
    Unreachable,
    UnsupportedVersion,
)
from slurm_rest.transport.rest import RestTransport

from .captures import capture, failure
from .wire import DOWN, NEW, NOT_SERVED, UP, URL, Server, client, good, no_pauses, query_of, server, states

__all__ = ["no_pauses", "server"]

REJECTED = capture(NEW, "bad_token_jobs")
DATABASE = capture(NEW, "bad_token_slurmdb_users")


class Tokens:
    """A provider that counts how often it had to make a new token."""

    name = "tokens"

    def __init__(self) -> None:
        self.made = 1

    async def token(self, *, renew: bool = False) -> str:
        self.made += renew
        return f"tok{self.made}"


# --- what stands between --------------------------------------------------------------------------------------


async def test_who_gives_a_cookie_gets_it_back(server: Server) -> None:
    body = UP.content
    first = httpx.Response(200, headers={"Content-Type": "application/json", "Set-Cookie": "seat=7"}, content=body)
    ping = server.ping(first, UP)
    async with client() as slurm:
        await slurm.api_version()
        await slurm._transport.reach()
    assert [call.request.headers.get("cookie") for call in ping.calls] == [None, "seat=7"]


async def test_a_redirect_is_not_followed(server: Server) -> None:
    server.ping(httpx.Response(302, headers={"Location": "http://elsewhere.test/"}))
    async with client() as slurm:
        with pytest.raises(ProtocolError, match="HTTP 302"):
            await slurm.api_version()


# --- versions -------------------------------------------------------------------------------------------------


async def test_the_newest_version_is_asked_first_and_the_choice_is_kept(server: Server) -> None:
    newer = [server.on("GET", f"/slurm/{version}/ping/", NOT_SERVED) for version in API_VERSIONS[:2:-1]]
    ping = server.on("GET", f"/slurm/{API_VERSIONS[2]}/ping/", UP)
    read = server.on("GET", f"/slurm/{API_VERSIONS[2]}/jobs/state/", states(("1", "RUNNING")))
    async with client() as slurm:
        for _ in range(3):
            await slurm.states([1])
        assert await slurm.api_version() == "v0.0.42"
        assert slurm.requests == 7
    assert [route.call_count for route in (*newer, ping, read)] == [1, 1, 1, 1, 3]


async def test_a_server_that_serves_none_of_ours(server: Server) -> None:
    for version in API_VERSIONS:
        server.on("GET", f"/slurm/{version}/ping/", NOT_SERVED)
    async with client() as slurm:
        with pytest.raises(UnsupportedVersion, match=r"v0\.0\.40 to v0\.0\.45") as caught:
            await slurm.states([1])
    assert caught.value.supported == API_VERSIONS


async def test_all_who_wait_for_the_negotiation_share_its_failure() -> None:
    asked: list[str] = []

    async def silent(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        await asyncio.sleep(0)
        raise httpx.ReadTimeout("slow", request=request)

    async with AsyncSlurmClient(
        URL, token="tok", transport="rest", http_transport=httpx.MockTransport(silent)
    ) as slurm:
        found = await asyncio.gather(*(slurm.states([number]) for number in (1, 2, 3)), return_exceptions=True)
        assert [type(error) for error in found] == [Timeout] * 3
        assert len(asked) == 1
        # Whoever comes later asks anew.
        with pytest.raises(Timeout):
            await slurm.states([1])
        assert len(asked) == 2


async def test_an_upgraded_server_is_negotiated_with_once_more(server: Server) -> None:
    ping = server.ping(UP, NOT_SERVED)
    others = [server.on("GET", f"/slurm/{version}/ping/", UP) for version in API_VERSIONS[:-1]]
    gone = server.on("GET", "/jobs/state/", states(("1", "RUNNING")), NOT_SERVED)
    now = server.on("GET", "/slurm/v0.0.44/jobs/state/", states(("1", "COMPLETED")))
    async with client() as slurm:
        assert str((await slurm.states([1]))[1]) == "RUNNING"
        assert str((await slurm.states([1]))[1]) == "COMPLETED"
        assert str((await slurm.states([1]))[1]) == "COMPLETED"
    assert (ping.call_count, gone.call_count, now.call_count) == (2, 2, 2)
    assert [route.call_count for route in others] == [1] * 5


async def test_a_path_that_a_served_version_lacks_is_not_asked_for_again(server: Server) -> None:
    server.ping()
    for version in API_VERSIONS[:-1]:
        server.on("GET", f"/slurm/{version}/ping/", NOT_SERVED)
    read = server.on("GET", "/jobs/state/", NOT_SERVED)
    async with client() as slurm:
        with pytest.raises(UnsupportedVersion, match="not served here"):
            await slurm.states([1])
    assert read.call_count == 1


async def test_a_pinned_version_that_is_not_served_names_those_that_are(server: Server) -> None:
    for version in API_VERSIONS:
        server.on("GET", f"/slurm/{version}/ping/", UP if version in ("v0.0.41", "v0.0.42") else NOT_SERVED)
    server.on("GET", "/slurm/v0.0.44/jobs/state/", NOT_SERVED)
    async with client(api_version="v0.0.44") as slurm:
        with pytest.raises(UnsupportedVersion, match=r"does not serve API version v0\.0\.44") as caught:
            await slurm.states([1])
    assert "v0.0.41, v0.0.42" in caught.value.hint
    assert caught.value.version == "v0.0.44"


@pytest.mark.parametrize(
    ("status", "content_type", "text", "kind"),
    [
        (404, "text/html", "<p>The requested URL was not found on this server.</p>", ProtocolError),
        (404, "text/plain", "404 page not found", ProtocolError),
        (404, "application/json", '{"detail": "Not Found"}', ProtocolError),
        (200, "application/json", '{"ok": true}', ProtocolError),
        (200, "text/html", "<html>hello</html>", ProtocolError),
        (401, "text/plain", "Authentication failure", TokenMissing),
    ],
)
async def test_what_is_not_slurmrestd_is_found_out_by_the_first_ping(
    status: int, content_type: str, text: str, kind: type[SlurmError], server: Server
) -> None:
    ping = server.ping(httpx.Response(status, headers={"content-type": content_type}, text=text))
    async with client() as slurm:
        with pytest.raises(kind):
            await slurm.states([1])
    assert ping.call_count == 1


# --- what is sent ---------------------------------------------------------------------------------------------


async def test_headers_of_a_read(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", states())
    async with client(user="bob smith") as slurm:
        await slurm.states([1])
    headers = read.calls[0].request.headers
    assert headers["x-slurm-user-token"] == "tok"
    assert headers["x-slurm-user-name"] == "bob%20smith"
    assert headers["accept"] == "application/json"
    assert "authorization" not in headers
    assert "content-type" not in headers


async def test_without_a_token_no_header_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JWT", raising=False)
    ping = server.ping()
    async with AsyncSlurmClient(URL) as slurm:
        await slurm.api_version()
    assert "x-slurm-user-token" not in ping.calls[0].request.headers


async def test_queries_are_repeated_and_encoded(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", states())
    odd = server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client() as slurm:
        await slurm.states([3, 1, 2, 2])
        transport = slurm._transport
        assert isinstance(transport, RestTransport)
        await transport.accounting("/jobs/", [("users", "a,b:/@()[]*'!$=?é +~-._")])
    assert read.calls[0].request.url.raw_path == b"/slurm/v0.0.45/jobs/state/?job_id=1&job_id=2&job_id=3"
    sent = odd.calls[0].request.url.raw_path.partition(b"users=")[2]
    assert sent == b"a%2Cb%3A%2F%40%28%29%5B%5D%2A%27%21%24%3D%3F%C3%A9%20%2B~-._"


async def test_2500_ids_are_three_requests_below_the_limit(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", states())
    async with client() as slurm:
        await slurm.states(range(10_000_000, 10_002_500))
    asked = [query_of(call, "job_id") for call in read.calls]
    assert [len(ids) for ids in asked] == [1000, 1000, 500]
    assert len({job_id for ids in asked for job_id in ids}) == 2500
    assert all(len(call.request.url.query) < 32 * 1024 for call in read.calls)


# --- repeats --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.ReadError("reset"),
        httpx.Response(503, text="busy"),
        httpx.Response(200, headers={"content-type": "application/json"}, content=b'{"meta": {'),
    ],
    ids=repr,
)
async def test_a_read_is_repeated_after_a_broken_exchange(fault: httpx.Response | Exception, server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", fault, fault, states(("1", "RUNNING")))
    async with client() as slurm:
        assert list(await slurm.states([1])) == [1]
    assert read.call_count == 3


async def test_repeats_are_bounded_and_pause_longer_each_time(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.undo()
    caplog.set_level(logging.INFO, "slurm_rest")
    server.ping()
    read = server.on("GET", "/jobs/state/", httpx.ConnectError("refused"))
    async with client() as slurm:
        with pytest.raises(Unreachable):
            await slurm.states([1])
    assert read.call_count == 3
    paused = [float(pause) for pause in re.findall(r"trying again in ([0-9.]+) s", caplog.text)]
    assert len(paused) == 2
    assert 0 < paused[0] < paused[1]


@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        (httpx.ConnectError("All connection attempts failed"), Unreachable, 3),
        (httpx.ConnectTimeout("slow"), Unreachable, 3),
        (httpx.PoolTimeout("full"), Unreachable, 3),
        (httpx.ReadTimeout("slow"), Timeout, 1),
        (httpx.WriteTimeout("slow"), Timeout, 1),
        (httpx.RemoteProtocolError("illegal status line"), ProtocolError, 3),
        (httpx.ReadError(""), ProtocolError, 3),
        (httpx.WriteError("broken pipe"), ProtocolError, 3),
        (httpx.DecodingError("bad gzip"), ProtocolError, 3),
        (OSError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert"), ProtocolError, 3),
        (httpx.UnsupportedProtocol("gopher"), ConfigError, 1),
        (httpx.LocalProtocolError("Illegal header value"), ConfigError, 1),
    ],
    ids=repr,
)
async def test_faults_of_httpx_in_our_words(
    fault: Exception, kind: type[SlurmError], calls: int, server: Server
) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", fault)
    async with client(token="s3cret") as slurm:
        with pytest.raises(kind) as caught:
            await slurm.states([1])
    assert type(caught.value) is kind
    assert URL in caught.value.message
    assert caught.value.context.path == "/slurm/v0.0.45/jobs/state/"
    assert "s3cret" not in f"{caught.value}{caught.value!r}{vars(caught.value)}"
    assert read.call_count == calls


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", "does not speak TLS"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "not trusted"),
        ("[Errno -2] Name or service not known", "host name .* is not known"),
        ("[Errno -3] Temporary failure in name resolution", "host name .* is not known"),
        ("[Errno 2] No such file or directory", "no socket at"),
        ("[Errno 13] Permission denied", "may not open"),
        ("All connection attempts failed", "Nothing listens"),
    ],
)
async def test_why_there_is_no_connection(words: str, shown: str, server: Server) -> None:
    server.ping(httpx.ConnectError(words))
    async with client() as slurm:
        with pytest.raises(Unreachable, match=shown) as caught:
            await slurm.states([1])
    assert caught.value.hint


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("self-signed certificate", "SLURM_REST_CA_FILE"),
        ("Hostname mismatch, certificate is not valid for 'localhost'.", "as the certificate names it"),
        ("IP address mismatch, certificate is not valid for '127.0.0.1'.", "as the certificate names it"),
        ("certificate has expired", "renew it"),
    ],
)
async def test_what_helps_against_a_bad_certificate(words: str, hint: str, server: Server) -> None:
    server.ping(httpx.ConnectError(f"[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: {words} (_ssl.c:1)"))
    async with client() as slurm:
        with pytest.raises(Unreachable, match="is not trusted") as caught:
            await slurm.states([1])
    assert hint in caught.value.hint


# --- tokens ---------------------------------------------------------------------------------------------------


async def test_a_refused_read_is_made_once_more_with_a_new_token(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", REJECTED, states(("1", "RUNNING")))
    tokens = Tokens()
    async with client(token=tokens) as slurm:
        assert list(await slurm.states([1])) == [1]
    assert [call.request.headers["x-slurm-user-token"] for call in read.calls] == ["tok1", "tok2"]
    assert tokens.made == 2


async def test_reads_that_are_refused_at_once_share_one_new_token(server: Server) -> None:
    all_asked, tokens = asyncio.Event(), Tokens()

    async def judge(request: httpx.Request) -> httpx.Response:
        if request.headers["x-slurm-user-token"] != "tok1":
            return states().response
        asked.append(request)
        if len(asked) == 4:
            all_asked.set()
        await all_asked.wait()
        return REJECTED.response

    asked: list[httpx.Request] = []
    server.ping()
    read = server.on("GET", "/jobs/state/", judge)
    async with client(token=tokens) as slurm:
        await asyncio.gather(*(slurm.states([job_id]) for job_id in range(1, 5)))
    assert (tokens.made, read.call_count) == (2, 8)


async def test_a_second_refusal_is_final(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", REJECTED)
    async with client(token=Tokens()) as slurm:
        with pytest.raises(TokenRejected):
            await slurm.states([1])
    assert read.call_count == 2


async def test_a_token_that_cannot_be_renewed_is_not_tried_twice(server: Server) -> None:
    server.ping()
    read = server.on("GET", "/jobs/state/", REJECTED)
    old = jwt.encode({"sun": "alice", "exp": int(time.time()) - 5}, b"k" * 32)
    async with client(token=old) as slurm:
        with pytest.raises(TokenRejected, match="expired at"):
            await slurm.states([1])
    assert read.call_count == 1


async def test_a_token_file_that_changed_meanwhile_is_used(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")

    def rotate(request: httpx.Request) -> httpx.Response:
        file.write_text("new")
        return (REJECTED if request.headers["x-slurm-user-token"] == "old" else states()).response

    server.ping()
    read = server.on("GET", "/jobs/state/", rotate)
    async with client(token=FileToken(file)) as slurm:
        assert await slurm.states([1]) == {}
    assert read.call_count == 2


async def test_a_refused_token_is_never_no_jobs(server: Server) -> None:
    server.ping()
    server.on("GET", "/diag/", good(statistics={}))
    server.on("GET", "/jobs/", REJECTED)
    async with client() as slurm:
        with pytest.raises(TokenRejected):
            await slurm.jobs()


# --- what only a second question can tell ---------------------------------------------------------------------


@pytest.mark.parametrize(("status", "number"), [(500, -1), (500, 1), (403, 1)])
@pytest.mark.parametrize(("ping", "kind"), [(DOWN, ControllerDown), (UP, ApiError)])
async def test_a_ping_decides_whether_the_controller_is_down(
    status: int, number: int, ping: httpx.Response, kind: type[SlurmError], server: Server
) -> None:
    pings = server.ping(UP, ping)
    server.on("GET", "/jobs/state/", failure(status, number))
    async with client() as slurm:
        with pytest.raises(kind) as caught:
            await slurm.states([1])
    assert type(caught.value) is kind
    assert caught.value.error_number == number
    assert pings.call_count == 2


@pytest.mark.parametrize(("probe", "kind"), [(REJECTED, TokenRejected), (states(), AccountingDown)])
async def test_a_probe_tells_a_refused_token_from_a_dead_slurmdbd(
    probe: object, kind: type[SlurmError], server: Server
) -> None:
    server.ping()
    server.on("GET", "/slurmdb/v0.0.45/clusters/", DATABASE)
    server.on("GET", "/jobs/state/", probe)  # type: ignore[arg-type]  # a Capture
    async with client() as slurm:
        with pytest.raises(kind) as caught:
            await slurm.ping_accounting()
    assert type(caught.value) is kind


# --- secrecy --------------------------------------------------------------------------------------------------


async def test_no_log_line_shows_a_token_or_a_variable(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.ping()
    server.on("GET", "/jobs/state/", httpx.ConnectError("x"), REJECTED, REJECTED)
    server.on("POST", "/job/submit", REJECTED)
    make: Callable[[], AsyncSlurmClient] = lambda: client(token="s3cret")  # noqa: E731
    async with make() as slurm:
        with pytest.raises(TokenRejected):
            await slurm.states([1])
        with pytest.raises(TokenRejected) as caught:
            await slurm.submit("#!/bin/sh\n", env={"PASSWORD": "hunter2"}, chdir="/tmp")
        shown = f"{caplog.text} {slurm!r} {slurm.settings!r} {caught.value!r} {vars(caught.value)}"
    assert "slurm_rest" in caplog.text
    assert "s3cret" not in shown
    assert "hunter2" not in shown


async def test_no_more_than_four_requests_are_under_way() -> None:
    """slurmrestd has few threads, and its page for administrators counts on it."""
    now = peak = 0

    async def answer(request: httpx.Request) -> httpx.Response:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        for _ in range(50):
            # Everybody else has many turns meanwhile.
            await asyncio.sleep(0)
        now -= 1
        return states().response

    async with client(api_version="v0.0.45", http_transport=httpx.MockTransport(answer)) as slurm:
        await asyncio.gather(*(slurm.states([1]) for _ in range(20)))
        assert slurm.requests == 20
    assert peak == 4
