"""What the states of 1,000 jobs cost over SSH: the client, against one squeue of everything on the node itself."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from functools import partial

from bench.live import Live, describe_machine, live, timed, undisturbed
from bench.table import judge, show

_JOBS = 1000
_COMMANDS, _TO_SQUEUE = 2.0, 1.5
# Timed there, so that entering the cluster does not count.
_SQUEUE = 'a=$(date +%s%N); squeue -h -a -r -t all -o "%i %A %T" >/dev/null; echo $(($(date +%s%N) - a))'


def measure(world: Live, queued: int, rounds: int) -> int:
    """Fill the queue, measure, print, and return 1 when a promise is broken."""
    world.fill(queued)
    choose = random.Random(queued)
    there: list[float] = []
    times: list[float] = []
    with world.ssh_client() as client:
        client.states(world.queued[:1])
        before = client.requests
        for _ in range(rounds):
            ids = choose.sample(world.queued, _JOBS)
            there.append(int(world.cluster.exec(["sh", "-c", _SQUEUE], user="alice", check=True).stdout) / 1e6)
            times.append(timed(partial(client.states, ids)))
        commands = (client.requests - before) / rounds
        if len(client.states(ids)) != _JOBS:
            raise RuntimeError("not every job has a state")
    squeue, client_ms = undisturbed(there), undisturbed(times)
    print(f"\nstates of {_JOBS:,} jobs over SSH, {queued:,} queued; the fastest fifth of {rounds} rounds")
    rows = [
        ("squeue of everything, on the node", f"{squeue:.1f}", "1.00"),
        (f"client.states(ids), {commands:g} command(s)", f"{client_ms:.1f}", f"{client_ms / squeue:.2f}"),
    ]
    show(("", "ms", "to squeue"), rows)
    return judge(
        [
            ("commands for one question", commands, _COMMANDS, ""),
            ("client.states(ids) over SSH, to squeue on the node", client_ms / squeue, _TO_SQUEUE, "times"),
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench ssh", description=__doc__)
    parser.add_argument("--queued", type=int, default=10_000, help="(default 10000)")
    parser.add_argument("--rounds", type=int, default=20, help="measurements (default 20)")
    options = parser.parse_args(arguments)
    describe_machine()
    with live("ssh") as world:
        return measure(world, options.queued, options.rounds)
