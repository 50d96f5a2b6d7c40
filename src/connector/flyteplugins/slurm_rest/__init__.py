"""Runs Flyte tasks on Slurm, over slurmrestd first: a replacement for flyteplugins-slurm.

    import flyte
    from flyteplugins.slurm_rest import Slurm

    env = flyte.TaskEnvironment(name="train", plugin_config=Slurm(partition="gpu", gres="gpu:8", time_limit="4:00:00"))

``Slurm`` configures a Python task, ``SlurmScriptTask`` makes a task of an existing sbatch script. The connector is
``flyteplugins.slurm_rest.connector``; importing this package does not load it.
"""

from __future__ import annotations

from .task import Slurm, SlurmFunctionTask, SlurmScriptTask

__all__ = ["Slurm", "SlurmFunctionTask", "SlurmScriptTask"]
