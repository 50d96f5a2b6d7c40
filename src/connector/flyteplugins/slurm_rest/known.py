"""What the connectors of both task types know together. Losing it costs requests, nothing else."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping
from dataclasses import dataclass, field

from slurm_rest import AsyncJob

from .cancelling import Cancellations
from .clients import Cluster, Clusters
from .deleting import Deletions
from .findings import Findings
from .launches import Drain
from .links import Copies
from .memory import Recent
from .metadata import SlurmJobMetadata
from .receipts import Receipts
from .running import LOCAL_RUN
from .secret_files import SecretFiles
from .settings import ClusterAccess
from .settling import Settling
from .states import Phase
from .tidying import Tidying

__all__ = ["Known", "job_handle", "job_key", "own_key"]


@dataclass
class Known:
    """What is shared.

    ``reached`` is how each job was reached by the calls that bring secrets, for those that bring none. ``phases`` are
    those that were told last, with how often the job had started by then; ``giving_up`` cancels the jobs that have
    waited too long, which are ``given_up`` then, and those that Slurm holds after a failed launch: ``stuck`` is what
    was said of them. ``drains`` are the nodes' words on launches.
    """

    clusters: Clusters = field(default_factory=Clusters)
    settling: Settling = field(default_factory=Settling)
    copies: Copies = field(default_factory=Copies)
    findings: Findings[str] = field(default_factory=Findings)
    drains: Findings[Mapping[str, Drain]] = field(default_factory=Findings)
    tidying: Tidying = field(default_factory=Tidying)
    reached: Recent[ClusterAccess] = field(default_factory=Recent)
    phases: Recent[tuple[Phase, int]] = field(default_factory=Recent)
    cancelled: Cancellations = field(default_factory=Cancellations)
    deletions: Deletions = field(default_factory=Deletions)
    receipts: Receipts = field(default_factory=Receipts)
    secret_files: SecretFiles = field(default_factory=SecretFiles)
    giving_up: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    given_up: Recent[bool] = field(default_factory=Recent)
    stuck: Recent[str] = field(default_factory=Recent)
    _is_serving: bool = field(default=False, init=False)

    def serve(self) -> None:
        """Note that the platform asks, from now on: Python need not look through what is there by now for garbage.

        That took a third of the CPU time of thousands of answers at once. In a user's own process it is left alone.
        """
        if not self._is_serving and LOCAL_RUN.get() is None:
            self._is_serving = True
            gc.collect()
            gc.freeze()


def job_key(meta: SlurmJobMetadata, cluster: Cluster) -> str:
    """Return a job's full identity: ids come again, and two clusters have the same ones."""
    return f"{cluster.access.where} {meta.job_id} {meta.submission_key}"


def own_key(meta: SlurmJobMetadata) -> str:
    """Return what identifies a job where the way to its cluster is not known."""
    return f"{meta.cluster} {meta.job_id} {meta.submission_key or meta.job_name}"


def job_handle(meta: SlurmJobMetadata, cluster: Cluster) -> AsyncJob:
    """Return a handle to the job and none to another that has its id by now."""
    identity = meta.identity()
    return AsyncJob(cluster.client, identity.job_id, identity=identity)
