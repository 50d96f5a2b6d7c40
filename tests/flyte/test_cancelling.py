"""Cancelling, by flyte and by others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from flyteplugins.slurm_rest import asking, deleting, endings, service
from flyteplugins.slurm_rest.deleting import Deletions
from slurm_rest import AsyncJob, JobInfo, JobState, SlurmError
from slurm_rest.errors import PermissionDenied, Timeout, Unreachable
from slurm_rest.models import CancelResult
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until

from .support.site import Site, script


async def test_delete_cancels_and_can_be_repeated(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    for _ in range(2):
        await site.connector.delete(meta)
    (record,) = await site.fake.describe([int(meta.job_id)])
    assert str(record.state) == "CANCELLED"
    await site.until(meta, "ABORTED")


async def test_what_is_being_moved_is_left_where_it_is(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its job is over, and nobody wants its outputs any more."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def collect(*_: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(endings, "collect", collect)
    meta = await site.create(script())
    site.finish(meta)

    async def moving() -> bool:
        _, found = await site.get(meta)
        return "the connector is moving model" in (found.message or "")

    await until(moving, "the move")
    assert begun.is_set()
    await site.connector.delete(meta)
    assert ended.is_set()


async def test_a_cancellation_by_somebody_else_is_a_failure_that_says_so(site: Site) -> None:
    meta = await site.create()
    await site.fake.cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "not through Flyte" in (found.message or "")


async def test_it_is_said_who_cancelled(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await FakeTransport(site.fake.slurm, user="root").cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "cancelled by root, not through Flyte" in (found.message or "")


async def test_it_is_said_who_cancelled_though_accounting_hears_of_it_late(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it calls the job a running one; the end is told once."""
    monkeypatch.setattr(asking, "_PAUSES", ())
    monkeypatch.setattr(asking, "_ASK_ACCOUNTING", 0.01)
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    client = site.connector._cluster_of(meta, None).client
    history, asked = client.history, 0

    async def late(**query: Any) -> Sequence[JobInfo]:
        nonlocal asked
        asked += 1
        found = await history(**query)
        return [replace(one, state=JobState.parse("RUNNING")) for one in found] if asked < 2 else found

    monkeypatch.setattr(client, "history", late)
    await FakeTransport(site.fake.slurm, user="root").cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "cancelled by root, not through Flyte" in (found.message or "")
    assert asked == 2


async def test_who_cancelled_is_not_waited_for_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_LATE_RECORD", 0.05)
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")

    async def nothing(**_: object) -> Sequence[JobInfo]:
        return []

    monkeypatch.setattr(site.connector._cluster_of(meta, None).client, "history", nothing)
    await site.fake.cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "cancelled, not through Flyte" in (found.message or "")


async def test_a_cancellation_that_is_denied_is_said(site: Site) -> None:
    meta = await site.create()
    site.fake.user = "bob"
    with pytest.raises(PermissionDenied, match="may not be cancelled"):
        await site.connector.delete(meta)


async def test_what_an_outage_keeps_from_being_cancelled_is_cancelled_afterwards(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleting, "_PAUSES", (0.01,))
    meta = await site.create()
    site.fake.failing = Unreachable("slurmrestd is away")
    for _ in range(2):
        with pytest.raises(Unreachable, match="slurmrestd is away"):
            await site.connector.delete(meta)
    site.fake.failing = None
    await site.until(meta, "ABORTED")


async def test_a_call_in_a_pause_is_a_try_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleting, "_PAUSES", (600.0,))
    meta = await site.create()
    site.fake.failing = Unreachable("slurmrestd is away")
    with pytest.raises(Unreachable):
        await site.connector.delete(meta)
    site.fake.failing = None
    await asyncio.wait_for(site.connector.delete(meta), 60)
    await site.until(meta, "ABORTED")


async def test_a_call_is_answered_though_slurm_is_silent(site: Site) -> None:
    """And the job is cancelled once it speaks again, though nobody asks a second time."""
    meta = await site.create()
    site.connector.known.deletions = Deletions(patience=0.05)
    speaks, describe = asyncio.Event(), site.fake.describe

    async def silent(*args: object, **options: object) -> object:
        await speaks.wait()
        return await describe(*args, **options)  # type: ignore[arg-type]  # as it is called

    with patch.object(site.fake, "describe", silent):
        for _ in range(2):
            with pytest.raises(Timeout, match=f"job {meta.job_id} is not cancelled yet"):
                await site.connector.delete(meta)
        speaks.set()
        await site.until(meta, "ABORTED")


async def test_a_refusal_is_not_tried_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleting, "_PAUSES", (0.0,))
    meta = await site.create()
    site.fake.user = "bob"
    with pytest.raises(PermissionDenied):
        await site.connector.delete(meta)

    async def over() -> bool:
        return all(not task.get_name().startswith("cancel job") for task in asyncio.all_tasks())

    await until(over, "the end of the tries")
    site.fake.user = "alice"
    (record,) = await site.fake.describe([int(meta.job_id)])
    assert str(record.state) == "PENDING"


async def test_a_cancellation_that_is_taken_and_lost_is_no_success(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")

    async def lost(job: AsyncJob, *_: object) -> CancelResult:
        return CancelResult(job_id=job.id, outcome="signalled")

    monkeypatch.setattr(service, "_CANCEL_PATIENCE", 0.05)
    with monkeypatch.context() as patched:
        patched.setattr(AsyncJob, "cancel", lost)
        with pytest.raises(SlurmError, match="RUNNING still"):
            await site.connector.delete(meta)
    await site.connector.delete(meta)
    await site.until(meta, "ABORTED")
