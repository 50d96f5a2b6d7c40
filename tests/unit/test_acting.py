"""Holding, requeueing and changing over slurmrestd: which ids are asked for, and what the answers mean."""

from __future__ import annotations

import httpx
import pytest

from slurm_rest import AsyncJob
from slurm_rest.errors import ApiError, JobNotFound, PermissionDenied, ProtocolError, UnsupportedVersion

from .captures import Capture
from .wire import Server, body_of, client, good, job, no_pauses, query_of, server, states

__all__ = ["no_pauses", "server"]


def refused(number: int, words: str, status: int = 422) -> Capture:
    plain = good(
        results=None, errors=[{"description": "Job update requested failed", "error_number": number, "error": words}]
    )
    return Capture(plain.method, plain.path, status, plain.content_type, plain.raw)


UNKNOWN = refused(2017, "Invalid job id specified", 404)
OVER = refused(2084, "Job has already finished")
NOT_YOURS = refused(2010, "Invalid user id")
DONE = good(results=None)


def array(*tasks: tuple[int, int | None, str], waiting: str = "") -> Capture:
    """Return the records of array 10: own id, task id, state; and the packed record of those that wait."""
    records = [
        job(own, state, array_job_id={"set": True, "number": 10}, array_task_id={"set": True, "number": task})
        for own, task, state in tasks
    ]
    if waiting:
        unset = {"set": False, "number": 0}
        records.append(
            job(10, "PENDING", array_job_id={"set": True, "number": 10}, array_task_id=unset, array_task_string=waiting)
        )
    return good(jobs=records)


async def test_plain_jobs_are_held_each_by_its_id(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("1", "PENDING"), ("2", "RUNNING")))
    first = server.on("POST", "/job/1", DONE)
    server.on("POST", "/job/2", OVER)
    server.on("POST", "/job/3", UNKNOWN)
    server.on("POST", "/job/4", NOT_YOURS)
    async with client() as slurm:
        results = await slurm.hold([1, 2, 3, 4, 99_999_999])
    assert [one.outcome for one in results] == ["done", "already_over", "not_found", "denied", "not_found"]
    assert results[3].message == "Invalid user id"
    assert body_of(first.calls[0]) == {"hold": True}


async def test_an_arrays_tasks_are_released_under_their_own_ids(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_3", "PENDING"), ("12_2", "RUNNING")))
    server.on("GET", "/job/10", array((12, 2, "RUNNING"), (11, 1, "COMPLETED"), waiting="3-4"))
    waiting = server.on("POST", "/job/10", OVER)
    running = server.on("POST", "/job/12", DONE)
    async with client() as slurm:
        (result,) = await slurm.release([10])
    assert result.ok, "one of them was"
    assert body_of(running.calls[0]) == body_of(waiting.calls[0]) == {"hold": False}


async def test_a_task_that_starts_meanwhile_is_changed_under_its_own_id(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_2", "RUNNING"), ("10_3", "PENDING")))
    before, after = [
        array((12, 2, "RUNNING"), *more, waiting=left) for more, left in (((), "3-4"), (((13, 3, "RUNNING"),), "4"))
    ]
    server.on("GET", "/job/10", before, after)
    posts = [server.on("POST", f"/job/{own}", DONE) for own in (10, 12, 13)]
    async with client() as slurm:
        await slurm.update(10, time=9)
    assert [len(post.calls) for post in posts] == [1, 1, 1]
    assert body_of(posts[2].calls[0]) == body_of(posts[0].calls[0])


async def test_a_task_that_waits_has_no_id_of_its_own(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/10", array((12, 2, "RUNNING"), (11, 1, "COMPLETED"), waiting="3-4"))
    server.on("POST", "/job/12", DONE)
    async with client() as slurm:
        members = {number: AsyncJob(slurm, 10, task_id=number) for number in (1, 2, 3, 7)}
        results = await slurm.hold(list(members.values()))
        with pytest.raises(UnsupportedVersion, match="whole array"):
            await slurm.update(members[3], nice=5)
        with pytest.raises(JobNotFound):
            await slurm.update(members[7], nice=5)
        with pytest.raises(ApiError, match="is over"):
            await slurm.update(members[1], nice=5)
    assert [one.outcome for one in results] == ["already_over", "done", "denied", "not_found"]
    assert "whole array" in results[2].message


async def test_ended_tasks_do_not_spoil_a_change(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_3", "PENDING"), ("12_2", "RUNNING")))
    server.on("GET", "/job/10", array((12, 2, "RUNNING"), waiting="3-4"))
    server.on("POST", "/job/12", OVER, DONE, OVER)
    server.on("POST", "/job/10", DONE, refused(2000, "Invalid partition name specified"), OVER)
    async with client() as slurm:
        await slurm.update(10, nice=5)
        with pytest.raises(ApiError, match=r"Invalid partition.*List partitions with"):
            await slurm.update(10, partition="nope")
        with pytest.raises(ApiError, match="already finished"):
            await slurm.update(10, nice=5)


@pytest.mark.parametrize(("answer", "kind"), [(UNKNOWN, JobNotFound), (NOT_YOURS, PermissionDenied)])
async def test_a_refused_change_has_its_kind(server: Server, answer: Capture, kind: type[ApiError]) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states())
    server.on("POST", "/job/1", answer)
    async with client() as slurm:
        with pytest.raises(kind):
            await slurm.update(1, nice=5)


async def test_a_new_comment_keeps_the_key(server: Server) -> None:
    server.ping()
    key = "slurm-rest:" + "ab" * 10
    server.on("GET", "/job/1", good(jobs=[job(1, "PENDING", comment=f"before {key}")]))
    server.on("GET", "/jobs/state/", states(("1", "PENDING")))
    change = server.on("POST", "/job/1", DONE)
    async with client() as slurm:
        await slurm.update(1, comment="after")
    assert body_of(change.calls[0]) == {"comment": f"after {key}"}


async def test_requeueing_is_asked_once_whatever_happens(server: Server) -> None:
    server.ping()
    lost = server.on("GET", "/job/1/requeue", httpx.ReadError("reset"))
    async with client() as slurm:
        with pytest.raises(ProtocolError):
            await slurm.requeue([1])
    assert lost.call_count == 1


async def test_requeueing_tells_what_came_of_each(server: Server) -> None:
    server.ping()
    lots = [{"step_id": "3_[1-2]", "error_code": 2024, "error": "Job is pending execution"}, {"error_code": 0}]
    server.on("GET", "/job/1/requeue", good(status=[]))
    server.on("GET", "/job/2/requeue", refused(2024, "Job is pending execution"))
    server.on("GET", "/job/3/requeue", good(status=lots))
    held = server.on("GET", "/job/4/requeue", good(status=lots[:1]))
    async with client() as slurm:
        results = await slurm.requeue([1, 2, 3, 4], hold=True)
    assert [one.outcome for one in results] == ["done", "denied", "done", "denied"]
    assert results[3].message == "Job is pending execution"
    assert query_of(held.calls[0], "Hold") == ["true"]
