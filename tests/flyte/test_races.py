"""Calls for one job at the same time, and what is kept of jobs that nobody asks about any more."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flyteplugins.slurm_rest import links, objects
from flyteplugins.slurm_rest.cancelling import Cancellations
from flyteplugins.slurm_rest.clients import Clusters
from flyteplugins.slurm_rest.findings import Findings
from flyteplugins.slurm_rest.links import Copies
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.outcome import Outcome
from flyteplugins.slurm_rest.service import Known, SlurmConnector
from flyteplugins.slurm_rest.settings import ClusterAccess
from flyteplugins.slurm_rest.settling import Settling
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until_true

from .support.site import Site, attempt, lines_of

META = SlurmJobMetadata("1", "n", "", "", 0, "/home/a/o", "/home/a/e", output_prefix="s3://b/p", submission_key="k")


# --- at the same time -------------------------------------------------------------------------------------------


async def test_two_calls_ask_at_once_who_cancelled_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, asked = asyncio.Event(), 0

    async def read(uri: str) -> None:
        nonlocal asked
        asked += 1
        await answered.wait()

    monkeypatch.setattr(objects, "read", read)
    known = Cancellations()
    calls = [asyncio.ensure_future(known.is_ours("k", META, patience=60)) for _ in range(3)]
    await until_true(lambda: asked == 1, "the look")
    answered.set()
    assert await asyncio.gather(*calls) == [False, False, False]


async def test_what_a_store_says_after_the_call_is_kept_and_its_task_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = asyncio.Event()

    async def read(uri: str) -> objects.Found:
        await answered.wait()
        return objects.Found(b"", "tag")

    monkeypatch.setattr(objects, "read", read)
    known = Cancellations()
    assert await known.is_ours("k", META, patience=0) is None
    answered.set()
    await until_true(lambda: not known._looks, "its answer")
    assert "k" in known


async def test_a_job_is_deleted_while_another_call_waits_for_its_outcome() -> None:
    settling, begun = Settling(), asyncio.Event()

    async def work() -> Outcome | None:
        begun.set()
        await asyncio.Event().wait()
        return None

    asking = asyncio.ensure_future(settling.result("k", work, patience=60))
    await begun.wait()
    await settling.drop("k")
    assert await asking == (False, None, "")


async def test_copies_that_make_room_for_others_end_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def copied(*_: object) -> list[Any]:
        begun.set()
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(links, "_copied", copied)
    monkeypatch.setattr(links, "_KEPT", 1)
    copies, more = Copies(), {"files": Any, "lifetime": Any}
    first = asyncio.ensure_future(copies.links("a", META, patience=60, **more))  # type: ignore[arg-type]
    await begun.wait()
    assert await copies.links("b", META, patience=0, **more) is None  # type: ignore[arg-type]
    assert await first is None
    (other,) = copies._tasks.values()
    other.cancel()


async def test_what_is_found_later_is_kept_and_what_failed_is_asked_anew() -> None:
    findings, go, asked = Findings[int](), asyncio.Event(), 0

    async def ask() -> int:
        nonlocal asked
        asked += 1
        await go.wait()
        if asked == 1:
            raise OSError("for a moment")
        return asked

    assert await findings.get("k", ask, patience=0) is None
    go.set()
    with pytest.raises(OSError, match="for a moment"):
        await findings.get("k", ask, patience=60)
    assert [await findings.get("k", ask, patience=60) for _ in range(2)] == [2, 2]
    few = Findings[int](most=1)
    go.clear()
    first = asyncio.ensure_future(few.get("a", ask, patience=60))
    await until_true(lambda: asked == 3, "the first question")
    assert await few.get("b", ask, patience=0) is None
    assert await first is None, "it has made room"


# --- afterwards -------------------------------------------------------------------------------------------------


async def test_a_result_that_nobody_asks_for_is_not_kept_for_ever() -> None:
    now = 0.0
    settling, done = Settling(clock=lambda: now), asyncio.Event()

    async def work() -> Outcome | None:
        await done.wait()
        return None

    await settling.result("left", work, patience=0)
    done.set()
    await until_true(lambda: settling._pieces["left"].task.done(), "its end")
    now = 4000.0
    await settling.result("another", work, patience=0)
    assert set(settling._pieces) == {"another"}


class Sites:
    """Clusters whose clients are counted, on a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.made: list[AsyncSlurmClient] = []
        self.clusters = Clusters(self.make, lambda: self.now)

    def make(self, access: ClusterAccess) -> AsyncSlurmClient:
        self.made.append(AsyncSlurmClient(transport=FakeTransport(), workdir="/home/{user}", environ={}))
        return self.made[-1]


def access(token: str = "", **more: Any) -> ClusterAccess:
    return ClusterAccess(rest_url="http://slurm", rest_token=token, **more)


async def test_the_client_of_a_token_that_is_used_no_more_is_closed() -> None:
    sites = Sites()
    old, busy = sites.clusters.get(access("old")), sites.clusters.get(access("busy"))
    with busy.in_use():
        sites.now = 7 * 3600.0
        new = sites.clusters.get(access("new"))
        assert set(sites.clusters._found.values()) == {busy, new}
        await sites.clusters.close()
    assert old not in sites.clusters._found.values()
    assert sites.clusters.get(access("old")) is not old
    await sites.clusters.close()


def test_a_client_does_not_outlive_its_loop() -> None:
    """The next loop may have the same address."""
    sites = Sites()

    async def get() -> object:
        return sites.clusters.get(access())

    found = [asyncio.run(get()) for _ in range(20)]
    assert len({id(one) for one in found}) == 20
    sites.now = 3600.0
    asyncio.run(get())
    assert len(sites.clusters._found) == 1


# --- logs, which are asked for without secrets ----------------------------------------------------------------------


async def test_logs_are_read_with_the_secrets_of_the_very_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with those of another job: its user sees other files. A token's user is known by the token alone."""
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://slurm")
    used: list[str] = []
    fake = FakeTransport()

    def client(access: ClusterAccess) -> AsyncSlurmClient:
        used.append(access.rest_token)
        return AsyncSlurmClient(transport=fake, workdir="/home/{user}", environ={})

    site = SlurmConnector(Known(clusters=Clusters(client)))
    job = replace(META, output_prefix="")
    for token, number in (("of-a", "1"), ("of-b", "2")):
        await site.get(replace(job, job_id=number), rest_token=token)
    for number, token in (("2", "of-b"), ("1", "of-a")):
        reached = site._cluster_of(replace(job, job_id=number), None)
        assert reached.access.rest_token == token
    assert site._cluster_of(replace(job, job_id="3"), None).access.rest_token == ""
    assert used == ["of-a", "of-b", ""]
    await site.known.clusters.close()


async def test_the_way_of_an_earlier_call_serves_other_jobs_of_the_same_user_alone() -> None:
    sites = Sites()
    plain = access(user="a")
    first, second = sites.clusters.get(access("one", user="a")), sites.clusters.get(access("two", user="a"))
    first.used = 5.0
    assert sites.clusters.known(plain) is first
    second.used = 6.0
    assert sites.clusters.known(plain) is second
    assert sites.clusters.known(access(user="b")) is None
    assert sites.clusters.known(access()) is None
    await sites.clusters.close()


async def test_logs_of_a_cluster_that_is_served_no_more_say_so(site: Site) -> None:
    meta = replace(await site.create(execution=attempt("gone")), cluster="gone", submission_key="other")
    (line,), _ = await lines_of(site, meta)
    assert "no cluster 'gone'" in line
    assert not (await site.connector.get_metrics(meta)).results
