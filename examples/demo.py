"""Submit 25 jobs and an array, follow them in one display, show what they wrote, and explain the one that failed.

usage: demo.py [HOMES]

The cluster comes from the environment (SLURM_REST_URL, SLURM_JWT, ...). Slurm's REST interface moves no files, so the
outputs are read through HOMES: the folder of this machine that the cluster has as /home, or by the same name.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slurm_rest import Job, JobInfo, SlurmClient, SlurmError

SCRIPT = """#!/usr/bin/env python3
import os, random, sys, time

seed = int(os.environ.get("SLURM_ARRAY_TASK_ID") or sys.argv[1])
if seed == 13:
    print("reading /data/seed-13.npy", flush=True)
    print("no such file: /data/seed-13.npy", file=sys.stderr)
    sys.exit(3)
dice = random.Random(seed)
hits = sum(dice.random() ** 2 + dice.random() ** 2 < 1 for _ in range(100_000))
time.sleep(0.5)
print(f"pi is about {hits / 25_000:.5f}, says {os.environ['SLURMD_NODENAME']}")
"""

console = Console(highlight=False)


def submit_all(slurm: SlurmClient) -> list[Job]:
    """Submit 25 jobs that differ in their argument, and one array of 5 tasks."""
    jobs = [slurm.submit(SCRIPT, name=f"pi-{seed}", args=[str(seed)], time=5) for seed in range(1, 26)]
    return [*jobs, slurm.submit(SCRIPT, name="pi-array", array="101-105", time=5)]


def output_of(record: JobInfo, homes: Path | None) -> list[str]:
    """Return the lines that a job wrote. Slurm knows the path, the file is read from this machine's side."""
    path = Path(record.stdout or "")
    if homes is not None and path.is_relative_to("/home"):
        path = homes / path.relative_to("/home")
    if homes is None or not path.is_relative_to(homes):
        return [str(path)]
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError as error:
        return [f"{path}: {error.strerror}"]


def show_outputs(records: list[JobInfo], homes: Path | None) -> None:
    """Print a row for each job: its state and the last line it wrote."""
    table = Table("JOB", "NAME", "STATE", "OUTPUT", box=None, pad_edge=False, header_style="bold")
    for record in records:
        style = "green" if record.state.is_success else "red"
        # What a job writes is not ours: as Text it can neither style nor steer the terminal.
        last = Text((output_of(record, homes) or ["(nothing)"])[-1], overflow="ellipsis", no_wrap=True)
        table.add_row(record.label, record.name, Text(str(record.state), style), last)
    console.print(table)


def explain(record: JobInfo, homes: Path | None) -> None:
    """Print what Slurm and the job itself say about a failure."""
    console.print(f"\nJob {record.label} failed, on purpose. What Slurm says:", style="bold")
    facts = {
        "state": str(record.state),
        "exit code": f"{record.exit_code} (status:signal)",
        "reason": record.reason or "-",
        "node": record.nodes,
        "output": record.stdout or "-",
    }
    for name, value in facts.items():
        console.print(Text(f"  {name:<10} {value}"))
    console.print("and the last lines of its output:", style="bold")
    for line in output_of(record, homes)[-5:]:
        console.print(Text(f"  | {line}"))


def main() -> int:
    """Run the demo against the cluster of the environment."""
    homes = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    started = time.monotonic()
    with SlurmClient() as slurm:
        controller = slurm.ping()[0]
        console.print(f"Slurm {controller.slurm} at {slurm.settings.url}, API {slurm.api_version()}")
        before = time.monotonic()
        jobs = submit_all(slurm)
        console.print(f"{len(jobs)} submissions in {time.monotonic() - before:.2f} s, now all in one display:")
        *records, _ = slurm.wait(jobs, progress=True, timeout=120)
        records += sorted(slurm.members(jobs[-1]), key=lambda record: record.array_task_id or 0)
        console.print()
        show_outputs(records, homes)
        for record in records:
            if not record.state.is_success:
                explain(slurm.job(record.id).info(), homes)
        seconds = time.monotonic() - started
        counts = f"{len(jobs)} submissions ({len(records)} jobs) · {slurm.requests} HTTP requests · {seconds:.1f} s"
        console.print(f"\n{counts}", style="bold")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SlurmError as error:
        sys.exit(f"demo: {error}")
