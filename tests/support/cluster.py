"""Fixtures that give a test a real Slurm: one shared by the session for each release, or one of its own.

Loaded by ``tests/conftest.py`` as a plugin. Tests that use any of them carry the marker ``cluster`` by themselves.
A machine that cannot run a cluster fails these tests with the reason; deselect them with ``-m "not cluster"``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping

import pytest

from cluster.errors import ClusterError
from cluster.native import Cluster, down, end_orphans, up
from cluster.root import DEFAULT_RELEASE
from cluster.space import Process

REST_RELEASES = ("24.11", "26.05")
__all__ = ["REST_RELEASES", "OwnCluster", "SharedCluster", "saved"]

_FIXTURES = {"shared_cluster", "own_cluster", "any_cluster", "cluster_22_05", "cluster_24_11", "cluster_26_05"}

SharedCluster = Callable[[str], Cluster]
OwnCluster = Callable[..., Cluster]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a cluster, so that ``-m "not cluster"`` leaves out all of it."""
    for item in items:
        if _FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.cluster)


def saved(cluster: Cluster, *texts: str) -> bool:
    """Tell whether slurmctld has saved jobs with these words; it saves every 5 s when there is something new.

    Looked for in the file itself: one that was written after the jobs came may have been begun before.
    """
    try:
        content = (cluster.folder / "data/slurmctld/job_state").read_bytes()
    except FileNotFoundError:  # it is being replaced
        return False
    return all(text.encode() in content for text in texts)


def _start(name: str, release: str, nodes: int, conf: Mapping[str, str]) -> Cluster:
    try:
        settings = [f"{key}={value}" for key, value in conf.items()]
        return up(name, release, nodes, settings, owner=Process.of(os.getpid()))[0]
    except ClusterError as error:
        pytest.fail(f"no cluster: {error}", pytrace=False)


@pytest.fixture(scope="session")
def _no_orphans() -> None:
    """End what an earlier session left that was killed before it could tidy up."""
    if os.geteuid() == 0:
        end_orphans()


@pytest.fixture(scope="session")
def shared_cluster(_no_orphans: None) -> Iterator[SharedCluster]:
    """Return the cluster of a release that all tests of this session share; it starts when it is first asked for."""
    running: dict[str, Cluster] = {}
    with contextlib.ExitStack() as ends:  # one that does not end leaves the others no less ended

        def get(release: str) -> Cluster:
            if release not in running:
                name = f"shared-{os.getpid()}-{release.replace('.', '-')}"
                running[release] = _start(name, release, 2, {})
                ends.callback(down, name)
            return running[release]

        yield get


@pytest.fixture(scope="session")
def cluster_22_05(shared_cluster: SharedCluster) -> Cluster:
    """Return the shared Slurm 22.05: for commands and SSH, its REST interface is too old."""
    return shared_cluster("22.05")


@pytest.fixture(scope="session")
def cluster_24_11(shared_cluster: SharedCluster) -> Cluster:
    """Return the shared Slurm 24.11."""
    return shared_cluster("24.11")


@pytest.fixture(scope="session")
def cluster_26_05(shared_cluster: SharedCluster) -> Cluster:
    """Return the shared Slurm 26.05."""
    return shared_cluster("26.05")


@pytest.fixture(scope="session", params=REST_RELEASES)
def any_cluster(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> Cluster:
    """Return the shared cluster of each release with a supported REST interface, one after the other."""
    return shared_cluster(request.param)


@pytest.fixture
def own_cluster(_no_orphans: None) -> Iterator[OwnCluster]:
    """Return a function that starts a cluster for this test alone: ``own_cluster("26.05", nodes=1, conf={...})``."""
    numbers = itertools.count()
    with contextlib.ExitStack() as ends:

        def start(release: str = DEFAULT_RELEASE, *, nodes: int = 1, conf: Mapping[str, str] | None = None) -> Cluster:
            name = f"own-{os.getpid()}-{next(numbers)}-{release.replace('.', '-')}"
            ends.callback(down, name)
            return _start(name, release, nodes, conf or {})

        yield start
