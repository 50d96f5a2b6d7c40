"""Dead, frozen and restarting daemons: the right error, no job twice, no waiter lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from cluster.native import Cluster
from slurm_rest import (
    AccountingDown,
    AsyncSlurmClient,
    BaseState,
    ControllerDown,
    JobNotFound,
    SubmitUncertain,
    Timeout,
    Unreachable,
)
from slurm_rest.transport import once
from tests.support.waiting import until, until_true

TRUE = "#!/bin/sh\ntrue\n"
# Runs for as long as a test needs it: one of some seconds may be over before it is looked at.
UNTIL_TOLD = "#!/bin/sh\nuntil [ -e /home/alice/go-$SLURM_JOB_ID ]; do sleep 0.1; done\nexit 6\n"


@pytest.fixture(scope="module", params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    """Return a shared cluster whose daemons these tests hold and let go again."""
    return shared_cluster(request.param)


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[AsyncSlurmClient]:
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice"), workdir="/tmp") as slurm:
        await slurm.api_version()
        yield slurm


async def test_a_dead_controller_is_told_from_everything_else(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(TRUE, hold=True)
    with cluster.stopped("slurmctld"):
        # Each of these takes slurmrestd 10 s and more, so all at once.
        calls = (
            client.ping(),
            client.states([job]),
            client.info(job),
            client.nodes(),
            client.partitions(),
            client.diag(),
            client.cancel(job),
            client.submit(TRUE, name="never"),
        )
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ControllerDown] * len(calls)
        await client.ping_accounting()
    assert (await client.ping())[0].responding
    assert not await client.jobs(name="never")
    assert (await job.cancel()).ok


async def test_a_dead_database_is_told_from_a_dead_controller(client: AsyncSlurmClient, cluster: Cluster) -> None:
    with cluster.stopped("slurmdbd"):
        with pytest.raises(AccountingDown):
            await client.ping_accounting()
        assert (await client.ping())[0].responding
        record = await (await client.submit("#!/bin/sh\nexit 2\n"))
        assert record.exit_code.code == 2
        with pytest.raises(AccountingDown):
            await client.job(60_000_000).info()


async def test_a_frozen_controller_makes_a_submission_uncertain(client: AsyncSlurmClient, cluster: Cluster) -> None:
    token = cluster.token("alice")
    async with AsyncSlurmClient(cluster.url, token=token, workdir="/tmp", recovery_timeout=1) as hasty:
        await hasty.api_version()
        with cluster.frozen("slurmctld"), pytest.raises(SubmitUncertain) as caught:
            await hasty.submit(TRUE, name="frozen")
    assert caught.value.key.startswith("slurm-rest:")
    assert caught.value.key in str(caught.value)
    # The request lay in the controller's socket, and is carried out once it wakes.
    found = await until(lambda: client.jobs(name="frozen"))
    assert [record.submission_key for record in found] == [caught.value.key]


async def test_a_frozen_slurmrestd_makes_a_submission_uncertain(client: AsyncSlurmClient, cluster: Cluster) -> None:
    token = cluster.token("alice")
    # Long enough for a slurmrestd that is not frozen yet.
    async with AsyncSlurmClient(cluster.url, token=token, workdir="/tmp", timeout=5, recovery_timeout=1) as hasty:
        await hasty.api_version()
        with cluster.frozen("slurmrestd"), pytest.raises(SubmitUncertain) as caught:
            await hasty.submit(TRUE, name="frozen-rest", hold=True)
    # The request lay in slurmrestd's socket, and is carried out once it wakes.
    (record,) = await until(lambda: client.jobs(name="frozen-rest"))
    assert record.submission_key == caught.value.key
    assert (await client.job(record.id).cancel()).ok


async def test_a_frozen_slurmrestd_that_was_never_heard_gets_no_submission(
    client: AsyncSlurmClient, cluster: Cluster
) -> None:
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice"), workdir="/tmp", timeout=1) as hasty:
        with cluster.frozen("slurmrestd"), pytest.raises(Timeout) as caught:
            await hasty.submit(TRUE, name="unheard")
    assert caught.value.hint.startswith("No job was submitted.")
    await client.ping()
    assert not await client.jobs(name="unheard")


async def test_waiters_outlive_a_controller_that_restarts(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(UNTIL_TOLD)
    waiting = asyncio.create_task(job.wait(timeout=300))

    async def runs() -> bool:
        return (await job.refresh()).is_running

    await until(runs)
    with cluster.stopped("slurmctld"):
        assert not waiting.done()
    (cluster.home / f"alice/go-{job.id}").touch()
    assert (await waiting).exit_code.code == 6


async def test_waiters_outlive_a_controller_that_freezes(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(UNTIL_TOLD)
    client._poller.overdue = 0.5
    waiting = asyncio.create_task(job.wait(timeout=300))

    async def runs() -> bool:
        return (await job.refresh()).is_running

    await until(runs)
    with cluster.frozen("slurmctld"):
        # It ends meanwhile, and slurmrestd takes 10 s and more to say that it hears nothing.
        (cluster.home / f"alice/go-{job.id}").touch()
        await until_true(lambda: job.stale_since is not None, "the note that there is no news")
        assert {outcome for _, _, outcome in client.metrics.requests} <= {"ok", "UnsupportedVersion"}
        assert job.state.is_running
        assert not waiting.done()
    assert (await waiting).exit_code.code == 6
    assert job.stale_since is None


async def test_waiters_outlive_a_slurmrestd_that_restarts(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(TRUE, hold=True)
    waiting = asyncio.create_task(job.wait(timeout=300))
    with cluster.stopped("slurmrestd"):
        with pytest.raises(Unreachable, match="Nothing listens"):
            await client.nodes()
        assert not waiting.done()
    await job.cancel()
    assert (await waiting).state.base is BaseState.CANCELLED


async def test_an_interrupted_submission_leaves_no_job(
    client: AsyncSlurmClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once, "_ABANDON_SECONDS", 60)
    task = asyncio.create_task(client.submit(TRUE, name="interrupted", hold=True))
    before = client.requests
    while client.requests == before:  # noqa: ASYNC110  # to be there in the very turn in which it is sent
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(record.state.base is BaseState.CANCELLED for record in await client.jobs(name="interrupted"))


async def test_an_outage_never_means_gone(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(TRUE, hold=True)
    with cluster.stopped("slurmctld"), pytest.raises(ControllerDown):
        await client.info(job)
    await job.cancel()
    with cluster.stopped("slurmdbd"), pytest.raises((AccountingDown, JobNotFound)) as caught:
        await client.job(60_000_001).info()
    assert isinstance(caught.value, AccountingDown)
