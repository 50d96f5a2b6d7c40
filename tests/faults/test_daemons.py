"""Daemons behind Slurm's own that die: the database's MariaDB, munge, a node's slurmd; and a full disk on a node.

``scripts/faults daemons`` runs all of it on both releases.
"""

from __future__ import annotations

import asyncio
import functools
import os
import random
import re
from collections.abc import Callable, Iterator

import pytest

from cluster.native import Cluster
from cluster.space import wait_until
from slurm_rest import AccountingDown, AsyncSlurmClient, BaseState, FileMissing, JobState, SubmitUncertain, Unreachable
from slurm_rest.job import AsyncJob
from tests.support.transports import both_ways
from tests.support.waiting import until, until_true

SCRIPT = "#!/bin/sh\nexit 3\n"
SharedCluster = Callable[[str], Cluster]
OwnCluster = Callable[..., Cluster]
RELEASES = ["24.11", "26.05"]
LONG = bool(os.environ.get("SLURM_REST_FAULT_SECONDS"))
both = pytest.mark.parametrize("release", RELEASES)


def short_on(release: str) -> pytest.MarkDecorator:
    """Run a slow test on one release, and on both for scripts/faults."""
    return pytest.mark.parametrize("release", RELEASES if LONG else [release])


def client_of(cluster: Cluster, **settings: object) -> AsyncSlurmClient:
    return AsyncSlurmClient(**both_ways(cluster, **{"transport": "rest", "workdir": "/tmp", **settings}))


@pytest.fixture
def name() -> str:
    return f"fault-{random.getrandbits(40):x}"


def jobs_named(cluster: Cluster, name: str) -> list[str]:
    return cluster.exec(["squeue", "-h", "-t", "all", "-n", name, "-o", "%A"], check=True).stdout.split()


async def _pending(job: AsyncJob) -> bool:
    state = await job.refresh()
    return state.is_pending and not state.flags


# --- the database ---------------------------------------------------------------------------------------------


@short_on("24.11")
async def test_a_killed_mariadb_delays_ends_and_loses_none(own_cluster: OwnCluster, release: str, name: str) -> None:
    cluster = own_cluster(release, conf={"MinJobAge": "8"})
    database = cluster.service("database")
    async with client_of(cluster) as slurm:
        await slurm.ping_accounting()
        database.kill()
        try:
            with pytest.raises(AccountingDown):
                await slurm.ping_accounting()
            with pytest.raises(AccountingDown):
                await slurm.history()
            with pytest.raises(SubmitUncertain, match="Whether the job was submitted before"):
                await slurm.submit(SCRIPT, name=name, idempotency_key=name)
            assert jobs_named(cluster, name) == []
            # The controller goes on, and tells ends itself as long as it has the jobs.
            seen, missed = [await slurm.submit(SCRIPT, name=name) for _ in range(2)]
            assert (await seen.wait(timeout=300)).exit_code.code == 3
            await until_true(lambda: not jobs_named(cluster, name), "their leaving")
            waiting = asyncio.create_task(missed.wait(timeout=300))
            with pytest.raises(AccountingDown):
                await missed.info()
            assert not waiting.done()
        finally:
            database.start()
        record = await waiting
        assert (record.state.base, record.exit_code.code, record.source) == (BaseState.FAILED, 3, "accounting")

        async def both_told() -> bool:
            return {job.id for job in await slurm.history(name=name)} == {seen.id, missed.id}

        await until(both_told, "accounting's word of both")


# --- munge ----------------------------------------------------------------------------------------------------


@short_on("26.05")
async def test_without_munge_commands_say_so_and_tokens_go_on(
    shared_cluster: SharedCluster, release: str, name: str
) -> None:
    cluster = shared_cluster(release)
    async with client_of(cluster, transport="ssh") as ssh, client_of(cluster) as rest:
        held = await ssh.submit(SCRIPT, hold=True, name=name)
        waiting = asyncio.create_task(held.wait(timeout=300))
        with cluster.stopped("munge"):
            with pytest.raises(Unreachable, match="cannot prove to Slurm who runs it: Munge encode failed") as caught:
                await ssh.submit(SCRIPT, hold=True, name=name)
            assert caught.value.hint.startswith("No job was submitted.")
            with pytest.raises(Unreachable):
                await ssh.states([held])
            await rest.submit(SCRIPT, hold=True, name=name)
            assert not waiting.done()
        cluster.exec(["scancel", "-n", name], check=True)
        assert (await waiting).state.base is BaseState.CANCELLED
        # And none of the submission that failed.
        assert len(await rest.jobs(name=name)) == 2


# --- nodes ----------------------------------------------------------------------------------------------------


@short_on("24.11")
async def test_a_job_whose_node_died_is_requeued_and_followed(own_cluster: OwnCluster, release: str) -> None:
    """Nothing of it is an end: its node is the only one, is declared dead, and comes back."""
    cluster = own_cluster(release, nodes=1)
    node = cluster.service("n1")
    async with client_of(cluster) as slurm:
        told: list[JobState] = []
        first = await slurm.submit('#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || sleep 600\nexit 3\n')

        async def runs() -> bool:
            return (await first.refresh()).is_running

        await until(runs, "the start")
        before = _registered(cluster)
        waiting = asyncio.create_task(
            slurm.wait([first], timeout=300, on_change=lambda states: told.append(states[first.id]))
        )
        node.kill()
        cluster.exec(["scontrol", "update", "nodename=n1", "state=down", "reason=trial"], check=True)
        # Not before: slurmctld would start it on the dead node, and requeue it for two minutes.
        later = await slurm.submit(SCRIPT)
        await until(lambda: _pending(first), "the requeue")
        assert not waiting.done()
        assert (await later.refresh()).is_pending
        # It tells whole seconds: another start within the same one would not be seen.
        await until_true(lambda: cluster.exec(["date", "+%FT%T"]).stdout.strip() > before, "the next second")
        starting = asyncio.create_task(asyncio.to_thread(node.start))
        # The same as above: a node counts as alive once an administrator says so.
        await until_true(lambda: _registered(cluster) != before, "the node's registration")
        await asyncio.to_thread(cluster.exec, ["scontrol", "update", "nodename=n1", "state=resume"])
        await starting
        # That the first start is to end slurmctld tells the node only now, and it would end the second one with it.
        await until_true(lambda: _told_all(cluster), "slurmctld's last message to the node")
        cluster.exec(["scontrol", "update", f"jobid={first.id}", "starttime=now"], check=True)
        (record,) = await waiting
        assert (record.exit_code.code, record.restart_count) == (3, 1)
        assert [state.base for state in told if state.is_terminal] == [BaseState.FAILED]
        assert told[-1].is_terminal
        assert BaseState.NODE_FAIL not in {state.base for state in told}
        assert (await later.wait(timeout=300)).exit_code.code == 3


def _registered(cluster: Cluster) -> str:
    """Return when the node's slurmd began, as it told slurmctld."""
    found = re.search(r"SlurmdStartTime=(\S+)", cluster.exec(["scontrol", "show", "node", "n1"], check=True).stdout)
    assert found is not None
    return found[1]


def _told_all(cluster: Cluster) -> bool:
    """Return whether slurmctld has nothing more to tell its nodes."""
    found = re.findall(r"Agent (?:queue size|count|thread count): +(\d+)", cluster.exec(["sdiag"], check=True).stdout)
    assert len(found) == 3
    return set(found) == {"0"}


# --- a full disk ----------------------------------------------------------------------------------------------


def unmounted(cluster: Cluster, path: str) -> bool:
    return cluster.exec(["umount", path]).returncode == 0


@pytest.fixture
def small(shared_cluster: SharedCluster, release: str, name: str) -> Iterator[Callable[[str], str]]:
    """Return a function that mounts a small file system on the nodes, with these options, and returns its path."""
    cluster = shared_cluster(release)
    mounted: list[str] = []

    def mount(options: str) -> str:
        path = f"/shared/{name}-{len(mounted)}"
        words = f"mkdir -p {path} && mount -t tmpfs -o mode=1777,{options} tmpfs {path}"
        cluster.exec(["sh", "-c", words], check=True)
        mounted.append(path)
        return path

    yield mount
    for path in mounted:
        # What ran in it may take a moment longer than its job.
        assert wait_until(functools.partial(unmounted, cluster, path), 120, 0.1)


@both
async def test_a_full_disk_fails_the_job_and_says_so(
    shared_cluster: SharedCluster, release: str, small: Callable[[str], str]
) -> None:
    cluster = shared_cluster(release)
    full, none_left = small("size=16k"), small("size=16k,nr_inodes=1")
    cluster.exec(["sh", "-c", f"dd if=/dev/zero of={full}/filler bs=4k 2>/dev/null; [ -s {full}/filler ]"], check=True)
    async with client_of(cluster) as slurm:
        unwritten = await slurm.submit("#!/bin/sh\necho hello || exit 9\n", chdir=full)
        unopened = await slurm.submit("#!/bin/sh\necho hello\n", chdir=none_left)
        record = await unwritten.wait(timeout=300)
        assert (record.state.base, record.exit_code.code) == (BaseState.FAILED, 9)
        assert await unwritten.stdout() == ""
        record = await unopened.wait(timeout=300)
        assert (record.state.base, record.exit_code.signal) == (BaseState.FAILED, 53)
        with pytest.raises(FileMissing):
            await unopened.stdout()


@short_on("26.05")
async def test_a_node_without_room_for_scripts_ends_no_wait(own_cluster: OwnCluster, release: str) -> None:
    cluster = own_cluster(release, nodes=1)
    spool = "/var/lib/cluster/slurmd-n1"
    async with client_of(cluster) as slurm:
        cluster.exec(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=1", "tmpfs", spool], check=True)
        job = await slurm.submit(SCRIPT)
        waiting = asyncio.create_task(job.wait(timeout=300))
        drained = ["sinfo", "-h", "-n", "n1", "-o", "%T"]
        await until_true(lambda: "drain" in cluster.exec(drained).stdout, "the node's draining")
        await until(lambda: _pending(job), "the requeue")
        assert not waiting.done()
        await until_true(lambda: unmounted(cluster, spool), "the full disk's end")
        cluster.exec(["scontrol", "update", "nodename=n1", "state=resume"], check=True)
        cluster.exec(["scontrol", "release", str(job.id)])
        cluster.exec(["scontrol", "update", f"jobid={job.id}", "starttime=now"])
        record = await waiting
        assert (record.exit_code.code, record.restart_count) == (3, 1)
