"""What goes over one way alone, whatever fails: submissions, and what must not be done twice."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from slurm_rest.errors import (
    ProtocolError,
    SlurmError,
    SubmitUncertain,
    Timeout,
    Unreachable,
    UnsupportedVersion,
)
from slurm_rest.models import JobInfo, Submission
from slurm_rest.states import JobState
from slurm_rest.transport import recovery
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.capabilities import Capabilities
from slurm_rest.transport.conditions import proves_nothing_was_sent
from slurm_rest.transport.once import leave_open
from slurm_rest.transport.recovery import Case

from .ways import AWAY, FALLING, JOB, Setup, kind, setup

__all__ = ["setup"]

# --- submissions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", FALLING, ids=kind)
async def test_a_submission_that_certainly_failed_goes_on(setup: Setup, error: SlurmError) -> None:
    setup.rest.fault = error
    assert (await setup.all.submit(JOB)).job_id == 7
    assert (setup.rest.calls, setup.ssh.calls) == (["submit"], ["submit"])


def uncertain(cause: SlurmError | None = None) -> SubmitUncertain:
    error = SubmitUncertain("lost", key=JOB.key)
    error.__cause__ = cause
    return error


async def test_an_uncertain_submission_is_never_sent_again(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slurm_rest.transport.fallback._FIND_PAUSES", (0.0, 0.0))
    setup.rest.fault = error = uncertain()
    with pytest.raises(SubmitUncertain) as caught:
        await setup.all.submit(JOB)
    assert caught.value is error
    assert setup.ssh.calls == ["find", "find"]
    assert "submit" not in setup.cli.calls


async def test_an_uncertain_submission_is_found_over_another_way(setup: Setup) -> None:
    setup.rest.fault = uncertain(ProtocolError("cut"))
    setup.ssh.found = (
        JobInfo(id=12, state=JobState.parse("PENDING"), array_job_id=10),
        JobInfo(id=10, state=JobState.parse("PENDING"), array_job_id=10),
    )
    assert await setup.all.submit(JOB) == Submission(job_id=10, cluster="hpc", found=True)
    assert setup.all.health()[0].reason == "cut"


def open_case(*, held: bool = False) -> SubmitUncertain:
    """Return an error whose case two looks settle, unless somebody may hold the request for nobody knows how long."""
    error = SubmitUncertain("lost", key=JOB.key)
    error.__cause__ = ProtocolError("cut")
    now = time.monotonic()
    return leave_open(error, Case(now, None if held else now, replace(recovery.BOUNDS, grace=0)))


async def test_what_another_way_shows_to_be_lost_for_certain_is_sent_over_it(setup: Setup) -> None:
    setup.rest.fault = open_case()
    assert (await setup.all.submit(JOB)).found is False
    assert setup.ssh.calls == ["find", "find", "submit"]
    assert (setup.rest.calls.count("submit"), setup.cli.calls) == (1, [])


@pytest.mark.parametrize("doubt", ["held", "incomplete", "another cluster", "not to be looked for"])
async def test_what_is_not_certain_over_another_way_stays_uncertain(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, doubt: str
) -> None:
    monkeypatch.setattr("slurm_rest.transport.fallback._FIND_PAUSES", (0.0, 0.0, 0.0))
    setup.rest.fault = error = open_case(held=doubt == "held")
    setup.ssh.complete = doubt != "incomplete"
    if doubt == "another cluster":
        # It came by itself, and nothing has shown yet that it leads to the same one.
        setup.ssh.name = "cli"
        setup.ssh.cluster = ""
    if doubt == "not to be looked for":
        leave_open(error, None)
    with pytest.raises(SubmitUncertain) as caught:
        await setup.all.submit(JOB)
    assert caught.value is error
    assert setup.ssh.calls == ["find"] * 3


async def test_a_look_that_fails_changes_nothing(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slurm_rest.transport.fallback._FIND_PAUSES", (0.0,))
    setup.rest.fault, setup.ssh.fault = uncertain(), AWAY
    with pytest.raises(SubmitUncertain):
        await setup.all.submit(JOB)


async def test_a_job_goes_over_nobody_elses_login(setup: Setup) -> None:
    setup.rest.fault = AWAY
    setup.ssh.user, setup.cli.user = "svc", "alice"
    assert (await setup.all.submit(JOB)).job_id == 7
    assert (setup.ssh.calls, setup.cli.calls) == ([], ["submit"])
    assert setup.all.name == "ssh", "for reading it will do"
    setup.cli.user = "root"
    with pytest.raises(Unreachable) as caught:
        await setup.all.submit(JOB)
    assert "it logs in as svc, and the job is alice's" in caught.value.hint


async def test_what_was_made_for_sbatch_is_not_sent_over_rest(setup: Setup) -> None:
    made = PreparedJob(JOB.body, JOB.key, user="alice")
    assert (await setup.all.submit(made)).job_id == 7
    assert (setup.rest.calls, setup.ssh.calls) == ([], ["submit"])


# --- what must not be done twice, and what some cannot ----------------------------------------------------------


@pytest.mark.parametrize("error", FALLING, ids=kind)
async def test_a_signal_is_not_sent_twice(setup: Setup, error: SlurmError) -> None:
    setup.rest.fault = error
    if proves_nothing_was_sent(error):
        assert await setup.all.cancel([1], "USR1")
    else:
        with pytest.raises(type(error)):
            await setup.all.cancel([1], "USR1")
        assert setup.ssh.calls == []
    for signal in (None, "SIGTERM", "KILL", "9"):
        assert await setup.all.cancel([1], signal)


async def test_what_rest_cannot_do_goes_over_another_way(setup: Setup) -> None:
    assert setup.all.capabilities.requeue
    assert setup.all.capabilities.pending_tasks
    assert setup.all.capabilities.generated_api
    await setup.all.requeue([1])
    await setup.all.hold(["5_1"])
    await setup.all.hold([5])
    assert (setup.rest.calls, setup.ssh.calls) == (["hold"], ["requeue", "hold"])
    assert setup.all.name == "rest"
    setup.ssh.fault = Timeout("no answer")
    with pytest.raises(Timeout):
        await setup.all.requeue([1])
    assert setup.cli.calls == [], "it may have been done"


async def test_nobody_can_is_said_by_the_best(setup: Setup) -> None:
    setup.ssh.capabilities = setup.cli.capabilities = Capabilities(requeue=False)
    with pytest.raises(UnsupportedVersion):
        await setup.all.requeue([1])
    assert setup.rest.calls == ["requeue"]
