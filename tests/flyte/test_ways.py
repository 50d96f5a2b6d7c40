"""Each way alone: slurmrestd without any way to files, and a login node that comes and goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import flyte
import grpc
import pytest
from flyte.io import File

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.support.waiting import until

from .conftest import over_rest, over_ssh
from .support.releases import short_on
from .support.s3 import Store
from .support.scripts import SLEEP, number, only_job, phase, script
from .tasks import flyte_tasks
from .test_end_to_end import CURL, outputs_of
from .test_outages import UNTIL, connector, told_of_an_outage

# What a node's own client of the store would do.
PUT = (
    "import os, urllib.request as u; uri = os.environ['FLYTE_OUTPUT_MODEL'].removeprefix('s3:/');"
    " u.urlopen(u.Request(os.environ['STORE'] + uri, b'weights', method='PUT'))"
)


def uploading(way: str, text: str, store: Store) -> SlurmScriptTask:
    config = Slurm(time_limit="3", env={"STORE": store.variables()["FLYTE_AWS_ENDPOINT"]})
    outputs = {"model": File}
    task = SlurmScriptTask(way, text, config, outputs=outputs, output_upload=way)
    flyte.TaskEnvironment.from_task(way, task)
    return task


async def test_slurmrestd_alone_is_enough(flyte_cluster: Cluster, store: Store) -> None:
    """For Python tasks and for scripts that upload by themselves; what needs files is refused before it runs."""
    tasks = {
        "job": uploading("job", f'#!/bin/sh\nexec python3 -c "{PUT}"\n', store),
        "presigned": uploading(
            "presigned",
            f'#!/bin/bash\n{CURL}printf weights >"$FLYTE_OUTPUT_MODEL" && eval "$FLYTE_OUTPUT_MODEL_UPLOAD"\n',
            store,
        ),
        "refused": uploading("connector", "#!/bin/sh\n", store),
        "waits": script("waits", SLEEP),
    }
    variables = {name: value for name, value in over_rest(flyte_cluster).items() if name != "FLYTE_SLURM_FILES"}
    async with connector(store, variables) as platform:
        with pytest.raises(grpc.aio.AioRpcError, match=r"FLYTE_SLURM_HOST \(SFTP\) or FLYTE_SLURM_FILES"):
            await platform.create(tasks.pop("refused"))
        jobs = dict(zip(tasks, await asyncio.gather(*map(platform.create, tasks.values())), strict=True))
        native = await platform.create(flyte_tasks.square, x=7)
        raises = await platform.create(flyte_tasks.fail, text="no such column", recoverable=False)
        for name in ("job", "presigned"):
            found = await platform.until(jobs[name])
            assert phase(found) == "SUCCEEDED", found.message
            assert store.objects[f"{jobs[name].prefix.removeprefix('s3://')}/model"] == b"weights"
        found = await platform.until(native)
        assert phase(found) == "SUCCEEDED", found.message
        assert [value.integer for value in await outputs_of(native.prefix)] == [49]
        found = await platform.until(raises)
        assert phase(found) == "FAILED"
        assert "no such column" in found.message
        (line,), _ = await platform.logs(native)
        assert "Set FLYTE_SLURM_HOST (SFTP) or FLYTE_SLURM_FILES (a mount) on the connector" in line
        await platform.until(jobs["waits"], "RUNNING")
        await platform.delete(jobs["waits"])
        assert phase(await platform.until(jobs["waits"])) == "ABORTED"


@contextmanager
def killed(cluster: Cluster) -> Iterator[None]:
    """Have no sshd, and none of the connections that it served."""
    sshd = cluster.service("sshd")
    sshd.kill()
    try:
        yield
    finally:
        sshd.start()


@short_on("26.05")
async def test_a_login_node_that_is_away_ends_nothing(
    release: str, shared_cluster: Callable[[str], Cluster], store: Store
) -> None:
    """It is all that the deployment has: phases stay, and what was to be cancelled or made is so afterwards."""
    cluster, name = shared_cluster(release), "login-is-back"
    async with connector(store, over_ssh(cluster)) as platform:
        ends = await platform.create(script("ends", UNTIL.format(name)))
        unwanted = await platform.create(script("unwanted", SLEEP))
        await asyncio.gather(*(platform.until(job, "RUNNING") for job in (ends, unwanted)))
        task, run = script("meanwhile", SLEEP), f"login{cluster.release}"

        async def refused() -> None:
            """Ask for what cannot be had now; nobody asks for it again."""
            answers = await asyncio.gather(
                platform.create(task, run=run, patient=False),
                platform.delete(unwanted, patient=False),
                return_exceptions=True,
            )
            assert [type(answer) for answer in answers] == [grpc.aio.AioRpcError] * 2, answers

        async def heard() -> bool:
            return "stale_since" not in (await platform.get(ends)).custom_info

        with cluster.frozen("sshd"):
            await told_of_an_outage(platform, ends)
            await refused()
        assert phase(await platform.until(unwanted)) == "ABORTED"
        made = await platform.create(task, run=run)
        await only_job(cluster, made)
        await until(heard, "news")
        unwanted, run = made, f"{run}again"
        await platform.until(unwanted, "RUNNING")
        with killed(cluster):
            await told_of_an_outage(platform, ends)
            await refused()
            (cluster.home / "alice" / name).touch()
        found = await platform.until(ends)
        assert (phase(found), found.custom_info["transport"]) == ("SUCCEEDED", "ssh"), found.message
        assert "gone on" in (await platform.logs(ends))[0]
        assert phase(await platform.until(unwanted)) == "ABORTED"
    (cluster.home / "alice" / name).unlink()


NO_ACCOUNTING = {
    "AccountingStorageType": "accounting_storage/none",
    "AccountingStorageTRES": "cpu",
    "PreemptType": "preempt/none",
    "PreemptMode": "OFF",
}


@pytest.mark.parametrize("way", [over_rest, over_ssh])
async def test_a_cluster_without_accounting_runs_tasks(
    own_cluster: Callable[..., Cluster], store: Store, way: Callable[[Cluster], dict[str, str]]
) -> None:
    """The controller's memory is all there is: ends are told, and an attempt has one job as long as that lasts."""
    cluster = own_cluster("26.05", conf=NO_ACCOUNTING)
    async with connector(store, way(cluster)) as platform:
        tasks = [script("good", "#!/bin/sh\n"), script("bad", "#!/bin/sh\nexit 3\n"), script("waits", SLEEP)]
        good, bad, waits = [await platform.create(task, run=f"none{task.name}") for task in tasks]
        assert phase(found := await platform.until(good)) == "SUCCEEDED", found.message
        found = await platform.until(bad)
        assert phase(found) == "FAILED", found.message
        assert "exit code 3:0" in found.message
    async with connector(store, way(cluster)) as platform:
        again = [await platform.create(task, run=f"none{task.name}") for task in tasks]
        assert [number(job) for job in again] == [number(job) for job in (good, bad, waits)]
        second = await platform.create(tasks[2], run="nonewaits", attempt=1)
        assert number(second) != number(waits)
        assert phase(found := await platform.until(waits)) in ("ABORTED", "FAILED"), found.message
        await platform.delete(second)
        assert phase(await platform.until(second)) == "ABORTED"
