"""What get tells while Slurm is away: the phase that it told before, and since when there is no news."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

import pytest
from flyte.connectors import Resource

from flyteplugins.slurm_rest import answering, asking
from slurm_rest.errors import TokenRejected, Unreachable
from tests.support.waiting import until

from .support.site import Site


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what can be known be known, however long that takes on a busy machine."""
    monkeypatch.setattr(answering, "ANSWER", 60.0)
    monkeypatch.setattr(asking, "_LOOK_AT_FILE", 60.0)


@pytest.mark.parametrize("error", [Unreachable("slurmrestd is away"), TokenRejected("the token is old")])
async def test_an_outage_keeps_the_phase(site: Site, error: Exception) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    site.fake.failing = error  # type: ignore[assignment]  # one of slurm_rest's

    async def told() -> Resource | None:
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        return found if "no news from Slurm since" in (found.message or "") else None

    told_last = await until(told, "the outage in the message")
    assert told_last is not None
    assert f"\n{error}\nJob files: " in (told_last.message or ""), "in the poller's own words"
    assert told_last.custom_info is not None
    assert told_last.custom_info["stale_reason"] == str(error)
    site.fake.failing = None
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    await site.until(meta, "SUCCEEDED")


@pytest.mark.usefixtures("unhurried")
async def test_a_restart_in_an_outage_ends_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "_FIRST_NEWS", 60.0)
    meta = await site.create()
    site.connector = site.restarted()
    site.fake.failing = Unreachable("slurmrestd is away")
    phase, found = await site.get(meta)
    assert (phase, found.outputs) == ("QUEUED", None)
    assert "this connector has not heard of it yet" in (found.message or "")
    assert "\nslurmrestd is away\nJob files: " in (found.message or "")


async def test_no_phase_goes_back_with_a_restart_in_an_outage(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = await site.create()
    log = site.files / meta.stdout_path.removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    site.fake.failing = Unreachable("slurmrestd is away")
    assert (await site.get(meta))[0] == "QUEUED", "the process that made the job knows that it told no other phase"
    site.connector = site.restarted()
    assert (await site.get(meta))[0] == "RUNNING", "it has made its output file"
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    site.connector = site.restarted()
    assert (await site.get(meta))[0] == "RUNNING", "nothing tells that it has not"
    site.fake.failing = None

    async def heard() -> bool:
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        return "is PENDING" in (found.message or "")

    await until(heard, "the first news")


@pytest.mark.usefixtures("unhurried")
async def test_get_answers_while_nothing_else_does(site: Site) -> None:
    meta = await site.create()
    site.connector = site.restarted()

    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    with patch.object(site.fake, "states", never), patch.object(site.fake, "describe", never):
        phase, found = await asyncio.wait_for(site.get(meta), 60)
    assert phase == "QUEUED"
    assert "has not heard of it yet" in (found.message or "")
