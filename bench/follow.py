"""What it costs to follow jobs, per tick of the poller, against a cluster in memory: it must grow linearly.

One wait for all jobs, none of which moves. Measured is the CPU time of this process from one question for all states to
the next, the fake's own work included; the median of ticks.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Collection, Sequence

from bench.table import judge, show
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeTransport
from slurm_rest.testing.jobs import JobRequest, Owner
from slurm_rest.transport.base import StateRow

COUNTS = (1_000, 10_000, 100_000)
ALICE = Owner("alice", 1000)


class Watched(FakeTransport):
    """Notes the CPU time at each question."""

    def __init__(self, ticks: int) -> None:
        super().__init__()
        self.moments: list[float] = []
        self.done = asyncio.Event()
        self._ticks = ticks

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Answer, and note when it was asked."""
        self.moments.append(time.process_time())
        if len(self.moments) > self._ticks:
            self.done.set()
        return await super().states(ids)


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
    spent = [after - before for before, after in zip(transport.moments, transport.moments[1:], strict=False)]
    return statistics.median(spent) * 1000


def main(argv: Sequence[str]) -> int:
    """Print the costs, and whether they grow linearly."""
    parser = argparse.ArgumentParser(prog="scripts/bench follow", description=__doc__)
    parser.add_argument("--ticks", type=int, default=5, help="how many ticks are measured (default: 5)")
    options = parser.parse_args(argv)
    costs = {jobs: asyncio.run(cost_of(jobs, options.ticks)) for jobs in COUNTS}
    each = {jobs: cost / jobs * 1000 for jobs, cost in costs.items()}
    rows = [[f"{jobs:,}", f"{costs[jobs]:.1f} ms", f"{each[jobs]:.2f} µs"] for jobs in COUNTS]
    show(["jobs followed", "CPU a tick", "a job"], rows)
    largest, middle = COUNTS[-1], COUNTS[-2]
    what = f"a job of {largest:,} costs, against one of {middle:,}"
    return judge([(what, each[largest] / each[middle], 2.0, "times")])
