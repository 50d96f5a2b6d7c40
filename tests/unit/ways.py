"""Ways to Slurm in memory that fail as a test wants, and which errors lead on to the next."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
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
from slurm_rest.transport.base import Counters, PreparedJob, SlurmTransport, StateRow
from slurm_rest.transport.capabilities import Capabilities, rest_capabilities
from slurm_rest.transport.fallback import FallbackTransport
from slurm_rest.transport.recovery import Look

__all__ = ["AWAY", "FALLING", "HANG", "JOB", "STAYING", "Setup", "kind", "setup"]

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
