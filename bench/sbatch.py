"""What it costs to read a batch script and translate it, against parsing the same JSON body once.

CPU time of one process, medians of rounds; the promise is one millisecond for a script of 30 lines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from bench.table import judge, show
from slurm_rest.sbatch import Script, Setting, Submitter, read_job, submit_body

SCRIPT = """#!/bin/bash
#SBATCH --job-name=train-resnet
#SBATCH --account=vision
#SBATCH --partition=gpu,long
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --gres=gpu:a100:4
#SBATCH --constraint="ib&fast"
#SBATCH --time=1-12:00:00
#SBATCH --array=0-31%8
#SBATCH --output=logs/%x-%A_%a.out
#SBATCH --error=logs/%x-%A_%a.err
#SBATCH --mail-type=END,FAIL,TIME_LIMIT_90
#SBATCH --mail-user=alice@example.org
#SBATCH --signal=B:USR1@120 --requeue
#SBATCH --export=ALL,WANDB_MODE=offline   # no network on the nodes
#SBATCH --comment="nightly \\"full\\" run"

set -euo pipefail
module load cuda/12.4 python/3.11
source "$HOME/venvs/train/bin/activate"

cd "$SLURM_SUBMIT_DIR"
for part in train valid; do
    srun --exact python prepare.py --part "$part"
done
srun python train.py --epochs 90 --shard "$SLURM_ARRAY_TASK_ID"
"""
PROMISE_MS = 1.0
_CALLS = 200


def translate() -> dict[str, object]:
    """Read the script and make its body, as a submission does."""
    submitter = Submitter(environ={f"NAME_{number}": "value" for number in range(60)}, directory="/home/alice")
    read = read_job(Script(SCRIPT, "train.sh"), environ=submitter.environ, release="24.11")
    now = datetime(2026, 11, 29, 12)
    return submit_body(
        read.spec, Setting(directory="/home/alice", rule="submit", version="v0.0.42", submitter=submitter, now=now)
    )


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU milliseconds of one call."""
    before = time.process_time()
    for _ in range(_CALLS):
        call()
    return (time.process_time() - before) * 1000 / _CALLS


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 when the promise is broken."""
    parser = argparse.ArgumentParser(prog="scripts/bench sbatch", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default 7)")
    rounds = parser.parse_args(arguments).rounds
    body = json.dumps(translate())
    costs = [(cpu_ms(translate), cpu_ms(lambda: json.loads(body))) for _ in range(rounds)]
    ours, peer = (statistics.median(column) for column in zip(*costs, strict=True))
    print(f"a script of {SCRIPT.count(chr(10))} lines, median of {rounds} rounds")
    rows = [("read and translate", f"{ours:.3f}"), ("json.loads of the body", f"{peer:.3f}")]
    show(("", "CPU ms"), [*rows, ("ratio", f"{ours / peer:.0f}")])
    print()
    return judge([("read and translate", ours, PROMISE_MS, "ms")])
