"""Holding, releasing, requeueing and changing jobs, on every transport and release."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncJob, AsyncSlurmClient
from slurm_rest.errors import ApiError, JobNotFound, PermissionDenied, SpecError, UnsupportedVersion
from slurm_rest.states import BaseState
from tests.contract.ways import FakeWay, Way
from tests.support.waiting import until

LONG = "#!/bin/sh\nsleep 600\n"
UNKNOWN = 66_000_000


async def reason(job: AsyncJob) -> str:
    return (await job.info()).reason


async def test_jobs_are_held_and_released(client: AsyncSlurmClient) -> None:
    job = await client.submit(LONG, begin="now+1hour")
    assert (await job.hold()).ok
    assert (await job.hold()).ok, "holding twice does no harm"
    assert await reason(job) == "JobHeldUser"
    assert (await job.release()).outcome == "done"
    assert await reason(job) != "JobHeldUser"


async def test_each_job_has_its_own_outcome(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    mine, over = await client.submit(LONG, hold=True), await client.submit(LONG, hold=True)
    await over.cancel()
    async with way.client("bob") as other:
        bobs = await other.submit(LONG, hold=True)
        results = await client.hold([mine, over.id, UNKNOWN, 70_000_000, bobs.id])
        await bobs.cancel()
    assert [one.outcome for one in results] == ["done", "already_over", "not_found", "not_found", "denied"]
    assert [one.job_id for one in results] == [mine.id, over.id, UNKNOWN, 70_000_000, bobs.id]
    assert results[4].message


async def test_an_array_is_held_with_all_its_tasks(client: AsyncSlurmClient) -> None:
    array = await client.submit(LONG, array="1-3", begin="now+1hour")
    assert (await array.hold()).ok
    assert await reason(array) == "JobHeldUser"
    assert (await array.release()).ok
    (task, *_) = await array.tasks()
    result = await task.hold()
    assert result.ok is client.capabilities.pending_tasks
    assert result.ok or "whole array" in result.message


async def test_a_running_job_goes_back_to_the_queue(client: AsyncSlurmClient) -> None:
    job = await client.submit(LONG)

    async def runs() -> bool:
        return (await job.refresh()).is_running

    await until(runs)
    if not client.capabilities.requeue:
        with pytest.raises(UnsupportedVersion) as caught:
            await job.requeue()
        assert caught.value.supported == ("v0.0.45",)
        assert "SSH" in caught.value.hint
        return
    assert (await job.requeue(hold=True)).ok

    async def waits() -> bool:
        record = await job.info()
        # squeue and scontrol show words of their own instead of JobHeldUser here. COMPLETING goes a moment later.
        settled = record.state.is_pending and not record.state.flags
        return settled and "held" in record.reason.lower() and record.restart_count == 1

    await until(waits)
    again = await job.requeue()
    assert (again.outcome, again.message) == ("denied", "Job is pending execution")
    assert [one.outcome for one in await client.requeue([UNKNOWN])] == ["not_found"]


async def test_options_are_changed(client: AsyncSlurmClient) -> None:
    job = await client.submit(LONG, hold=True, comment="before", ntasks=1)
    key = (await job.info()).submission_key
    await job.update(time="0:07:00", name="a 'new' \"one\"=x", comment="after", partition="debug")
    record = await job.info()
    assert record.time_limit == timedelta(minutes=7)
    assert (record.name, record.comment, record.partition) == ("a 'new' \"one\"=x", "after", "debug")
    assert record.submission_key == key, "it is still found by its key"


async def test_an_arrays_tasks_are_changed_together(client: AsyncSlurmClient) -> None:
    array = await client.submit(LONG, array="1-4%2", time=60)

    async def two_run() -> bool:
        return sum(state.is_running for state in (await client.member_states(array.id)).values()) == 2

    await until(two_run)
    await array.update(time=9)
    limits = {record.time_limit for record in await client.members(array)}
    assert limits == {timedelta(minutes=9)}


async def test_refused_changes_tell_slurms_reason(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    job = await client.submit(LONG, hold=True, time=5)
    with pytest.raises(ApiError, match=r"(?i)invalid partition"):
        await job.update(partition="nope")
    with pytest.raises(SpecError, match="Did you mean 'time'"):
        await job.update(tme=6)  # type: ignore[call-arg]  # what is wrong on purpose
    with pytest.raises(JobNotFound):
        await client.update(UNKNOWN, time=6)
    async with way.client("bob") as other:
        with pytest.raises(PermissionDenied):
            await other.update(job.id, time=6)
    assert (await job.info()).time_limit == timedelta(minutes=5)
    await job.cancel()
    with pytest.raises(ApiError, match=r"(?i)finished|over"):
        await job.update(time=6)
    assert (await job.info()).state.base is BaseState.CANCELLED


@pytest.mark.parametrize("release", ["22.05", "26.05"])
async def test_root_submits_for_others_by_commands(shared_cluster: Callable[[str], Cluster], release: str) -> None:
    async with Way("cli", shared_cluster(release)).client("root") as root:
        job = await root.submit(LONG, uid="alice", chdir="/tmp", hold=True)
        assert (await job.info()).user == "alice"
        await job.cancel()
