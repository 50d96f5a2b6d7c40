"""Clients for the clusters of these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, SlurmClient

MakeClient = Callable[..., AsyncSlurmClient]


@pytest.fixture(scope="session", params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    """Return a shared cluster of each release, one after the other."""
    return shared_cluster(request.param)


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[AsyncSlurmClient]:
    """Return a client of alice's; whatever of her jobs is left is cancelled afterwards."""
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice"), workdir="/home/{user}") as slurm:
        yield slurm
        live = [job.id for job in await slurm.jobs(user="alice") if not job.state.is_terminal]
        await slurm.cancel(live)


@pytest.fixture
def slurm(cluster: Cluster) -> Iterator[SlurmClient]:
    """Return alice's client for blocking code."""
    with SlurmClient(cluster.url, token=cluster.token("alice"), workdir="/home/{user}") as client:
        yield client


@pytest.fixture
async def make_client(cluster: Cluster) -> AsyncIterator[MakeClient]:
    """Return a function that makes clients of any user and settings, closed at the end."""
    made: list[AsyncSlurmClient] = []

    def make(owner: str = "alice", **settings: object) -> AsyncSlurmClient:
        given = {"url": cluster.url, "token": cluster.token(owner), "workdir": "/tmp", **settings}
        made.append(AsyncSlurmClient(**given))  # type: ignore[arg-type]  # whatever a test wants to set
        return made[-1]

    yield make
    for slurm in made:
        await slurm.close()
