"""Tokens that end every 5 seconds, and clocks that differ, against real daemons.

``scripts/faults tokens`` runs the first for two minutes; SLURM_REST_FAULT_SECONDS says otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.auth import CommandToken, KeyToken, TokenProvider, read_claims
from slurm_rest.errors import TokenExpired, TokenRejected
from tests.support.promises import promises_no_job
from tests.support.transports import rest_of

SECONDS = float(os.environ.get("SLURM_REST_FAULT_SECONDS", "10"))
LIFE = 5
# How long before its end a token of so short a life is replaced.
MARGIN = 1
SCRIPT = "#!/bin/sh\ntrue\n"
SharedCluster = Callable[[str], Cluster]
# Signs with the cluster's key, as a site's own token service would.
SERVICE = """
import sys
sys.path.insert(0, sys.argv[1])
from cluster.token import sign
open(sys.argv[3], "a").write("x")
print(sign(open(sys.argv[2], "rb").read(), "alice", int(sys.argv[4])))
"""


@pytest.fixture(params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> Cluster:
    return shared_cluster(request.param)


def key(cluster: Cluster, lifespan: int, clock: Callable[[], float] = time.time) -> KeyToken:
    return KeyToken(cluster.jwt_key, "alice", lifespan=lifespan, clock=clock)


def service(cluster: Cluster, folder: Path, lifespan: int) -> CommandToken:
    root = str(Path(__file__).parents[2])
    words = ["-c", SERVICE, root, str(cluster.jwt_key), str(folder / "runs"), str(lifespan)]
    return CommandToken([sys.executable, *words])


@pytest.mark.parametrize(("release", "kind"), [("24.11", "key"), ("26.05", "command")])
async def test_tokens_that_end_every_5_seconds_disturb_nothing(
    release: str, kind: str, shared_cluster: SharedCluster, tmp_path: Path
) -> None:
    cluster = shared_cluster(release)
    provider: TokenProvider = key(cluster, LIFE) if kind == "key" else service(cluster, tmp_path, LIFE)
    asked = slow = 0
    made: list[int] = []

    @contextlib.contextmanager
    def watched() -> Iterator[None]:
        """Count what took so long that its token may have ended on the way."""
        nonlocal slow
        before = time.monotonic()
        try:
            yield
        finally:
            slow += time.monotonic() - before > MARGIN - 0.5

    async with AsyncSlurmClient(cluster.url, token=provider, workdir="/tmp") as slurm:
        began = time.monotonic()
        end = began + SECONDS

        async def read() -> None:
            nonlocal asked
            while time.monotonic() < end:
                with watched():
                    await slurm.states(made[-50:] or [1])
                with watched():
                    await slurm.ping_accounting()
                asked += 2

        async def submit() -> None:
            while time.monotonic() < end:
                try:
                    with watched():
                        made.append((await slurm.submit(SCRIPT, hold=True, name="token-storm")).id)
                except TokenRejected as error:
                    if not slow or not promises_no_job(error):
                        raise
                await asyncio.sleep(0.05)

        await asyncio.gather(*(read() for _ in range(8)), submit())
        with watched():
            ends = await slurm.cancel(made)
        told, seconds = slurm.metrics, time.monotonic() - began
    assert len(set(made)) == len(made) > 0
    assert asked > 0
    assert {result.outcome for result in ends} == {"signalled"}
    # About one a life, for thousands of requests; ``exp`` is cut to a whole second.
    assert SECONDS / LIFE - 1 <= told.token_renewals <= seconds / (LIFE - MARGIN - 1) + 2
    # The newest versions are asked for first; 26.05 reports a refused token of accounting like a dead database.
    others = {outcome for _, _, outcome in told.requests} - {"ok", "UnsupportedVersion"}
    assert not others or (slow and others <= {"TokenRejected", "TokenExpired", "AccountingDown"})


@pytest.mark.parametrize("seconds_off", [-600, 600])
async def test_a_clock_that_is_10_minutes_off(seconds_off: int, cluster: Cluster) -> None:
    """The client's clock is shifted, tokens last 5 minutes: each is over there before it is made, or seems to be."""

    def clock() -> float:
        return time.time() + seconds_off

    async with AsyncSlurmClient(cluster.url, token=key(cluster, 300, clock), workdir="/tmp") as slurm:
        tokens = rest_of(slurm).connection.tokens
        tokens.clock.local = clock
        await slurm.states([1])
        job = await slurm.submit(SCRIPT, hold=True)
        assert tokens.clock.skew == pytest.approx(-seconds_off, abs=60)
        assert (await job.info()).user == "alice"
        again = await slurm.submit(SCRIPT, hold=True)
        await slurm.cancel([job.id, again.id])
        # From now on its tokens have the server's time.
        assert await tokens.replace(await tokens.token())
        claims = read_claims(await tokens.token())
        assert claims.expires is not None
        assert claims.expires.timestamp() - time.time() == pytest.approx(300, abs=60)


async def test_a_token_is_over_by_the_servers_clock(cluster: Cluster) -> None:
    expired = cluster.token("alice", lifespan=-300)
    async with AsyncSlurmClient(cluster.url, token=expired, workdir="/tmp") as slurm:
        # By this clock it lasts another 5 minutes.
        tokens = rest_of(slurm).connection.tokens
        tokens.clock.local = lambda: time.time() - 600
        tokens.note_time(time.time(), time.time() - 600, time.time() - 600)
        with pytest.raises(TokenExpired):
            await slurm.states([1])
        with pytest.raises(TokenExpired):
            await slurm.submit(SCRIPT)
