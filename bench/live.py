"""A real cluster for one benchmark: started, filled with jobs that wait, looked at from outside, ended.

All that is compared runs against the same daemons, in turn, so that ratios depend on the machine as little as they can.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import asyncssh
import httpx

from cluster.native import Cluster, down, up
from cluster.space import Process
from slurm_rest import AsyncSlurmClient, SlurmClient
from slurm_rest.keys import new_key

__all__ = ["Live", "describe_machine", "live", "middle", "spent", "timed", "undisturbed"]

# More make slurmctld no faster.
_SUBMITTERS = 4
# How long a daemon is looked at to learn what it uses by itself: slurmctld's schedulers and saving of 10,000 waiting
# jobs are a tenth of a core.
_IDLE_SECONDS = 5.0
# Slurm's own values (24.11): those of the clusters for tests start jobs sooner, by looking at the whole queue far more
# often.
_STOCK = ["SchedulerParameters=batch_sched_delay=3", "JobAcctGatherFrequency=30"]
_WAITING = "#!/bin/sh\ntrue\n"


class Live:
    """One running cluster and the jobs that were put into its queue."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.token = cluster.token("alice", lifespan=24 * 3600)
        self.queued: list[int] = []

    def client(self) -> SlurmClient:
        """Return a client over REST."""
        return SlurmClient(self.cluster.url, token=self.token, user="alice", workdir="/home/alice")

    def async_client(self) -> AsyncSlurmClient:
        """Return the same for an event loop."""
        return AsyncSlurmClient(self.cluster.url, token=self.token, user="alice", workdir="/home/alice")

    def ssh_client(self) -> SlurmClient:
        """Return a client over SSH."""
        return SlurmClient(
            transport="ssh",
            ssh_host="127.0.0.1",
            ssh_port=self.cluster.ssh_port,
            ssh_user="alice",
            ssh_key_file=self.cluster.ssh_key,
            ssh_known_hosts=self.cluster.known_hosts,
            workdir="/home/alice",
        )

    def ssh(self) -> contextlib.AbstractAsyncContextManager[asyncssh.SSHClientConnection]:
        """Return one bare SSH connection, without any client of ours."""
        return asyncssh.connect(
            "127.0.0.1",
            self.cluster.ssh_port,
            username="alice",
            client_keys=[str(self.cluster.ssh_key)],
            known_hosts=str(self.cluster.known_hosts),
            config=None,
        )

    def headers(self) -> dict[str, str]:
        """Return the headers that slurmrestd wants to see."""
        return {"X-SLURM-USER-NAME": "alice", "X-SLURM-USER-TOKEN": self.token}

    def daemon(self, name: str) -> Path:
        """Return the folder in /proc of a daemon's process."""
        process = self.cluster.service(name).process()
        if process is None:
            raise RuntimeError(f"{name} does not run")
        return Path(f"/proc/{process.pid}")

    def cpu_of(self, name: str, call: Callable[[], object]) -> float:
        """Return the CPU seconds that a daemon uses for ``call``: without what it would have used meanwhile anyway."""
        pid = int(self.daemon(name).name)
        idle = _idle(pid)
        before, started = _cpu(pid), time.monotonic()
        call()
        used, lasted = _cpu(pid) - before, time.monotonic() - started
        return max(used - lasted * (idle + _idle(pid)) / 2, 0.0)

    def rss(self, name: str) -> float:
        """Return a daemon's resident memory in MB."""
        return resident(self.daemon(name))

    def fill(self, count: int, *, keyed: bool = False) -> None:
        """Submit jobs of their own, not arrays, that are held: so many wait in the queue afterwards.

        With ``keyed`` their comments carry keys, as those of jobs that a client submitted.
        """
        missing = count - len(self.queued)
        if missing > 0:
            started = time.monotonic()
            self.queued += asyncio.run(self._submit_held(missing, keyed=keyed))
            self.queued.sort()
            rate = missing / (time.monotonic() - started)
            print(f"{len(self.queued):,} jobs are queued and held ({rate:.0f} submissions a second)", flush=True)

    async def _submit_held(self, count: int, *, keyed: bool) -> list[int]:
        job = {
            "name": "waiting",
            "hold": True,
            "current_working_directory": "/home/alice",
            "environment": ["PATH=/usr/bin:/bin"],
            "time_limit": {"set": True, "infinite": False, "number": 1},
        }
        numbers = iter(range(count))
        async with httpx.AsyncClient(base_url=self.cluster.url, headers=self.headers(), timeout=60) as http:

            async def submit() -> list[int]:
                path, made = "/slurm/v0.0.42/job/submit", []
                for _ in numbers:
                    comment = {"comment": new_key()} if keyed else {}
                    answer = await http.post(path, json={"script": _WAITING, "job": {**job, **comment}})
                    made.append(answer.json()["job_id"])
                return made

            made = await asyncio.gather(*(submit() for _ in range(_SUBMITTERS)))
        return [job_id for ids in made for job_id in ids]


class BareSocket:
    """Sends one prepared request over one connection and reads the answers without looking at them."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._socket = socket.create_connection(("127.0.0.1", live.cluster.state.ports.slurmrestd))
        self.received = 0

    def request(self, ids: Sequence[int]) -> bytes:
        """Return the request for the states of jobs."""
        query = "&".join(f"job_id={job_id}" for job_id in ids)
        headers = "".join(f"{name}: {value}\r\n" for name, value in self._live.headers().items())
        line = f"GET /slurm/v0.0.42/jobs/state/?{query} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
        return f"{line}{headers}\r\n".encode()

    def exchange(self, request: bytes) -> None:
        """Send a request and read the whole answer."""
        self._socket.sendall(request)
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

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


@contextlib.contextmanager
def live(what: str, release: str = "24.11") -> Iterator[Live]:
    """Start a cluster of one node that schedules as often as a site's, and end it."""
    name = f"bench-{what}-{os.getpid()}"
    try:
        cluster, _ = up(name, release, 1, _STOCK, owner=Process.of(os.getpid()))
        yield Live(cluster)
    finally:
        down(name)


def describe_machine() -> None:
    """Print what the figures were measured on, and how busy it was with other things."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    memory = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    size = int(memory.split()[1]) / 2**20
    print(f"{os.cpu_count()} x {model}, {size:.0f} GiB, Linux {platform.release()}, Python {sys.version.split()[0]}")
    print(f"load average before: {load} ({time.strftime('%Y-%m-%d %H:%M')})", flush=True)


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def spent(call: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds that a call takes, and those of CPU time in this process."""
    used = time.process_time()
    wall = timed(call)
    return wall, (time.process_time() - used) * 1000


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def undisturbed(values: Sequence[float]) -> float:
    """Return the median of the fastest fifth: other work on the machine only lengthens what it meets."""
    return statistics.median(sorted(values)[: max(len(values) // 5, 1)])


def resident(folder: Path) -> float:
    """Return the resident memory of a process in MB, by its folder in /proc."""
    return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _idle(pid: int) -> float:
    """Return how much of a core a process uses when nobody asks it anything."""
    before, started = _cpu(pid), time.monotonic()
    time.sleep(_IDLE_SECONDS)
    return (_cpu(pid) - before) / (time.monotonic() - started)


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process, threads that ended included, to the nanosecond; /proc has hundredths."""
    # What clock_getcpuclockid(3) returns on Linux, which Python does not offer for another process.
    return time.clock_gettime((~pid << 3) | 2)
