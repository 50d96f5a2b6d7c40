"""A day's events, and nobody is told anything wrong. ``scripts/faults day 300`` is the long form, with 2,000 jobs."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from tests.faults.day import CONF, Day

SECONDS = os.environ.get("SLURM_REST_FAULT_SECONDS", "")
# The short form is for every run, so it is on one release, and without what takes a minute by itself.
RELEASES = ["24.11", "26.05"] if SECONDS else ["26.05"]
JOBS_A_SECOND = 2000 / 300


@pytest.mark.parametrize("release", RELEASES)
async def test_every_end_is_sacct_s_and_no_other_was_told(own_cluster: Callable[..., Cluster], release: str) -> None:
    seconds = float(SECONDS or 15)
    cluster = own_cluster(release, nodes=4, conf=CONF)
    token = cluster.token("alice", lifespan=7200)
    async with AsyncSlurmClient(cluster.url, token=token, workdir="/tmp") as slurm:
        day = Day(cluster, slurm)
        await day.run(round(seconds * JOBS_A_SECOND), seconds, patience=300 + 2 * seconds, timeouts=bool(SECONDS))
    print(day)  # noqa: T201  # shown by pytest -s, and when it fails
    assert day.faults == []
    assert len(day.records) == len(day.jobs) == round(seconds * JOBS_A_SECOND)
    kinds = {kind for kind, _ in day.jobs.values()}
    assert len(kinds) > 9
    assert any(record.restart_count for record in day.records.values())
    assert any(record.source == "accounting" for record in day.records.values())
