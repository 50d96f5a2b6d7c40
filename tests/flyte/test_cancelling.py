"""Cancelling, by flyte and by others."""

from __future__ import annotations

import pytest

from flyteplugins.slurm_rest import service
from slurm_rest import AsyncJob, SlurmError
from slurm_rest.errors import PermissionDenied
from slurm_rest.models import CancelResult
from slurm_rest.testing import FakeTransport

from .support.site import Site


async def test_delete_cancels_and_can_be_repeated(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    for _ in range(2):
        await site.connector.delete(meta)
    (record,) = await site.fake.describe([int(meta.job_id)])
    assert str(record.state) == "CANCELLED"
    await site.until(meta, "ABORTED")


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


async def test_a_cancellation_that_is_denied_is_said(site: Site) -> None:
    meta = await site.create()
    site.fake.user = "bob"
    with pytest.raises(PermissionDenied, match="may not be cancelled"):
        await site.connector.delete(meta)


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
