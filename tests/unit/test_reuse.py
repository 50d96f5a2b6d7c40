"""Handles whose id Slurm has given to another job: that one is neither acted on nor told of."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from slurm_rest import AsyncJob, AsyncSlurmClient, JobState
from slurm_rest import job as job_module
from slurm_rest.errors import AccountingDown, JobNotFound
from slurm_rest.identity import Identity
from slurm_rest.models import JobInfo
from slurm_rest.reuse import find_replaced

from .captures import capture
from .memory import Memory
from .wire import NEW, Server, accounted, body_of, client, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

T0 = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
LATER = T0 + timedelta(days=30)
MINE, OTHER = "slurm-rest:" + "a" * 20, "slurm-rest:" + "b" * 20


def seconds(moment: datetime) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": int(moment.timestamp())}


def live(job_id: int, at: datetime, **more: object) -> dict[str, object]:
    return job(job_id, "RUNNING", 0, submit_time=seconds(at), **more)


def handle(slurm: AsyncSlurmClient, job_id: int, at: datetime = T0) -> AsyncJob:
    return slurm.job(job_id, submit_time=at)


# --- acting -----------------------------------------------------------------------------------------------------


async def test_only_the_handles_own_jobs_are_cancelled(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", good(jobs=[live(7, LATER)]))
    server.on("GET", "/job/8", good(jobs=[live(8, T0)]))
    send = server.on("DELETE", "/jobs/", good(status=[]))
    async with client() as slurm:
        old, own = handle(slurm, 7), handle(slurm, 8)
        results = await slurm.cancel([old, 7, own])
        assert [(one.job_id, one.outcome) for one in results] == [
            (7, "already_over"),
            (7, "signalled"),
            (8, "signalled"),
        ]
        assert "another job" in results[0].message
        assert body_of(send.calls[0])["jobs"] == ["7", "8"]
        assert (await old.cancel()).outcome == "already_over"
    assert send.call_count == 1


async def test_nothing_else_is_done_to_another_job_either(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", good(jobs=[live(7, LATER)]))
    async with client() as slurm:
        old = handle(slurm, 7)
        for result in (await old.hold(), await old.release(), await old.requeue()):
            assert (result.outcome, result.message) == ("already_over", "its id now belongs to another job")
        with pytest.raises(JobNotFound, match="its id now belongs to another job"):
            await old.update(nice=5)


async def test_the_key_in_the_comment_decides_where_there_is_one(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", good(jobs=[live(7, T0, comment=OTHER)]))
    async with client() as slurm:
        old = AsyncJob(slurm, 7, identity=Identity(7, key=MINE, sent=T0))
        assert (await old.cancel()).outcome == "already_over"


@pytest.mark.parametrize(("whose", "outcome"), [("bob", "already_over"), ("alice", "signalled")])
async def test_a_submitted_job_is_its_users(server: Server, whose: str, outcome: str) -> None:
    """A controller that lost its newest jobs gives their ids to others at once; a script may change a comment."""
    server.ping()
    made = capture(NEW, "submit_ok")
    job_id: int = made.body["job_id"]
    server.on("POST", "/job/submit", made)
    records = [good(jobs=[live(job_id, T0, user_name="alice", comment="")])]
    server.on("GET", f"/job/{job_id}", lambda _: records[0].response)
    if outcome == "signalled":
        server.on("DELETE", "/jobs/", good(status=[]))
    async with client(user="alice") as slurm:
        own = await slurm.submit("#!/bin/sh\ntrue\n")
        now = datetime.now(timezone.utc)
        records[0] = good(jobs=[live(job_id, now, user_name=whose, comment="")])
        assert (await own.cancel()).outcome == outcome


# --- told of ----------------------------------------------------------------------------------------------------


async def test_states_of_another_job_are_not_the_handles(server: Server) -> None:
    server.ping()
    rows = server.on("GET", "/jobs/state/", states(("7", "RUNNING"), ("8", "RUNNING")))
    server.on("GET", "/job/7", good(jobs=[live(7, LATER)]))
    looks = server.on("GET", "/job/8", good(jobs=[live(8, T0)]))
    past = [accounted(7, "FAILED", time={"submission": int(at.timestamp())}, restart_cnt=0) for at in (T0, LATER)]
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=past))
    async with client() as slurm:
        old, own = handle(slurm, 7), handle(slurm, 8)
        assert set(await slurm.states([old, own])) == {8}
        assert set(await slurm.states([7, own])) == {7, 8}
        assert (rows.call_count, looks.call_count) == (2, 1), "a handle that was looked at is taken for sure"
        assert str(await old.refresh()) == "FAILED"
        assert old.state.base.value == "FAILED"
        (record,) = (await slurm.describe([old])).values()
        assert record.submit_time == T0
        assert [one.submit_time for one in await slurm.members(old)] == [T0]
        assert await old.tasks() == []


async def test_a_job_that_seems_to_start_anew_is_looked_at(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("8", "RUNNING")))
    looks = server.on("GET", "/job/8", good(jobs=[live(8, T0)]))
    async with client() as slurm:
        own = handle(slurm, 8)
        own.trust()
        await slurm.states([own])
        assert looks.call_count == 0
        own.state = JobState.parse("COMPLETED")
        await slurm.states([own])
        assert looks.call_count == 1
        own.state = JobState.parse("RUNNING")
        await slurm.states([own])
        assert looks.call_count == 1
        monkeypatch.setattr(job_module, "_SURE_SECONDS", -1)
        await slurm.states([own])
        assert looks.call_count == 2
        await slurm.states([8])
        assert looks.call_count == 2, "an id means whatever job has it"


# --- the search -------------------------------------------------------------------------------------------------


class Controller(Memory):
    """A controller with some records and an accounting with others."""

    def __init__(self, here: dict[int, datetime], past: dict[int, datetime] | Exception) -> None:
        super().__init__({str(job_id): "RUNNING" for job_id in here})
        self.times = here
        self.past = past if isinstance(past, Exception) else [made(*one, "accounting") for one in past.items()]

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        self.looked.append(sorted(ids))
        if isinstance(self.past, Exception) and not set(ids) <= set(self.times):
            raise self.past
        return [made(one, self.times[one]) for one in ids if one in self.times]


def made(job_id: int, at: datetime, source: Any = "controller") -> JobInfo:
    return JobInfo(id=job_id, state=JobState.parse("RUNNING"), submit_time=at, source=source, raw={"restart_cnt": 0})


def old(*ids: int) -> list[Identity]:
    return [Identity(job_id, submit_time=T0) for job_id in ids]


async def test_many_are_cleared_by_accounting_in_one_request() -> None:
    here = dict.fromkeys(range(1, 101), T0) | {50: LATER}
    memory = Controller(here, here | {60: LATER})
    # Accounting alone condemns nobody: of 60 it is wrong here.
    assert await find_replaced(memory, old(*range(1, 101))) == {*old(50)}
    assert (memory.searched, memory.looked) == ([[*range(1, 101)]], [[50, 60]])


async def test_while_accounting_is_away_the_controller_decides() -> None:
    memory = Controller({1: T0, 2: LATER}, AccountingDown("x"))
    assert await find_replaced(memory, old(1, 2, 3, 4, 5, 6)) == {*old(2)}
    assert memory.looked[-1] == [1, 2]
    nobody = Controller({}, AccountingDown("x"))
    assert await find_replaced(nobody, old(1)) == set()


async def test_ids_alone_cost_nothing() -> None:
    memory = Controller({1: T0}, {})
    assert await find_replaced(memory, [Identity(1)]) == set()
    assert (memory.looked, memory.searched) == ([], [])
