"""What 1,000 job states cost: one call of the client, the same bytes over a bare socket, and one request a job.

All three talk to the same slurmrestd about the same held jobs, in turn, so that their ratios do not depend on the
machine. The bare socket is the limit that no client can pass: the daemon's own time and the transfer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import time
from collections.abc import Callable, Sequence

from bench.table import show
from cluster.native import Cluster, down, up
from cluster.root import RELEASES
from cluster.space import Process
from slurm_rest import AsyncSlurmClient, SlurmClient

_SUBMITTERS = 4


class BareSocket:
    """Sends one prepared request again and again over one connection and reads the answers without looking at them."""

    def __init__(self, connection: socket.socket, request: bytes) -> None:
        self._request = request
        self._socket = connection
        self.received = 0

    def exchange(self) -> None:
        """Send the request and read the whole answer."""
        self._socket.sendall(self._request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._received(65536)
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.split(b"\r\n")[0].decode())
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        left = length - len(body)
        while left:
            left -= len(self._received(left))
        self.received = length

    def _received(self, most: int) -> bytes:
        data = self._socket.recv(most)
        if not data:
            raise RuntimeError("slurmrestd closed the connection in the middle of an answer")
        return data


async def submit_held(client: AsyncSlurmClient, count: int) -> list[int]:
    """Submit jobs that never start; more submitters than these make slurmctld no faster."""
    numbers = iter(range(count))

    async def submitter() -> list[int]:
        return [(await client.submit("#!/bin/sh\ntrue\n", name=f"b{n}", hold=True, time=1)).id for n in numbers]

    return [job_id for ids in await asyncio.gather(*(submitter() for _ in range(_SUBMITTERS))) for job_id in ids]


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def measure(cluster: Cluster, count: int, rounds: int) -> None:
    """Measure on a running cluster and print the table."""
    token = cluster.token("alice", lifespan=3600)

    async def fill() -> list[int]:
        async with AsyncSlurmClient(cluster.url, token=token, user="alice", workdir="/home/alice") as client:
            return sorted(await submit_held(client, count))

    ids = asyncio.run(fill())
    port = cluster.state.ports.slurmrestd
    connection = socket.create_connection(("127.0.0.1", port))
    with connection, SlurmClient(cluster.url, token=token, user="alice") as client:
        query = "&".join(f"job_id={job_id}" for job_id in ids)
        request = f"GET /slurm/{client.api_version()}/jobs/state/?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        request += f"X-SLURM-USER-NAME: alice\r\nX-SLURM-USER-TOKEN: {token}\r\nAccept: application/json\r\n\r\n"
        bare = BareSocket(connection, request.encode())
        ways: dict[str, Callable[[], object]] = {
            "bare socket, the same bytes": bare.exchange,
            "client.states(ids)": lambda: client.states(ids),
            "one request a job": lambda: [client.states([job_id]) for job_id in ids],
        }
        if len(client.states(ids)) != count:
            raise RuntimeError("not every job has a state")
        times: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds):
            for way, call in ways.items():
                if way != "one request a job" or number % 5 == 0:  # a second each; a few are enough
                    times[way].append(timed(call))
        client.cancel(ids)
    middle = {way: statistics.median(values) for way, values in times.items()}
    limit = middle["bare socket, the same bytes"]
    print(f"Slurm {cluster.release}, {count} held jobs, {bare.received:,} bytes an answer, {rounds} rounds")
    show(("", "ms", "to the limit"), [(way, f"{value:.1f}", f"{value / limit:.2f}") for way, value in middle.items()])


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench states", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--rounds", type=int, default=25, help="measurements (default 25)")
    parser.add_argument("--slurm", choices=RELEASES[1:], default="24.11", help="the release (default 24.11)")
    options = parser.parse_args(arguments)
    name = f"bench-{os.getpid()}"
    try:
        cluster, _ = up(name, options.slurm, 1, [], owner=Process.of(os.getpid()))
        measure(cluster, options.jobs, options.rounds)
    finally:
        down(name)
    return 0
