"""What get tells of a job on a cluster in memory: its phases, the truth at the end, what limits and ends it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import flyte
import pytest

from flyteplugins.slurm_rest import asking, outcome
from flyteplugins.slurm_rest.messages import MESSAGE_LIMIT
from slurm_rest import AsyncJob
from slurm_rest.models import CancelResult
from slurm_rest.transport.files import Tail
from tests.support.waiting import until

from .support.site import Site, answer


async def test_a_task_goes_through_its_phases(site: Site) -> None:
    meta = await site.create()
    assert (await site.get(meta))[0] in ("QUEUED", "WAITING_FOR_RESOURCES")
    site.fake.start(int(meta.job_id))
    running = await site.until(meta, "RUNNING")
    assert running.custom_info is not None
    assert running.custom_info["job_id"] == meta.job_id
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    await site.until(meta, "SUCCEEDED")
    assert (await site.get(meta))[0] == "SUCCEEDED", "it stays"


async def test_a_job_that_exits_zero_is_no_success_when_the_task_raised(site: Site) -> None:
    meta = await site.create()
    site.fails("no such column")
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert found.message is not None
    assert found.message.startswith("ValueError: no such column\nSlurm job")


async def test_an_error_without_end_is_not_read_to_its_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "_LARGEST", 1000)
    meta = await site.create()
    site.fails("x" * 1000)
    site.finish(meta)
    assert "error of more than 1,000 bytes, which is at" in ((await site.until(meta, "FAILED")).message or "")


async def test_what_is_told_of_a_long_error_is_bounded_in_bytes(site: Site) -> None:
    meta = await site.create()
    site.fails(f"first {'é' * 100_000} last")
    site.finish(meta)
    message = (await site.until(meta, "FAILED")).message or ""
    assert message.startswith("ValueError: first é")
    assert MESSAGE_LIMIT - 10 < len(message.encode()) <= MESSAGE_LIMIT


async def test_an_error_worth_another_attempt_is_retryable(site: Site) -> None:
    meta = await site.create()
    site.fails("again", recoverable=True)
    site.finish(meta)
    await site.until(meta, "RETRYABLE_FAILED")


async def test_a_job_that_wrote_nothing_has_failed(site: Site) -> None:
    meta = await site.create()
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert "wrote neither outputs.pb nor error.pb" in (found.message or "")


async def test_a_job_that_failed_by_itself_says_how(site: Site) -> None:
    meta = await site.create()
    log = site.files / meta.stderr_path.removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("first\nKilled by something\n")
    site.finish(meta, 9)
    found = await site.until(meta, "FAILED")
    assert "exit code 9:0" in (found.message or "")
    assert (found.message or "").endswith("--- stderr (last 30 lines) ---\nfirst\nKilled by something")


async def test_its_last_words_are_told_though_they_come_late(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure is told once: what was not read within one answer would be lost."""
    monkeypatch.setattr(asking, "_READ_STDERR", 0.01)
    meta = await site.create()
    log = site.files / meta.stderr_path.removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("Killed by something\n")
    files = site.connector._cluster_of(meta, None).client.files
    tail, may_read, asked = files.tail, asyncio.Event(), 0

    async def slow(path: str, **how: int) -> Tail:
        nonlocal asked
        if path == meta.stderr_path:
            asked += 1
            await may_read.wait()
        return await tail(path, **how)

    monkeypatch.setattr(files, "tail", slow)
    site.finish(meta, 9)

    async def told() -> bool:
        phase, found = await site.get(meta)
        assert phase in ("QUEUED", "RUNNING"), found.message
        return "the connector is reading what it wrote to standard error" in (found.message or "")

    await until(told, "that it is being read")
    may_read.set()
    found = await site.until(meta, "FAILED")
    assert (found.message or "").endswith("\nKilled by something")
    assert asked == 1


async def test_last_words_that_cannot_be_had_are_not_waited_for_for_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_LATE_STDERR", 0.05)
    meta = await site.create()

    async def silent(path: str, **_: int) -> Tail:
        await asyncio.Event().wait()
        raise AssertionError(path)

    monkeypatch.setattr(site.connector._cluster_of(meta, None).client.files, "tail", silent)
    site.finish(meta, 9)
    found = await site.until(meta, "FAILED")
    assert "exit code 9:0" in (found.message or "")
    assert "stderr (last" not in (found.message or "")


@pytest.mark.parametrize(
    ("state", "phase"), [("NODE_FAIL", "RETRYABLE_FAILED"), ("PREEMPTED", "RETRYABLE_FAILED"), ("TIMEOUT", "FAILED")]
)
async def test_ends_that_slurm_chose(site: Site, state: str, phase: str) -> None:
    meta = await site.create()
    site.finish(meta, state=state)
    await site.until(meta, phase)


async def test_a_job_that_waits_too_long_is_cancelled_and_worth_another_attempt(site: Site) -> None:
    task = answer.override(timeout=flyte.Timeout(max_queued_time=60))
    meta = await site.create(task)
    phase, found = await site.get(meta)
    assert phase in ("QUEUED", "WAITING_FOR_RESOURCES")
    assert "too long" not in (found.message or "")
    site.fake.slurm.advance(61)
    late = replace(meta, submitted=(datetime.now(timezone.utc) - timedelta(seconds=61)).isoformat())
    for job in site.fake.slurm.members(int(meta.job_id)):
        job.submit_time -= 61
    found = await site.until(late, "RETRYABLE_FAILED")
    assert "longer than the 0:01:00 that the task allows (max_queued_time" in (found.message or "")
    site.connector = site.restarted()
    found = await site.until(late, "RETRYABLE_FAILED")
    assert "longer than the 0:01:00" in (found.message or ""), "also on another replica"


async def test_a_job_that_starts_while_it_is_given_up_is_worth_another_attempt(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm cancels it all the same, and nobody else did."""
    meta = await site.create(answer.override(timeout=flyte.Timeout(max_queued_time=60)))
    late = replace(meta, submitted=(datetime.now(timezone.utc) - timedelta(seconds=61)).isoformat())
    cancel = AsyncJob.cancel

    async def too_late(job: AsyncJob) -> CancelResult:
        site.fake.start(job.id)
        return await cancel(job)

    monkeypatch.setattr(AsyncJob, "cancel", too_late)
    found = await site.until(late, "RETRYABLE_FAILED")
    assert "longer than the 0:01:00 that the task allows (max_queued_time" in (found.message or "")


async def test_a_job_that_started_in_time_is_left_alone(site: Site) -> None:
    meta = await site.create(answer.override(timeout=flyte.Timeout(max_queued_time=60)))
    site.fake.start(int(meta.job_id))
    late = replace(meta, submitted=(datetime.now(timezone.utc) - timedelta(seconds=61)).isoformat())
    await site.until(late, "RUNNING")
    assert not site.connector.known.giving_up
    await site.fake.cancel([int(meta.job_id)])
    found = await site.until(late, "FAILED")
    assert "max_queued_time" not in (found.message or "")
