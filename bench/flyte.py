"""The connector beside flyteplugins-slurm 2.12.1, in one run on one real cluster: ours over REST, that one over SSH.

Both are called as flyte's connector service calls them, without gRPC between, for the same jobs, which wait.
Get: at the pace at which a platform asks for so many jobs, every half minute for each, and then 150 at once. Create:
the same serialised script task. Memory: a process of its own for each, after it was asked for all the jobs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import importlib.util
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.flyte_sides import PEER, Ours, Side, Theirs, Way, script_template
from bench.live import Live, describe_machine, live, middle, resident
from bench.table import judge, show

_FASTER, _AN_INTERVAL, _AT_ONCE_MS, _MANY_MS = 5.0, 1.0, 2000.0, 50.0
# A platform asks for each job about every 30 seconds.
_EVERY = 30.0
# Its commands take long, and what one costs does not depend on how many were asked before.
_PEER_GETS = 200


@dataclass(frozen=True, slots=True)
class Gets:
    """What asking for many jobs took: milliseconds of each, and what it made of requests or commands."""

    times: Sequence[float]
    asked: int
    failed: int = 0


async def one_by_one(side: Side, ids: Sequence[int], followed: int) -> Gets:
    """Ask for these jobs, one after another at the pace at which a platform asks for as many as are followed."""
    pause, before, times = _EVERY / followed, side.asked(), []
    for job_id in ids:
        started = time.perf_counter()
        await side.get(job_id)
        times.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(pause)
    return Gets(times, side.asked() - before)


async def at_once(side: Side, ids: Sequence[int]) -> Gets:
    """Ask for these jobs in the same moment."""
    before = side.asked()

    async def one(job_id: int) -> float:
        started = time.perf_counter()
        try:
            await side.get(job_id)
        except Exception as error:  # whatever a connector raises, the platform counts it as a failed call
            logging.getLogger("bench").info("get failed: %s", error)
            return -1.0
        return (time.perf_counter() - started) * 1000

    found = await asyncio.gather(*map(one, ids))
    times = [one for one in found if one >= 0]
    return Gets(times, side.asked() - before, len(found) - len(times))


@contextlib.asynccontextmanager
async def both(way: Way) -> AsyncIterator[tuple[Ours, Theirs]]:
    """Open both connectors, and close them."""
    ours, theirs = Ours(way), Theirs(way)
    try:
        yield ours, theirs
    finally:
        await ours.close()
        await theirs.close()


async def compare_gets(ours: Ours, theirs: Theirs, ids: Sequence[int]) -> int:
    """Ask both for jobs that they follow; print, and return 1 when a promise is broken."""
    first = await at_once(ours, ids)
    await ours.all_records(ids)
    ticks, records = ours.ticks(), ours.records
    mine = await one_by_one(ours, ids, len(ids))
    ticks, records = max(1, ours.ticks() - ticks), ours.records - records
    await theirs.get(ids[0])
    peer = await one_by_one(theirs, ids[:_PEER_GETS], len(ids))
    states = mine.asked - records
    fewer = f"{mine.asked / len(mine.times):.3f}"
    print(f"\nget, {len(ids):,} jobs followed, each asked for once in {_EVERY:g} s; {_PEER_GETS} of them of the peer")
    ratio = middle(peer.times) / middle(mine.times)
    rows = [
        ("ours, over REST", _ms(middle(mine.times)), _ms(max(mine.times)), "1.00", fewer),
        (
            f"flyteplugins-slurm {PEER}",
            _ms(middle(peer.times)),
            _ms(max(peer.times)),
            f"{ratio:,.0f}",
            f"{peer.asked / len(peer.times):.3f}",
        ),
    ]
    show(("", "median ms", "at most", "to ours", "requests or commands a get"), rows)
    print(f"ours: {states} requests for states in {ticks} intervals, {records} for the reasons of jobs that wait")
    print(f"ours, all {len(ids):,} for the first time, at once: slowest {_ms(max(first.times))} ms")
    return judge(
        [("requests for states an interval", states / ticks, _AN_INTERVAL, "")],
        [
            ("a get of flyteplugins-slurm takes, at the median,", ratio, _FASTER, "times as long"),
            ("commands that it runs for a get", peer.asked / len(peer.times), 1.0, ""),
        ],
    )


async def compare_bursts(ours: Ours, theirs: Theirs, ids: Sequence[int]) -> int:
    """Ask both for many jobs in one moment."""
    mine, peer = await at_once(ours, ids), await at_once(theirs, ids)
    print(f"\n{len(ids)} gets at once")
    rows = [
        (side.name, str(found.failed), _ms(middle(found.times or [0])), _ms(max(found.times, default=0)))
        for side, found in ((ours, mine), (theirs, peer))
    ]
    show(("", "failed", "median ms", "slowest ms"), rows)
    return judge(
        [
            (f"slowest of {len(ids)} gets", max(mine.times), _AT_ONCE_MS, "ms"),
            (f"failed of {len(ids)} gets", mine.failed, 0, ""),
        ]
    )


async def compare_creates(ours: Ours, theirs: Theirs, count: int) -> None:
    """Have both create held jobs from one template, one after the other; no promise is made.

    Not in turns: ours reads each job of the last minutes that has no key, as the peer's, to be sure that an attempt
    has none yet.
    """
    template, rows, least = script_template(theirs.way), [], 0.0
    for side in (ours, theirs):
        for number in range(2):
            await side.create(template, f"first{number}")
        asked, times = side.asked(), []
        for number in range(count):
            started = time.perf_counter()
            await side.create(template, f"run{number}")
            times.append((time.perf_counter() - started) * 1000)
        least = least or middle(times)
        each = (side.asked() - asked) / count
        rows.append((side.name, _ms(middle(times)), f"{middle(times) / least:.2f}", f"{each:.1f}"))
    print(f"\ncreate, {count} each, a held script task; the peer's copy by SFTP is no command")
    show(("", "median ms", "to ours", "requests or commands"), rows)


def followed_by(kind: str, way: Way, ids: Sequence[int]) -> tuple[float, float, float, list[float]]:
    """Return the resident MB of this process with one job asked about, with all, and a minute of the platform later.

    And the milliseconds of each get of that minute, one after the other.
    """
    return asyncio.run(_followed_by(kind, way, ids))


async def _followed_by(kind: str, way: Way, ids: Sequence[int]) -> tuple[float, float, float, list[float]]:
    side: Ours | Theirs = Ours(way, hurried=True) if kind == "ours" else Theirs(way)
    own = Path(f"/proc/{os.getpid()}")
    await side.get(ids[0])
    gc.collect()
    before = resident(own)
    # As many at a time as sshd lets through; of ours the first answer of each waits for the next question to Slurm.
    step = 500 if isinstance(side, Ours) else 1
    for start in range(0, len(ids), step):
        await asyncio.gather(*map(side.get, ids[start : start + step]))
    if isinstance(side, Ours):
        await side.all_records(ids)
    after, times = resident(own), list[float]()
    for _ in range(2):
        for job_id in ids if isinstance(side, Ours) else ids[:10]:
            started = time.perf_counter()
            await side.get(job_id)
            times.append((time.perf_counter() - started) * 1000)
            # As between two calls of a platform: the poller has its turn.
            await asyncio.sleep(0)
    later = resident(own)
    await side.close()
    return before, after, later, times


def compare_many(way: Way, ids: Sequence[int]) -> int:
    """Print what both need for many jobs. The peer keeps nothing of a job, so some of them tell it."""
    rows, gets = [], list[list[float]]()
    for name, kind, asked in (
        ("ours, states and full records", "ours", ids),
        (f"flyteplugins-slurm {PEER} ({_PEER_GETS} of them)", "theirs", ids[:_PEER_GETS]),
    ):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
            before, after, later, times = other.submit(followed_by, kind, way, asked).result()
        gets.append(sorted(times))
        each = f"{(after - before) * 1000 / len(asked):.1f}"
        rows.append((name, f"{before:.0f} -> {after:.0f} -> {later:.0f}", each))
    print(f"\nmemory, {len(ids):,} jobs followed: resident MB with one job, with all, after two more rounds")
    show(("", "MB", "kB a job"), rows)
    mine = gets[0]
    print(f"ours, {len(mine):,} gets one after the other: median {_ms(middle(mine))} ms, slowest {_ms(mine[-1])} ms")
    return judge([(f"99 of 100 gets with {len(ids):,} jobs followed", mine[len(mine) * 99 // 100], _MANY_MS, "ms")])


def _ms(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def way_to(world: Live) -> Way:
    """Return what both need to reach the cluster."""
    cluster = world.cluster
    return Way(cluster.url, world.token, cluster.ssh_port, str(cluster.ssh_key), str(cluster.known_hosts), "alice")


async def compare(way: Way, ids: Sequence[int], options: Mapping[str, int]) -> int:
    """Measure all but memory."""
    async with both(way) as (ours, theirs):
        broken = [await compare_gets(ours, theirs, ids[: options["jobs"]])]
        broken += [await compare_bursts(ours, theirs, ids[: options["burst"]])]
        await compare_creates(ours, theirs, options["creates"])
    return max(broken)


def missing() -> str:
    """Return what has to be installed first, empty when all is there."""
    if importlib.util.find_spec("flyte") is None:
        return "flyte is missing: pip install 'slurm-rest-client[flyte]'"
    if importlib.util.find_spec("flyteplugins.slurm") is None:
        return f"flyteplugins-slurm is missing: pip install --no-deps flyteplugins-slurm=={PEER}"
    return ""


def main(arguments: Sequence[str]) -> int:
    """Start a cluster of its own, measure, end it."""
    parser = argparse.ArgumentParser(prog="scripts/bench flyte", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000, help="followed while gets are measured (default 1000)")
    parser.add_argument("--burst", type=int, default=150, help="gets at once (default 150)")
    parser.add_argument("--creates", type=int, default=30, help="jobs that each creates (default 30)")
    parser.add_argument("--memory", type=int, default=5_000, help="followed while memory is measured (default 5000)")
    options = parser.parse_args(arguments)
    if what := missing():
        print(f"scripts/bench flyte: {what}", file=sys.stderr)
        return 2
    describe_machine()
    with live("flyte") as world:
        # They carry keys, as a connector's own jobs do.
        world.fill(max(options.jobs, options.burst), keyed=True)
        way = way_to(world)
        broken = asyncio.run(compare(way, world.queued, vars(options)))
        world.fill(options.memory, keyed=True)
        return max(broken, compare_many(way, world.queued[: options.memory]))
