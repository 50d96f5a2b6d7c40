"""A slurmrestd that dies, freezes, restarts or refuses, while SSH leads to the same cluster."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, SubmitRejected, SubmitUncertain, Unreachable
from slurm_rest.cli import main
from slurm_rest.transport import switching
from slurm_rest.transport.fallback import FallbackTransport
from tests.support.logs import logged
from tests.support.transports import both_ways, ssh_way
from tests.support.waiting import until, until_true

MakeClient = Callable[..., AsyncSlurmClient]


@pytest.fixture(scope="module", params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    """Return a shared cluster whose daemons these tests hold and let go again."""
    return shared_cluster(request.param)


@pytest.fixture
async def make(cluster: Cluster) -> AsyncIterator[MakeClient]:
    """Return a function that makes clients that know REST and SSH; alice's jobs are cancelled at the end."""
    made: list[AsyncSlurmClient] = []

    def build(**settings: object) -> AsyncSlurmClient:
        client = AsyncSlurmClient(**both_ways(cluster, **{"workdir": "/home/alice", **settings}))
        made.append(client)
        return client

    yield build
    for client in made:
        await client.close()
    cluster.exec(["scancel", "-u", "alice"])


def board(client: AsyncSlurmClient) -> switching.Switchboard:
    assert isinstance(client._transport, FallbackTransport)
    for way in client._transport.board.ways:
        way.breaker.first = 0.2
    return client._transport.board


def shown(client: AsyncSlurmClient) -> list[tuple[str, str, int]]:
    return [(way.transport, way.state, way.switches) for way in client.health()[:-1]]


async def back_to_rest(client: AsyncSlurmClient) -> None:
    async def answers() -> bool:
        await client.states([1])
        return client.transport == "rest"

    await until(answers, "REST's return")


async def test_fifty_jobs_end_rightly_without_slurmrestd(
    make: MakeClient, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "slurm_rest")
    client = make()
    board(client)
    jobs = [await client.submit(f"#!/bin/sh\nexit {number}\n", hold=True, name=f"n{number}") for number in range(50)]
    assert client.transport == "rest"
    waiting = asyncio.create_task(client.wait(jobs, timeout=300))
    cluster.service("slurmrestd").kill()
    try:
        await until_true(lambda: client.transport == "ssh", "the way over SSH")
        assert all(result.ok for result in await client.release(jobs))
        records = await waiting
    finally:
        cluster.service("slurmrestd").start()
    assert [(record.id, record.exit_code.code, record.name) for record in records] == [
        (job.id, number, f"n{number}") for number, job in enumerate(jobs)
    ]
    await back_to_rest(client)
    assert shown(client) == [("rest", "closed", 1), ("ssh", "closed", 1)]
    said = logged(caplog)
    assert sum("given up" in line for line in said) == 1
    assert sum("answers again" in line for line in said) == 1
    assert (await jobs[7].info()).exit_code.code == 7


async def test_a_frozen_slurmrestd_is_not_waited_for(
    make: MakeClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    job = await client.submit("#!/bin/sh\n", hold=True)
    with cluster.frozen("slurmrestd"):
        # Only now: one that is not frozen may take longer.
        monkeypatch.setattr(switching, "_REACH_SECONDS", 0.5)
        board(client)._patience = 0.5
        assert (await client.states([job]))[job.id].is_pending
        assert client.transport == "ssh"
        assert "no sign of life" in client.health()[0].reason
        assert (await job.cancel()).ok
        monkeypatch.undo()
        board(client)._patience = 10
    await back_to_rest(client)


async def test_what_rest_refuses_to_log_in_goes_over_ssh(make: MakeClient, cluster: Cluster) -> None:
    other = {"24.11": "v0.0.45", "26.05": "v0.0.40"}[cluster.release]
    refusals: dict[str, dict[str, object]] = {
        "expired": {"token": cluster.token("alice", lifespan=-60)},
        "failed with status 1": {"token": None, "token_command": ["false"]},
        other: {"api_version": other},
    }
    for reason, settings in refusals.items():
        client = make(**settings)
        job = await client.submit("#!/bin/sh\n", hold=True)
        assert (await job.info()).user == "alice"
        assert (client.transport, shown(client)[0][1]) == ("ssh", "open")
        assert reason in client.health()[0].reason


async def test_slurms_refusal_goes_nowhere_else(make: MakeClient) -> None:
    client = make()
    with pytest.raises(SubmitRejected, match=r"(?i)invalid partition"):
        await client.submit("#!/bin/sh\n", partition="nope")
    assert shown(client) == [("rest", "closed", 0), ("ssh", "closed", 0)]
    assert board(client).ways[1].transport.counters.requests == 0


async def test_a_pinned_client_stays_where_it_is(make: MakeClient, cluster: Cluster) -> None:
    client = make(transport="rest")
    assert [(way.transport, way.active) for way in client.health()[:-1]] == [("rest", True)]
    with cluster.stopped("slurmrestd"), pytest.raises(Unreachable):
        await client.states([1])


async def test_submissions_under_way_make_no_job_twice(make: MakeClient, cluster: Cluster) -> None:
    client = make(recovery_timeout=2)
    board(client)
    names = [f"storm-{number}" for number in range(60)]
    # The first submission of a client looks whose job it became; the others only post.
    await client.submit("#!/bin/sh\n", hold=True)
    tasks = [asyncio.create_task(client.submit("#!/bin/sh\n", hold=True, name=name)) for name in names]
    try:
        await until_true(lambda: any(task.done() for task in tasks), "the first job")
        cluster.service("slurmrestd").kill()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        listed = Counter(record.name for record in await client.jobs(user="alice") if record.name in names)
    finally:
        cluster.service("slurmrestd").start()
    assert client.transport == "ssh"
    made = sum(not isinstance(outcome, BaseException) for outcome in outcomes)
    assert made >= 56, "no more than four were under way"
    for name, outcome in zip(names, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, SubmitUncertain), outcome
            assert listed[name] <= 1
        else:
            assert listed[name] == 1


def test_ping_tells_which_way_is_used_and_why(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"url": "http://127.0.0.1:9", **ssh_way(cluster)}.items():
        monkeypatch.setenv(f"SLURM_REST_{name.upper()}", str(value))
    monkeypatch.setenv("SLURM_JWT", cluster.token("alice"))
    assert main(["ping"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Commands use ssh, since rest: Nothing listens at http://127.0.0.1:9"
    assert main(["ping", "--json"]) == 1
    health = json.loads(capsys.readouterr().out)["health"]
    assert [(one["transport"], one["state"], one["active"]) for one in health] == [
        ("rest", "open", False),
        ("ssh", "closed", True),
    ]


class Dying(httpx.AsyncHTTPTransport):
    """Carries one submission to slurmrestd, or not even that, loses the answer, and reaches nobody ever after."""

    dead, carries = False, True

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.dead:
            raise httpx.ConnectError("refused")
        if request.method == "POST":
            self.dead = True
            if self.carries:
                await super().handle_async_request(request)
            raise httpx.ReadError("reset")
        return await super().handle_async_request(request)


@pytest.mark.parametrize("key", [None, "mine"])
async def test_a_lost_answer_of_a_dead_slurmrestd_is_found_over_ssh(make: MakeClient, key: str | None) -> None:
    client = make(http_transport=Dying(), recovery_timeout=0.5)
    job = await client.submit("#!/bin/sh\n", hold=True, name="lost", array="1-2", idempotency_key=key)
    assert job.found
    assert client.transport == "ssh"
    assert [record.id for record in await client.jobs(user="alice", name="lost", state="PENDING")] == [job.id]
    await job.cancel()


async def test_what_ssh_shows_to_be_lost_is_sent_over_ssh(make: MakeClient) -> None:
    dying = Dying()
    dying.carries = False
    client = make(http_transport=dying, recovery_timeout=0.5)
    # slurmrestd might hold it for 12 s, and for so long it is uncertain.
    job = await client.submit("#!/bin/sh\n", hold=True, name="lost-for-good")
    assert not job.found
    assert client.transport == "ssh"
    assert [record.id for record in await client.jobs(user="alice", name="lost-for-good")] == [job.id]
    await job.cancel()
