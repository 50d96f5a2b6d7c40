"""Following jobs where it is hard: ids given anew, no accounting, jobs that leave at once, many arrays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, NoAccounting, OutcomeUnknown
from slurm_rest.poller import Clock, Poller
from tests.support.waiting import until, until_true

OwnCluster = Callable[..., Cluster]
NO_ACCOUNTING = {
    "AccountingStorageType": "accounting_storage/none",
    "AccountingStorageTRES": "cpu",
    "PreemptType": "preempt/none",
    "PreemptMode": "OFF",
    "MinJobAge": "2",
}


def ended_in_accounting(cluster: Cluster, job_id: int) -> bool:
    return "FAILED" in cluster.exec(["sacct", "-nXP", "-j", str(job_id), "-o", "State"], check=True).stdout


# Runs until a file is there, and so for as long as a test needs it.
UNTIL_TOLD = "#!/bin/bash\nwhile [ ! -e /home/alice/go-on ]; do sleep 0.1; done\n"


async def test_an_id_that_is_given_anew_is_not_taken_for_the_old_job(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("24.11")
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice"), workdir="/tmp") as slurm:
        old = await slurm.submit("#!/bin/sh\nexit 3\n", name="old")
        first = await old.wait(timeout=300)
        again = slurm.job(old.id, submit_time=first.submit_time)
        # What slurmctld still has to tell accounting is lost with its state.
        await until_true(lambda: ended_in_accounting(cluster, old.id), "accounting's word of the end")
        with cluster.stopped("slurmctld"):
            cluster.exec(["sh", "-c", "rm -rf /var/lib/cluster/slurmctld/*"])
        new = await slurm.submit(UNTIL_TOLD, name="new")
        assert new.id == old.id
        assert [(await one.cancel()).outcome for one in (old, again)] == ["already_over"] * 2
        assert (await old.hold()).outcome == "already_over"
        assert (await slurm.states([old, again]), [*await slurm.states([new])]) == ({}, [new.id])
        assert str(await old.refresh()) == str(await again.refresh()) == "FAILED"
        (cluster.home / "alice/go-on").touch()
        ended = await new.wait(timeout=300)
        assert (ended.name, str(ended.state)) == ("new", "COMPLETED")
        for handle in (old, again):
            (told,) = (await slurm.describe([handle])).values()
            for record in (await handle.info(), await handle.wait(timeout=300), told):
                assert (record.name, record.exit_code.code, record.submit_time) == ("old", 3, first.submit_time)
        assert (await slurm.job(old.id).info()).name == "new"


@pytest.mark.parametrize("release", ["26.05"])
async def test_without_accounting_the_controllers_word_is_final_and_nothing_is_guessed(
    own_cluster: OwnCluster, release: str
) -> None:
    cluster = own_cluster(release, conf=NO_ACCOUNTING)
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice"), workdir="/tmp") as slurm:
        seen, missed = await slurm.submit("#!/bin/sh\nexit 3\n"), await slurm.submit(UNTIL_TOLD)
        assert (await seen.wait(timeout=300)).exit_code.code == 3
        # One who looks rarely: the job ends, and leaves the controller, between two ticks.
        rarely = Rarely(slurm, missed.id)
        slurm._poller = Poller(slurm._transport, fastest=30, slowest=30, clock=rarely)
        waiting = asyncio.ensure_future(missed.wait(timeout=300))
        await rarely.paused.wait()
        (cluster.home / "alice/go-on").touch()
        with pytest.raises(OutcomeUnknown, match="no accounting to ask"):
            await waiting
        assert not slurm.capabilities.accounting
        with pytest.raises(NoAccounting):
            await slurm.history()


@pytest.mark.parametrize("release", ["24.11"])
async def test_without_accounting_exit_records_tell_what_nobody_else_does(
    own_cluster: OwnCluster, release: str
) -> None:
    cluster = own_cluster(release, conf=NO_ACCOUNTING)
    async with AsyncSlurmClient(
        cluster.url,
        token=cluster.token("alice"),
        workdir="/tmp",
        path_map={"/home": str(cluster.home)},
        exit_records="/home/{user}/exits",
    ) as slurm:
        script = f"{UNTIL_TOLD}exit ${{1:-$SLURM_ARRAY_TASK_ID}}\n"
        failed, array = await slurm.submit(script, args=["3"]), await slurm.submit(script, array="0-1")
        # A good end of what Slurm calls CANCELLED.
        tidy = await slurm.submit("#!/bin/bash\ntrap 'exit 0' TERM\necho set >$HOME/trap\nsleep 600 & wait\n")
        again = slurm.job(failed.id, submit_time=(await failed.info()).submit_time)
        await until_true(lambda: (cluster.home / "alice/trap").exists())

        async def all_run() -> bool:
            told = [*(await slurm.states([failed])).values(), *(await slurm.member_states(array.id)).values()]
            return [state.is_running for state in told] == [True] * 3

        await until(all_run)
        rarely = Rarely(slurm, failed.id, array.id, tidy.id)
        slurm._poller = Poller(
            slurm._transport,
            fastest=30,
            slowest=30,
            clock=rarely,
            exits=slurm._poller.ends.exits,
        )
        waits = [asyncio.ensure_future(job.wait(timeout=300)) for job in (failed, again, array)]
        unknown = asyncio.ensure_future(tidy.wait(timeout=300))
        await rarely.paused.wait()
        (cluster.home / "alice/go-on").touch()
        await tidy.cancel()
        records = await asyncio.gather(*waits)
        assert [(str(one.state), one.exit_code.code, one.source) for one in records] == [
            ("FAILED", 3, "exit record"),
            ("FAILED", 3, "exit record"),
            ("FAILED", 1, "exit record"),
        ]
        with pytest.raises(
            OutcomeUnknown, match="no accounting to ask; its exit record says that it was told to end by SIGTERM"
        ):
            await unknown


class Rarely(Clock):
    """Passes the first pause when these jobs have left the controller, and any later one at once."""

    def __init__(self, slurm: AsyncSlurmClient, *ids: int) -> None:
        self.slurm, self.ids, self.later = slurm, ids, 0.0
        self.paused = asyncio.Event()

    def now(self) -> float:
        return super().now() + self.later

    async def pause(self, seconds: float, wake: asyncio.Event | None = None) -> None:
        async def have_left() -> bool:
            return not await self.slurm._transport.states(self.ids)

        self.paused.set()
        await until(have_left)
        self.later += seconds


async def test_many_arrays_are_one_request_a_tick(client: AsyncSlurmClient) -> None:
    # All of them run for as long as they are looked at.
    script = "#!/bin/sh\nsleep 600\n"
    anchor = await client.submit(script, name="anchor")
    arrays = [await client.submit(script, array="0-5%2", name="arrays") for _ in range(4)]
    jobs = [anchor, *arrays]

    async def begun() -> bool:
        states = await client.states(jobs)
        return all(states[job.id].is_running for job in jobs)

    await until(begun)
    for _ in range(5):
        before = client.requests
        states = await client.states(jobs)
        assert client.requests == before + 1
        assert {job.id for job in jobs} == set(states)
    for array in arrays:
        members = await client.member_states(array.id)
        assert sorted(key[0] or 0 for key in members) == list(range(6))
    await client.cancel(jobs)


async def test_changes_and_ends_of_tasks(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\nexit $SLURM_ARRAY_TASK_ID\n", array="0-3", name="tasks")
    tasks = await job.tasks()
    told: list[dict[int | str, str]] = []
    records = await client.wait(
        tasks, timeout=300, on_change=lambda now: told.append({key: str(state) for key, state in now.items()})
    )
    assert [record.exit_code.code for record in records] == [0, 1, 2, 3]
    assert list(told[-1].values()) == ["COMPLETED", "FAILED", "FAILED", "FAILED"]
    assert list(told[-1]) == [task.label for task in tasks]
    ended = {record.label async for record in client.as_completed([*tasks, job], timeout=300)}
    assert ended == {*(task.label for task in tasks), str(job.id)}
