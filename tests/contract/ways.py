"""The ways to a cluster: a transport and a release."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.transport.cli import LocalRunner
from slurm_rest.transport.command_line import CommandTransport
from slurm_rest.transport.fallback import FallbackTransport

# "auto" falls back, and here it need not; "fallback" is the same with a slurmrestd that is not there.
WAYS = [
    *(("rest", release) for release in ("24.11", "26.05")),
    *((name, release) for name in ("ssh", "cli") for release in ("22.05", "24.11", "26.05")),
    ("auto", "24.11"),
    ("fallback", "26.05"),
]
# Nothing listens on the discard port.
_NOBODY = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Way:
    """A transport to a cluster of some release."""

    name: str
    cluster: Cluster

    def client(self, user: str = "alice", /, **settings: object) -> AsyncSlurmClient:
        """Return a client of one user that can go no other way."""
        own: dict[str, object] = {"transport": "auto" if self.name == "fallback" else self.name}
        if self.name in ("rest", "auto", "fallback"):
            url = _NOBODY if self.name == "fallback" else self.cluster.url
            own |= {"url": url, "token": self.cluster.token(user)}
        if self.name in ("ssh", "auto", "fallback"):
            own |= {"ssh_host": "127.0.0.1", "ssh_port": self.cluster.ssh_port, "ssh_user": user}
            own |= {"ssh_key_file": self.cluster.ssh_key, "ssh_known_hosts": self.cluster.known_hosts}
        if self.name == "cli":
            own["user"] = user
        given = {**own, "workdir": f"/home/{user}", **settings}
        client = AsyncSlurmClient(**given)  # type: ignore[arg-type]  # whatever a test wants to set
        if isinstance(client._transport, FallbackTransport):
            for way in client._transport.board.ways:
                # What is counted here are the requests that tests make, and no probe.
                way.breaker.first = 3600.0
        if self.name == "cli":
            # Slurm is not installed on this machine but inside the cluster.
            transport = client._transport
            assert isinstance(transport, CommandTransport)
            transport.runner = LocalRunner(self.cluster.command(["/bin/sh", "-c"], user=user), "the cluster")
        return client
