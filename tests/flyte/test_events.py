"""What Slurm and its administrators do to jobs, as the platform hears of it through flyte's service."""

from __future__ import annotations

import asyncio
from typing import Any

from cluster.native import Cluster
from tests.support.waiting import until

from .support.platform import Platform, Submitted
from .support.scripts import SLEEP, number, phase, root, script
from .tasks import flyte_tasks

BACK = ("QUEUED", "WAITING_FOR_RESOURCES")
# Sleeps until it is started anew. A shell that ends by TERM before slurmctld has noted why it was sent was once FAILED
# there, and nothing told that it was preempted.
TWICE = '#!/bin/sh\ntrap "" TERM\n[ -n "$SLURM_RESTART_COUNT" ] || sleep 600\necho run $SLURM_RESTART_COUNT\n'


async def all_running(platform: Platform, tasks: dict[str, Any]) -> dict[str, Submitted]:
    jobs = dict(zip(tasks, await asyncio.gather(*map(platform.create, tasks.values())), strict=True))
    await asyncio.gather(*(platform.until(job, "RUNNING") for job in jobs.values()))
    return jobs


async def test_preempted_jobs_are_worth_another_attempt(platform: Platform, flyte_cluster: Cluster) -> None:
    """Those that their QOS cancels, or that may not be requeued; another one begins anew within its attempt."""
    cluster = flyte_cluster
    await asyncio.to_thread(root, cluster, "sacctmgr", "-i", "add", "qos", "lowcancel", "preemptmode=cancel")
    await asyncio.to_thread(root, cluster, "sacctmgr", "-i", "modify", "qos", "high", "set", "preempt+=lowcancel")

    async def known() -> bool:
        # slurmdbd tells slurmctld of it in its own time.
        shown = await asyncio.to_thread(root, cluster, "scontrol", "show", "assoc_mgr", "flags=qos", "qos=lowcancel")
        return "QOS=lowcancel(" in shown

    await until(known, "the QOS in slurmctld")

    def low(name: str, **more: object) -> Any:
        return script(name, TWICE, {"nodelist": "n1", "cpus-per-task": 2, "qos": "low", **more})

    tasks = {
        "cancelled": low("cancelled", qos="lowcancel"),
        "ended": low("ended", **{"no-requeue": True}),
        "requeued": low("requeued"),
    }
    jobs = await all_running(platform, tasks)
    high = {"nodelist": "n1", "exclusive": True, "qos": "high"}
    await platform.create(script("high", "#!/bin/sh\n", high))
    for name in ("cancelled", "ended"):
        found = await platform.until(jobs[name])
        assert (phase(found), found.custom_info["slurm_state"]) == ("RETRYABLE_FAILED", "PREEMPTED"), found.message
        assert "PREEMPTED" in found.message
    again = jobs["requeued"]
    await platform.until(again, *BACK)
    await until(lambda: started(platform, cluster, again), "the second start")
    found = await platform.until(again)
    assert (phase(found), found.custom_info["restarts"]) == ("SUCCEEDED", 1), found.message


async def started(platform: Platform, cluster: Cluster, job: Submitted) -> bool:
    """Have a requeued job start at once, which else waits for two minutes."""
    await asyncio.to_thread(cluster.exec, ["scontrol", "update", f"jobid={number(job)}", "starttime=now"])
    return phase(await platform.get(job)) not in BACK


async def test_ends_that_slurm_or_an_administrator_chose(platform: Platform, flyte_cluster: Cluster) -> None:
    cluster, here = flyte_cluster, {"nodelist": "n2"}
    tasks = {
        "limit": script("limit", SLEEP, here),
        "cancelled": script("cancelled", SLEEP, here),
        "requeued": script("requeued", TWICE, here),
        "killed": script("killed", "#!/bin/sh\necho too much >&2\nsleep 1\nkill -9 $$\n", here),
        "full": script("full", "#!/bin/bash\nulimit -v 300000\nx=$(head -c 900M /dev/zero | tr '\\0' x)\n", here),
    }
    jobs = dict(zip(tasks, await asyncio.gather(*map(platform.create, tasks.values())), strict=True))
    long = ("limit", "cancelled", "requeued")
    await asyncio.gather(*(platform.until(jobs[name], "RUNNING") for name in long))
    # The shortest limit is a minute: this one has passed by now.
    await asyncio.to_thread(root, cluster, "scontrol", "update", f"jobid={number(jobs['limit'])}", "endtime=now+1")
    await asyncio.to_thread(root, cluster, "scontrol", "requeue", number(jobs["requeued"]))
    await platform.until(jobs["requeued"], *BACK)
    comment = "maintenance at noon"
    await asyncio.to_thread(
        root, cluster, "scontrol", "update", f"jobid={number(jobs['cancelled'])}", f"admincomment={comment}"
    )
    await asyncio.to_thread(root, cluster, "scancel", number(jobs["cancelled"]))
    found = await platform.until(jobs["cancelled"])
    assert phase(found) == "FAILED"
    assert "cancelled by root, not through Flyte" in found.message
    assert comment in found.message
    found = await platform.until(jobs["killed"])
    assert phase(found) == "FAILED"
    assert found.message.endswith("too much"), found.message
    assert ":9" in found.custom_info["exit_code"] or found.custom_info["exit_code"] == "137:0", found.message
    found = await platform.until(jobs["full"])
    assert phase(found) == "FAILED"
    assert "cannot allocate" in found.message, found.message
    await until(lambda: started(platform, cluster, jobs["requeued"]), "the second start")
    found = await platform.until(jobs["requeued"])
    assert (phase(found), found.custom_info["restarts"]) == ("SUCCEEDED", 1), found.message
    found = await platform.until(jobs["limit"])
    assert (phase(found), found.custom_info["slurm_state"]) == ("FAILED", "TIMEOUT"), found.message
    # The reason itself is the controller's alone, and of several that end at once accounting is asked.
    assert "is TIMEOUT" in found.message, found.message
    assert "DUE TO TIME LIMIT" in found.message, found.message


async def test_het_jobs_and_several_nodes(platform: Platform) -> None:
    """A het job's components are one task; a Python task on two nodes runs once and has one outcome."""
    head = "#!/bin/sh\n#SBATCH --time=3 -n1\n#SBATCH hetjob\n#SBATCH -n2\n"
    het = f"{head}srun --het-group=0,1 true\necho $SLURM_HET_SIZE\n"
    bad = "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n1\nexit 4\n"
    tasks = [script("het", het), script("bad", bad)]
    good, failed, wide = await asyncio.gather(
        *map(platform.create, tasks), platform.create(flyte_tasks.wide, name="SLURM_JOB_NUM_NODES")
    )
    found = await platform.until(good)
    assert phase(found) == "SUCCEEDED", found.message
    lines, _ = await platform.logs(good)
    assert "2" in lines
    found = await platform.until(failed)
    assert phase(found) == "FAILED", found.message
    assert "exit code 4:0" in found.message
    found = await platform.until(wide)
    assert phase(found) == "SUCCEEDED", found.message
    assert found.custom_info["nodes"] == "n[1-2]"


async def test_a_cancellation_ends_all_members(platform: Platform, flyte_cluster: Cluster) -> None:
    """Also those of an array that wait."""
    array, het = "#!/bin/sh\n#SBATCH --array=0-9%2\n", "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n1\n"
    tasks = [script(name, f"{text}sleep 600\n") for name, text in (("array", array), ("both", het))]
    jobs = await asyncio.gather(*map(platform.create, tasks))
    await asyncio.gather(*(platform.until(job, "RUNNING") for job in jobs))
    for job in jobs:
        await platform.delete(job)
    for job in jobs:
        found = await platform.until(job)
        assert phase(found) == "ABORTED", found.message
        left = await asyncio.to_thread(root, flyte_cluster, "squeue", "-h", "-t", "PD,R", "-j", number(job))
        assert left == ""
