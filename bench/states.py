"""What the states of 1,000 jobs cost: one call of the client, the same bytes over a bare socket, and one squeue a job.

Every round asks about other jobs, so that nothing is known beforehand; "again" is the same question once more, as a
poller asks it. The bare socket is the limit that no client can pass: the daemon's own time and the transfer. One
``squeue`` a job, over one SSH connection, is what clients do that do not batch; 100 are run and counted tenfold.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Sequence
from contextlib import closing
from functools import partial

from bench.live import BareSocket, Live, describe_machine, live, spent, timed, undisturbed
from bench.table import judge, show

_JOBS = 1000
_SAMPLE = 100
_CPU_ROUNDS = 400
_TO_SOCKET = 1.5
_FASTER, _LESS_CPU = 500.0, 1000.0


def measure(world: Live, queued: int, rounds: int) -> int:
    """Fill the queue, measure, print, and return 1 when a promise is broken."""
    world.fill(queued)
    choose = random.Random(queued)
    times: dict[str, list[tuple[float, float]]] = {"socket": [], "client": [], "again": []}
    with closing(BareSocket(world)) as bare, world.client() as client:
        client.states(world.queued[:1])
        for _ in range(rounds):
            ids = choose.sample(world.queued, _JOBS)
            request = bare.request(sorted(ids))
            times["socket"].append(spent(partial(bare.exchange, request)))
            times["client"].append(spent(partial(client.states, ids)))
            times["again"].append(spent(partial(client.states, ids)))
            if len(client.states(ids)) != _JOBS:
                raise RuntimeError("not every job has a state")

        def ask() -> None:
            for _ in range(_CPU_ROUNDS):
                client.states(ids)

        cpu = world.cpu_of("slurmctld", ask) / _CPU_ROUNDS * 1000
    sample = choose.sample(world.queued, _SAMPLE)
    squeue: list[float] = []
    squeue_cpu = world.cpu_of("slurmctld", lambda: squeue.append(timed(lambda: asyncio.run(ask_each(world, sample)))))
    scale = _JOBS / _SAMPLE
    each, each_cpu = squeue[0] * scale, squeue_cpu * scale * 1000
    socket, first, again = (undisturbed([wall for wall, _ in values]) for values in times.values())
    here = {way: f"{undisturbed([used for _, used in values]):.2f}" for way, values in times.items()}
    size = f"{bare.received:,} bytes an answer"
    print(f"\nstates of {_JOBS:,} jobs, {queued:,} queued; {size}; the fastest fifth of {rounds} rounds")
    rows = [
        ("bare socket, the same bytes", f"{socket:.2f}", "1.00", here["socket"], ""),
        ("client.states(ids)", f"{first:.2f}", f"{first / socket:.2f}", here["client"], f"{cpu:.2f}"),
        ("client.states(ids), again", f"{again:.2f}", f"{again / socket:.2f}", here["again"], ""),
        (
            f"one squeue a job over SSH ({_SAMPLE}, x{scale:g})",
            f"{each:,.0f}",
            f"{each / socket:,.0f}",
            "",
            f"{each_cpu:,.0f}",
        ),
    ]
    show(("", "ms", "to the socket", "CPU ms here", "slurmctld CPU ms"), rows)
    return judge(
        [("client.states(ids), to a socket that reads the same", first / socket, _TO_SOCKET, "times")],
        [
            ("one squeue a job takes", each / first, _FASTER, "times as long"),
            ("one squeue a job costs slurmctld", each_cpu / cpu, _LESS_CPU, "times the CPU"),
        ],
    )


async def ask_each(world: Live, ids: Sequence[int]) -> None:
    """Run one squeue for each job over one SSH connection."""
    async with world.ssh() as connection:
        for job_id in ids:
            done = await connection.run(f"squeue -h -j {job_id} -o %T", check=True)
            if done.stdout != "PENDING\n":
                raise RuntimeError(f"squeue said {done.stdout!r}")


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench states", description=__doc__)
    parser.add_argument("--queued", type=int, nargs="+", default=[10_000, 50_000], help="(default 10000 50000)")
    parser.add_argument("--rounds", type=int, default=40, help="measurements (default 40)")
    options = parser.parse_args(arguments)
    describe_machine()
    with live("states") as world:
        return max([measure(world, queued, options.rounds) for queued in sorted(options.queued)])
