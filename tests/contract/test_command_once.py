"""Lost answers over SSH and commands: one job for one submission, never two, never none unsaid."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, SubmitUncertain
from slurm_rest.job import AsyncJob
from slurm_rest.transport import recovery
from slurm_rest.transport.command_line import CommandTransport
from slurm_rest.transport.ssh import SshRunner
from tests.contract.ways import Way
from tests.support.tcp import TcpProxy, tcp_proxy_to
from tests.support.waiting import until, until_true

SCRIPT = "#!/bin/sh\ntrue\n"
STORM, CLIENTS = 100, 10


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    """Return 22.05, unless a test says otherwise."""
    return shared_cluster(getattr(request, "param", "22.05"))


def on(*releases: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cluster", releases, indirect=True)


@pytest.fixture
def name(cluster: Cluster) -> Iterator[str]:
    """Return a job name that no other test uses; its jobs are cancelled in the end."""
    name = f"once-{random.getrandbits(40):x}"
    yield name
    cluster.exec(["scancel", f"--name={name}"])


def let_end(monkeypatch: pytest.MonkeyPatch, *, start: float = 10, run: float) -> None:
    """Let what is submitted from now on end earlier by itself."""
    # ``end`` is true on a slow machine, too: SIGKILL comes 2 s behind SIGTERM.
    monkeypatch.setattr(recovery, "BOUNDS", replace(recovery.BOUNDS, start=start, run=run, end=2.5, grace=1))


@pytest.fixture
async def proxy(cluster: Cluster, tmp_path: Path) -> AsyncIterator[TcpProxy]:
    async with tcp_proxy_to(cluster.ssh_port) as found:
        known = cluster.known_hosts.read_text().replace(f":{cluster.ssh_port} ", f":{found.port} ")
        (tmp_path / "known_hosts").write_text(known)
        yield found


@pytest.fixture
def through(cluster: Cluster, proxy: TcpProxy, tmp_path: Path) -> Callable[..., AsyncSlurmClient]:
    """Return a function that makes a client of alice's through the proxy."""

    def make(**settings: object) -> AsyncSlurmClient:
        given: dict[str, object] = {"ssh_port": proxy.port, "ssh_known_hosts": tmp_path / "known_hosts"}
        return Way("ssh", cluster).client("alice", **given, **settings)

    return make


def keys_of(cluster: Cluster, name: str) -> dict[int, str]:
    """Return the comment of every job of this name, by its id."""
    told = cluster.exec(["squeue", "-h", "-t", "all", "-n", name, "-O", "JobID:|,Comment:|"], check=True).stdout
    rows = [line.split("|") for line in told.splitlines()]
    return {int(row[0]): row[1] for row in rows}


def keys_in_accounting(cluster: Cluster, *ids: int) -> int:
    """Return of how many of these jobs accounting knows the comment, which it is told at their ends."""
    jobs = ",".join(map(str, ids))
    return cluster.exec(["sacct", "-nXP", "-j", jobs, "-o", "Comment"], check=True).stdout.count("slurm-rest:")


def runner_of(slurm: AsyncSlurmClient) -> SshRunner:
    """Return what runs the commands of a client."""
    transport = slurm._transport
    assert isinstance(transport, CommandTransport)
    assert isinstance(transport.runner, SshRunner)
    return transport.runner


def at_next_session(slurm: AsyncSlurmClient, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something as soon as the next session is open, before its program is sent."""
    runner = runner_of(slurm)
    plain = runner._open

    async def opening(line: str) -> asyncssh.SSHClientProcess[bytes]:
        monkeypatch.setattr(runner, "_open", plain)
        process = await plain(line)
        act()
        return process

    monkeypatch.setattr(runner, "_open", opening)


async def sbatch_runs(cluster: Cluster) -> None:
    await until_true(lambda: cluster.exec(["pgrep", "-x", "sbatch"]).returncode == 0, "sbatch's start")


Through = Callable[..., AsyncSlurmClient]


async def test_without_a_session_nothing_was_lost(
    cluster: Cluster, proxy: TcpProxy, through: Through, name: str
) -> None:
    async with through(recovery_timeout=0) as slurm:
        await slurm.ping()
        proxy.requests.clear()
        submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True))
        await proxy.held.wait()
        proxy.cut()
        proxy.requests.set()
        job = await submitting
    assert list(keys_of(cluster, name)) == [job.id]


async def test_what_the_network_delivers_late_does_nothing(
    cluster: Cluster, proxy: TcpProxy, through: Through, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = ["pgrep", "-u", "alice", "-f", "eval"]
    async with through() as slurm, Way("ssh", cluster).client() as direct:
        await slurm.ping()
        at_next_session(slurm, proxy.requests.clear, monkeypatch)
        let_end(monkeypatch, start=1, run=1)
        submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True))
        await proxy.held.wait()
        let_end(monkeypatch, run=25)
        monkeypatch.setattr(runner_of(slurm), "_settings", direct.settings)
        proxy.strand()
        job = await submitting
        assert not job.found
        assert cluster.exec(sessions).returncode == 0, "the first shell still waits for its program"
        proxy.requests.set()
        await until_true(lambda: cluster.exec(sessions).returncode == 1, "the end of the first shell")
    assert list(keys_of(cluster, name)) == [job.id]


async def test_sbatch_goes_on_without_its_connection(
    cluster: Cluster, proxy: TcpProxy, through: Through, name: str
) -> None:
    async with through() as slurm:
        await slurm.ping()
        with cluster.frozen("slurmctld"):
            submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True))
            await sbatch_runs(cluster)
            proxy.cut()
        job = await submitting
    assert job.found
    assert list(keys_of(cluster, name)) == [job.id]


@pytest.mark.parametrize("options", [{"array": "0-3"}, {"comment": "my own words"}, {"args": ["x"]}], ids=str)
async def test_a_lost_answer_is_found_by_its_key(
    cluster: Cluster,
    proxy: TcpProxy,
    through: Through,
    name: str,
    options: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with through() as slurm:
        await slurm.ping()
        at_next_session(slurm, proxy.answers.clear, monkeypatch)
        submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True, **options))  # type: ignore[arg-type]  # one option or another
        await until_true(lambda: bool(keys_of(cluster, name)), "the job")
        proxy.cut()
        proxy.answers.set()
        job = await submitting
        record = await job.info()
    assert job.found
    assert list(keys_of(cluster, name)) == [job.id]
    assert record.comment == options.get("comment", "")


@on("24.11")
async def test_what_slurmctld_still_holds_is_waited_for(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It must have sent its request by then.
    let_end(monkeypatch, run=5)
    async with Way("cli", cluster).client() as slurm:
        await slurm.ping()
        with cluster.frozen("slurmctld"):
            submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True))
            await sbatch_runs(cluster)
            await until_true(lambda: cluster.exec(["pgrep", "-x", "sbatch"]).returncode == 1, "the end of sbatch")
        job = await submitting
    assert job.found
    assert list(keys_of(cluster, name)) == [job.id]


async def test_while_nobody_answers_it_stays_uncertain(
    cluster: Cluster, proxy: TcpProxy, through: Through, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with through(recovery_timeout=1) as slurm:
        await slurm.ping()
        at_next_session(slurm, proxy.requests.clear, monkeypatch)
        submitting = asyncio.create_task(slurm.submit(SCRIPT, name=name, hold=True))
        await proxy.held.wait()
        proxy.cut()
        with pytest.raises(SubmitUncertain) as caught:
            await submitting
    assert caught.value.key in caught.value.hint
    assert keys_of(cluster, name) == {}


# --- a caller's own key ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cluster", "way"), [("22.05", "ssh"), ("24.11", "cli")], indirect=["cluster"])
async def test_a_callers_key_finds_its_job_again(cluster: Cluster, name: str, way: str) -> None:
    clients = [Way(way, cluster).client() for _ in range(2)]
    async with clients[0] as first, clients[1] as second:
        job = await first.submit(SCRIPT, name=name, hold=True, idempotency_key=name)
        again = [await slurm.submit(SCRIPT, name=name, hold=True, idempotency_key=name) for slurm in (first, second)]
        assert [(one.id, one.found) for one in again] == [(job.id, True)] * 2
        await job.cancel()
        assert (await second.submit(SCRIPT, name=name, idempotency_key=name)).id == job.id
        assert (await second.submit(SCRIPT, name=name, hold=True, idempotency_key=f"{name}!")).id != job.id
    assert len(keys_of(cluster, name)) == 2


@on("24.11")
async def test_a_callers_key_is_the_same_over_every_transport(cluster: Cluster, name: str) -> None:
    ids = set()
    for way in ("rest", "ssh", "cli"):
        async with Way(way, cluster).client() as slurm:
            ids.add((await slurm.submit(SCRIPT, name=name, hold=True, idempotency_key=name)).id)
    assert len(ids) == 1


async def test_many_at_once_under_one_key_agree(cluster: Cluster, name: str) -> None:
    clients = [Way("cli", cluster).client() for _ in range(4)]
    jobs = await asyncio.gather(
        *(slurm.submit(SCRIPT, name=name, hold=True, idempotency_key=name) for slurm in clients)
    )
    await asyncio.gather(*(slurm.close() for slurm in clients))
    live = cluster.exec(["squeue", "-h", "-n", name, "-o", "%A"], check=True).stdout.split()
    assert [job.id for job in jobs] == [min(keys_of(cluster, name))] * 4 == [int(live[0])] * 4
    assert len(live) == 1


async def test_a_key_is_known_after_the_job_has_left(own_cluster: Callable[..., Cluster]) -> None:
    cluster = own_cluster("22.05", conf={"MinJobAge": "2", "AccountingStoreFlags": "job_comment"})
    async with Way("ssh", cluster).client() as slurm:
        gone = await slurm.submit(SCRIPT, name="a", idempotency_key="a")
        held = await slurm.submit(SCRIPT, name="b,c", hold=True, idempotency_key="b")
        await held.cancel()

        async def left() -> bool:
            return not await slurm.states([gone, held])

        await until(left, "their leaving")
        await until_true(lambda: keys_in_accounting(cluster, gone.id, held.id) == 2, "their comments in accounting")
        assert (await slurm.submit(SCRIPT, name="a", idempotency_key="a")).id == gone.id
        assert (await slurm.submit(SCRIPT, name="b,c", idempotency_key="b")).id == held.id
        with cluster.stopped("slurmdbd"), pytest.raises(SubmitUncertain, match="Nothing was sent"):
            await slurm.submit(SCRIPT, name="c", idempotency_key="c")
        assert keys_of(cluster, "c") == {}


# --- a storm --------------------------------------------------------------------------------------------------


@on("24.11")
async def test_a_storm_of_cut_connections(
    cluster: Cluster, proxy: TcpProxy, through: Through, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_end(monkeypatch, start=3, run=4)
    dice = random.Random(5)

    async def some(slurm: AsyncSlurmClient) -> list[AsyncJob]:
        made = []
        for _ in range(STORM // CLIENTS):
            await slurm.states([1])
            if dice.random() < 0.3:
                chunks = dice.randint(0, 6)
                # One that was cut right behind the answer is made again.
                connection = await runner_of(slurm)._connected()
                proxy.spoil(connection.get_extra_info("sockname")[1], chunks)
            made.append(await slurm.submit(SCRIPT, name=name, hold=True))
        return made

    clients = [through() for _ in range(CLIENTS)]
    jobs = [job for part in await asyncio.gather(*map(some, clients)) for job in part]
    await asyncio.gather(*(slurm.close() for slurm in clients))
    found = keys_of(cluster, name)
    assert len(jobs) == len(found) == len(set(found.values())) == STORM
    assert sorted(job.id for job in jobs) == sorted(found)
    assert proxy.spoiled > STORM / 5
    assert sum(job.found for job in jobs) > 0
