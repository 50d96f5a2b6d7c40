"""Everything that needs a real cluster, on one cluster, with the imports and sbatch's language before it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from bench import follow, imports, sbatch, ssh, states, submit
from bench.live import describe_machine, live

_FEW, _MANY = 10_000, 50_000


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 when any promise is broken."""
    parser = argparse.ArgumentParser(prog="scripts/bench all", description=__doc__)
    parser.add_argument("--small", action="store_true", help=f"leave out the queue of {_MANY:,}")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    describe_machine()
    broken = [imports.main([]), sbatch.main([]), follow.measure_memory(20)]
    with live("all") as world:
        broken += [states.measure(world, _FEW, 40), ssh.measure(world, _FEW, 20), submit.measure(world, _FEW, 500)]
        broken += [follow.measure(world, _FEW, 600)]
        if not options.small:
            broken += [states.measure(world, _MANY, 40)]
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\nload average after: {load}; {(time.monotonic() - started) / 60:.0f} minutes")
    return max(broken)
