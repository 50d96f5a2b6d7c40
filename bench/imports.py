"""What importing costs, in CPU time (user and system) of fresh processes.

CPU time, because the machine may be busy with other things; interleaved, because it may become so in the middle;
medians, because a process can be unlucky.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

from bench.table import judge, show

FAMILIES_OVER_PYDANTIC_MS = {"jobs": 80.0, "cluster": 80.0, "accounting": 120.0, "diagnostics": 80.0}
STATEMENTS = {
    "python": "pass",
    "httpx": "import httpx",
    "pydantic": "import pydantic",
    # pydantic loads half of itself when the first model is defined, whoever defines it.
    "pydantic, one model": "from pydantic import BaseModel\n"
    "class Model(BaseModel, defer_build=True):\n    field: int | None = None",
    "slurm_rest": "import slurm_rest",
    "slurm_rest.SlurmClient": "from slurm_rest import SlurmClient",
    **{f"slurm_rest.api.{name}": f"import slurm_rest.api.{name}" for name in FAMILIES_OVER_PYDANTIC_MS},
}
PACKAGE_OVER_HTTPX = 1.3


def cpu_ms(statement: str) -> float:
    """Return the CPU milliseconds of a process that runs one statement."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 when a promise is broken."""
    parser = argparse.ArgumentParser(prog="scripts/bench import", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="processes for each line (default 15)")
    rounds = parser.parse_args(arguments).rounds
    for statement in STATEMENTS.values():  # writes the .pyc files, which an installed package has
        cpu_ms(statement)
    # What else runs on the machine can only make it look worse, so a broken promise gets a second hearing.
    return measure(rounds) and measure(rounds)


def measure(rounds: int) -> int:
    """Measure once, print, and return 1 when a promise is broken."""
    measured: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(rounds):
        for name, statement in STATEMENTS.items():
            measured[name].append(cpu_ms(statement))
    cost = {name: statistics.median(values) for name, values in measured.items()}
    rows = [
        (f"import {name}" if name != "python" else name, f"{cost[name]:.1f}", f"{cost[name] - cost['python']:.1f}")
        for name in STATEMENTS
    ]
    print(f"Python {sys.version.split()[0]}, median of {rounds} processes")
    show(("", "CPU ms", "over python"), rows)
    print()
    return judge(
        [
            *(
                (f"slurm_rest.api.{name} over pydantic", over(name, measured), most, "ms")
                for name, most in FAMILIES_OVER_PYDANTIC_MS.items()
            ),
            ("slurm_rest to httpx", cost["slurm_rest"] / cost["httpx"], PACKAGE_OVER_HTTPX, "times"),
        ]
    )


def over(family: str, measured: Mapping[str, Sequence[float]]) -> float:
    """Return what a family of models costs beside pydantic; of the same round, so that a slow spell falls on both."""
    pairs = zip(measured[f"slurm_rest.api.{family}"], measured["pydantic, one model"], strict=True)
    return statistics.median(models - pydantic for models, pydantic in pairs)
