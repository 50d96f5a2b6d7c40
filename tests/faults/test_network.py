"""A network that is cut, so that packets vanish, and comes back: nothing is lost, made twice or taken for an end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, BaseState, SubmitUncertain, TransportError
from slurm_rest.transport import ssh
from slurm_rest.transport.rest import RestTransport
from slurm_rest.watching import JobChange
from tests.support.network import CutNetwork, network_to
from tests.support.transports import ssh_way
from tests.support.waiting import until_true

SCRIPT = "#!/bin/sh\nexit 3\n"


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    return shared_cluster(getattr(request, "param", "26.05"))


@pytest.fixture
def name(cluster: Cluster) -> Iterator[str]:
    """Return a job name that no other test uses; its jobs are cancelled in the end."""
    name = f"cut-{random.getrandbits(40):x}"
    yield name
    cluster.exec(["scancel", f"--name={name}"])


@pytest.fixture
async def network(cluster: Cluster) -> AsyncIterator[CutNetwork]:
    async with network_to(cluster.state.ports.slurmrestd, cluster.ssh_port) as found:
        yield found


@pytest.fixture
def make(
    cluster: Cluster, network: CutNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AsyncSlurmClient]:
    """Return a function that makes a client for the inside, over one transport."""
    monkeypatch.setattr(ssh, "_KEEPALIVE_SECONDS", 1)
    port = network.port(cluster.ssh_port)
    known = cluster.known_hosts.read_text().replace(f":{cluster.ssh_port} ", f":{port} ")
    (tmp_path / "known_hosts").write_text(known)

    def build(way: str = "rest", **settings: object) -> AsyncSlurmClient:
        if way == "rest":
            url = f"http://127.0.0.1:{network.port(cluster.state.ports.slurmrestd)}"
            given: dict[str, object] = {"url": url, "token": cluster.token("alice")}
        else:
            given = {**ssh_way(cluster), "ssh_port": port, "ssh_known_hosts": tmp_path / "known_hosts"}
        given |= {"transport": way, "workdir": "/tmp", **settings}
        return AsyncSlurmClient(**given)  # type: ignore[arg-type]  # whatever a test wants to set

    return build


Make = Callable[..., AsyncSlurmClient]
Hurry = Callable[[AsyncSlurmClient, float], None]


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> Hurry:
    """Return a function that has a client wait so many seconds for an answer or a connection from now on.

    Only while the network is cut, where nothing comes anyhow: a busy machine may take longer than any short limit.
    """

    def limit(slurm: AsyncSlurmClient, seconds: float) -> None:
        for setting in ("_CONNECT_SECONDS", "_LOGIN_SECONDS"):
            monkeypatch.setattr(ssh, setting, seconds)
        if isinstance(slurm._transport, RestTransport):
            pool = slurm._transport.connection._sender._client
            assert pool is not None
            pool.timeout = seconds

    return limit


def told(cluster: Cluster, name: str, form: str) -> list[str]:
    """Return what the controller says of the jobs of a name, asked without that network."""
    return cluster.exec(["squeue", "-h", "-t", "all", "-n", name, "-o", form], check=True).stdout.split()


@pytest.mark.parametrize(
    ("cluster", "way"), [("24.11", "rest"), ("26.05", "rest"), ("24.11", "ssh")], indirect=["cluster"]
)
async def test_a_waiter_outlives_a_cut(
    cluster: Cluster, network: CutNetwork, make: Make, hurry: Hurry, way: str, name: str
) -> None:
    changes: list[JobChange] = []
    slurm = make(way)
    job = await network.run(slurm.submit(SCRIPT, hold=True, name=name))

    async def watch() -> None:
        async for change in job.watch():
            changes.append(change)  # noqa: PERF401  # each when it comes

    waiting, watching = network.run(job.wait(timeout=300)), network.run(watch())
    await until_true(lambda: bool(changes), "the first state")
    hurry(slurm, 1)
    network.cut()
    with pytest.raises(TransportError):
        await network.run(slurm.nodes())
    # It ends while nobody inside can hear of it.
    cluster.exec(["scontrol", "release", str(job.id)], check=True)
    await until_true(lambda: told(cluster, name, "%T") == ["FAILED"], "the job's end")
    await until_true(lambda: changes[-1].stale_since is not None, "the note that there is no news")
    assert changes[-1].state.is_pending
    assert not waiting.done()
    hurry(slurm, 60)
    network.restore()
    record = await waiting
    await watching
    await network.run(slurm.close())
    assert (record.state.base, record.exit_code.code) == (BaseState.FAILED, 3)
    assert [change.state.base for change in changes if change.state.is_terminal] == [BaseState.FAILED]


@pytest.mark.parametrize("cluster", ["24.11", "26.05"], indirect=True)
async def test_a_submission_whose_answer_vanishes_is_found(
    cluster: Cluster, network: CutNetwork, make: Make, hurry: Hurry, name: str
) -> None:
    def cut(data: bytes) -> None:
        if b"/job/submit " in data:
            network.cut()

    async def submit() -> tuple[int, bool]:
        async with make() as slurm:
            await slurm.api_version()
            hurry(slurm, 1)
            before = slurm.requests
            submitting = asyncio.create_task(slurm.submit(SCRIPT, hold=True, name=name))
            await until_true(lambda: slurm.requests > before + 1, "a look into the void")
            hurry(slurm, 60)
            network.restore()
            job = await submitting
            return job.id, job.found

    network.on_request = cut
    job_id, found = await network.run(submit())
    assert found
    assert told(cluster, name, "%A") == [str(job_id)]


async def test_a_submission_that_the_network_holds_is_uncertain_and_comes_once(
    cluster: Cluster, network: CutNetwork, make: Make, hurry: Hurry, name: str
) -> None:
    posts: list[bytes] = []
    network.on_request = lambda data: posts.append(data) if b"/job/submit " in data else None

    async def submit() -> str:
        async with make(recovery_timeout=1.0) as slurm:
            await slurm.api_version()
            hurry(slurm, 1)
            network.cut()
            with pytest.raises(SubmitUncertain) as caught:
                await slurm.submit(SCRIPT, hold=True, name=name)
            return caught.value.key

    key = await network.run(submit())
    assert (posts, told(cluster, name, "%A")) == ([], [])
    network.restore()
    # The kernel has kept what the client sent, and sends it again.
    await until_true(lambda: len(told(cluster, name, "%A")) == 1, "the job")
    assert told(cluster, name, "%k") == [key]
    assert len(posts) == 1
