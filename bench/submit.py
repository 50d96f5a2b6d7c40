"""How fast jobs are submitted one after another: the client, a bare httpx loop that posts the same bodies, and SSH.

The client reads a script, translates its options, gives the job a key, and checks the answer; the bare loop posts what
the client made and takes the job's id. Both take turns, job by job. Over SSH stand the client's own way, and what
flyteplugins-slurm 2.12.1 does on one connection: a channel each for the folder, for the script and its mode by SFTP,
and for sbatch.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from functools import partial

import asyncssh
import httpx

from bench.live import Live, describe_machine, live, middle, timed, undisturbed
from bench.table import judge, show
from slurm_rest import AsyncSlurmClient

_TO_BARE, _TO_SSH = 0.85, 5.0
_WARM_UP = 20
SCRIPT = """#!/bin/bash
#SBATCH --partition=normal
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --time=0:30:00
#SBATCH --output=train-%j.out

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
echo "job $SLURM_JOB_ID on $(hostname) with seed ${SEED:-0}"

# Data that is not there yet is made once, by whoever comes first.
for part in train valid test; do
    if [ ! -e "data/$part.bin" ]; then
        srun --ntasks=1 python prepare.py --part "$part" --out "data/$part.bin"
    fi
done

srun python train.py \\
    --data data \\
    --epochs 90 \\
    --learning-rate 0.1 \\
    --checkpoint "checkpoints/$SLURM_JOB_NAME" \\
    --resume-if-possible

srun --ntasks=1 python evaluate.py --checkpoint "checkpoints/$SLURM_JOB_NAME" --data data/test.bin
find checkpoints -name '*.tmp' -mmin +60 -delete
"""


class Recording(httpx.AsyncHTTPTransport):
    """Keeps the bodies that pass."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and keep the body."""
        if request.url.path.endswith("/job/submit"):
            self.bodies.append(request.content)
        return await super().handle_async_request(request)


async def bodies_of(world: Live) -> list[bytes]:
    """Return what the client posts."""
    recording = Recording()
    url, token = world.cluster.url, world.token
    async with AsyncSlurmClient(
        url, token=token, user="alice", workdir="/home/alice", http_transport=recording
    ) as client:
        for number in range(_WARM_UP):
            await client.submit(SCRIPT, name=f"train-{number}", hold=True)
    return recording.bodies


async def in_turns(world: Live, count: int) -> list[list[float]]:
    """Return seconds and CPU seconds of each submission of the bare loop, then of the client."""
    bodies = await bodies_of(world)
    spent: list[list[float]] = [[], [], [], []]
    headers = {**world.headers(), "Content-Type": "application/json"}
    async with world.async_client() as client, httpx.AsyncClient(base_url=world.cluster.url, headers=headers) as http:

        async def bare(number: int) -> None:
            answer = await http.post("/slurm/v0.0.42/job/submit", content=bodies[number % len(bodies)])
            if not answer.json()["job_id"]:
                raise RuntimeError(answer.text)

        async def ours(number: int) -> None:
            await client.submit(SCRIPT, name=f"train-{number}", hold=True)

        for number in range(-_WARM_UP, count):
            for place, way in ((0, bare), (2, ours)):
                started, used = time.perf_counter(), time.process_time()
                await way(number)
                if number >= 0:
                    spent[place].append(time.perf_counter() - started)
                    spent[place + 1].append(time.process_time() - used)
    return spent


async def over_ssh(world: Live, count: int) -> list[float]:
    """Return the seconds of each submission over SSH by three channels."""
    spent: list[float] = []
    async with world.ssh() as connection:
        for number in range(count):
            started = time.perf_counter()
            await one_by_ssh(connection, number)
            spent.append(time.perf_counter() - started)
    return spent


async def one_by_ssh(connection: asyncssh.SSHClientConnection, number: int) -> None:
    """Submit one job."""
    folder = f"/home/alice/bench/{number % 10}"
    await connection.run(f"mkdir -p {folder}", check=True)
    async with connection.start_sftp_client() as sftp:
        async with sftp.open(f"{folder}/job.sh", "w") as file:
            await file.write(SCRIPT)
        await sftp.chmod(f"{folder}/job.sh", 0o700)
    done = await connection.run(f"sbatch --parsable --hold --job-name=train-{number} {folder}/job.sh", check=True)
    if not str(done.stdout).strip().isdigit():
        raise RuntimeError(str(done.stderr))


def measure(world: Live, queued: int, count: int) -> int:
    """Fill the queue, measure, print, and return 1 when a promise is broken."""
    world.fill(queued)
    bare_times, bare_cpu, our_times, our_cpu = asyncio.run(in_turns(world, count))
    bare, ours = middle(bare_times), middle(our_times)
    alone = undisturbed(bare_times) / undisturbed(our_times)
    few = max(count // 5, 10)
    with world.ssh_client() as client:
        client.submit(SCRIPT, name="train", hold=True)
        own_ssh = middle([timed(partial(client.submit, SCRIPT, name="train", hold=True)) for _ in range(few)]) / 1000
    three = middle(asyncio.run(over_ssh(world, few)))
    rate, bare_rate = 1 / ours, 1 / bare
    print(f"\n{count} submissions one after another, {queued:,} queued, medians; a script of {len(SCRIPT)} bytes")
    rows = [
        ("bare httpx loop, the same bodies", f"{bare_rate:.0f}", "1.00", "1.00", f"{middle(bare_cpu) * 1000:.2f}"),
        ("client.submit", f"{rate:.0f}", f"{rate / bare_rate:.2f}", f"{alone:.2f}", f"{middle(our_cpu) * 1000:.2f}"),
        (f"client.submit over SSH ({few})", f"{1 / own_ssh:.0f}", f"{bare / own_ssh:.2f}", "", ""),
        (f"mkdir, SFTP and sbatch over SSH ({few})", f"{1 / three:.0f}", f"{bare / three:.2f}", "", ""),
    ]
    show(("", "jobs/s", "to the loop", "fastest fifths", "client CPU ms"), rows)
    return judge(
        least=[
            ("client.submit, to a bare httpx loop", rate / bare_rate, _TO_BARE, "of its rate"),
            ("client.submit, to mkdir, SFTP and sbatch over SSH", three / ours, _TO_SSH, "times its rate"),
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench submit", description=__doc__)
    parser.add_argument("--queued", type=int, default=10_000, help="(default 10000)")
    parser.add_argument("--jobs", type=int, default=500, help="how many are submitted each way (default 500)")
    options = parser.parse_args(arguments)
    describe_machine()
    with live("submit") as world:
        return measure(world, options.queued, options.jobs)
