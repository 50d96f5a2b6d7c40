"""The records of jobs that go on, and what is remembered of jobs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from flyteplugins.slurm_rest.follower import Follower
from flyteplugins.slurm_rest.memory import Recent
from flyteplugins.slurm_rest.recording import Recorder
from slurm_rest import AsyncJob, AsyncSlurmClient, JobInfo
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until, until_true


class Paused:
    """Pauses that last until they are let go."""

    def __init__(self) -> None:
        self.count = 0
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def pause(self, seconds: float) -> None:
        assert seconds > 0.1
        self.count += 1
        self.reached.set()
        await self.go.wait()


async def test_records_of_thousands_come_at_a_pace() -> None:
    fake = FakeTransport()
    client = AsyncSlurmClient(transport=fake, workdir="/", environ={})
    jobs = [await client.submit("#!/bin/sh\n") for _ in range(60)]
    paused, taken = Paused(), list[JobInfo | None]()
    recorder = Recorder(client, paused.pause)
    for job in jobs:
        recorder.want(job, taken.append)
    recorder.want(jobs[-1], taken.append)
    await paused.reached.wait()
    assert len(taken) == 40
    recorder.drop(jobs[-1])
    paused.go.set()
    await until_true(lambda: len(taken) == 59)
    await recorder.close()
    assert {record.id for record in taken if record} == {job.id for job in jobs[:-1]}
    assert paused.count == 5


async def test_what_cannot_be_read_holds_nothing_up() -> None:
    fake = FakeTransport()
    client = AsyncSlurmClient(transport=fake, workdir="/", environ={})
    job = await client.submit("#!/bin/sh\n")
    recorder, done = Recorder(client), asyncio.Queue[JobInfo | None]()
    recorder.want(AsyncJob(client, 99), done.put_nowait)
    recorder.want(job, done.put_nowait)
    assert {one and one.id for one in (await done.get(), await done.get())} == {None, job.id}


async def test_of_a_record_what_is_told_is_kept() -> None:
    """All that Slurm sent takes 25 kB, of thousands of jobs."""
    fake = FakeTransport()
    client = AsyncSlurmClient(transport=fake, workdir="/", environ={})
    job = await client.submit("#!/bin/sh\n", name="waits", hold=True)
    whole = await job.info()
    follower = Follower(client)

    async def known() -> JobInfo | None:
        return (await follower.look(job.identity)).record

    record = await until(known, "the record")
    assert record is not None
    await follower.close()
    assert replace(record, raw={}) == replace(whole, raw={})
    assert (record.name, record.raw["exit_code"]) == ("waits", whole.raw["exit_code"])
    assert len(str(record.raw)) < 0.2 * len(str(whole.raw))


async def test_why_a_job_waits_is_asked_again_after_a_minute() -> None:
    client = AsyncSlurmClient(transport=FakeTransport(), workdir="/", environ={})
    job, now = await client.submit("#!/bin/sh\n", hold=True), 100.0
    follower = Follower(client, lambda: now)

    async def reason() -> str:
        record = (await follower.look(job.identity)).record
        return record.reason if record else ""

    held = await until(reason, "the reason")
    await job.release()
    assert (await job.info()).reason != held
    assert [await reason() for _ in range(3)] == [held] * 3
    now += 61

    async def changed() -> bool:
        return await reason() != held

    await until(changed, "the new reason")
    await follower.close()


def test_only_so_much_is_remembered() -> None:
    kept = Recent[int](most=2)
    for number, key in enumerate("abac"):
        kept.set(key, number)
    assert (kept.get("a"), kept.get("b"), kept.get("c"), len(kept)) == (2, None, 3, 2)
    kept.drop("a")
    assert "a" not in kept
    assert "c" in kept
