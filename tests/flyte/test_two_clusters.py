"""One connector, two real clusters of two releases, one over REST and one over SSH, and a job with one id on both."""

from __future__ import annotations

import asyncio
import json

import flyte
from google.protobuf.json_format import MessageToDict

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.support.waiting import until, until_true

from .conftest import over_rest, over_ssh
from .support.platform import Platform, Submitted, service
from .support.s3 import Store

# Slurm takes 128 components.
_MOST = 100
NAMES = ("old", "new")


def script(cluster: str, cpus: int) -> SlurmScriptTask:
    text = "#!/bin/sh\necho I run on $SLURM_CLUSTER_NAME\nsleep 600\n"
    task = SlurmScriptTask(f"on-{cluster}", text, Slurm(cluster=cluster, cpus_per_task=cpus, time_limit="20"))
    flyte.TaskEnvironment.from_task(f"on-{cluster}", task)
    return task


def next_id(cluster: Cluster) -> int:
    """Return the id that a cluster gave away last, by giving one more away."""
    return _submit(cluster, 1)


def _submit(cluster: Cluster, count: int) -> int:
    """Use up that many ids, in one job that never runs; return the first of them."""
    parts = "\n#SBATCH hetjob\n".join(["#SBATCH -n1"] * count)
    words = ["sbatch", "--parsable", "--hold", "/dev/stdin"]
    lines = f"cd /tmp && printf '%s\\n' '#!/bin/sh' '{parts}' true | {' '.join(words)}"
    done = cluster.exec(["sh", "-c", lines], user="alice", check=True)
    cluster.exec(["scancel", number := done.stdout.strip().partition(";")[0]], user="alice", check=True)
    return int(number)


def make_equal(first: Cluster, second: Cluster) -> None:
    """Have the next job of both clusters have the same id."""
    found = sorted(((next_id(one), one) for one in (first, second)), key=lambda pair: pair[0])
    (low, behind), (high, _) = found
    while low < high:
        count = min(high - low, _MOST)
        low = _submit(behind, count) + count - 1


def variables(name: str, given: dict[str, str]) -> dict[str, str]:
    return {key.replace("FLYTE_SLURM_", f"FLYTE_SLURM_{name.upper()}_"): value for key, value in given.items()}


def id_of(job: Submitted) -> str:
    return str(json.loads(job.meta)["job_id"])


def state_of(cluster: Cluster, number: str) -> str:
    shown = cluster.exec(["scontrol", "show", "job", number], check=True).stdout
    return shown.partition("JobState=")[2].split(None, 1)[0]


async def test_two_jobs_with_one_id_are_not_taken_for_each_other(
    cluster_24_11: Cluster, cluster_26_05: Cluster, store: Store
) -> None:
    clusters = dict(zip(NAMES, (cluster_24_11, cluster_26_05), strict=True))
    environ = {
        **store.variables(),
        "FLYTE_SLURM_CLUSTERS": ",".join(NAMES),
        **variables("old", over_ssh(cluster_24_11)),
        **variables("new", over_rest(cluster_26_05)),
    }
    await asyncio.to_thread(make_equal, cluster_24_11, cluster_26_05)
    with service(environ) as address:
        platform = Platform(address)
        jobs = {name: await platform.create(script(name, cpus)) for name, cpus in zip(NAMES, (1, 2), strict=True)}
        assert id_of(jobs["old"]) == id_of(jobs["new"])
        for name, job in jobs.items():
            await platform.until(job, "RUNNING")
            own, way = clusters[name].name.replace("-", "_"), "ssh" if name == "old" else "rest"

            async def told(job: Submitted = job, own: str = own, way: str = way) -> bool:
                facts = MessageToDict((await platform.get(job)).custom_info)
                lines, _ = await platform.logs(job)
                return (facts.get("cluster"), facts["transport"]) == (own, way) and f"I run on {own}" in lines

            await until(told, "what is known of its own job")

            async def given(job: Submitted = job) -> float | None:
                return (await platform.metrics(job)).get("tres/cpu")

            assert await until(given, "what it was given") == (1 if name == "old" else 2)
        await platform.delete(jobs["old"])
        await platform.until(jobs["old"], "ABORTED")
        assert await platform.phase(jobs["new"]) == "RUNNING"
        number = id_of(jobs["new"])
        assert await asyncio.to_thread(state_of, cluster_26_05, number) == "RUNNING"
        await platform.close()
    with service(environ) as address:
        platform = Platform(address)
        await platform.until(jobs["new"], "RUNNING")
        await platform.until(jobs["old"], "ABORTED")
        await platform.delete(jobs["new"])
        await until_true(lambda: state_of(cluster_26_05, number) == "CANCELLED", "the end of the other")
        await platform.close()
