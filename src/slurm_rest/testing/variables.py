"""The variables that Slurm sets for a job's script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurm_rest.sbatch.hosts import ranged

from .jobs import FakeJob

if TYPE_CHECKING:
    from .cluster import FakeCluster

__all__ = ["job_variables"]


def job_variables(cluster: FakeCluster, job: FakeJob) -> dict[str, str]:
    """Return what a batch script finds in its environment beside what was sent."""
    request = job.request
    nodes = ranged(list(job.nodes))
    cpus = str(-(-request.cpus // max(len(job.nodes), 1)))
    found = {
        "ENVIRONMENT": "BATCH",
        "HOSTNAME": job.nodes[0],
        "TMPDIR": "/tmp",  # noqa: S108  # what slurmd sets
        "SLURM_CLUSTER_NAME": cluster.name,
        "SLURM_CPUS_ON_NODE": cpus,
        "SLURM_JOBID": str(job.id),
        "SLURM_JOB_CPUS_PER_NODE": cpus if len(job.nodes) == 1 else f"{cpus}(x{len(job.nodes)})",
        "SLURM_JOB_ID": str(job.id),
        "SLURM_JOB_NODELIST": nodes,
        "SLURM_JOB_NUM_NODES": str(len(job.nodes)),
        "SLURM_JOB_PARTITION": cluster.machines.partition_of(job).name,
        "SLURM_JOB_START_TIME": str(int(job.start_time)),
        "SLURM_JOB_UID": str(job.owner.uid),
        "SLURM_JOB_USER": job.owner.name,
        "SLURM_LOCALID": "0",
        "SLURM_NNODES": str(len(job.nodes)),
        "SLURM_NODEID": "0",
        "SLURM_NODELIST": nodes,
        "SLURM_PROCID": "0",
        "SLURM_SUBMIT_DIR": request.directory,
        "SLURMD_NODENAME": job.nodes[0],
    }
    if request.name is not None:
        found["SLURM_JOB_NAME"] = request.name
    if job.time_limit is not None:
        found["SLURM_JOB_END_TIME"] = str(int(job.start_time + job.time_limit * 60))
    if job.restarts:
        found["SLURM_RESTART_COUNT"] = str(job.restarts)
    return {**found, **_array(cluster, job), **_het(cluster, job)}


def _array(cluster: FakeCluster, job: FakeJob) -> dict[str, str]:
    if job.task_id is None:
        return {}
    tasks = sorted(one.task_id or 0 for one in cluster.find(job.array_id))
    return {
        "SLURM_ARRAY_JOB_ID": str(job.array_id),
        "SLURM_ARRAY_TASK_ID": str(job.task_id),
        "SLURM_ARRAY_TASK_COUNT": str(len(tasks)),
        "SLURM_ARRAY_TASK_MIN": str(tasks[0]),
        "SLURM_ARRAY_TASK_MAX": str(tasks[-1]),
        "SLURM_ARRAY_TASK_STEP": str(tasks[1] - tasks[0] if len(tasks) > 1 else 1),
    }


def _het(cluster: FakeCluster, job: FakeJob) -> dict[str, str]:
    if job.offset is None:
        return {}
    found = {"SLURM_HET_SIZE": str(len(cluster.members(job.het_id)))}
    for one in cluster.members(job.het_id):
        found[f"SLURM_JOB_ID_HET_GROUP_{one.offset}"] = str(one.id)
        found[f"SLURM_JOB_NODELIST_HET_GROUP_{one.offset}"] = ranged(list(one.nodes))
    return found
