"""What the client's own code costs, without a cluster: CPU time of a call whose answer is there at once.

The answers are captures of a real slurmrestd 24.11, handed over inside this process, so that neither a daemon nor other
work on the machine counts. The fastest of several rounds is shown; a bare httpx client posts over the same way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import httpx

from bench.submit import SCRIPT
from bench.table import show
from slurm_rest import AsyncSlurmClient
from slurm_rest.poller import Poller

_CAPTURES = Path(__file__).parents[1] / "tests/data/captures/24.11.5/v0.0.42"
_URL = "http://127.0.0.1:6820"
_JOBS, _FOLLOWED = 1000, 10_000


class Captured(httpx.AsyncBaseTransport):
    """Answers like slurmrestd, at once; all jobs wait."""

    def __init__(self) -> None:
        self.made = self._read("submit_ok")
        self.body = b""
        self._ping = self._read("ping")
        record = json.loads(self._read("job_completed"))
        self._record = json.dumps({**record, "jobs": [{**record["jobs"][0], "user_name": "alice"}]}).encode()
        self._states = json.loads(self._read("jobs_state"))
        self._known: dict[bytes, bytes] = {}

    def _read(self, name: str) -> bytes:
        return (_CAPTURES / f"{name}.json").read_bytes()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer."""
        path, content = request.url.path, self._ping
        if path.endswith("/job/submit"):
            self.body, content = request.content, self.made
        elif path.endswith("/jobs/state/"):
            content = self._states_of(request.url.query)
        elif "/job/" in path:
            content = self._record
        headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(content))

    def _states_of(self, query: bytes) -> bytes:
        if query not in self._known:
            ids = [part.partition(b"=")[2].decode() for part in query.split(b"&")]
            jobs = [{"job_id": job_id, "state": ["PENDING"]} for job_id in ids]
            self._known[query] = json.dumps({**self._states, "jobs": jobs}, indent=1).encode()
        return self._known[query]


async def cheapest(call: Callable[[], Awaitable[object]], times: int, rounds: int) -> float:
    """Return the CPU microseconds of one call."""
    found = []
    for _ in range(rounds):
        before = time.process_time()
        for _ in range(times):
            await call()
        found.append((time.process_time() - before) / times * 1e6)
    return min(found)


async def measure(rounds: int) -> list[tuple[str, float]]:
    """Return what each call costs, in microseconds."""
    way = Captured()
    choose = random.Random(1)
    questions = [choose.sample(range(1, 10_001), _JOBS) for _ in range(10)]
    turns = iter(range(1 << 30))
    headers = {"X-SLURM-USER-NAME": "alice", "X-SLURM-USER-TOKEN": "x" * 160, "Content-Type": "application/json"}
    async with (
        AsyncSlurmClient(_URL, token="x" * 160, user="alice", workdir="/home/alice", http_transport=way) as client,
        httpx.AsyncClient(base_url=_URL, headers=headers, transport=way) as http,
    ):
        for ids in questions:
            await client.states(ids)
        # Both the first time and the look at the owner are over then.
        await client.submit(SCRIPT, name="train", hold=True)

        async def post() -> None:
            (await http.post("/slurm/v0.0.42/job/submit", content=way.body)).json()

        async def submit() -> None:
            await client.submit(SCRIPT, name=f"train-{next(turns)}", hold=True)

        async def states() -> None:
            await client.states(questions[next(turns) % len(questions)])

        async def again() -> None:
            await client.states(questions[0])

        found = [("bare httpx post", await cheapest(post, 200, rounds))]
        found.append(("client.submit", await cheapest(submit, 200, rounds)))
        found.append((f"client.states of {_JOBS:,}", await cheapest(states, 20, rounds)))
        found.append((f"client.states of {_JOBS:,}, again", await cheapest(again, 20, rounds)))
        poller = client._poller = Poller(client._transport, fastest=0.0001, slowest=0.0001)  # noqa: SLF001
        waiting = asyncio.create_task(client.wait(range(1, _FOLLOWED + 1)))
        found.append((f"a tick of {_FOLLOWED:,} jobs", await cheapest(lambda: poller.ticked.wait(), 5, rounds)))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    return found


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="scripts/bench calls", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds (default 15)")
    rounds = parser.parse_args(arguments).rounds
    show(("", "CPU µs"), [(name, f"{cost:,.0f}") for name, cost in asyncio.run(measure(rounds))])
    return 0
