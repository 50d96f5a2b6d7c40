"""Faults of the fake, each seen by a client."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import pytest

from slurm_rest.errors import (
    AccountingDown,
    ControllerDown,
    SubmitRejected,
    SubmitUncertain,
    TokenExpired,
    TokenRejected,
    UnknownUser,
    Unreachable,
)
from slurm_rest.testing import FakeCluster, FakeSlurm, Fault, Tokens
from slurm_rest.transport import recovery
from slurm_rest.transport.recovery import Bounds
from tests.unit.testing.conftest import Fake

TRUE = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake holds no request back, so a client need not wait for one."""
    monkeypatch.setattr(recovery, "BOUNDS", Bounds(grace=0, held=0, pauses=(0.01,)))


@pytest.mark.parametrize("fault", [Fault.LOST_BEFORE, Fault.LOST_AFTER, Fault.FAILED_BEFORE, Fault.FAILED_AFTER])
async def test_a_lost_submission_is_one_job(fake: Fake, fault: Fault) -> None:
    fake.faults.inject(fault)
    client = fake.client()
    job = await client.submit(TRUE, hold=True)
    assert set(await client.states()) == {job.id}
    assert job.found is (fault in (Fault.LOST_AFTER, Fault.FAILED_AFTER))


async def test_an_answer_that_stays_lost_is_uncertain(fake: Fake) -> None:
    fake.faults.inject(Fault.LOST_AFTER)
    fake.faults.inject(Fault.LOST_BEFORE, times=100_000, method="GET", path="/jobs?/")
    client = fake.client(recovery_timeout=0.5)
    with pytest.raises(SubmitUncertain):
        await client.submit(TRUE, hold=True)


async def test_faults_meet_what_they_are_meant_for(fake: Fake) -> None:
    fake.faults.inject(Fault.REJECTED, method="GET", path="/nodes")
    client = fake.client()
    await client.partitions()
    # A read asks its provider for another token, and a fixed one has none.
    with pytest.raises(TokenRejected):
        await client.nodes()
    assert await client.nodes()


async def test_daemons_that_are_away(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(TRUE, hold=True)
    fake.faults.controller_down = True
    for call in (client.ping, client.nodes, client.diag, client.states, job.info):
        with pytest.raises(ControllerDown):
            await call()
    with pytest.raises(ControllerDown):
        await client.cancel(job)
    fake.faults.clear()
    fake.faults.accounting_down = True
    with pytest.raises(AccountingDown):
        await client.ping_accounting()
    assert (await job.info()).id == job.id


async def test_tokens(fake: Fake) -> None:
    with pytest.raises(TokenExpired):
        await fake.client(token=fake.tokens.sign("alice", -10)).ping()
    other = Tokens(fake.cluster, key=b"another key that is also 32 B...", user="alice")
    with pytest.raises(TokenRejected):
        await fake.client(token=other.sign()).ping()
    with pytest.raises(TokenRejected):
        await fake.client(user="bob", token=fake.tokens.sign("alice"), workdir="/tmp").ping_accounting()
    with pytest.raises(UnknownUser):
        await fake.client("ghost").submit(TRUE)
    for_bob = await fake.client(token=fake.tokens.sign("root"), user="bob", workdir="/tmp").submit(TRUE, hold=True)
    assert fake.cluster.members(for_bob.id)[0].owner.name == "bob"
    fake.faults.rejects_tokens = True
    with pytest.raises(TokenRejected):
        await fake.client().nodes()
    assert "32 B" not in repr(fake.tokens)


async def test_records_that_come_twice_are_one_job(fake: Fake) -> None:
    client = fake.client()
    job = await client.submit(TRUE)
    await job.wait(timeout=120)
    fake.cluster.purge()
    fake.faults.duplicates = True
    reply, _ = fake.app.answer("GET", "/slurmdb/v0.0.42/jobs/", f"step={job.id}".encode(), fake.headers, b"")
    records = reply.body["jobs"]
    assert isinstance(records, list)
    assert len(records) == 2
    assert [record.id for record in await client.members(job)] == [job.id]


async def test_a_slow_answer_comes(fake: Fake) -> None:
    client = fake.client()
    await client.ping()
    fake.faults.latency = 0.2
    loop = asyncio.get_running_loop()
    began = loop.time()
    await client.nodes()
    assert loop.time() - began >= 0.2


def test_faults_on_a_real_connection() -> None:
    with FakeSlurm("24.11") as slurm, slurm.client() as client:
        slurm.faults.errors_twice = True
        with pytest.raises(SubmitRejected):
            client.submit(TRUE, partition="nope")
        slurm.faults.inject(Fault.LOST_AFTER)
        job = client.submit(TRUE, hold=True)
        assert [one.id for one in slurm.jobs(job.id)] == [job.id]
        assert set(client.states()) == {job.id}


def test_an_error_is_written_twice() -> None:
    with FakeSlurm() as slurm:
        slurm.faults.errors_twice = True
        where = urlsplit(slurm.url)
        with socket.create_connection((where.hostname, where.port)) as connection:
            connection.sendall(b"GET /slurm/v0.0.45/nothing HTTP/1.1\r\nHost: x\r\nX-SLURM-USER-TOKEN: x\r\n\r\n")
            whole = b""
            while part := connection.recv(65536):
                whole += part
    assert whole.count(b"HTTP/1.1 404") == 2
    assert whole[: len(whole) // 2] == whole[len(whole) // 2 :]


def test_a_stopped_server_is_not_there() -> None:
    slurm = FakeSlurm(cluster=FakeCluster("26.05", run=False)).start()
    client = slurm.client()
    client.ping()
    slurm.stop()
    with pytest.raises(Unreachable):
        client.ping()
    client.close()
