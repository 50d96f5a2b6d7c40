"""Faults that need a cluster of their own: dead nodes, failed launches, too much memory, a lost database, lost jobs.

Each is run on one release, and on both where ``SLURM_REST_FAULT_SECONDS`` is set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from cluster.native import Cluster
from tests.support.waiting import until, until_true

from .conftest import over_rest
from .support.platform import Submitted
from .support.releases import short_on
from .support.s3 import Store
from .support.scripts import SLEEP, jobs_named, number, phase, root, script
from .test_outages import connector

OwnCluster = Callable[..., Cluster]
PROLOG = "#!/bin/sh\n[ ! -e /shared/no-launch-$(hostname) ] && [ ! -e /shared/no-launch ]\n"


def lean(name: str, text: str, options: dict[str, Any] | None = None) -> Any:
    return script(name, text, {"no-requeue": True, **(options or {})})


def is_cancelled(cluster: Cluster, job: Submitted) -> bool:
    return bool(root(cluster, "squeue", "-h", "-t", "CANCELLED", "-j", number(job)))


@short_on("24.11")
async def test_what_nodes_do_to_jobs(own_cluster: OwnCluster, store: Store, release: str) -> None:
    """A node that dies, one that cannot launch, and a job that takes more memory than it asked for."""
    conf = {"JobAcctGatherParams": "OverMemoryKill", "Prolog": "/shared/prolog", "PrologFlags": "Alloc"}
    cluster = own_cluster(release, nodes=4, conf=conf)
    prolog = cluster.shared / "prolog"
    prolog.write_text(PROLOG)
    prolog.chmod(0o755)
    async with connector(store, over_rest(cluster)) as platform:
        lost = await platform.create(lean("lost", SLEEP, {"nodelist": "n1"}))
        greedy = "#!/usr/bin/python3\nimport time\nheld = bytearray(400 << 20)\ntime.sleep(600)\n"
        much = await platform.create(lean("much", greedy, {"nodelist": "n3", "mem": "100"}))
        await platform.until(lost, "RUNNING")
        await platform.until(much, "RUNNING", "FAILED")
        (cluster.shared / "no-launch").touch()
        unlaunched = await platform.create(lean("unlaunched", SLEEP, {"nodelist": "n2"}))
        held = await platform.create(script("held", SLEEP, {"nodelist": "n4"}))
        cluster.service("n1").kill()
        await asyncio.to_thread(root, cluster, "scontrol", "update", "nodename=n1", "state=down", "reason=trial")
        found = await platform.until(lost)
        assert (phase(found), found.custom_info["slurm_state"]) == ("RETRYABLE_FAILED", "NODE_FAIL"), found.message
        assert "n1" in found.message
        found = await platform.until(much)
        assert phase(found) == "FAILED", found.message
        assert "xceeded" in found.message, found.message
        for job in (unlaunched, held):
            found = await platform.until(job)
            assert phase(found) == "RETRYABLE_FAILED", found.message
            assert "could not launch it" in found.message
        # Nothing is left that would run one day, and what was said of it stays.
        await until_true(lambda: "CANCELLED" in root(cluster, "scontrol", "show", "job", number(held)), "its end")
        found = await platform.until(held)
        assert phase(found) == "RETRYABLE_FAILED", found.message


@short_on("24.11")
async def test_launches_that_fail_without_a_trace_in_the_job(
    own_cluster: OwnCluster, store: Store, release: str
) -> None:
    """Without PrologFlags=Alloc the job has neither reason nor exit code, whether one ends at a time or several do."""
    cluster = own_cluster(release, nodes=5, conf={"Prolog": "/shared/prolog"})
    prolog = cluster.shared / "prolog"
    prolog.write_text(PROLOG)
    prolog.chmod(0o755)
    (cluster.shared / "no-launch").touch()
    async with connector(store, over_rest(cluster)) as platform:
        jobs = [await platform.create(lean("alone", SLEEP, {"nodelist": "n1"}))]
        found = await platform.until(jobs[0])
        jobs += [await platform.create(lean(f"one{node}", SLEEP, {"nodelist": f"n{node}"})) for node in (2, 3)]
        jobs += [await platform.create(script(f"held{node}", SLEEP, {"nodelist": f"n{node}"})) for node in (4, 5)]
        for job in jobs:
            found = await platform.until(job)
            assert phase(found) == "RETRYABLE_FAILED", found.message
            assert "ould not launch it" in found.message
        for job in jobs[:3]:
            assert "JobLaunchFailure (Prolog error)" in (await platform.until(job)).message
        for job in jobs[3:]:
            await until_true(partial(is_cancelled, cluster, job), "its end")
            found = await platform.until(job)
            assert phase(found) == "RETRYABLE_FAILED", found.message


@short_on("26.05")
async def test_ends_that_only_a_stopped_database_would_tell(
    own_cluster: OwnCluster, store: Store, release: str
) -> None:
    """The controller has forgotten them while the connector was dead; nothing is made up, and nothing is lost."""
    cluster = own_cluster(release, conf={"MinJobAge": "2"})
    async with connector(store, over_rest(cluster)) as platform:
        jobs = [
            await platform.create(script("good", "#!/bin/sh\nsleep 1\n")),
            await platform.create(script("bad", "#!/bin/sh\nsleep 1\nexit 3\n")),
        ]
        with cluster.stopped("slurmdbd"):
            await until_true(lambda: not any(jobs_named(cluster, job) for job in jobs), "their leaving")
    async with connector(store, over_rest(cluster)) as platform:
        with cluster.stopped("slurmdbd"):

            async def told(job: Submitted) -> bool:
                found = await platform.get(job)
                assert phase(found) in ("QUEUED", "RUNNING"), found.message
                return "stale_since" in found.custom_info

            for job in jobs:
                await until(partial(told, job), "word of the outage")
            # A new attempt has a job all the same: where its output would be nothing is, so none has begun.
            task = script("during", "#!/bin/sh\n")
            during = await platform.create(task, run="during")
            assert number(await platform.create(task, run="during")) == number(during)
            assert phase(found := await platform.until(during)) == "SUCCEEDED", found.message
        good, bad = await asyncio.gather(*(platform.until(job) for job in jobs))
    assert phase(good) == "SUCCEEDED", good.message
    assert phase(bad) == "FAILED", bad.message
    assert "exit code 3:0" in bad.message


@short_on("24.11")
async def test_a_job_that_nobody_knows_any_more_has_vanished(
    own_cluster: OwnCluster, store: Store, release: str
) -> None:
    """Not while one who may know it is away; then it is said once and for all."""
    cluster = own_cluster(release)
    async with connector(store, over_rest(cluster)) as platform:
        job = await platform.create(script("gone", SLEEP))
        await platform.until(job, "RUNNING")
        with cluster.stopped("slurmctld"):
            cluster.exec(["sh", "-c", "rm -rf /var/lib/cluster/slurmctld/*"])
            table = f"{cluster.name.replace('-', '_')}_job_table"
            erase = ["mariadb", "--user=slurm", "--password=slurm", "slurm_acct_db", "-e", f"DELETE FROM {table}"]
            cluster.exec(erase, check=True)
            assert await platform.phase(job) == "RUNNING"
        found = await platform.until(job)
        assert phase(found) == "RETRYABLE_FAILED", found.message
        assert "has vanished" in found.message
