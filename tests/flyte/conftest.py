"""What the tests of the connector share: an object store, clusters with a Python on their nodes, the service."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeTransport

from .support.node import provide_python
from .support.platform import Platform, service
from .support.s3 import Store, serve
from .support.scripts import end_jobs
from .support.site import Site


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """Return the object store of this session, which flyte in this process uses, too."""
    before = dict(os.environ)
    with serve() as store:
        os.environ.update(store.variables())
        yield store
    os.environ.clear()
    os.environ.update(before)


_SHARED = ("flyte_cluster", "cluster_22_05", "cluster_24_11", "cluster_26_05")


@pytest.fixture(autouse=True)
def _room(request: pytest.FixtureRequest) -> None:
    """End what earlier tests left on the nodes of the clusters that a test shares with them.

    What a failed test does not end would keep the next ones waiting for room, and let them fail for no fault.
    """
    for name in _SHARED:
        if name in request.fixturenames:
            end_jobs(request.getfixturevalue(name))


@pytest.fixture(scope="session", params=("24.11", "26.05"))
def flyte_cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    """Return the shared cluster of each release, with a Python for tasks."""
    cluster = shared_cluster(request.param)
    provide_python(cluster)
    return cluster


# A service lasts as long as the session, which may take hours where faults are run for long.
A_DAY = 86_400


def over_rest(cluster: Cluster) -> dict[str, str]:
    """Return the deployment's variables for REST alone, with a shared mount for files."""
    return {
        "FLYTE_SLURM_REST_URL": cluster.url,
        "FLYTE_SLURM_REST_TOKEN": cluster.token("alice", lifespan=A_DAY),
        "FLYTE_SLURM_FILES": f"/home={cluster.home}",
    }


def over_ssh(cluster: Cluster) -> dict[str, str]:
    """Return the deployment's variables for SSH alone: those of flyteplugins-slurm."""
    return {
        "FLYTE_SLURM_HOST": "127.0.0.1",
        "FLYTE_SLURM_PORT": str(cluster.ssh_port),
        "FLYTE_SLURM_USERNAME": "alice",
        "FLYTE_SLURM_SSH_PRIVATE_KEY": cluster.ssh_key.read_text(),
        "FLYTE_SLURM_KNOWN_HOSTS": str(cluster.known_hosts),
    }


# A secret that the connector holds for tasks.
HELD = {"FLYTE_SLURM_SECRETS": "held=connector-env:HELD_BY_CONNECTOR", "HELD_BY_CONNECTOR": "it's held"}
Services = Callable[[str, Mapping[str, str]], str]


@pytest.fixture(scope="session")
def services(store: Store) -> Iterator[Services]:
    """Return a function that gives the address of a connector service, by a name, with a deployment's variables.

    It starts when it is first asked for, which takes seconds, and serves the whole session.
    """
    running: dict[str, str] = {}
    with contextlib.ExitStack() as ends:

        def get(name: str, variables: Mapping[str, str]) -> str:
            if name not in running:
                running[name] = ends.enter_context(service({**store.variables(), **variables}))
            return running[name]

        yield get


@pytest.fixture
async def platform(flyte_cluster: Cluster, services: Services, store: Store) -> AsyncIterator[Platform]:
    """Return the platform's side of a service whose deployment has slurmrestd and a shared mount."""
    address = services(f"rest {flyte_cluster.name}", {**over_rest(flyte_cluster), **HELD})
    found = Platform(address, environment=store.variables())
    yield found
    await found.close()


@pytest.fixture
async def platform_over_ssh(flyte_cluster: Cluster, store: Store) -> AsyncIterator[Platform]:
    """Return the platform's side of a service whose deployment has a login node and nothing else."""
    with service({**store.variables(), **over_ssh(flyte_cluster), **HELD}) as address:
        found = Platform(address, environment=store.variables())
        yield found
        await found.close()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://slurm")
    monkeypatch.setenv("FLYTE_SLURM_FILES", "/home=/mounted")
    return Site(tmp_path)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncSlurmClient]:
    """Return a client of a cluster in memory, whose homes are in a directory of the test's own."""
    made = AsyncSlurmClient(
        transport=FakeTransport(), workdir="/home/{user}", path_map={"/home": str(tmp_path)}, environ={}
    )
    yield made
    await made.close()
