"""Full records of jobs that ended at once, by either way: job/{id} for each, or accounting for all of them together.

The poller takes the one for a single job and the other for several (RestTransport.describe): this shows why.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from bench.live import Live, describe_machine, live, undisturbed
from bench.table import judge, show
from slurm_rest import AsyncSlurmClient
from slurm_rest.models import JobInfo
from slurm_rest.transport.rest import RestTransport

_SIZES = (1, 2, 4, 10, 30, 100)
_DAEMONS = ("slurmrestd", "slurmctld", "slurmdbd")
# At two jobs they cost the same; the rest is room for the machine's moods.
_TO_CHEAPER = 1.5
_EACH, _TOGETHER = "job/{id} each", "slurmdb/jobs, no steps"
_ACCOUNTING = ("rest", "GET slurmdb/jobs", "ok")
_SCRIPT = "#!/bin/sh\n"
# So often is asked for what the daemons' CPU time is taken of.
_CPU_ROUNDS = 20
_HEARD_SECONDS = 60.0

_Way = Callable[[Sequence[int]], Awaitable[Sequence[JobInfo]]]


async def _ended(slurm: AsyncSlurmClient) -> list[int]:
    """Run jobs, and return their ids once controller and accounting know their ends."""
    jobs = [await slurm.submit(_SCRIPT, name="ended", output="/dev/null") for _ in range(_SIZES[-1])]
    await slurm.wait(jobs)
    end = time.monotonic() + _HEARD_SECONDS
    while len(await slurm.history(name="ended", state="COMPLETED")) < len(jobs):
        if time.monotonic() > end:
            raise RuntimeError("accounting has not heard of all ends")
        await asyncio.sleep(0.5)
    return [job.id for job in jobs]


async def _timed(ask: _Way, ids: Sequence[int]) -> float:
    started = time.perf_counter()
    records = await ask(ids)
    wall = (time.perf_counter() - started) * 1000
    if len(records) != len(ids):
        raise RuntimeError("not every job has a record")
    return wall


async def measure(world: Live, rounds: int) -> int:
    """Print what each way takes, and return 1 when the client takes one that is dearer than the other."""
    async with world.async_client() as slurm:
        transport = slurm._transport  # noqa: SLF001  # both of its ways, not only the one that it takes
        if not isinstance(transport, RestTransport):
            raise TypeError("this is about REST")

        async def each(ids: Sequence[int]) -> list[JobInfo]:
            answers = await asyncio.gather(*map(transport.controller_records, ids))
            return [record for answer in answers for record in answer]

        ways: dict[str, _Way] = {_EACH: each, _TOGETHER: transport.incarnations}
        ids, choose = await _ended(slurm), random.Random(1)
        rows, worst = [], 0.0
        for size in _SIZES:
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                some = choose.sample(ids, size)
                for name, ask in ways.items():
                    times[name].append(await _timed(ask, some))
            before = slurm.metrics.requests[_ACCOUNTING]
            await transport.describe(some, ended=True)
            taken = _TOGETHER if slurm.metrics.requests[_ACCOUNTING] > before else _EACH
            best = {name: undisturbed(values) for name, values in times.items()}
            worst = max(worst, best[taken] / min(best.values()))
            rows.append((f"{size}", *(f"{value:.1f}" for value in best.values()), taken))
        print(f"\nfull records of jobs that ended, ms; the fastest fifth of {rounds} rounds")
        show(("jobs", *ways, "the client takes"), rows)
        await _show_cpu(world, ways, ids)
    return judge([("the way that the client takes, to the cheaper one", worst, _TO_CHEAPER, "times")])


async def _show_cpu(world: Live, ways: dict[str, _Way], ids: Sequence[int]) -> None:
    """Print what each way costs the daemons, for all of the jobs."""
    loop = asyncio.get_running_loop()
    rows = []
    for name, ask in ways.items():

        def many(ask: _Way = ask) -> None:
            for _ in range(_CPU_ROUNDS):
                asyncio.run_coroutine_threadsafe(_timed(ask, ids), loop).result()

        spent = [(await asyncio.to_thread(world.cpu_of, daemon, many)) * 1000 / _CPU_ROUNDS for daemon in _DAEMONS]
        rows.append((name, *(f"{value:.1f}" for value in spent)))
    print(f"what {len(ids)} of them cost the daemons, ms of CPU")
    show(("", *_DAEMONS), rows)


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench records", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="measurements (default 40)")
    options = parser.parse_args(arguments)
    describe_machine()
    with live("records") as world:
        return asyncio.run(measure(world, options.rounds))
