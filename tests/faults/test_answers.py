"""Errors that come twice, against real daemons. Answers of 80 MB: tests/unit/test_sockets.py, test_exactly_once.py."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, JobNotFound, SubmitRejected
from tests.support.proxy import proxy_to

SCRIPT = "#!/bin/sh\nexit 3\n"


@pytest.fixture(params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    return shared_cluster(request.param)


async def test_errors_that_come_twice_are_read_once_and_spoil_no_other_answer(cluster: Cluster) -> None:
    """The connection stays open with the second copy in it: who used it again would read that as his answer."""

    async def refused(slurm: AsyncSlurmClient) -> None:
        with pytest.raises(SubmitRejected, match=r"(?i)invalid partition"):
            await slurm.submit(SCRIPT, partition="nope")

    async def unknown(slurm: AsyncSlurmClient) -> None:
        with pytest.raises(JobNotFound):
            await slurm.job(60_000_000).info()

    async with (
        proxy_to(cluster.url, twice=True) as proxy,
        AsyncSlurmClient(proxy.url, token=cluster.token("alice"), workdir="/tmp") as slurm,
    ):
        jobs = [await slurm.submit(SCRIPT, name="twice") for _ in range(2)]
        waiting = asyncio.gather(*(job.wait(timeout=300) for job in jobs))
        for _ in range(5):
            await asyncio.gather(refused(slurm), unknown(slurm), refused(slurm), unknown(slurm))
            nodes, states = await asyncio.gather(slurm.nodes(), slurm.states(jobs))
            assert sorted(node.name for node in nodes) == sorted(cluster.nodes)
            assert set(states) == {job.id for job in jobs}
        assert [record.exit_code.code for record in await waiting] == [3, 3]
    assert proxy.doubled >= 20
