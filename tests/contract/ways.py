"""The ways to a cluster: a transport and a release."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.transport.cli import LocalRunner
from slurm_rest.transport.command_line import CommandTransport

WAYS = [
    *(("rest", release) for release in ("24.11", "26.05")),
    *((name, release) for name in ("ssh", "cli") for release in ("22.05", "24.11", "26.05")),
]


@dataclass(frozen=True)
class Way:
    """A transport to a cluster of some release."""

    name: str
    cluster: Cluster

    def client(self, user: str = "alice", **settings: object) -> AsyncSlurmClient:
        """Return a client of one user that can go no other way."""
        given: dict[str, object] = {"transport": self.name, "workdir": f"/home/{user}", **settings}
        if self.name == "rest":
            given |= {"url": self.cluster.url, "token": self.cluster.token(user)}
        elif self.name == "ssh":
            own = {"ssh_host": "127.0.0.1", "ssh_port": self.cluster.ssh_port, "ssh_user": user}
            keys = {"ssh_key_file": self.cluster.ssh_key, "ssh_known_hosts": self.cluster.known_hosts}
            given = {**own, **keys, **given}
        else:
            given["user"] = user
        client = AsyncSlurmClient(**given)  # type: ignore[arg-type]  # whatever a test wants to set
        if self.name == "cli":
            # Slurm is not installed on this machine but inside the cluster.
            transport = client._transport
            assert isinstance(transport, CommandTransport)
            transport.runner = LocalRunner(self.cluster.command(["/bin/sh", "-c"], user=user), "the cluster")
        return client
