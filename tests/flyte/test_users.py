"""Jobs of several users through one connector, on real Slurm, with the cluster's key and with a token of root's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import flyte
import grpc
import pytest
from flyte.io import File

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask

from .conftest import A_DAY, Services
from .support.platform import Platform
from .support.s3 import Store
from .test_end_to_end import phase

USERS = ("alice", "bob")


def run_as(cluster: Cluster, way: str) -> dict[str, str]:
    """Return the deployment's variables for jobs of whom a label names."""
    token = cluster.token("root", lifespan=A_DAY)
    name, value = {"key": ("REST_JWT_KEY_FILE", str(cluster.jwt_key)), "root": ("REST_TOKEN", token)}[way]
    return {
        "FLYTE_SLURM_REST_URL": cluster.url,
        f"FLYTE_SLURM_{name}": value,
        "FLYTE_SLURM_RUN_AS": "label:launched-by",
        "FLYTE_SLURM_FILES": f"/home/{{user}}={cluster.home}/{{user}}",
        "FLYTE_SLURM_SECRETS": "token=file:/home/{user}/{key}.secret; site=env:SITE_KEY",
    }


@pytest.fixture(params=["key", "root"])
async def everybody(
    request: pytest.FixtureRequest, flyte_cluster: Cluster, services: Services, store: Store
) -> AsyncIterator[Platform]:
    """Return the platform's side of a connector whose jobs are the launching users'."""
    address = services(f"{request.param} {flyte_cluster.name}", run_as(flyte_cluster, request.param))
    found = Platform(address, environment=store.variables())
    yield found
    await found.close()


def write_secrets(cluster: Cluster) -> None:
    for user in USERS:
        path = f"/home/{user}/token.secret"
        cluster.exec(["sh", "-c", f"umask 077; echo {user}-only >{path}"], user=user, check=True)


async def test_each_user_has_jobs_files_and_secrets_of_their_own(
    everybody: Platform, flyte_cluster: Cluster, store: Store
) -> None:
    await asyncio.to_thread(write_secrets, flyte_cluster)
    script = SlurmScriptTask(
        "who",
        '#!/bin/sh\n#SBATCH --time=3\necho "$(id -un) $TOKEN $PLAIN" >"$FLYTE_OUTPUT_WHO"\necho seen by $(id -un)\n',
        Slurm(username="root", env={"PLAIN": "plain-value"}),
        outputs={"who": File},
        secrets=flyte.Secret("token"),
    )
    flyte.TaskEnvironment.from_task("who", script)
    jobs = {name: await everybody.create(script, labels={"launched-by": name}) for name in USERS}
    for name, job in jobs.items():
        found = await everybody.until(job)
        assert phase(found) == "SUCCEEDED", found.message
        assert found.custom_info["user"] == name
        written = store.objects[f"{job.prefix.removeprefix('s3://')}/who"].decode()
        assert written == f"{name} {name}-only plain-value\n"
        assert f"seen by {name}" in (await everybody.logs(job))[0]
        kept = json.loads(job.meta)
        assert (kept["run_as"], kept["stdout_path"].split("/")[2]) == (name, name)
        told = await asyncio.to_thread(
            flyte_cluster.exec,
            ["sh", "-c", f"scontrol show job {kept['job_id']}; scontrol write batch_script {kept['job_id']} -"],
            check=True,
        )
        for secret in (f"{name}-only", "plain-value"):
            assert secret not in told.stdout + job.meta.decode() + str(found.custom_info)
        assert f"UserId={name}(" in told.stdout


async def test_what_is_ones_own_is_cancelled_and_what_is_missing_is_said(everybody: Platform) -> None:
    waits = SlurmScriptTask("waits", "#!/bin/sh\nsleep 600\n", Slurm(time_limit="20"))
    needs = SlurmScriptTask("needs", "#!/bin/sh\necho never\n", Slurm(time_limit="3"), secrets=flyte.Secret("site"))
    for task in (waits, needs):
        flyte.TaskEnvironment.from_task(task.name, task)
    job = await everybody.create(waits, labels={"launched-by": "bob"})
    lacking = await everybody.create(needs, labels={"launched-by": "alice"})
    await everybody.until(job, "RUNNING")
    await everybody.delete(job)
    assert "CANCELLED" in (await everybody.until(job, "ABORTED")).message
    found = await everybody.until(lacking)
    assert phase(found) == "FAILED"
    assert "the secret site is not in the job's environment (SITE_KEY)" in found.message


async def test_nobody_else_gets_a_job(everybody: Platform, flyte_cluster: Cluster) -> None:
    task = SlurmScriptTask("nobody", "#!/bin/sh\n", Slurm(time_limit="3"))
    flyte.TaskEnvironment.from_task("nobody", task)
    for labels, words in (
        ({}, "Nothing says which user launched the task"),
        ({"launched-by": "root"}, "No task may run as root"),
        ({"launched-by": "0"}, "is no name of a user"),
        ({"launched-by": "ghost"}, "ghost"),
    ):
        with pytest.raises(grpc.aio.AioRpcError, match=words):
            await everybody.create(task, labels=labels)
    done = await asyncio.to_thread(
        flyte_cluster.exec, ["sh", "-c", "squeue -h -t all -o %j | grep -c flyte-nobody || :"], check=True
    )
    assert done.stdout.strip() == "0"
    assert not await asyncio.to_thread(Path(flyte_cluster.home, "ghost").exists)
