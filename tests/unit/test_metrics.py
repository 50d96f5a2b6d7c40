"""What a client counts, times and logs, over HTTP and over commands; and that none of it holds a secret."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from slurm_rest import AsyncSlurmClient, SlurmClient
from slurm_rest.auth import ChainToken, CommandToken, EnvironmentToken, FileToken, KeyToken, StaticToken, TokenProvider
from slurm_rest.config import load_settings
from slurm_rest.errors import SlurmError, SubmitUncertain, Timeout, TokenRejected
from slurm_rest.metrics import Histogram, Metrics, RequestRecord
from slurm_rest.transport.choice import choose_transport
from slurm_rest.transport.command_line import CommandTransport
from slurm_rest.transport.fallback import FallbackTransport
from slurm_rest.transport.operations import operation_name
from slurm_rest.transport.rest import RestTransport
from slurm_rest.transport.shell import Wrapped
from tests.support.logs import records
from tests.support.transports import rest_of

from .captures import capture
from .wire import NEW, URL, Server, client, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

REJECTED = capture(NEW, "bad_token_jobs")


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/slurm/v0.0.42/jobs/state/", "GET jobs/state"),
        ("GET", "/slurm/v0.0.42/job/12_3", "GET job/{}"),
        ("POST", "/slurm/v0.0.42/job/submit", "POST job/submit"),
        ("GET", "/slurm/v0.0.45/job/12/requeue", "GET job/{}/requeue"),
        ("GET", "/slurm/v0.0.42/node/submit-host", "GET node/{}"),
        ("DELETE", "/slurm/v0.0.42/jobs/", "DELETE jobs"),
        ("GET", "/slurmdb/v0.0.42/job/12", "GET slurmdb/job/{}"),
        ("GET", "/slurmdb/v0.0.42/user/alice", "GET slurmdb/user/{}"),
        ("GET", "/openapi/v3", "GET "),
    ],
)
def test_operations_are_few(method: str, path: str, name: str) -> None:
    assert operation_name(method, path) == name


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram((1.0, 10.0))
    for value in (0.5, 1.0, 1.5, 11.0):
        histogram.observe(value)
    assert histogram.cumulative() == [(1.0, 2), (10.0, 3), (float("inf"), 4)]
    assert (histogram.count, histogram.total) == (4, 14.0)


async def test_requests_are_counted_by_operation_and_outcome(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("1", "RUNNING")), REJECTED, httpx.ReadTimeout("slow"))
    async with client() as slurm:
        await slurm.states(range(1, 31))
        with pytest.raises(TokenRejected):
            await slurm.states([1])
        with pytest.raises(Timeout):
            await slurm.states([1])
        told = slurm.metrics
    assert told.requests == {
        ("rest", "GET ping", "ok"): 1,
        ("rest", "GET jobs/state", "ok"): 1,
        ("rest", "GET jobs/state", "TokenRejected"): 1,
        ("rest", "GET jobs/state", "Timeout"): 1,
    }
    assert told.request_count == slurm.requests == 4
    assert told.seconds["rest", "GET jobs/state"].count == 3
    assert told.batches["rest", "GET jobs/state"].cumulative()[4:6] == [(20.0, 2), (50.0, 3)]
    assert told.bytes_received > 1000
    assert json.loads(json.dumps(told.as_dict()))["requests"][0]["operation"] == "GET jobs/state"


async def test_a_cancelled_request_is_counted_too() -> None:
    asked = asyncio.Event()

    async def hang(request: httpx.Request) -> httpx.Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with client(api_version="v0.0.45", http_transport=httpx.MockTransport(hang)) as slurm:
        task = asyncio.ensure_future(slurm.states([1]))
        await asked.wait()
        task.cancel()
        await asyncio.wait([task])
        assert slurm.metrics.requests == {("rest", "GET jobs/state", "cancelled"): 1}


async def test_uncertain_submissions_are_counted(server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", httpx.ReadTimeout("slow"))
    async with client(recovery_timeout=0) as slurm:
        with pytest.raises(SubmitUncertain):
            await slurm.submit("#!/bin/sh\n")
        assert slurm.metrics.uncertain_submissions == 1


async def test_switches_are_counted_and_all_ways_count_together(tmp_path: Path) -> None:
    for name in ("sbatch", "squeue"):
        (tmp_path / name).touch(mode=0o755)
    metrics = Metrics()
    settings = load_settings({"url": URL, "token": "tok"}, {"PATH": str(tmp_path)})
    transport = choose_transport(settings, http_transport=None, read_timeout=None, recovery_timeout=1, metrics=metrics)
    assert isinstance(transport, FallbackTransport)
    rest, cli = transport.board.ways
    assert isinstance(rest.transport, RestTransport)
    assert isinstance(cli.transport, CommandTransport)
    assert rest.transport.connection.metrics is cli.transport.metrics is metrics
    for _ in range(10):
        transport.board.give_up(rest, "no answer")
    assert metrics.fallbacks == {("rest", "cli"): 1}
    await transport.close()


def test_the_blocking_client_has_them_too(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states())
    with SlurmClient(URL, token="tok") as slurm:
        slurm.states([1])
        assert slurm.metrics.request_count == slurm.requests == 2


def test_a_listener_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    heard: list[RequestRecord] = []

    def fail(_: RequestRecord) -> None:
        raise ValueError("no")

    metrics.on_request(fail)
    stop = metrics.on_request(heard.append)
    metrics.record(RequestRecord("rest", "GET ping", "ok", 0.1))
    stop()
    metrics.record(RequestRecord("rest", "GET ping", "ok", 0.1))
    assert (len(heard), metrics.request_count) == (1, 2)
    assert "listener" in caplog.text


# --- commands -------------------------------------------------------------------------------------------------


class Runner:
    """Prints what a test wants as the output of whatever is run."""

    name, where, user = "ssh", "login", "alice"

    def __init__(self, output: str, status: int = 0) -> None:
        self.output, self.status = output, status

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        found = re.search(r"slurm-rest-[0-9a-f]{16}", program.stdin.decode())
        assert found is not None
        mark = found[0]
        return f"{mark} 1800000000\n{self.output}\n{mark} {self.status}\n".encode(), f"{mark}\n\n{mark}\n".encode()

    async def close(self) -> None: ...


async def test_commands_are_counted_and_logged_as_requests_are(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "slurm_rest")
    transport = CommandTransport(Runner("1 1 RUNNING"))
    await transport.states([1, 2])
    assert transport.metrics.requests == {("ssh", "squeue", "ok"): 1}
    assert transport.metrics.batches["ssh", "squeue"].total == 2
    (record,) = (record for record in records(caplog) if hasattr(record, "slurm_operation"))
    assert vars(record)["slurm_transport"] == "ssh"
    transport = CommandTransport(Runner("", status=1))
    with pytest.raises(SlurmError) as caught:
        await transport.states([1])
    assert transport.metrics.requests == {("ssh", "squeue", "failed"): 1}
    assert caught.value.context.command == "squeue"


# --- ids and log records --------------------------------------------------------------------------------------


async def test_each_request_says_who_asks_and_has_an_id_of_its_own(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "slurm_rest")
    server.ping()
    read = server.on("GET", "/jobs/state/", states(), REJECTED)
    async with client() as slurm:
        await slurm.states([1])
        with pytest.raises(TokenRejected) as caught:
            await slurm.states([1])
    agents = {call.request.headers["user-agent"] for call in read.calls}
    assert len(agents) == 1
    assert re.fullmatch(r"slurm-rest-client/\d\S* python/3\S+ httpx/\S+", agents.pop())
    ids = [call.request.headers["x-request-id"] for call in read.calls]
    assert len(set(ids)) == 2
    assert caught.value.request_id == ids[1]
    told = [vars(record) for record in records(caplog) if hasattr(record, "slurm_operation")]
    assert [record["slurm_request_id"] for record in told[1:]] == ids
    assert {key for key in told[1] if key.startswith("slurm_")} == {
        *("slurm_transport", "slurm_operation", "slurm_outcome", "slurm_status"),
        *("slurm_seconds", "slurm_bytes", "slurm_request_id"),
    }
    assert [record["slurm_outcome"] for record in told[1:]] == ["ok", "TokenRejected"]
    assert [record["slurm_status"] for record in told[1:]] == [200, 511]


async def test_two_clients_never_share_an_id(server: Server) -> None:
    ping = server.ping()
    for _ in range(2):
        async with client() as slurm:
            await slurm.api_version()
    first, second = (call.request.headers["x-request-id"] for call in ping.calls)
    assert first != second


# --- secrecy --------------------------------------------------------------------------------------------------

TOKEN = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXRva2Vu.c2lnbmF0dXJl"
PASSWORD = "hunter2-of-the-job"
KEY = b"the-clusters-own-secret-key-0001"
Act = Callable[[AsyncSlurmClient], Awaitable[object]]


def provider(kind: str, folder: Path) -> TokenProvider:
    file = folder / "token"
    file.write_text(f"SLURM_JWT={TOKEN}\n")
    key = folder / "jwt.key"
    key.write_bytes(KEY)
    failing = CommandToken([sys.executable, "-I", "-S", "-c", f"raise SystemExit('no good: ' + {TOKEN!r})"])
    providers: dict[str, TokenProvider] = {
        "static": StaticToken(TOKEN),
        "environment": EnvironmentToken({"SLURM_JWT": TOKEN}),
        "file": FileToken(file),
        "command": CommandToken([sys.executable, "-I", "-S", "-c", f"print({TOKEN!r})"]),
        "failing command": failing,
        "key": KeyToken(key, "alice"),
        "chain": ChainToken([failing, FileToken(file)]),
    }
    return providers[kind]


async def told_by(slurm: AsyncSlurmClient, act: Act) -> str:
    """Return all that an act shows, whether it succeeds or fails."""
    try:
        return repr(await act(slurm))
    except SlurmError as error:
        whole = "".join(traceback.format_exception(error))
        return f"{error} {error!r} {vars(error)} {whole}"


async def _submit(slurm: AsyncSlurmClient) -> object:
    return await slurm.submit("#!/bin/sh\n", env={"PASSWORD": PASSWORD}, idempotency_key="mine")


ACTS: list[Act] = [
    lambda slurm: slurm.states([1]),
    lambda slurm: slurm.info(1),
    lambda slurm: slurm.cancel([1]),
    lambda slurm: slurm.ping(),
    lambda slurm: slurm.ping_accounting(),
    _submit,
]
FAULTS: dict[str, httpx.Response | Exception] = {
    "good": good(jobs=[job(1)], users=[], status=[], job_id=7).response,
    "refused": REJECTED.response,
    "broken": httpx.ReadError("reset"),
    "slow": httpx.ReadTimeout("slow"),
    "not json": httpx.Response(200, headers={"content-type": "application/json"}, content=b"{"),
    "a proxy": httpx.Response(502, text="<html>bad gateway</html>"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["static", "environment", "file", "command", "failing command", "key", "chain"])
async def test_no_path_shows_a_secret(
    kind: str,
    fault: str,
    no_pauses: None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PASSWORD", PASSWORD)
    reply = FAULTS[fault]

    def answer(request: httpx.Request) -> httpx.Response:
        if isinstance(reply, Exception):
            raise reply
        return reply

    source = provider(kind, tmp_path)
    shown = [repr(source), str(source), source.name]
    async with client(token=source, recovery_timeout=0.01, http_transport=httpx.MockTransport(answer)) as slurm:
        shown += [await told_by(slurm, act) for act in ACTS]
        shown += [repr(slurm), repr(slurm.settings), repr(slurm.metrics), repr(slurm.metrics.as_dict())]
        keeper = rest_of(slurm).connection.tokens
        shown += [repr(keeper), keeper.why, repr(vars(rest_of(slurm).connection).get("tokens"))]
        signed = [keeper._held] if keeper._held else []
    told = "\n".join([*shown, caplog.text, *(repr(vars(record)) for record in caplog.records)])
    assert len(told) > 1000
    for secret in (TOKEN, PASSWORD, KEY.decode(), *signed):
        assert secret not in told
