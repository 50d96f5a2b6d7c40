"""The inner parts of a client that tests look at."""

from __future__ import annotations

from slurm_rest import AsyncSlurmClient
from slurm_rest.transport.rest import RestTransport

__all__ = ["rest_of"]


def rest_of(slurm: AsyncSlurmClient) -> RestTransport:
    """Return the transport of a client that speaks to slurmrestd and nothing else."""
    transport = slurm._transport
    assert isinstance(transport, RestTransport)
    return transport
