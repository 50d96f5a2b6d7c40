"""Tasks in real containers on real Slurm, through flyte's own connector service; their image holds flyte, not them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from flyte._internal.runtime import io
from flyte.models import CodeBundle
from flyte.types import TypeEngine

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm

from .support.image import packed_tasks, provide_image
from .support.platform import Platform, Submitted, serialize
from .support.s3 import Store
from .tasks import in_images
from .test_end_to_end import phase


@pytest.fixture
def image(flyte_cluster: Cluster) -> None:
    """Put the image into the cluster."""
    provide_image(flyte_cluster)


def bundled(task: Any, config: Slurm, store: Store) -> Any:
    """Return the template of a task with another configuration, and its code in the store."""
    store.objects["runs/code.tar.gz"] = packed_tasks()
    code = CodeBundle(computed_version="1", destination="/opt/flyte", tgz="s3://runs/code.tar.gz")
    return serialize(task.override(plugin_config=config), code)


def needed(cluster: Cluster, runtime: str) -> str:
    """Return the program that a runtime needs, if the nodes lack it: not every Debian mirror has each of them."""
    program = {"apptainer": "apptainer", "charliecloud": "ch-run"}.get(runtime, "crun")
    return program if cluster.exec(["which", program]).returncode else ""


async def succeeded(platform: Platform, cluster: Cluster, job: Submitted, runtime: str) -> dict[str, Any]:
    """Return the outputs of a job, none where its nodes lack the runtime: then it has to say so."""
    found = await platform.until(job)
    if missing := needed(cluster, runtime):
        assert phase(found) == "FAILED"
        assert f"{missing}: No such file or directory" in found.message
        return {}
    assert phase(found) == "SUCCEEDED", (found.message, await platform.logs(job))
    outputs = await io.load_outputs(io.outputs_path(job.prefix))
    return {pair.name: pair.value for pair in outputs.proto_outputs.literals}


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize("runtime", in_images.RUNTIMES)
async def test_a_task_runs_in_its_image(platform: Platform, store: Store, flyte_cluster: Cluster, runtime: str) -> None:
    template = bundled(in_images.look, in_images.configuration(runtime), store)
    job = await platform.create(template, name="all", interface=in_images.look)
    found = await succeeded(platform, flyte_cluster, job, runtime)
    if found:
        assert await TypeEngine.to_python_value(found["o0"], dict[str, str]) == {
            "image": "tasks\n",
            "note": "from the node\n",
            "greeting": "a 'quoted' $HOME",
            "in the image": "False",
        }


@pytest.mark.usefixtures("image")
async def test_a_task_that_raises_in_its_image(platform: Platform, store: Store) -> None:
    config = in_images.configuration("oci")
    job = await platform.create(bundled(in_images.look, config, store), name="moon", interface=in_images.look)
    found = await platform.until(job)
    assert phase(found) == "FAILED"
    assert "NonRecoverableError: no such thing: moon" in found.message
    assert "COMPLETED" in found.message


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize("runtime", ["oci", "apptainer"])
async def test_processes_on_two_nodes(platform: Platform, store: Store, flyte_cluster: Cluster, runtime: str) -> None:
    """Each in a container of its own, and the first one alone writes the outputs."""
    config = replace(in_images.configuration(runtime), launcher="srun", nodes=2, ntasks=3)
    job = await platform.create(bundled(in_images.gather, config, store), folder=runtime, interface=in_images.gather)
    found = await succeeded(platform, flyte_cluster, job, runtime)
    if not found:
        return
    assert found["o0"].scalar.primitive.integer == 100
    written = [one for one in store.requests if one == f"PUT {job.prefix.removeprefix('s3://')}/outputs.pb"]
    assert len(written) == 1
    port = 20000 + int(json.loads(job.meta)["job_id"]) % 20000
    places = {one.name: one.read_text() for one in (flyte_cluster.shared / "data" / runtime).iterdir()}
    assert places == {
        "0": f"0 0 3 2 0 2 n1 {port} n1 tasks\n",
        "1": f"1 1 3 2 0 2 n1 {port} n1 tasks\n",
        "2": f"2 0 3 1 1 2 n1 {port} n2 tasks\n",
    }
