"""What it costs to follow jobs, per tick of the poller: on a real cluster for ten minutes of ticks, and in memory.

Live: one wait for 10,000 held jobs, asked as often as in ten minutes at one tick a second, only faster; then some end
at each tick. Measured are the CPU time of this process per tick, its memory, and slurmrestd's. In memory: up to 100,000
jobs of a fake, of which ten move at each tick, without the fake's own work; the cost must grow linearly.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import time
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from bench.live import Live, describe_machine, live, middle, resident
from bench.table import judge, show
from slurm_rest import AsyncSlurmClient
from slurm_rest.poller import Poller
from slurm_rest.states import JobState
from slurm_rest.testing import FakeTransport
from slurm_rest.testing.jobs import JobRequest, Owner
from slurm_rest.transport.base import StateRow

COUNTS = (1_000, 10_000, 100_000)
ALICE = Owner("alice", 1000)
_CPU_MS, _CLIENT_MB, _DAEMON_MB, _LINEAR = 30.0, 10.0, 10.0, 2.0
# One cancellation ends so many, each at one of so many ticks.
_ENDING, _MOVING_TICKS = 10, 50
_SETTLING = 20
_TURNS = tuple(JobState.parse(word) for word in ("PENDING", "RUNNING", "SUSPENDED"))


class Watched(FakeTransport):
    """Notes the CPU time between its answers and the next questions; some jobs are held or released at each."""

    def __init__(self, ticks: int) -> None:
        super().__init__()
        self.spent: list[float] = []
        self.done = asyncio.Event()
        self._answered: float | None = None
        self._ticks = ticks

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Answer, and note what was spent since the last answer."""
        if self._answered is not None:
            self.spent.append(time.process_time() - self._answered)
        if len(self.spent) >= self._ticks:
            self.done.set()
        rows = await super().states(ids)
        for place in range(0, len(rows), len(rows) // _ENDING):
            rows[place] = rows[place]._replace(state=_TURNS[len(self.spent) % len(_TURNS)])
        self._answered = time.process_time()
        return rows


async def cost_of(jobs: int, ticks: int) -> float:
    """Return the CPU milliseconds of one tick with so many jobs."""
    transport = Watched(ticks)
    request = JobRequest(script="#!/bin/sh\n", name="followed")
    ids = [transport.slurm.submit([request], ALICE) for _ in range(jobs)]
    # The jobs of the fake are not the client's to be looked through again and again.
    gc.collect()
    gc.freeze()
    async with AsyncSlurmClient(transport=transport) as client:
        waiting = asyncio.create_task(client.wait(ids))
        await transport.done.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    gc.unfreeze()
    return statistics.median(transport.spent) * 1000


class Following:
    """One wait for many jobs, and what each tick of it costs."""

    def __init__(self, world: Live, client: AsyncSlurmClient) -> None:
        self.world = world
        self.client = client
        # As fast as it can: the ticks are the same as those of a longer time.
        self.poller = client._poller = Poller(client._transport, fastest=0.001, slowest=0.001)  # noqa: SLF001

    async def ticks(self, count: int) -> list[float]:
        """Return the CPU milliseconds of so many ticks."""
        moments = [time.process_time()]
        for _ in range(count):
            ticked = self.poller.ticked
            await ticked.wait()
            moments.append(time.process_time())
        return [(after - before) * 1000 for before, after in pairwise(moments)]

    def memory(self) -> tuple[float, float]:
        """Return the resident memory of this process and of slurmrestd in MB."""
        return resident(Path(f"/proc/{os.getpid()}")), self.world.rss("slurmrestd")


async def follow(world: Live, queued: int, ticks: int) -> int:
    """Follow the queue, print, and return 1 when a promise is broken."""
    ids = world.queued[-queued:]
    async with world.async_client() as client, world.async_client() as other:
        following = Following(world, client)
        await other.states(ids)
        gc.collect()
        before = following.memory()
        waiting = asyncio.create_task(client.wait(ids))
        await following.ticks(_SETTLING)
        settled = following.memory()
        requests, started = client.requests, time.monotonic()
        quiet = await following.ticks(ticks)
        seconds, requests = time.monotonic() - started, client.requests - requests
        after = following.memory()
        moving: list[float] = []
        ended = ids[: _ENDING * _MOVING_TICKS]
        for place in range(0, len(ended), _ENDING):
            await other.cancel(ended[place : place + _ENDING])
            moving += await following.ticks(1)
        await following.ticks(_SETTLING)
        last = following.memory()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    world.queued = [job_id for job_id in world.queued if job_id not in set(ended)]
    print(
        f"\n{queued:,} jobs followed, {ticks} ticks in {seconds:.0f} s, {requests / ticks:.0f} requests a tick;"
        f" then {len(ended)} of them end during {_MOVING_TICKS} ticks"
    )
    rows = [
        ("client CPU a tick, nothing moves", f"{middle(quiet):.1f} ms", f"at most {max(quiet):.1f}"),
        ("client CPU a tick, jobs end", f"{middle(moving):.1f} ms", f"at most {max(moving):.1f}"),
        *(
            (f"{name}, MB", " -> ".join(f"{point[place]:.0f}" for point in (before, settled, after, last)), "")
            for place, name in enumerate(("client", "slurmrestd"))
        ),
    ]
    show((f"memory: before, after {_SETTLING} ticks, after {ticks} more, after the ends", "", ""), rows)
    return judge(
        [
            ("client CPU a tick", middle(quiet), _CPU_MS, "ms"),
            ("client CPU a tick while jobs end", middle(moving), _CPU_MS, "ms"),
            (f"the client's memory grew during {ticks} ticks by", after[0] - settled[0], _CLIENT_MB, "MB"),
            (f"slurmrestd's memory grew during {ticks} ticks by", after[1] - settled[1], _DAEMON_MB, "MB"),
        ]
    )


def measure(world: Live, queued: int, ticks: int) -> int:
    """Fill the queue and follow it."""
    world.fill(queued)
    return asyncio.run(follow(world, queued, ticks))


def measure_memory(ticks: int) -> int:
    """Follow jobs of a fake; print the costs, and whether they grow linearly."""
    costs = {jobs: asyncio.run(cost_of(jobs, ticks)) for jobs in COUNTS}
    each = {jobs: cost / jobs * 1000 for jobs, cost in costs.items()}
    print(f"\njobs of a fake in memory, median of {ticks} ticks")
    rows = [[f"{jobs:,}", f"{costs[jobs]:.1f} ms", f"{each[jobs]:.2f} µs"] for jobs in COUNTS]
    show(["jobs followed", "CPU a tick", "a job"], rows)
    largest, before = COUNTS[-1], COUNTS[-2]
    what = f"a job of {largest:,} costs, against one of {before:,}"
    return judge([(what, each[largest] / each[before], _LINEAR, "times")])


def main(argv: Sequence[str]) -> int:
    """Measure on a cluster of its own and in memory."""
    parser = argparse.ArgumentParser(prog="scripts/bench follow", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000, help="on the real cluster (default 10000)")
    parser.add_argument("--ticks", type=int, default=600, help="on the real cluster (default 600)")
    parser.add_argument("--memory-ticks", type=int, default=20, help="in memory (default 20)")
    options = parser.parse_args(argv)
    describe_machine()
    broken = measure_memory(options.memory_ticks)
    with live("follow") as world:
        return max(broken, measure(world, options.jobs, options.ticks))
