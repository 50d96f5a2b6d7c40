"""Jobs that are followed without anybody waiting for them, and jobs that are found by their key."""

from __future__ import annotations

import asyncio

from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import OutcomeUnknown, Unreachable
from slurm_rest.models import JobInfo
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until_true


def client(fake: FakeTransport) -> AsyncSlurmClient:
    return AsyncSlurmClient(transport=fake, workdir="/home/alice")


async def test_what_is_known_can_be_looked_at() -> None:
    fake = FakeTransport()
    async with client(fake) as slurm:
        job = await slurm.submit("#!/bin/sh\n")
        tracked = await slurm.track(job)
        assert tracked.heard_at is None
        await tracked.news(120)
        assert (str(tracked.state), tracked.is_over, tracked.outcome()) == ("PENDING", False, None)
        fake.start(job.id)
        await until_true(lambda: tracked.state.is_running)
        fake.finish(job.id, 3)
        await until_true(lambda: tracked.is_over)
        record = tracked.outcome()
        assert isinstance(record, JobInfo)
        assert (str(record.state), record.exit_code.code) == ("FAILED", 3)
        assert [one.id for one in tracked.records] == [job.id]
        await tracked.close()
        assert str(tracked.state) == "FAILED"


async def test_all_that_are_tracked_share_the_requests() -> None:
    fake = FakeTransport()
    async with client(fake) as slurm:
        jobs = [await slurm.submit("#!/bin/sh\n") for _ in range(50)]
        before = slurm.requests
        tracked = [await slurm.track(job) for job in jobs]
        await asyncio.gather(*[one.news(120) for one in tracked])
        assert {str(one.state) for one in tracked} == {"PENDING"}
        assert slurm.requests - before == slurm._poller.ticks, "one a tick, of which a busy machine may have seen two"


async def test_an_outage_is_news_and_keeps_the_state() -> None:
    fake = FakeTransport()
    async with client(fake) as slurm:
        job = await slurm.submit("#!/bin/sh\n")
        tracked = await slurm.track(job)
        await tracked.news(120)
        fake.failing = Unreachable("gone")
        await until_true(lambda: tracked.stale_since is not None)
        assert str(tracked.state) == "PENDING"
        later = await slurm.track(slurm.job(job.id))
        await asyncio.wait_for(later.news(3600), 120)
        assert later.stale_since is not None
        assert (tracked.stale_reason, later.stale_reason) == ("gone", "gone")
        fake.failing = None
        await until_true(lambda: tracked.stale_since is None)
        assert tracked.stale_reason == ""


async def test_news_end_in_time() -> None:
    async with client(FakeTransport()) as slurm:
        tracked = await slurm.track(999)
        await asyncio.wait_for(tracked.news(0), 120)
        assert tracked.heard_at is None
        given_up = asyncio.ensure_future(tracked.news(120))
        await asyncio.sleep(0)
        assert len(slurm._poller._listeners) == 1
        given_up.cancel()
        await asyncio.wait([given_up])
        assert slurm._poller._listeners == {}, "nothing of either is kept"


async def test_what_ended_the_following_is_the_outcome() -> None:
    fake = FakeTransport()
    async with client(fake) as slurm:
        tracked = await slurm.track(await slurm.submit("#!/bin/sh\n"))
        await tracked.news(120)
        fake.failing = OutcomeUnknown("no more", job_id=1)
        await until_true(lambda: tracked.is_over)
        assert tracked.outcome() is fake.failing


async def test_a_job_is_found_by_its_key() -> None:
    fake = FakeTransport()
    async with client(fake) as slurm:
        job = await slurm.submit("#!/bin/sh\n", idempotency_key="mine", name="n")
        await slurm.submit("#!/bin/sh\n")
    async with client(fake) as other:
        found = await other.find("mine", name="n")
        assert found is not None
        assert (found.id, found.identity.key) == (job.id, job.identity.key)
        assert await other.find("theirs") is None
