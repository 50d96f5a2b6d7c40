"""Which way a request takes when the best one fails, on transports in memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from slurm_rest.errors import (
    CommandMissing,
    ControllerDown,
    HostKeyError,
    JobNotFound,
    SlurmError,
    SubmitUncertain,
    Timeout,
    TokenExpired,
    Unreachable,
)
from slurm_rest.transport import switching
from slurm_rest.transport.answers import unserved_accounting
from slurm_rest.transport.base import Counters
from slurm_rest.transport.conditions import falls_through
from tests.support.logs import logged

from .ways import AWAY, FALLING, HANG, JOB, STAYING, Setup, kind, setup

__all__ = ["setup"]


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


async def test_accounting_that_one_way_does_not_serve_is_asked_over_another(setup: Setup) -> None:
    setup.rest.fault = unserved_accounting("http://slurm:6820")
    setup.rest.capabilities = replace(setup.rest.capabilities, accounting=False)
    assert not setup.all.capabilities.accounting
    assert [row.job_id for row in await setup.all.states([5])] == [5]
    assert setup.states() == ["rest closed", "ssh closed", "cli closed"], "it serves all the rest"
    assert setup.all.name == "rest"
    assert setup.all.capabilities.accounting
    # A way that may come back is waited for.
    setup.ssh.fault = setup.cli.fault = AWAY
    with pytest.raises(Unreachable, match="Nothing listens"):
        await setup.all.states([5])


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


async def test_counters_are_summed_and_all_are_closed(setup: Setup) -> None:
    setup.rest.counters.requests, setup.ssh.counters.requests, setup.cli.counters.bytes_received = 2, 3, 4
    assert setup.all.counters == Counters(5, 4)
    await setup.all.close()
    assert [one.calls for one in (setup.rest, setup.ssh, setup.cli)] == [["close"]] * 3


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
