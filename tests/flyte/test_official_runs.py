"""Tasks that flyteplugins-slurm 2.12.1 serialised, on real Slurm through our connector's service, over gRPC.

Over REST, and with the variables alone that its own deployments have. Where the nodes lack apptainer its tasks have to
say so. Debian has no pyxis: an srun that knows its options starts the image with apptainer in its place.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

from flyte.types import TypeEngine

from cluster.native import Cluster
from tests.support.waiting import until

from .official import CODE, recorded
from .support.image import packed_tasks, provide_image
from .support.platform import Platform, Submitted, service
from .support.s3 import Store
from .test_containers import succeeded
from .test_end_to_end import phase

NAMES = ("look", "fail", "double", "train", "upload", "forgetful", "broken", "members", "waiting")
FEW = ("look", "train", "broken", "waiting")
SRUN = r"""#!/bin/bash
while [[ $1 == --* ]]; do
    case $1 in
        --container-image=*) image=${1#*=} ;;
        --container-mounts=*) mounts=${1#*=} ;;
        --container-workdir=*) place=${1#*=} ;;
        --container-* | --no-container-*) STAND_IN="$STAND_IN $1" ;;
        *) words+=("$1") ;;
    esac
    shift
done
export STAND_IN
exec /usr/bin/srun "${words[@]}" apptainer exec --scratch /opt/flyte --bind "$mounts" --pwd "$place" "$image" "$@"
"""
AWS = """#!/usr/bin/python3
import os, sys, urllib.request as requests
assert sys.argv[1:3] == ["s3", "cp"]
url = os.environ["FLYTE_AWS_ENDPOINT"] + "/" + sys.argv[4].removeprefix("s3://")
requests.urlopen(requests.Request(url, open(sys.argv[3], "rb").read(), method="PUT"))
"""


async def submitted(
    platform: Platform,
    store: Store,
    cluster: Cluster,
    names: Sequence[str] = NAMES,
    connection: Mapping[str, object] | None = None,
) -> dict[str, Submitted]:
    """Give tasks to the connector, as the platform does that has kept their templates; ``connection`` is their own."""
    provide_image(cluster)
    folder = cluster.shared / "stand-ins"
    folder.mkdir(exist_ok=True)
    for name, text in (("srun", SRUN), ("aws", AWS)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    store.objects[CODE] = packed_tasks()
    store.objects["runs/given/note.txt"] = b"given "

    async def create(name: str) -> Submitted:
        template, inputs = recorded(name)
        template.custom["connection"].update(connection or {})
        return await platform.create(template, given=inputs)

    jobs = dict(zip(names, await asyncio.gather(*map(create, names)), strict=True))
    full = {name: json.loads(job.meta)["job_name"] for name, job in jobs.items()}
    assert [name for name in names if not full[name].startswith(f"flyte-{name}-")] == []
    return jobs


def written(store: Store, job: Submitted) -> dict[str, bytes]:
    prefix = job.prefix.removeprefix("s3://")
    own = ("inputs.pb", ".outputs.json", ".txt")
    return {
        path.removeprefix(f"{prefix}/"): data
        for path, data in list(store.objects.items())  # other jobs go on
        if path.startswith(f"{prefix}/") and not path.endswith(own)
    }


async def check_look(platform: Platform, store: Store, cluster: Cluster, job: Submitted) -> None:
    found = await succeeded(platform, cluster, job, "apptainer")
    if not found:
        return
    assert await TypeEngine.to_python_value(found["o0"], dict[str, str]) == {
        "image": "tasks\n",
        "mounted": "from the node\n",
        "greeting": "a 'quoted' $HOME",
        "threads": "8",
        "sample": "sized 0.75 3",
        "attempt": "0",
        "project": "p",
    }
    assert store.objects[found["o1"].scalar.blob.uri.removeprefix("s3://")] == b"given given "


async def check_double_and_fail(platform: Platform, cluster: Cluster, jobs: dict[str, Submitted]) -> None:
    doubled = await succeeded(platform, cluster, jobs["double"], "apptainer")
    if not doubled:
        return
    assert doubled["o0"].scalar.primitive.integer == 42
    asked = doubled["o1"].scalar.primitive.string_value.split()
    assert asked == ["--container-writable", "--no-container-mount-home"]
    raised = await platform.until(jobs["fail"])
    assert phase(raised) == "FAILED"
    assert "NonRecoverableError: no such column: é" in raised.message
    assert "COMPLETED" in raised.message


async def check_train(platform: Platform, store: Store, job: Submitted) -> None:
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    assert written(store, job) == {"model": b"weights of 3", "shards/a b/one": b"1", "shards/two": b"2"}
    uris = {pair.name: pair.value.scalar.blob.uri for pair in found.outputs.literals}
    assert uris == {name: f"{job.prefix}/{name}" for name in ("model", "shards")}
    lines, _ = await platform.logs(job)
    stdout, stderr = (found.custom_info[name] for name in ("stdout", "stderr"))
    assert stdout.startswith("/home/alice/runs/train/flyte-train-")
    assert lines == [
        f"--- stdout: {stdout} ---",
        "epochs 3 of it's $5 at 0.5, fast is true",
        f"--- stderr: {stderr} ---",
        "from s3://runs/given/note.txt with a 'quoted' $HOME in /home/alice",
    ]


async def check_upload(platform: Platform, store: Store, job: Submitted) -> None:
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    assert written(store, job) == {"model": b"from the node", "parts/deep/part": b"from the node"}


async def check_failure(platform: Platform, job: Submitted, *texts: str) -> None:
    found = await platform.until(job)
    assert phase(found) == "FAILED"
    places = f"{found.custom_info['stdout']} (stdout), {found.custom_info['stderr']} (stderr)"
    assert [text for text in (*texts, places) if text not in found.message] == []


async def check_members(platform: Platform, job: Submitted) -> None:
    found = await platform.until(job)
    assert phase(found) == "SUCCEEDED", found.message
    lines, _ = await platform.logs(job)
    assert [line for line in lines if line.startswith("I am")] == ["I am 0", "I am 1", "I am 2"]


async def check_abort(platform: Platform, job: Submitted, login: str = "") -> None:
    found = await platform.until(job, "RUNNING")
    shell = f"srun --jobid={json.loads(job.meta)['job_id']} --overlap --pty bash"
    attach = f"ssh -t {login} '{shell}'" if login else shell
    assert f"\nAttach to the running job: {attach}" in found.message

    async def known() -> bool:
        return {"elapsed_seconds", "cpus", "tres/cpu"} <= (await platform.metrics(job)).keys()

    async def started() -> bool:
        return "started" in (await platform.logs(job))[0]

    await until(known, "what it was given")
    await until(started, "its first words")
    for _ in range(2):
        await platform.delete(job)
    assert phase(await platform.until(job, "ABORTED")) == "ABORTED"
    assert "started" in (await platform.logs(job))[0]


BROKEN = ("is FAILED", "exit code 3:0", "--- stderr (last 30 lines) ---\nno such file: x")


async def test_its_tasks_run_over_rest(platform: Platform, store: Store, flyte_cluster: Cluster) -> None:
    jobs = await submitted(platform, store, flyte_cluster)
    await check_train(platform, store, jobs["train"])
    await check_upload(platform, store, jobs["upload"])
    await check_failure(platform, jobs["forgetful"], "COMPLETED", "model", "no model today")
    await check_failure(platform, jobs["broken"], *BROKEN)
    await check_members(platform, jobs["members"])
    await check_look(platform, store, flyte_cluster, jobs["look"])
    await check_double_and_fail(platform, flyte_cluster, jobs)
    await check_abort(platform, jobs["waiting"])


async def test_its_tasks_run_with_its_variables_alone(
    platform_over_ssh: Platform, store: Store, flyte_cluster: Cluster
) -> None:
    """What people come from: a login node, a user, a key, known hosts, and nothing else."""
    platform = platform_over_ssh
    jobs = await submitted(platform, store, flyte_cluster, FEW)
    await check_train(platform, store, jobs["train"])
    await check_failure(platform, jobs["broken"], *BROKEN)
    await check_look(platform, store, flyte_cluster, jobs["look"])
    await check_abort(platform, jobs["waiting"], login="alice@127.0.0.1")


async def test_its_tasks_name_the_cluster_themselves(store: Store, cluster_24_11: Cluster) -> None:
    """The other way that it has: nothing on the connector, key and known hosts are Flyte's secrets.

    The platform sends them with each call but those for logs and metrics.
    """
    cluster = cluster_24_11
    secrets = {"ssh_private_key": cluster.ssh_key.read_text(), "known_hosts_data": cluster.known_hosts.read_text()}
    connection = {"host": "127.0.0.1", "port": cluster.ssh_port, "username": "alice"}
    with service(store.variables()) as address:
        platform = Platform(address, secrets=secrets, environment=store.variables())
        jobs = await submitted(platform, store, cluster, ("train", "waiting"), connection)
        await check_train(platform, store, jobs["train"])
        await check_abort(platform, jobs["waiting"], login="alice@127.0.0.1")
        kept = b"".join(job.meta for job in jobs.values()).decode()
        assert not [line for value in secrets.values() for line in value.split() if len(line) > 30 and line in kept]
        await platform.close()
