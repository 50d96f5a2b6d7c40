"""Clustered environments of flyte: with a Slurm configuration one multi-node job, without it what they ever were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has none
import flyte
import pytest
from flyte._internal.runtime import io
from flyte.clustered import ClusteredTaskEnvironment, ClusterFailurePolicy, JaxRun, TorchRun
from flyte.models import SerializationContext
from flyte.types import TypeEngine
from flyteidl2.core.execution_pb2 import TaskExecution
from google.protobuf.json_format import MessageToDict

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm
from flyteplugins.slurm_rest.clustering import keep_configuration
from flyteplugins.slurm_rest.plan import make_plan
from flyteplugins.slurm_rest.template import Execution, read_task

from .support.platform import Platform, serialize
from .support.s3 import Store
from .support.site import Site, attempt
from .tasks import clustered_tasks

IMAGE = flyte.Image.from_base("python:3.11")


def environment(config: Slurm | None, **more: Any) -> ClusteredTaskEnvironment:
    given: dict[str, Any] = {"replicas": 4, "nproc_per_node": 8, **more}
    return ClusteredTaskEnvironment(name="gang", image=IMAGE, plugin_config=config, **given)


def task_of(made: ClusteredTaskEnvironment) -> Any:  # a task of flyte's
    @made.task
    async def train() -> int:
        return 1

    return train


def options_of(task: Any) -> dict[str, Any]:
    plan = make_plan(
        read_task(serialize(task)), Execution(), directory="/d", home="/h", output_prefix="s3://b/p", inputs={}
    )
    return {**plan.spec.options(), "script": plan.spec.script}


def test_a_clustered_task_is_one_job_of_many_processes() -> None:
    config = Slurm(partition="gpu", container_image="/i.sqsh")
    task = task_of(environment(config, resources=flyte.Resources(cpu=20, memory="64Gi", gpu="A100:8")))
    template = serialize(task)
    assert (template.type, template.task_type_version, template.container.args[0]) == ("slurm", 0, "a0")
    found = options_of(task)
    assert {name: str(found[name]) for name in ("nodes", "ntasks", "ntasks_per_node", "partition")} == {
        "nodes": "4",
        "ntasks": "32",
        "ntasks_per_node": "8",
        "partition": "gpu",
    }
    # Resources are a node's, and its processes share them.
    assert (found["cpus_per_task"], found["mem"], str(found["gpus_per_node"])) == (3, 64 * 1024, "a100:8")
    assert "requeue" not in found
    assert "--kill-on-bad-exit=1" in found["script"]
    assert "FLYTE_CLUSTERED_WORKER=1" in found["script"]


def test_restarts_are_made_within_the_job() -> None:
    policy = ClusterFailurePolicy(max_restarts=2, restart_on_host_maintenance=True)
    runtime = TorchRun(rdzv_backend="c10d", max_restarts=1)
    task = task_of(environment(Slurm(), runtime=runtime, failure_policy=policy))
    found = options_of(task)
    assert found["requeue"] is True
    assert "JOBSET_MAX_RESTARTS=5\n" in found["script"]
    kept = task_of(environment(Slurm(sbatch_options={"no-requeue": True}), failure_policy=policy))
    assert "requeue" not in options_of(kept)
    jax = options_of(task_of(environment(Slurm(), runtime=JaxRun(), nproc_per_node=1)))
    assert "JAX_COORDINATOR_ADDRESS=$MASTER_ADDR:$MASTER_PORT" in jax["script"]
    assert "until" not in jax["script"]


def test_what_contradicts_the_environment_is_refused_where_it_is_defined() -> None:
    for config, words in [
        (Slurm(nodes=2), "nodes=2, which would be 4"),
        (Slurm(ntasks=4), "ntasks=4, which would be 32"),
        (Slurm(sbatch_options={"ntasks-per-node": 4}), "ntasks_per_node=4, which would be 8"),
        (Slurm(sbatch_options={"nodes": "2-4"}), "nodes=2-4, which would be 4"),
    ]:
        with pytest.raises(ValueError, match=words):
            environment(config)
    environment(Slurm(nodes=4, ntasks=32))


def test_the_configuration_survives_what_is_done_to_environments_and_tasks() -> None:
    made = environment(Slurm(partition="a"))
    clone = made.clone_with("other")
    assert isinstance(clone, ClusteredTaskEnvironment)
    assert str(options_of(task_of(clone))["nodes"]) == "4"
    assert str(options_of(task_of(replace(made, replicas=2, name="two")))["ntasks"]) == "16"
    task = task_of(made)
    assert options_of(task.override(plugin_config=Slurm(partition="b")))["partition"] == "b"
    again = cloudpickle.loads(cloudpickle.dumps(task)).override(resources=flyte.Resources(cpu=32))
    assert again.custom_config(SerializationContext(version="1"))["sbatch"]["cpus_per_task"] == 4
    on_kubernetes = task_of(environment(None))
    assert options_of(on_kubernetes.override(plugin_config=Slurm()))["ntasks"] == 32


def test_without_a_slurm_configuration_nothing_changes() -> None:
    keep_configuration()  # it is done once
    template = serialize(task_of(environment(None)))
    assert (template.type, template.task_type_version, template.container.args[0]) == ("clustered-task", 1, "clustered")
    assert MessageToDict(template.custom)["replicas"] == 4


def test_restarts_are_of_several_processes_and_a_number() -> None:
    for given, words in [({"max_restarts": 1}, 'needs launcher="srun"'), ({"max_restarts": -1}, "from 0 on")]:
        with pytest.raises(ValueError, match=words):
            Slurm(**given)  # type: ignore[arg-type]  # a field by its name


async def test_what_ends_another_rank_than_the_first_is_worth_another_attempt(site: Site) -> None:
    """It writes no error of its own; what the first one wrote counts as ever, and so does what Slurm says."""
    first, second, third = [
        await site.create(task_of(environment(Slurm(container_image="/i.sqsh"))), attempt(f"r{number}"))
        for number in range(3)
    ]
    site.finish(first, 1)
    found = await site.until(first, "RETRYABLE_FAILED")
    assert "WorkerError: One of its processes ended with an error" in (found.message or "")
    site.finish(second, 1, state="TIMEOUT")
    await site.until(second, "FAILED")
    site.fails("for good")
    site.finish(third, 1)
    assert "for good" in ((await site.until(third, "FAILED")).message or "")


def phase(resource: Any) -> str:
    return str(TaskExecution.Phase.Name(resource.phase))


@pytest.mark.parametrize("flyte_cluster", ["26.05"], indirect=True)
async def test_ranks_on_two_nodes_meet_after_one_has_failed(
    platform: Platform, flyte_cluster: Cluster, store: Store
) -> None:
    """The first would wait for ever for the one that fails. One alone writes outputs; nothing of the failure stays."""
    job = await platform.create(clustered_tasks.gather, fail=1)
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", (found.message, await platform.logs(job))
    outputs = await io.load_outputs(io.outputs_path(job.prefix))
    (value,) = [pair.value for pair in outputs.proto_outputs.literals]
    assert await TypeEngine.to_python_value(value, list[str]) == [
        "restarted 1",
        "0 0 2 1 0 2 n1 n1",
        "1 0 2 1 1 2 n1 n2",
    ]
    prefix = job.prefix.removeprefix("s3://")
    assert store.requests.count(f"PUT {prefix}/outputs.pb") == 1
    assert f"{prefix}/error.pb" not in store.objects
