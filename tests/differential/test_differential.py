"""The same cases by the real sbatch and over REST: the same job, or the same refusal.

A case that differs has to be in ``otherwise.json`` with what the user gets instead; one that no longer differs has to
leave it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.native import Cluster, down
from tests.differential.harness import Case, Differential, differences
from tests.support.cluster import _start

DATA = Path(__file__).parent.parent / "data" / "sbatch"
# So large that no other number in a record looks like a job's id.
FIRST_JOB = 700001
OTHERWISE = json.loads((DATA / "otherwise.json").read_text())


@pytest.fixture(scope="session", params=["24.11", "26.05"])
def held(request: pytest.FixtureRequest, _no_orphans: None) -> Iterator[Cluster]:
    """Return a cluster of its own, whose job ids are unlike any other number."""
    release = request.param
    cluster = _start(f"sbatch-{os.getpid()}-{release.replace('.', '-')}", release, 2, {"FirstJobId": str(FIRST_JOB)})
    home = cluster.home / "alice"
    (home / "envfile").write_bytes(b"A=1\0B=two words\0")
    (home / "hosts").write_text("n1\nn2 # a remark\n\nn1\n")
    (home / "emptyhosts").write_text("")
    (home / "bbfile").write_text("#BB x\n")
    yield cluster
    down(cluster.name)


def read_cases(cluster: Cluster) -> Iterator[Case]:
    """Return all cases that are held as data, and the scripts."""
    for file in sorted((DATA / "cases").glob("*.json")):
        for item in json.loads(file.read_text()):
            options = item.get("options")
            directive = f"#SBATCH {options}\n" if options else ""
            script = item.get("script", f"#!/bin/bash\n{directive}env\n").replace("{CLUSTER}", cluster.name)
            words = item.get("words", ["--hold"])
            yield Case(item["id"], script, words, item.get("environ", {}), item.get("name", "job.sh"))
    for path in sorted((DATA / "scripts").glob("*.sbatch")):
        yield Case(path.name, path.read_bytes().decode("utf-8", "surrogateescape"), name=path.name)


async def compare(differential: Differential, case: Case) -> str:
    """Return what differs, in one text, empty for nothing."""
    theirs = await differential.by_sbatch(case)
    ours = await differential.by_rest(case)
    if found := differences(ours, theirs):
        return "; ".join(found)
    if not theirs.accepted and theirs.on_client != ours.on_client:
        return f"refused by {'sbatch' if theirs.on_client else 'Slurm'} ({theirs.reason}), REST: {ours.reason}"
    return ""


@pytest.mark.cluster
async def test_every_case_gives_the_same_job_or_the_same_refusal(held: Cluster) -> None:
    differential = Differential(held)
    await differential.prepare()
    expected = OTHERWISE[held.release]
    wrong: dict[str, str] = {}
    gate = asyncio.Semaphore(4)

    async def run(case: Case) -> None:
        async with gate:
            found = await compare(differential, case)
        if expected.get(case.id, "") not in found or bool(found) != (case.id in expected):
            wrong[case.id] = found or "does not differ any more"

    cases = list(read_cases(held))
    assert len(cases) > 1500
    assert set(expected) <= {case.id for case in cases}
    await asyncio.gather(*(run(case) for case in cases))
    assert not wrong, "\n".join(f"{name}: {text[:300]}" for name, text in sorted(wrong.items()))
