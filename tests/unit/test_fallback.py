"""Which way a request takes when the best one fails, on transports in memory."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import cast

import pytest

from slurm_rest.errors import (
    AccountingDown,
    ApiError,
    AuthError,
    CommandMissing,
    ConfigError,
    ControllerDown,
    HostKeyError,
    JobNotFound,
    NoAccounting,
    PermissionDenied,
    ProtocolError,
    SlurmError,
    SpecError,
    SubmitRejected,
    SubmitUncertain,
    Timeout,
    TokenExpired,
    TokenMissing,
    TokenSourceError,
    UnknownUser,
    Unreachable,
    UnsupportedVersion,
    VersionNotServed,
)
from slurm_rest.models import ActionResult, CancelResult, JobInfo, Ping, Submission
from slurm_rest.states import JobState
from slurm_rest.transport import recovery, switching
from slurm_rest.transport.base import Counters, PreparedJob, SlurmTransport, StateRow
from slurm_rest.transport.capabilities import Capabilities, rest_capabilities
from slurm_rest.transport.conditions import falls_through, proves_nothing_was_sent
from slurm_rest.transport.fallback import FallbackTransport
from slurm_rest.transport.once import leave_open
from slurm_rest.transport.recovery import Case, Look
from tests.support.logs import logged

REST = rest_capabilities("24.11", "v0.0.42")
JOB = PreparedJob({"script": "#!/bin/sh\n", "job": {}}, "slurm-rest:" + "0" * 20, user="alice", api_version="v0.0.42")
AWAY = Unreachable("Nothing listens", hint="Start it.")
HANG = "hang"


class Fake:
    """A transport whose every call ends in ``fault``, or well. ``HANG``: it never ends."""

    def __init__(self, name: str, capabilities: Capabilities, *, user: str = "", cluster: str = "hpc") -> None:
        self.name, self.where, self.capabilities = name, f"{name}-host", capabilities
        self.cluster, self.slurm_release = cluster, "24.11.5"
        self.counters = Counters()
        self.user = user
        self.fault: SlurmError | str | None = None
        self.life: SlurmError | str | None = None
        self.calls: list[str] = []
        self.asked = asyncio.Event()

    async def _do(self, name: str) -> None:
        self.calls.append(name)
        self.asked.set()
        if self.fault == HANG:
            await asyncio.Event().wait()
        if isinstance(self.fault, SlurmError):
            raise self.fault

    async def target(self) -> tuple[str, str, str]:
        return ("v0.0.42" if self.capabilities.generated_api else "", "24.11", self.cluster)

    async def user_name(self) -> str:
        return self.user

    async def reach(self) -> None:
        if self.life == HANG:
            await asyncio.Event().wait()

    async def ping(self) -> list[Ping]:
        await self._do("ping")
        return []

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        await self._do("states")
        return [StateRow(job_id, JobState.parse("RUNNING")) for job_id in ids]

    async def submit(self, job: PreparedJob) -> Submission:
        await self._do("submit")
        return Submission(job_id=7, cluster=self.cluster)

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        await self._do("cancel")
        return [CancelResult(job_id=1, outcome="signalled")]

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        await self._do("hold")
        return [ActionResult(job_id=1, outcome="done")]

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        await self._do("requeue")
        if not self.capabilities.requeue:
            raise UnsupportedVersion("cannot requeue")
        return [ActionResult(job_id=1, outcome="done")]

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        """Raise: it cannot see jobs."""
        raise NoAccounting("cannot look")

    async def close(self) -> None:
        self.calls.append("close")


class Finding(Fake):
    """A transport that can look for keys; its looks take no time and see everything, unless they are not complete."""

    found: tuple[JobInfo, ...] = ()
    complete = True

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        await self._do("find")
        now = time.monotonic()
        return Look(now, now, self.found, self.complete)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Setup:
    """REST, SSH and this host's commands, in that order."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.rest = Fake("rest", REST)
        self.ssh = Finding("ssh", Capabilities())
        self.cli = Fake("cli", Capabilities())
        self.switches: list[tuple[str, str]] = []
        self.patience = 10.0
        self._made: FallbackTransport | None = None

    @property
    def all(self) -> FallbackTransport:
        if self._made is None:
            each = [cast("SlurmTransport", one) for one in (self.rest, self.ssh, self.cli)]
            self._made = FallbackTransport(
                each,
                guarded=("cli",),
                clock=self.clock,
                on_switch=lambda *names: self.switches.append(names),
                patience=self.patience,
            )
        return self._made

    def states(self) -> list[str]:
        return [f"{way.transport} {way.state}" for way in self.all.health()]

    async def probe(self) -> None:
        """Let the pause pass, and the probe that the next call starts end."""
        self.clock.now += 100
        await self.all.states([1])
        await asyncio.gather(*self.all.board._probes)


@pytest.fixture
def setup() -> Setup:
    return Setup()


FALLING = [
    AWAY,
    Timeout("no answer"),
    ProtocolError("a page"),
    CommandMissing("no squeue"),
    AuthError("not let in"),
    TokenMissing("none"),
    TokenExpired("old"),
    TokenSourceError("its command fails"),
    VersionNotServed("not that one"),
    ControllerDown("away"),
    AccountingDown("away"),
]
STAYING = [
    ApiError("no"),
    JobNotFound("no"),
    PermissionDenied("no"),
    SubmitRejected("no"),
    UnsupportedVersion("cannot say that"),
    UnknownUser("nobody"),
    NoAccounting("none kept"),
    HostKeyError("another key"),
    ConfigError("wrong"),
    SpecError("wrong"),
    SubmitUncertain("lost", key="k"),
]


def kind(error: SlurmError) -> str:
    return type(error).__name__


@pytest.mark.parametrize("error", FALLING, ids=kind)
async def test_an_outage_goes_on_to_the_next(setup: Setup, error: SlurmError) -> None:
    setup.rest.fault = error
    assert [row.job_id for row in await setup.all.states([5])] == [5]
    assert (setup.all.name, setup.all.where) == ("ssh", "ssh-host")
    assert setup.states() == ["rest open", "ssh closed", "cli closed"]
    assert setup.all.health()[0].reason == error.message
    await setup.all.states([5])
    assert setup.rest.calls == ["states"], "what was given up is left alone"
    assert falls_through(error)


@pytest.mark.parametrize("error", STAYING, ids=kind)
async def test_a_refusal_stays_where_it_was_made(setup: Setup, error: SlurmError) -> None:
    setup.rest.fault = error
    for ask in (setup.all.states([5]), setup.all.submit(JOB)):
        with pytest.raises(type(error)) as caught:
            await ask
        assert caught.value is error
    assert setup.ssh.calls == [] or isinstance(error, SubmitUncertain)
    assert "submit" not in setup.ssh.calls
    assert setup.all.name == "rest"
    assert not falls_through(error)


async def test_a_refusal_over_the_second_way_is_the_answer(setup: Setup) -> None:
    setup.rest.fault, setup.ssh.fault = AWAY, JobNotFound("no such job")
    with pytest.raises(JobNotFound, match="no such job"):
        await setup.all.states([5])
    assert (setup.states(), setup.cli.calls) == (["rest open", "ssh closed", "cli closed"], [])


async def test_it_goes_on_to_the_last_and_tells_what_all_said(setup: Setup) -> None:
    setup.rest.fault, setup.ssh.fault = AWAY, Timeout("silent")
    assert await setup.all.states([5])
    assert setup.all.name == "cli"
    setup.cli.fault = CommandMissing("no squeue")
    setup.rest.fault = Unreachable("Nothing listens", hint="Start it.")
    with pytest.raises(Unreachable, match="Nothing listens") as caught:
        await setup.all.states([5])
    assert "ssh: silent" in caught.value.hint
    assert "cli: no squeue" in caught.value.hint
    assert caught.value.hint.startswith("Start it. Other ways fail too: ")
    # A command at the end of a hint has no full stop.
    setup.rest.fault = Unreachable("Nothing listens", hint="Start it with: slurmrestd")
    with pytest.raises(Unreachable, match="Nothing listens") as caught:
        await setup.all.states([5])
    assert caught.value.hint.startswith("Start it with: slurmrestd. Other ways fail too: ")


async def test_all_ways_are_tried_again_when_none_is_left(setup: Setup) -> None:
    setup.rest.fault = setup.ssh.fault = setup.cli.fault = AWAY
    with pytest.raises(Unreachable):
        await setup.all.states([5])
    setup.ssh.fault = None
    assert await setup.all.states([5])
    assert setup.all.name == "ssh"


async def test_a_controller_that_is_away_everywhere_is_nobodys_fault(setup: Setup) -> None:
    setup.rest.fault, setup.ssh.fault, setup.cli.fault = (ControllerDown(one) for one in "abc")
    for _ in range(2):
        with pytest.raises(ControllerDown, match="a"):
            await setup.all.states([5])
    assert setup.states() == ["rest closed", "ssh closed", "cli closed"]
    # Who got an answer knows more than who got none.
    setup.rest.fault = Timeout("silent")
    with pytest.raises(ControllerDown, match="b"):
        await setup.all.states([5])
    assert setup.states()[0] == "rest open"


async def test_switches_are_logged_once_and_counted(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "slurm_rest")
    setup.rest.fault = AWAY
    await asyncio.gather(*(setup.all.states([5]) for _ in range(20)))
    assert logged(caplog) == ["rest is given up for now, going on over ssh: Nothing listens"]
    setup.rest.fault = None
    await setup.probe()
    assert logged(caplog)[1:] == ["rest answers again, so ssh is no longer used"]
    assert setup.switches == [("rest", "ssh"), ("ssh", "rest")]
    assert [(one.switches, one.active) for one in setup.all.health()] == [(1, True), (1, False), (0, False)]


async def test_a_probe_brings_the_better_way_back_and_nobody_waits_for_it(setup: Setup) -> None:
    setup.rest.fault = AWAY
    await setup.all.states([5])
    setup.rest.fault = HANG
    setup.clock.now += 100
    await setup.all.states([5])
    await asyncio.sleep(0)
    assert setup.states()[0] == "rest half-open"
    assert setup.ssh.calls == ["states", "states"]
    await setup.all.states([5])
    assert setup.rest.calls == ["states", "ping"], "one probe at a time"
    await setup.all.close()
    assert setup.states()[0] == "rest open", "a probe that was broken off told nothing"


async def test_a_failed_probe_tells_its_own_reason(setup: Setup) -> None:
    setup.rest.fault = AWAY
    await setup.all.states([5])
    setup.rest.fault = TokenExpired("old")
    await setup.probe()
    assert setup.all.health()[0].reason == "old"
    assert setup.all.name == "ssh"
    setup.rest.fault = None
    await setup.probe()
    assert setup.all.name == "rest"


async def test_since_is_when_it_was_given_up(setup: Setup) -> None:
    assert setup.all.health()[0].since is None
    setup.rest.fault = AWAY
    await setup.all.states([5])
    before = setup.all.health()[0].since
    setup.clock.now += 60
    after = setup.all.health()[0].since
    assert before is not None
    assert after is not None
    # The two are told a moment apart.
    assert (before - after).total_seconds() == pytest.approx(60, abs=30)


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


# --- second choices ---------------------------------------------------------------------------------------------


async def test_the_commands_here_must_lead_to_the_same_cluster(setup: Setup) -> None:
    setup.rest.fault = setup.ssh.fault = AWAY
    setup.cli.cluster = "other"
    with pytest.raises(Unreachable) as caught:
        await setup.all.states([5])
    assert "it leads to cluster other, not hpc" in caught.value.hint
    assert setup.cli.calls == []


async def test_an_unknown_cluster_is_not_guessed(setup: Setup) -> None:
    setup.rest.fault = setup.ssh.fault = AWAY
    setup.rest.cluster = setup.ssh.cluster = ""
    with pytest.raises(Unreachable) as caught:
        await setup.all.states([5])
    assert "cannot be told whether it leads to the same cluster" in caught.value.hint
    assert setup.cli.calls == []


async def test_a_host_key_is_for_people_to_settle(setup: Setup) -> None:
    setup.rest.fault, setup.ssh.fault = AWAY, HostKeyError("another key")
    assert await setup.all.states([5])
    assert setup.all.name == "cli"
    assert setup.all.health()[1].reason == "another key"
    setup.cli.fault = AWAY
    with pytest.raises(Unreachable) as caught:
        await setup.all.states([5])
    assert "ssh: another key" in caught.value.hint


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


# --- a daemon that takes connections and says nothing -----------------------------------------------------------


async def test_a_frozen_daemon_is_found_out(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switching, "_REACH_SECONDS", 0)
    setup.patience = 0
    setup.rest.fault = setup.rest.life = HANG
    assert await setup.all.states([5])
    assert setup.all.name == "ssh"
    assert "no sign of life" in setup.all.health()[0].reason


async def test_answers_to_others_are_signs_of_life(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switching, "_REACH_SECONDS", 0)
    setup.patience = 0
    setup.rest.fault = setup.rest.life = HANG
    waiting = asyncio.ensure_future(setup.all.states([5]))
    for _ in range(50):
        setup.rest.counters.bytes_received += 1
        await asyncio.sleep(0)
    assert not waiting.done()
    await waiting
    assert setup.all.name == "ssh", "it fell silent"


async def test_a_submission_is_not_broken_off(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switching, "_REACH_SECONDS", 0)
    setup.patience = 0
    setup.rest.fault = setup.rest.life = HANG
    waiting = asyncio.ensure_future(setup.all.submit(JOB))
    await setup.rest.asked.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert setup.ssh.calls == []


async def test_a_slow_daemon_that_lives_is_waited_for(setup: Setup) -> None:
    setup.patience = 0
    setup.rest.fault = HANG
    waiting = asyncio.ensure_future(setup.all.states([5]))
    await setup.rest.asked.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert setup.ssh.calls == []


async def test_a_caller_who_gives_up_changes_nothing(setup: Setup) -> None:
    setup.rest.fault = HANG
    asks: list[Callable[[], Awaitable[object]]] = [lambda: setup.all.states([5]), lambda: setup.all.submit(JOB)]
    for ask in asks:
        task = asyncio.ensure_future(ask())
        setup.rest.asked.clear()
        await setup.rest.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert setup.states() == ["rest closed", "ssh closed", "cli closed"]
    assert setup.ssh.calls == []


async def test_counters_are_summed_and_all_are_closed(setup: Setup) -> None:
    setup.rest.counters.requests, setup.ssh.counters.requests, setup.cli.counters.bytes_received = 2, 3, 4
    assert setup.all.counters == Counters(5, 4)
    await setup.all.close()
    assert [one.calls for one in (setup.rest, setup.ssh, setup.cli)] == [["close"]] * 3
