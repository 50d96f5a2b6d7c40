"""The fake transport under a client: states are what the test makes them."""

from __future__ import annotations

import asyncio

import pytest

from slurm_rest import AsyncSlurmClient, SlurmClient
from slurm_rest.errors import ConfigError, JobNotFound, SubmitRejected, Timeout
from slurm_rest.states import BaseState
from slurm_rest.testing import FakeCluster, FakeTransport
from tests.support.waiting import until_true

TRUE = "#!/bin/sh\n"


async def test_jobs_wait_run_and_end_as_the_test_says() -> None:
    fake = FakeTransport()
    async with AsyncSlurmClient(transport=fake, workdir="/home/alice") as client:
        job = await client.submit(TRUE, name="one", time=5)
        assert (client.transport, client.address) == ("fake", "a cluster in memory")
        assert (await client.states([job]))[job.id].is_pending
        fake.start(job.id)
        assert (await job.refresh()).is_running
        waiting = asyncio.create_task(job.wait(timeout=120))
        fake.finish(job.id, 3)
        record = await waiting
        assert (record.name, record.user, record.working_directory) == ("one", "alice", "/home/alice")
        assert (record.state.base, str(record.exit_code)) == (BaseState.FAILED, "3:0")


async def test_groups_and_other_ends() -> None:
    fake = FakeTransport()
    async with AsyncSlurmClient(transport=fake, workdir="/") as client:
        array = await client.submit(TRUE, array="1-3")
        first, *_ = await array.tasks()
        fake.finish(array.id, state="NODE_FAIL")
        assert (await array.wait(timeout=120)).state.base is BaseState.NODE_FAIL
        assert (await first.info()).array_task_id == 1
        fake.slurm.purge()
        assert await client.states([array]) == {}
        assert {record.source for record in await client.members(array)} == {"accounting"}


async def test_the_same_key_is_the_same_job() -> None:
    async with AsyncSlurmClient(transport=FakeTransport(), workdir="/") as client:
        first = await client.submit(TRUE, idempotency_key="once")
        second = await client.submit(TRUE, idempotency_key="once")
        assert (second.id, second.found, first.found) == (first.id, True, False)


async def test_while_it_fails_every_call_does() -> None:
    fake = FakeTransport()
    async with AsyncSlurmClient(transport=fake, workdir="/") as client:
        job = await client.submit(TRUE)
        fake.failing = Timeout("no answer", hint="wait")
        with pytest.raises(Timeout):
            await job.info()
        waiting = asyncio.create_task(job.wait(timeout=120))
        before = client.requests
        await until_true(lambda: client.requests > before, "the first look")
        fake.failing = None
        fake.finish(job.id)
        assert (await waiting).state.is_success


async def test_refusals() -> None:
    cluster = FakeCluster(run=False)
    async with AsyncSlurmClient(transport=FakeTransport(cluster), workdir="/") as client:
        for options in ({"partition": "nope"}, {"array": "0-5000"}, {"dependency": "afterok:99"}):
            with pytest.raises(SubmitRejected):
                await client.submit(TRUE, **options)  # type: ignore[arg-type]  # a mapping
        with pytest.raises(JobNotFound):
            await client.info(99)
        with pytest.raises(ConfigError):
            await client.api.get_reservations()
        job = await client.submit(TRUE)
    async with AsyncSlurmClient(transport=FakeTransport(cluster, user="bob"), workdir="/") as bob:
        assert [one.outcome for one in await bob.cancel([job.id, 99])] == ["denied", "not_found"]
    async with AsyncSlurmClient(transport=FakeTransport(cluster, user="nobody-there"), workdir="/") as other:
        with pytest.raises(ConfigError):
            await other.submit(TRUE)


async def test_a_thousand_waiters_share_requests() -> None:
    fake = FakeTransport()
    async with AsyncSlurmClient(transport=fake, workdir="/") as client:
        jobs = [await client.submit(TRUE) for _ in range(1000)]
        before = client.requests
        waiting = [asyncio.create_task(job.wait(timeout=120)) for job in jobs]
        await until_true(lambda: client.requests > before, "the first look")
        assert client.requests - before <= client._poller.ticks + 1, "one a tick, and one may be under way"
        for job in jobs:
            fake.finish(job.id)
        assert all(record.state.is_success for record in await asyncio.gather(*waiting))


def test_blocking_code_has_it_too() -> None:
    fake = FakeTransport()
    with SlurmClient(transport=fake, workdir="/") as client:
        job = client.submit(TRUE)
        fake.finish(job.id)
        assert job.wait(timeout=120).state.is_success
