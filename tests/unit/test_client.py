"""The client's own part: members of arrays and het jobs, and what it asks before it acts."""

from __future__ import annotations

import dataclasses
import os
from datetime import datetime, timezone

import httpx
import pytest

from slurm_rest import AsyncJob, AsyncSlurmClient, JobSpec
from slurm_rest.errors import ConfigError, JobNotFound, SpecError, Unreachable
from slurm_rest.models import JobInfo
from slurm_rest.states import JobState

from .captures import capture
from .wire import NEW, URL, Server, accounted, body_of, client, good, job, no_pauses, query_of, server, states

__all__ = ["no_pauses", "server"]


def number(value: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": value}


def task(job_id: int, index: int, state: str = "COMPLETED", code: int = 0, array: int = 10) -> dict[str, object]:
    """Return a controller's record of one task of an array."""
    return job(job_id, state, code, array_job_id=number(array), array_task_id=number(index))


def packed(tasks: str, array: int = 10) -> dict[str, object]:
    """Return the record of the tasks that have none of their own yet."""
    nothing = {"set": False, "infinite": False, "number": 0}
    return job(array, "PENDING", array_job_id=number(array), array_task_id=nothing, array_task_string=tasks)


def part(job_id: int, offset: int, state: str = "COMPLETED", leader: int = 10) -> dict[str, object]:
    """Return a controller's record of one component of a het job."""
    return job(job_id, state, het_job_id=number(leader), het_job_offset=number(offset))


def labels(handles: list[AsyncJob]) -> list[tuple[str, str]]:
    return [(handle.label, str(handle.state)) for handle in handles]


# --- handles --------------------------------------------------------------------------------------------------


async def test_labels_are_slurms() -> None:
    async with client() as slurm:
        handles = [slurm.job(12), AsyncJob(slurm, 12, task_id=0), AsyncJob(slurm, 12, offset=1)]
    assert [handle.label for handle in handles] == ["12", "12_0", "12+1"]
    assert [handle.is_member for handle in handles] == [False, True, True]
    assert repr(handles[1]) == "<Job 12_0 UNKNOWN>"
    assert "<b>Job 12+1</b>" in handles[2]._repr_html_()


async def test_a_handle_is_made_of_what_slurm_shows() -> None:
    async with client() as slurm:
        handles = [slurm.job(text) for text in ("12", "12_0", "12+1", " 7\n")]
    assert [(one.id, one.task_id, one.offset) for one in handles] == [
        (12, None, None),
        (12, 0, None),
        (12, None, 1),
        (7, None, None),
    ]


@pytest.mark.parametrize("wrong", ["abc", "0", "", "-1", "12_[1-3]", "1_2_3", "\u0661", 0, -1, True, 1.5, None])
async def test_a_handle_is_not_made_of_anything_else(wrong: object) -> None:
    async with client() as slurm:
        with pytest.raises(SpecError, match=r"is not (a|one) job"):
            slurm.job(wrong)  # type: ignore[arg-type]  # wrong on purpose


async def test_a_submit_time_is_a_moment_and_one_without_a_zone_is_this_hosts() -> None:
    moment = datetime.fromtimestamp(1_700_000_000, timezone.utc)
    async with client() as slurm:
        for told in (moment, moment.astimezone(), moment.astimezone().replace(tzinfo=None)):
            assert slurm.job(12, submit_time=told).identity.submit_time == moment
        with pytest.raises(SpecError, match="is no moment"):
            slurm.job(12, submit_time="2026-01-31")  # type: ignore[arg-type]  # wrong on purpose


async def test_a_record_is_no_handle_and_is_named_instead_of_shown() -> None:
    record = JobInfo(id=11, array_job_id=10, array_task_id=1, state=JobState.parse("RUNNING"), name="secret project")
    async with client() as slurm:
        for call in (slurm.cancel, slurm.wait, slurm.states, slurm.hold):
            for given in (record, [record]):
                with pytest.raises(SpecError, match=r"^The record of job 10_1 is no handle\. Make one of it") as caught:
                    await call(given)  # type: ignore[arg-type]  # wrong on purpose
                assert "secret" not in str(caught.value)
        assert slurm.requests == 0
    assert slurm.job(record.label).label == "10_1"


async def test_tasks_are_handles_in_order_with_what_was_heard(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_2", "PENDING"), ("10_0", "RUNNING"), ("10_1", "PENDING")))
    async with client() as slurm:
        tasks = await slurm.job(10).tasks()
        assert labels(tasks) == [("10_0", "RUNNING"), ("10_1", "PENDING"), ("10_2", "PENDING")]
        assert await slurm.job(10).components() == []
        assert slurm.requests == 3


async def test_components_are_handles(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10+0", "RUNNING"), ("10+1", "RUNNING")))
    async with client() as slurm:
        assert labels(await slurm.job(10).components()) == [("10+0", "RUNNING"), ("10+1", "RUNNING")]


async def test_a_plain_job_has_no_members(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10", "RUNNING")))
    server.on("GET", "/job/10", good(jobs=[job(10, "RUNNING")]))
    async with client() as slurm:
        assert await slurm.job(10).tasks() == []


async def test_tasks_that_left_the_controller_come_from_accounting(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_2", "COMPLETED")))
    server.on("GET", "/job/10", good(jobs=[task(12, 2)]))
    gone = [
        accounted(11, "FAILED", 3, array={"job_id": 10, "task_id": number(0)}),
        accounted(12, array={"job_id": 10, "task_id": number(2)}),
    ]
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=gone))
    async with client() as slurm:
        assert labels(await slurm.job(10).tasks()) == [("10_0", "FAILED"), ("10_2", "COMPLETED")]


async def test_a_handle_tells_since_when_nobody_answers(server: Server) -> None:
    server.ping()
    refused = httpx.ConnectError("refused")
    good_rows = states(("7", "RUNNING")).response
    server.on("GET", "/jobs/state/", good_rows, *[refused] * 6, good_rows)
    async with client() as slurm:
        own = slurm.job(7)
        await own.refresh()
        assert (own.stale_since, slurm.stale_since()) == (None, None)
        for _ in range(2):
            with pytest.raises(Unreachable):
                await own.refresh()
        since = own.stale_since
        assert since is not None
        assert (str(own.state), slurm.stale_since()) == ("RUNNING", since)
        await own.refresh()
        assert own.stale_since is None


# --- the record of a member -----------------------------------------------------------------------------------


async def test_a_task_that_started_is_read_without_its_array(server: Server) -> None:
    server.ping()
    rows = server.on("GET", "/jobs/state/", states(("11_0", "RUNNING"), ("12_1", "FAILED"), ("10_2", "PENDING")))
    own = server.on("GET", "/job/12", good(jobs=[task(12, 1, "FAILED", 3)]))
    async with client() as slurm:
        member = AsyncJob(slurm, 10, task_id=1)
        for _ in range(2):
            record = await member.info()
            assert (record.id, record.exit_code.code, member.own_id) == (12, 3, 12)
    assert (rows.call_count, own.call_count) == (1, 2)


async def test_a_member_has_its_own_record(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_0", "RUNNING"), ("10_1", "FAILED")))
    server.on("GET", "/job/10", good(jobs=[task(11, 0), task(12, 1, "FAILED", 3), packed("2-9:2%3")]))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client() as slurm:
        own = await AsyncJob(slurm, 10, task_id=1).info()
        pending = await AsyncJob(slurm, 10, task_id=4).info()
        assert (own.id, own.label, own.exit_code.code, str(own.state)) == (12, "10_1", 3, "FAILED")
        assert (pending.label, str(pending.state), pending.array_tasks) == ("10_4", "PENDING", "")
        for absent in (3, 5, 11):
            with pytest.raises(JobNotFound, match=f"no job 10_{absent}"):
                await AsyncJob(slurm, 10, task_id=absent).info()
        with pytest.raises(JobNotFound, match=r"no job 10\+0"):
            await AsyncJob(slurm, 10, offset=0).info()


async def test_a_component_has_its_own_record(server: Server) -> None:
    server.ping()
    server.on("GET", "/job/10", good(jobs=[part(10, 0), part(11, 1, "FAILED")]))
    async with client() as slurm:
        info = await AsyncJob(slurm, 10, offset=1).info()
        assert (info.id, info.label, str(info.state)) == (11, "10+1", "FAILED")


async def test_a_task_is_no_member_of_itself(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("11_0", "RUNNING")))
    server.on("GET", "/job/11", good(jobs=[task(11, 0)]))
    async with client() as slurm:
        with pytest.raises(JobNotFound, match="no job 11_0"):
            await AsyncJob(slurm, 11, task_id=0).info()


@pytest.mark.parametrize(
    ("tasks", "inside", "outside"),
    [
        ("0-3", [0, 1, 3], [4]),
        ("1,5,9", [1, 5, 9], [0, 2, 15]),
        ("0-8:4%2", [0, 4, 8], [2, 9]),
        ("3%1", [3], [1]),
        ("0,2,...", [0, 2, 3], []),
        ("", [], [0]),
    ],
)
def test_a_packed_record_stands_for_the_tasks_that_it_lists(tasks: str, inside: list[int], outside: list[int]) -> None:
    record = JobInfo(id=10, state=JobState.parse("PENDING"), array_job_id=10, array_tasks=tasks)
    assert [index for index in [*inside, *outside] if record.stands_for(index)] == inside


# --- the state of a member ------------------------------------------------------------------------------------


async def test_a_member_is_asked_for_among_its_group(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_0", "RUNNING"), ("10_1", "PENDING")))
    async with client() as slurm:
        handle = AsyncJob(slurm, 10, task_id=1)
        assert str(await handle.refresh()) == str(handle.state) == "PENDING"


async def test_members_are_not_taken_for_their_group() -> None:
    async with client() as slurm:
        member = AsyncJob(slurm, 10, task_id=1)
        for call in (slurm.states, slurm.describe):
            with pytest.raises(SpecError, match="10_1 is a member of job 10"):
                await call([member])
        assert slurm.requests == 0


# --- acting ---------------------------------------------------------------------------------------------------


async def test_members_are_cancelled_by_their_label(server: Server) -> None:
    server.ping()
    cancel = server.on("DELETE", "/jobs/", good(status=[]))
    async with client() as slurm:
        done = await slurm.cancel([AsyncJob(slurm, 10, task_id=3), slurm.job(12), 13, AsyncJob(slurm, 14, offset=1)])
        await AsyncJob(slurm, 10, task_id=3).cancel("USR1")
    assert body_of(cancel.calls[0])["jobs"] == ["10_3", "12", "13", "14+1"]
    assert body_of(cancel.calls[1]) == {"jobs": ["10_3"], "signal": "USR1", "flags": ["FULL_JOB"]}
    assert [result.job_id for result in done] == [10, 12, 13, 14]


async def test_a_refusal_concerns_only_its_task(server: Server) -> None:
    # slurmrestd writes 10_1 back in brackets.
    status = [{"step_id": "10_[1]", "error": {"code": 2021, "message": "over"}}]
    server.ping()
    server.on("DELETE", "/jobs/", good(status=status))
    async with client() as slurm:
        done = await slurm.cancel([AsyncJob(slurm, 10, task_id=0), AsyncJob(slurm, 10, task_id=1)])
    assert [result.outcome for result in done] == ["signalled", "already_over"]


# --- waiting --------------------------------------------------------------------------------------------------


async def test_a_wait_for_a_task_ends_before_its_array(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_0", "COMPLETED"), ("10_1", "RUNNING")))
    server.on("GET", "/job/10", good(jobs=[task(11, 0), task(12, 1, "RUNNING")]))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client() as slurm:
        handle = AsyncJob(slurm, 10, task_id=0)
        record = await handle
        assert (record.label, str(record.state), str(handle.state)) == ("10_0", "COMPLETED", "COMPLETED")


async def test_members_and_whole_jobs_are_awaited_together(server: Server) -> None:
    server.ping()
    rows = server.on("GET", "/jobs/state/", states(("10_0", "FAILED"), ("10_1", "RUNNING"), ("20", "COMPLETED")))
    server.on("GET", "/job/10", good(jobs=[task(11, 0, "FAILED", 3), task(12, 1, "RUNNING")]))
    server.on("GET", "/job/20", good(jobs=[job(20)]))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client() as slurm:
        records = await slurm.wait([20, AsyncJob(slurm, 10, task_id=0), slurm.job(20)])
    assert [(record.label, str(record.state)) for record in records] == [
        ("20", "COMPLETED"),
        ("10_0", "FAILED"),
        ("20", "COMPLETED"),
    ]
    assert str(records).splitlines()[0].split() == ["ID", "NAME", "STATE", "REASON", "EXIT", "NODES", "ELAPSED"]
    # All of them share a request, as waits do.
    assert query_of(rows.calls[0], "job_id") == ["10", "20"]


# --- what to submit for ---------------------------------------------------------------------------------------


async def target_of(slurm: AsyncSlurmClient) -> tuple[str, str, str]:
    return await slurm._transport.target()


async def test_the_target_is_learnt_once_and_from_a_ping(server: Server) -> None:
    ping = server.ping()
    async with client() as slurm:
        assert await target_of(slurm) == ("v0.0.45", "26.05", capture(NEW, "ping").body["meta"]["slurm"]["cluster"])
        assert await target_of(slurm) == await target_of(slurm)
    assert ping.call_count == 1


async def test_a_version_that_was_set_still_needs_the_release(server: Server) -> None:
    ping = server.on("GET", "/slurm/v0.0.42/ping/", capture("24.11.5/v0.0.42", "ping"))
    async with client(api_version="v0.0.42") as slurm:
        version, release, cluster = await target_of(slurm)
    assert (version, release) == ("v0.0.42", "24.11")
    assert cluster
    assert ping.call_count == 1


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ({"timeout": 0.0}, "timeout is 0.0. It takes seconds, more than 0."),
        ({"timeout": -1.0}, "timeout is -1.0. It takes seconds, more than 0."),
        ({"timeout": float("nan")}, "timeout is nan. It takes seconds, more than 0."),
        ({"recovery_timeout": -1.0}, "recovery_timeout is -1.0. It takes seconds, 0 or more."),
    ],
)
def test_spans_that_are_none(spans: dict[str, float], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AsyncSlurmClient(
            URL, token="tok", timeout=spans.get("timeout"), recovery_timeout=spans.get("recovery_timeout", 0)
        )
    assert str(caught.value) == problem


async def test_variables_are_looked_up_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that serves others must be able to keep its own environment out of a client."""
    monkeypatch.setenv("SLURM_JWT", "of-the-service")
    given = {"XDG_CONFIG_HOME": os.devnull, "SLURM_REST_URL": "http://theirs:1", "SLURM_JWT": "theirs"}
    async with AsyncSlurmClient(environ=given) as client:
        assert client.address == "http://theirs:1"
        assert await client.settings.token.token() == "theirs"
    async with AsyncSlurmClient("http://other:1", environ={"XDG_CONFIG_HOME": os.devnull}) as client:
        assert not await client.settings.token.token()


@pytest.mark.parametrize(
    ("name", "told", "comment", "kept", "shown"),
    [
        ('a "b"', "a `b`", "mine", "", ('a "b"', "mine")),
        ("a\udcff", "a?", 'x "y"', "x `y`", ("a\udcff", 'x "y"')),
        ("old", "renamed", "old", "another", ("renamed", "another")),
    ],
)
async def test_a_handle_knows_what_accounting_spoils(
    name: str, told: str, comment: str, kept: str, shown: tuple[str, str]
) -> None:
    async with client() as slurm:
        handle = AsyncJob(slurm, 7, spec=JobSpec("#!/bin/sh\n", name=name, comment=comment))
        record = JobInfo(id=7, state=JobState.parse("FAILED"), name=told, comment=kept, source="accounting")
        learnt = handle.learn(record)
        assert (learnt.name, learnt.comment) == shown
        here = dataclasses.replace(record, source="controller")
        assert handle.learn(here) is here
