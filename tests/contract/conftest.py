"""One client for each transport and release: the same behaviour is asked of all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from tests.contract.ways import WAYS, Way


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(way))
def way(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Way:
    """Return each transport to each release that it has to work with."""
    name, release = request.param
    return Way(name, shared_cluster(release))


@pytest.fixture
async def client(way: Way) -> AsyncIterator[AsyncSlurmClient]:
    """Return a client of alice's; what is left of her jobs is cancelled afterwards."""
    async with way.client() as slurm:
        yield slurm
        await slurm.cancel([job.id for job in await slurm.jobs(user="alice") if not job.state.is_terminal])
