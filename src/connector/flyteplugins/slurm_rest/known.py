"""What the connectors of both task types know together. Losing it costs requests, nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from .clients import Cluster, Clusters
from .links import Copies
from .memory import Recent
from .metadata import SlurmJobMetadata
from .settling import Settling
from .states import Phase
from .tidying import Tidying

__all__ = ["Known", "job_key"]


@dataclass
class Known:
    """What is shared.

    ``phases`` are those that were told last, with how often the job had started by then; ``cancelled`` the jobs that
    this process cancelled; ``giving_up`` cancels those that have waited too long.
    """

    clusters: Clusters = field(default_factory=Clusters)
    settling: Settling = field(default_factory=Settling)
    copies: Copies = field(default_factory=Copies)
    tidying: Tidying = field(default_factory=Tidying)
    phases: Recent[tuple[Phase, int]] = field(default_factory=Recent)
    cancelled: Recent[bool] = field(default_factory=Recent)
    giving_up: dict[str, asyncio.Task[None]] = field(default_factory=dict)


def job_key(meta: SlurmJobMetadata, cluster: Cluster) -> str:
    """Return a job's full identity: ids come again, and two clusters have the same ones."""
    return f"{cluster.access.where} {meta.job_id} {meta.submission_key}"
