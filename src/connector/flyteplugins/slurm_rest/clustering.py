"""Flyte's clustered environments on Slurm: one multi-node job in place of a JobSet.

``flyte.clustered.ClusteredTaskEnvironment`` has a ``plugin_config`` as all environments have, and writes its own over
it (flyte 2.12). Here it keeps a ``Slurm``: its tasks are then ordinary ones of this package, a process for each rank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from flyte.clustered import ClusteredTaskEnvironment, TorchRun

from .config import Slurm
from .options import job_options

__all__ = ["clustered_config", "keep_configuration"]


def keep_configuration() -> None:
    """Have clustered environments keep a ``Slurm`` that they are given; all others are made as ever."""
    made: Callable[[ClusteredTaskEnvironment], None] = ClusteredTaskEnvironment.__post_init__
    if getattr(made, "keeps_slurm", False):
        return

    @wraps(made)
    def keep(self: ClusteredTaskEnvironment) -> None:
        given = self.plugin_config
        made(self)
        if isinstance(given, Slurm):
            # A contradiction is told where the environment is defined, not where its first task is.
            clustered_config(given, self)
            self.plugin_config = given

    keep.keeps_slurm = True  # type: ignore[attr-defined]  # so that it is done once
    ClusteredTaskEnvironment.__post_init__ = keep  # type: ignore[method-assign]  # no other way keeps it


def clustered_config(config: Slurm, environment: ClusteredTaskEnvironment) -> Slurm:
    """Return the configuration with what a clustered environment says: nodes, processes on each, restarts.

    ``TorchRun`` and ``JaxRun`` find the same variables as under their own launchers. A set of processes that is started
    again is so as a whole, so the restarts of torchrun and those of the failure policy are multiplied as they would be.
    Raises ValueError for what ``config`` says otherwise.
    """
    nodes, processes = environment.replicas, environment.nproc_per_node
    wanted = {"nodes": nodes, "ntasks": nodes * processes, "ntasks_per_node": processes}
    said = job_options(config.options(), config.sbatch_options)
    for name, number in wanted.items():
        if name in said and str(said[name]) != str(number):
            raise ValueError(
                f"{environment.name!r} has replicas={nodes} and nproc_per_node={processes}, and its Slurm configuration"
                f" {name}={said[name]}, which would be {number}: leave it out"
            )
    policy, runtime = environment.failure_policy, environment.runtime
    within = runtime.max_restarts if isinstance(runtime, TorchRun) else 0
    options = {**config.sbatch_options, "ntasks-per-node": processes}
    if policy.restart_on_host_maintenance and not {"requeue", "no_requeue"} & said.keys():
        options["requeue"] = True
    return replace(
        config,
        nodes=nodes,
        ntasks=nodes * processes,
        sbatch_options=options,
        launcher="srun",
        max_restarts=(within + 1) * (policy.max_restarts + 1) - 1 or config.max_restarts,
    )
