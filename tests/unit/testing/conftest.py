"""A fake cluster in the test's own process, for each release."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeCluster, FakeSlurmrestd, Tokens


class Fake:
    """The fake slurmrestd without a socket, and clients of it."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.tokens = Tokens(cluster, key=b"a key of this test's own, 32 B...", user="alice")
        self.app = FakeSlurmrestd(cluster, self.tokens)
        self.faults = self.app.faults
        self.clients: list[AsyncSlurmClient] = []

    @property
    def headers(self) -> dict[str, str]:
        return {"x-slurm-user-token": self.tokens.sign()}

    def client(self, owner: str = "alice", **settings: object) -> AsyncSlurmClient:
        given: dict[str, object] = {"token": self.tokens.sign(owner), "workdir": str(self.cluster.runner.home(owner))}
        given |= {"http_transport": httpx.ASGITransport(self.app), "transport": "rest", **settings}
        self.clients.append(AsyncSlurmClient("http://fake", **given))  # type: ignore[arg-type]  # whatever a test wants to set
        return self.clients[-1]


@pytest.fixture(params=["24.11", "26.05"])
async def fake(request: pytest.FixtureRequest) -> AsyncIterator[Fake]:
    found = Fake(FakeCluster(request.param, kill_wait=1))
    yield found
    for client in found.clients:
        await client.close()
    await found.cluster.close()
