"""Settings that lead to a real cluster, and the inner parts of a client that tests look at."""

from __future__ import annotations

from typing import Any

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.transport.rest import RestTransport

__all__ = ["both_ways", "rest_of", "ssh_way"]


def ssh_way(cluster: Cluster, user: str = "alice") -> dict[str, Any]:
    """Return the settings that lead a user to a cluster over SSH."""
    keys = {"ssh_key_file": cluster.ssh_key, "ssh_known_hosts": cluster.known_hosts}
    return {"ssh_host": "127.0.0.1", "ssh_port": cluster.ssh_port, "ssh_user": user, **keys}


def both_ways(cluster: Cluster, user: str = "alice", /, **settings: object) -> dict[str, Any]:
    """Return the settings of a client that knows REST and SSH, and ``settings``, which win."""
    return {"url": cluster.url, "token": cluster.token(user), **ssh_way(cluster, user), **settings}


def rest_of(slurm: AsyncSlurmClient) -> RestTransport:
    """Return the transport of a client that speaks to slurmrestd and nothing else."""
    transport = slurm._transport
    assert isinstance(transport, RestTransport)
    return transport
