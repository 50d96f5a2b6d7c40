"""One client for each transport and release: the same behaviour is asked of all of them, the fakes included."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeCluster, FakeSlurm
from tests.contract.ways import FAKE_WAYS, WAYS, FakeWay, Way

_PARAMS = [*(pytest.param(way, marks=pytest.mark.cluster) for way in WAYS), *FAKE_WAYS]


@pytest.fixture(params=_PARAMS, ids=lambda way: "-".join(way))
async def way(request: pytest.FixtureRequest) -> AsyncIterator[Way | FakeWay]:
    """Return each transport to each release that it has to work with."""
    name, release = request.param
    if name == "fake":
        cluster = FakeCluster(release)
        yield FakeWay(name, cluster)
        await cluster.close()
    elif name == "fakeserver":
        with FakeSlurm(cluster=FakeCluster(release)) as server:
            yield FakeWay(name, server.cluster, server)
    else:
        # Asked for here, since the fakes need none.
        yield Way(name, request.getfixturevalue("shared_cluster")(release))


@pytest.fixture
async def client(way: Way | FakeWay) -> AsyncIterator[AsyncSlurmClient]:
    """Return a client of alice's; what is left of her jobs is cancelled afterwards."""
    async with way.client() as slurm:
        yield slurm
        await slurm.cancel([job.id for job in await slurm.jobs(user="alice") if not job.state.is_terminal])
