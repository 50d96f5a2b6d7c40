"""The work after a job's end: what is tried again, for how long, and what is not."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest
from obstore.exceptions import GenericError, PermissionDeniedError

from flyteplugins.slurm_rest.outcome import Outcome
from flyteplugins.slurm_rest.settling import Settling, may_go_by
from slurm_rest.errors import ConfigError, FilesError, Unreachable


class Time:
    """A clock that pauses move on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    async def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def settling(self) -> Settling:
        return Settling(self.pause, lambda: self.now)


FAULTS = [
    Unreachable("slurmrestd is away"),
    OSError("disk"),
    TimeoutError(),
    GenericError("connection reset"),
    PermissionDeniedError("not yet"),
    httpx.ConnectError("refused"),
    FilesError("an SFTP server's Failure"),
]
MISTAKES = [
    *(TypeError("x"), KeyError("x"), ValueError("x"), AttributeError("x"), ConfigError("x")),
    FilesError("x", kind="denied"),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_faults_of_stores_and_ways_may_go_by(error: Exception) -> None:
    assert may_go_by(error)


@pytest.mark.parametrize("error", MISTAKES, ids=lambda error: type(error).__name__)
def test_mistakes_do_not(error: Exception) -> None:
    assert not may_go_by(error)


async def test_a_fault_is_waited_out_with_longer_and_longer_pauses() -> None:
    time, tries = Time(), iter([*FAULTS[:4], None])

    async def work() -> Outcome | None:
        error = next(tries)
        if error is not None:
            raise error
        return Outcome(True)

    assert await time.settling().result("k", work, patience=5) == (True, Outcome(True), "")
    assert time.pauses == [1, 2, 4, 8]


async def test_a_fault_that_stays_ends_the_task_with_its_reason() -> None:
    time = Time()

    async def work() -> Outcome | None:
        raise GenericError("the bucket is gone")

    done, outcome, _ = await time.settling().result("k", work, patience=5)
    assert done
    assert outcome is not None
    assert (outcome.is_success, outcome.is_recoverable, outcome.code) == (False, True, "StorageError")
    assert outcome.message == "For 60 minutes the outcome could not be had: the bucket is gone"
    assert 3600 <= time.now < 3700


async def test_a_mistake_of_ours_ends_it_at_once(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()

    async def work() -> Outcome | None:
        raise TypeError("no such thing")

    with caplog.at_level(logging.ERROR):
        done, outcome, _ = await time.settling().result("k", work, patience=5)
    assert done
    assert outcome == Outcome(False, "The connector cannot tell the outcome: no such thing", "ConnectorError")
    assert time.pauses == []
    assert "TypeError" in caplog.text


async def test_the_trouble_is_told_meanwhile() -> None:
    again = asyncio.Event()

    async def pause(_: float) -> None:
        await again.wait()

    async def work() -> Outcome | None:
        if not again.is_set():
            raise Unreachable("the store is away")
        return None

    settling = Settling(pause)
    await settling.result("k", work, patience=0.0)
    done, _, trouble = await settling.result("k", work, patience=0.05)
    assert (done, trouble) == (False, "the store is away")
    again.set()
    assert await settling.result("k", work, patience=5) == (True, None, "")
