"""Script tasks for tests, and what is asked of their jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import flyte
from flyteidl2.core.execution_pb2 import TaskExecution

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask

from .platform import Submitted

__all__ = ["SLEEP", "jobs_named", "number", "phase", "root", "script"]

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


def jobs_named(cluster: Cluster, job: Submitted) -> list[str]:
    """Return the ids of all jobs that bear the name of this one, but for those that were taken back."""
    name = json.loads(job.meta)["job_name"]
    lines = root(cluster, "squeue", "-h", "-t", "all", "-n", name, "-o", "%A %T").splitlines()
    return [line.split()[0] for line in lines if line.split()[1] != "CANCELLED"]
