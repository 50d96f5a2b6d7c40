"""A transport in memory for the shared watcher, and a clock that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from slurm_rest import JobState
from slurm_rest.followed import Followed
from slurm_rest.identity import Identity, MemberKey
from slurm_rest.models import JobInfo
from slurm_rest.poller import Clock, Poller
from slurm_rest.transport.base import StateRow, StatusSource
from slurm_rest.transport.capabilities import Capabilities
from slurm_rest.watched import Watched
from slurm_rest.watching import States, wait

__all__ = ["Memory", "QuickClock", "Shared", "record", "watch"]

Tick = Mapping[str, str] | Exception
Look = Mapping[str, str] | Exception

# A wait that should be over by then is in for an error instead of going on for ever: in seconds, and in ticks.
_PATIENCE, _REPEATS = 120.0, 10_000


class Memory:
    """A transport that answers each tick, and each look at records, from a script.

    Keys are ids as Slurm writes them. The last answer repeats, unless ``hang`` is set: then there is no further one.
    """

    capabilities = Capabilities()

    def __init__(self, *ticks: Tick, looks: Sequence[Look] = (), hang: bool = False) -> None:
        self.ticks, self.looks, self.hang = list(ticks), list(looks), hang
        self.asked: list[list[int]] = []
        self.looked: list[list[int]] = []
        self.searched: list[list[int]] = []
        self.past: list[JobInfo] | Exception = []
        # What the controller has, where a bare state is not enough.
        self.here: list[JobInfo] = []
        self.then: list[JobInfo] = []
        # Set once the second tick has been asked for.
        self.twice = asyncio.Event()
        self.idle = asyncio.Event()

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        self.asked.append(sorted(ids))
        if len(self.asked) == 2:
            self.twice.set()
        if len(self.asked) > len(self.ticks) and self.hang:
            self.idle.set()
            await asyncio.sleep(_PATIENCE)
            raise AssertionError("somebody still waits, though the last answer should have ended all waits")
        if len(self.asked) > len(self.ticks) + _REPEATS:
            raise AssertionError("somebody still waits, though the same answer came again and again")
        tick = self.ticks[min(len(self.asked), len(self.ticks)) - 1]
        if isinstance(tick, Exception):
            raise tick
        return [_row(label, words) for label, words in tick.items() if _row(label, words).job_id in ids]

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        self.looked.append(sorted(ids))
        tick = self.ticks[min(len(self.asked), len(self.ticks)) - 1]
        here = [record(label, words) for label, words in tick.items()] if isinstance(tick, Mapping) else []
        if self.here:
            found, self.here = [record for record in self.here if record.id in ids], self.then or self.here
            return found
        if not self.looks or set(ids) <= {record.id for record in here}:
            return here
        look = self.looks[min(len(self.looked), len(self.looks)) - 1]
        if isinstance(look, Exception):
            raise look
        return [replace(record(label, words), source="accounting") for label, words in look.items()]

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        self.searched.append(sorted(ids))
        if isinstance(self.past, Exception):
            raise self.past
        return [item for item in self.past if {item.id, item.array_job_id} & set(ids)]


def _row(label: str, words: str) -> StateRow:
    whole, _, offset = label.partition("+")
    base, _, task = whole.partition("_")
    state = JobState.parse(words.split("+"))
    return StateRow(int(base), state, int(task) if task else None, int(offset) if offset else None)


def record(label: str, words: str) -> JobInfo:
    """Return a record by an id as Slurm writes it."""
    row = _row(label, words)
    task, offset = row.task_id, row.offset
    return JobInfo(
        id=row.job_id + (task or offset or 0),
        state=row.state,
        array_job_id=row.job_id if task is not None else None,
        array_task_id=task,
        het_job_id=row.job_id if offset is not None else None,
        het_job_offset=offset,
    )


class QuickClock(Clock):
    """Passes each pause at once."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    async def pause(self, seconds: float, wake: asyncio.Event | None = None) -> None:
        self.time += seconds
        # Who waits for the news has a few turns of the loop to take them, as in any real pause.
        for _ in range(5):
            await asyncio.sleep(0)


class Shared:
    """A poller as a client has it, with waits that return states."""

    def __init__(self, memory: Memory) -> None:
        transport: StatusSource = memory
        self.clock = QuickClock()
        self.poller = Poller(transport, fastest=1, slowest=10, clock=self.clock)
        self.close = self.poller.close

    async def wait(
        self, ids: Iterable[int], timeout: float | None = None, on_change: Callable[[States], None] | None = None
    ) -> dict[int, JobState]:
        targets = [Followed(Identity(job_id)) for job_id in ids]
        records = await wait(self.poller, targets, timeout, on_change)
        return {record.id: record.state for record in records}

    async def wait_member(self, job_id: int, key: MemberKey, timeout: float | None = None) -> JobState:
        (record,) = await wait(self.poller, [Followed(Identity(job_id), key)], timeout)
        return record.state

    def entry(self, job_id: int) -> Watched:
        return self.poller._watched[job_id, ""]


def watch(memory: Memory) -> Shared:
    return Shared(memory)
