"""Jobs that no node launched, of which Slurm says only that root cancelled them: what their nodes tell."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from flyteplugins.slurm_rest import launches
from flyteplugins.slurm_rest.asking import TimeLeft
from flyteplugins.slurm_rest.findings import Findings
from flyteplugins.slurm_rest.follower import Look
from flyteplugins.slurm_rest.launches import add_launch_failures
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from slurm_rest import JobState, Node
from slurm_rest.errors import ControllerDown
from slurm_rest.models import ExitCode, JobInfo

from .support.site import Site, attempt

BEGIN = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
PROLOG = "Prolog error"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_PAUSES", (0.01,))


def ends_unlaunched(site: Site, *metas: SlurmJobMetadata, by: str = "root") -> None:
    """Leave of these jobs what Slurm leaves of one that was not launched, all in one moment."""
    for meta in metas:
        for job in site.fake.slurm.members(int(meta.job_id)):
            job.killed_by = by
        site.finish(meta, state="CANCELLED")


def drained(site: Site, meta: SlurmJobMetadata, reason: str, state: str = "IDLE DRAIN") -> None:
    """Let the client find all nodes in this state."""

    async def nodes() -> list[Node]:
        names = [node.name for node in site.fake.slurm.machines.nodes]
        return [Node(name=name, state=tuple(state.split()), reason=reason) for name in names]

    client: Any = site.connector._cluster_of(meta, None).client
    client.nodes = nodes


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("reason", [PROLOG, "SlurmdSpoolDir is full", "batch job complete failure"])
async def test_a_drained_node_tells_that_it_launched_none(site: Site, count: int, reason: str) -> None:
    """Several that end in one tick come from accounting, one alone from the controller."""
    metas = [await site.create(execution=attempt(f"r{number}")) for number in range(count)]
    for meta in metas:
        site.fake.start(int(meta.job_id))
        await site.until(meta, "RUNNING")
    drained(site, metas[0], reason)
    ends_unlaunched(site, *metas)
    for meta in metas:
        message = (await site.until(meta, "RETRYABLE_FAILED")).message or ""
        assert f"reason: JobLaunchFailure ({reason}), a node could not launch it" in message
        assert "not through Flyte" not in message


@pytest.mark.parametrize(
    ("reason", "state", "by"),
    [(PROLOG, "IDLE", "root"), ("maintenance", "IDLE DRAIN", "root"), (PROLOG, "IDLE DRAIN", "bob")],
)
async def test_other_cancellations_are_somebody_s(site: Site, reason: str, state: str, by: str) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    drained(site, meta, reason, state)
    ends_unlaunched(site, meta, by=by)
    assert f"cancelled by {by}, not through Flyte" in ((await site.until(meta, "FAILED")).message or "")


def cancelled(**fields: Any) -> JobInfo:
    known: dict[str, Any] = {"state": JobState.parse("CANCELLED"), "nodes": "n[1-2]", "exit_code": ExitCode(0, 0)}
    times = {"start_time": BEGIN, "end_time": BEGIN + timedelta(seconds=2)}
    return JobInfo(id=7, **{**known, **times, **fields})


def over_rest(answers: Iterable[Any], asked: list[str]) -> Any:
    """Return a client with a slurmrestd that tells of one node after the other; errors among them are raised."""
    left = iter(answers)

    async def get_node(name: str) -> Any:
        asked.append(name)
        found = next(left)
        if isinstance(found, Exception):
            raise found
        return SimpleNamespace(nodes=[found])

    return SimpleNamespace(api=SimpleNamespace(get_node=get_node))


def node(seconds: float, reason: str = PROLOG, state: str = "DRAIN") -> Any:
    since = int((BEGIN + timedelta(seconds=seconds)).timestamp())
    return SimpleNamespace(state=["IDLE", state], reason=reason, reason_changed_at=since)


async def reason_of(record: JobInfo, client: Any, **others: Any) -> str:
    found: Findings[Any] = Findings()
    look = Look(record.state, record, is_over=True, **others)
    told = await add_launch_failures(found, "key", client, look, TimeLeft(60))
    while told is None:
        told = await add_launch_failures(found, "key", client, look, TimeLeft(60))
    assert told.record is not None
    return told.record.reason


@pytest.mark.parametrize(("seconds", "tells"), [(-3600, False), (0, True), (2, True), (3600, False)])
async def test_the_node_was_drained_while_it_had_the_job(seconds: float, tells: bool) -> None:
    asked: list[str] = []
    found = await reason_of(cancelled(), over_rest([node(seconds)], asked))
    assert found == ("JobLaunchFailure (Prolog error)" if tells else "")
    assert asked == ["n1"]


async def test_a_node_that_is_drained_a_moment_later_is_waited_for() -> None:
    asked: list[str] = []
    assert "Prolog" in await reason_of(cancelled(), over_rest([node(0, "", "MIXED"), node(1)], asked))
    assert asked == ["n1", "n1"]


async def test_a_controller_that_is_away_is_asked_again() -> None:
    asked: list[str] = []
    assert "Prolog" in await reason_of(cancelled(), over_rest([ControllerDown("away"), node(1)], asked))
    assert asked == ["n1", "n1"]


@pytest.mark.parametrize(
    "record",
    [
        cancelled(exit_code=ExitCode(0, 15)),
        cancelled(exit_code=ExitCode(1, 0)),
        cancelled(nodes=""),
        cancelled(nodes="n[2-1]"),
        cancelled(raw={"kill_request_user": "alice"}),
        cancelled(state=JobState.parse("CANCELLED by 2001")),
        cancelled(state=JobState.parse("FAILED")),
        cancelled(source="accounting", derived_exit_code=ExitCode(0, 0)),
        cancelled(
            source="accounting",
            derived_exit_code=ExitCode(0, 0),
            state=JobState.parse("CANCELLED by 0"),
            end_time=BEGIN + timedelta(minutes=2),
        ),
    ],
)
async def test_no_node_is_asked_about_others(record: JobInfo) -> None:
    asked: list[str] = []
    assert await reason_of(record, over_rest([], asked)) == ""
    assert not asked


async def test_accounting_has_no_exit_code_of_the_steps_of_one_that_was_not_launched() -> None:
    record = cancelled(source="accounting", derived_exit_code=ExitCode(), state=JobState.parse("CANCELLED by 0"))
    assert "Prolog" in await reason_of(record, over_rest([node(1)], []))


async def test_sacct_tells_nothing_of_the_steps_so_jobs_that_ended_soon_are_looked_at() -> None:
    record = cancelled(source="accounting", derived_exit_code=ExitCode(0, 0), state=JobState.parse("CANCELLED by 0"))
    assert "Prolog" in await reason_of(record, over_rest([node(1)], []))


async def test_each_task_of_an_array_has_its_own_node() -> None:
    asked: list[str] = []
    tasks = [cancelled(array_job_id=7, array_task_id=place, nodes=f"n{place}") for place in (1, 2, 2)]
    look = Look(tasks[0].state, tasks[0], is_over=True, members=tasks)
    client = over_rest([node(1), node(1, "maintenance"), node(1), node(1, "maintenance")], asked)
    told = await add_launch_failures(Findings(), "key", client, look, TimeLeft(60))
    assert told is not None
    assert [bool(one.reason) for one in told.members] == [True, False, False]
    assert asked == ["n1", "n2", "n1", "n2"]
