"""Daemons, connectors and answers that are lost: no phase is lost by it, and no execution has two jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager

import grpc
import pytest

from cluster.native import Cluster
from tests.support.waiting import until

from .conftest import over_rest, over_ssh
from .support.platform import Platform, Submitted, service
from .support.releases import short_on
from .support.s3 import Store
from .support.scripts import SLEEP, number, only_job, phase, root, script

# Runs until a file is there, of a name that no other test uses.
UNTIL = "#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.2; done\necho gone on\n"


@asynccontextmanager
async def connector(store: Store, *variables: dict[str, str]) -> AsyncIterator[Platform]:
    """Run a connector, which is killed with -9 at the end, and yield the platform's side of it."""
    given = {name: value for one in (store.variables(), *variables) for name, value in one.items()}
    with service(given) as address:
        found = Platform(address, environment=store.variables())
        yield found
        await found.close()


async def told_of_an_outage(platform: Platform, job: Submitted) -> str:
    """Wait until a running job's answers tell of an outage; return since when. Its phase never changes."""

    async def told() -> str:
        found = await platform.get(job)
        assert phase(found) == "RUNNING", found.message
        return str(found.custom_info["stale_since"]) if "stale_since" in found.custom_info else ""

    return await until(told, "word of the outage", limit=120)


async def test_an_outage_keeps_the_phase(platform: Platform, flyte_cluster: Cluster, store: Store) -> None:
    cluster, name = flyte_cluster, "outage-is-over"
    jobs = [await platform.create(script(f"outage{place}", UNTIL.format(name))) for place in range(2)]
    await asyncio.gather(*(platform.until(job, "RUNNING") for job in jobs))
    outages: list[tuple[Callable[..., AbstractContextManager[None]], str]] = [
        (cluster.frozen, "slurmctld"),
        (cluster.stopped, "slurmctld"),
        (cluster.stopped, "slurmrestd"),
    ]
    for hold, daemon in outages:
        with hold(daemon):
            since = await asyncio.gather(*(told_of_an_outage(platform, job) for job in jobs))
            assert all(since)
            if daemon == "slurmrestd":
                # One that has been restarted in the meantime has heard nothing, and tells no end either.
                async with connector(store, over_rest(cluster)) as another:
                    assert await another.phase(jobs[0]) == "RUNNING"
                (cluster.home / "alice" / name).touch()
    for job in jobs:
        found = await platform.until(job)
        assert phase(found) == "SUCCEEDED", found.message
        assert "stale_since" not in found.custom_info
    (cluster.home / "alice" / name).unlink()


async def test_rest_dies_in_the_middle(flyte_cluster: Cluster, store: Store) -> None:
    """With a login node beside it, all goes on over SSH: ends, logs, cancellations, new jobs."""
    cluster, name = flyte_cluster, "rest-is-dead"
    both = {**over_ssh(cluster), **over_rest(cluster)}
    async with connector(store, both) as platform:
        ends = await platform.create(script("ends", UNTIL.format(name)))
        waits = await platform.create(script("waits", SLEEP))
        await asyncio.gather(*(platform.until(job, "RUNNING") for job in (ends, waits)))
        with cluster.stopped("slurmrestd"):
            (cluster.home / "alice" / name).touch()
            found = await platform.until(ends)
            assert phase(found) == "SUCCEEDED", found.message
            assert "ssh" in found.custom_info["transport"]
            assert "gone on" in (await platform.logs(ends))[0]
            await platform.delete(waits)
            found = await platform.until(waits)
            assert phase(found) == "ABORTED", found.message
            later = await platform.create(script("later", "#!/bin/sh\n"))
            found = await platform.until(later)
            assert phase(found) == "SUCCEEDED", found.message
        (cluster.home / "alice" / name).unlink()


async def test_one_execution_has_one_job(flyte_cluster: Cluster, store: Store) -> None:
    """Whichever replica is asked, how often, at the same time, after a kill, and after a deadline that went by."""
    cluster, variables = flyte_cluster, over_rest(flyte_cluster)
    task, late = script("once", SLEEP), script("late", SLEEP)
    async with connector(store, variables) as one, connector(store, variables) as two:
        asked = [one.create(task, run=f"twice{cluster.release}") for one in (one, two, one, two)]
        jobs = await asyncio.gather(*asked)
        assert len({number(job) for job in jobs}) == 1
        with cluster.frozen("slurmctld"):
            answers = await asyncio.gather(
                *(each.create(late, run=f"late{cluster.release}", patient=False) for each in (one, two)),
                return_exceptions=True,
            )
            codes = {answer.code() for answer in answers if isinstance(answer, grpc.aio.AioRpcError)}
            assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.INTERNAL}, answers
            assert len(codes) > 0
    async with connector(store, variables) as three:
        again = await three.create(task, run=f"twice{cluster.release}")
        assert number(again) == number(jobs[0])
        first = await three.create(late, run=f"late{cluster.release}")
        second = await three.create(late, run=f"late{cluster.release}")
        assert number(first) == number(second)
        await asyncio.gather(*(three.until(job, "RUNNING") for job in (again, first)))
        for job in (again, first):
            await only_job(cluster, job)
            await three.delete(job)
        for job in (again, first):
            assert phase(await three.until(job)) == "ABORTED"


@short_on("26.05")
@pytest.mark.parametrize("daemon", ["slurmctld", "slurmrestd"])
async def test_a_frozen_daemon_is_answered_for_in_time(
    daemon: str, release: str, shared_cluster: Callable[[str], Cluster], store: Store
) -> None:
    """Whoever was to be cancelled is afterwards, though nobody asks again; who was to be made is made once."""
    cluster = shared_cluster(release)
    task, run = script("meanwhile", SLEEP), f"meanwhile{daemon}"
    async with connector(store, over_rest(cluster)) as platform:
        unwanted = await platform.create(script("unwanted", SLEEP), run=f"unwanted{daemon}")
        await platform.until(unwanted, "RUNNING")
        with cluster.frozen(daemon):
            answers = await asyncio.gather(
                platform.create(task, run=run, patient=False),
                platform.delete(unwanted, patient=False),
                return_exceptions=True,
            )
        made, deleted = answers
        assert isinstance(made, grpc.aio.AioRpcError)
        assert isinstance(deleted, grpc.aio.AioRpcError)
        assert deleted.code() is grpc.StatusCode.INTERNAL, "the connector's own answer, before the deadline"
        assert f"job {number(unwanted)} is not cancelled yet" in (deleted.details() or "")
        assert phase(await platform.until(unwanted)) == "ABORTED"
        job = await platform.create(task, run=run)
        await only_job(cluster, job)
        await platform.delete(job)


async def test_a_new_attempt_ends_the_one_before(platform: Platform, flyte_cluster: Cluster) -> None:
    task, run = script("attempts", SLEEP), f"attempts{flyte_cluster.release}"
    first = await platform.create(task, run=run)
    await platform.until(first, "RUNNING")
    second = await platform.create(task, run=run, attempt=1)
    assert number(second) != number(first)
    found = await platform.until(first)
    assert phase(found) in ("ABORTED", "FAILED"), found.message
    await platform.until(second, "RUNNING")
    await platform.delete(second)


async def test_over_ssh_on_a_release_without_a_usable_slurmrestd(cluster_22_05: Cluster, store: Store) -> None:
    """Success, a cancellation by an administrator, an abort, and a second request for the same attempt."""
    cluster = cluster_22_05
    async with connector(store, over_ssh(cluster)) as platform:
        tasks = [script("ends", "#!/bin/sh\necho hello\n"), script("cancelled", SLEEP), script("aborted", SLEEP)]
        ends, cancelled, aborted = [await platform.create(task, run=f"old{task.name}") for task in tasks]
        assert number(await platform.create(tasks[2], run="oldaborted")) == number(aborted)
        await asyncio.gather(*(platform.until(job, "RUNNING") for job in (cancelled, aborted)))
        await asyncio.to_thread(root, cluster, "scancel", number(cancelled))
        await platform.delete(aborted)
        found = await platform.until(cancelled)
        assert phase(found) == "FAILED", found.message
        assert "not through Flyte" in found.message
        assert phase(await platform.until(aborted)) == "ABORTED"
        found = await platform.until(ends)
        assert (phase(found), found.custom_info["transport"]) == ("SUCCEEDED", "ssh"), found.message
        assert "hello" in (await platform.logs(ends))[0]
