"""Script tasks for tests, and what is asked of their jobs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import flyte
from flyteidl2.core.execution_pb2 import TaskExecution

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.support.waiting import until

from .platform import Submitted

__all__ = ["SLEEP", "end_jobs", "jobs_named", "number", "only_job", "phase", "root", "script"]

SLEEP = "#!/bin/sh\nsleep 600\n"


def script(name: str, text: str, options: Mapping[str, Any] | None = None, **config: Any) -> SlurmScriptTask:
    """Return a task without inputs and outputs, with these options of sbatch and fields of ``Slurm``."""
    given = {"time_limit": "5", "sbatch_options": dict(options or {}), **config}
    task = SlurmScriptTask(name, text, Slurm(**given))
    flyte.TaskEnvironment.from_task(name, task)
    return task


def number(job: Submitted) -> str:
    """Return the id of its job."""
    return str(json.loads(job.meta)["job_id"])


def phase(resource: Any) -> str:
    """Return the name of a phase."""
    return str(TaskExecution.Phase.Name(resource.phase))


def root(cluster: Cluster, *argv: str) -> str:
    """Run a command as the cluster's administrator."""
    return cluster.exec(argv, check=True).stdout


def end_jobs(cluster: Cluster) -> None:
    """End the jobs of all users that have nodes, and wait until they have them no more."""
    end = time.monotonic() + 120
    while jobs := root(cluster, "squeue", "-h", "-o", "%A", "-t", "R,S,CF").split():
        assert time.monotonic() < end, f"jobs that do not end: {', '.join(jobs)}"
        root(cluster, "scancel", *jobs)
        time.sleep(0.2)


async def only_job(cluster: Cluster, job: Submitted) -> None:
    """Wait until this job is the only one of its name: one that is being taken back is COMPLETING for a while."""

    async def alone() -> bool:
        return await asyncio.to_thread(jobs_named, cluster, job) == [number(job)]

    await until(alone, f"job {number(job)} alone of its name")


def jobs_named(cluster: Cluster, job: Submitted) -> list[str]:
    """Return the ids of all jobs that bear the name of this one, but for those that were taken back."""
    name = json.loads(job.meta)["job_name"]
    lines = root(cluster, "squeue", "-h", "-t", "all", "-n", name, "-o", "%A %T").splitlines()
    return [line.split()[0] for line in lines if line.split()[1] != "CANCELLED"]
