"""The same cases by the real sbatch and over REST: the same job, or the same refusal.

A case that differs has to be in ``otherwise.json`` with what the user gets instead; one that no longer differs has to
leave it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.native import Cluster, down
from cluster.space import Process
from tests.differential.drawn import draw_cases, is_documented
from tests.differential.harness import Case, Differential, compare_cases
from tests.differential.shapes import start
from tests.support.cluster import REST_RELEASES

DATA = Path(__file__).parent.parent / "data" / "sbatch"
TRUE = "#!/bin/sh\ntrue\n"
OTHERWISE = json.loads((DATA / "otherwise.json").read_text())


def started(shape: str, release: str) -> Iterator[Cluster]:
    """Return a cluster of its own, whose job ids are unlike any other number."""
    name = f"{shape}-{os.getpid()}-{release.replace('.', '-')}"
    try:
        yield start(name, shape, release, Process.of(os.getpid()))
    finally:
        down(name)


@pytest.fixture(scope="session", params=REST_RELEASES)
def held(request: pytest.FixtureRequest, _no_orphans: None) -> Iterator[Cluster]:
    """Return a plain cluster."""
    yield from started("plain", request.param)


@pytest.fixture(scope="session", params=REST_RELEASES)
def rich(request: pytest.FixtureRequest, _no_orphans: None) -> Iterator[Cluster]:
    """Return a cluster with switches, shards, specialised cores, labels and shared partitions."""
    yield from started("rich", request.param)


def read_cases(cluster: Cluster, folder: str = "cases") -> Iterator[Case]:
    """Return all cases that are held as data."""
    for file in sorted((DATA / folder).glob("*.json")):
        for item in json.loads(file.read_text()):
            options = item.get("options")
            directive = f"#SBATCH {options}\n" if options else ""
            script = item.get("script", f"#!/bin/bash\n{directive}env\n").replace("{CLUSTER}", cluster.name)
            words = item.get("words", ["--hold"])
            yield Case(item["id"], script, words, item.get("environ", {}), item.get("name", "job.sh"))


def read_scripts() -> Iterator[Case]:
    """Return the scripts that are held as files."""
    for path in sorted((DATA / "scripts").glob("*.sbatch")):
        yield Case(path.name, path.read_bytes().decode("utf-8", "surrogateescape"), name=path.name)


@pytest.mark.cluster
async def test_every_case_gives_the_same_job_or_the_same_refusal(held: Cluster) -> None:
    cases = [*read_cases(held), *read_scripts()]
    assert len(cases) > 1500
    await compare_all(held, cases, OTHERWISE[held.release])


@pytest.mark.cluster
async def test_a_rich_cluster_gives_the_same_jobs(rich: Cluster) -> None:
    cases = list(read_cases(rich, "rich"))
    assert len(cases) > 150
    await compare_all(rich, cases, OTHERWISE[f"rich-{rich.release}"])


# Besides the newest, which all the others use.
OLDER_VERSIONS = {"24.11": ("v0.0.40", "v0.0.41"), "26.05": ("v0.0.42", "v0.0.43", "v0.0.44")}


@pytest.mark.cluster
async def test_older_versions_give_the_same_job_or_say_what_they_lack(held: Cluster) -> None:
    cases = list(read_cases(held))
    for number, version in enumerate(OLDER_VERSIONS[held.release]):
        sample = cases[number::30]
        assert len(sample) > 50
        async with Differential(held, version) as differential:
            found = await differing(differential, sample)
        lacking = f"API version {version} cannot express"
        known = OTHERWISE[held.release]
        wrong = [f"{name}: {text}" for name, text in found.items() if name not in known and lacking not in text]
        assert not wrong, "\n".join(wrong)


@pytest.mark.cluster
async def test_odd_cases_give_the_same_job_or_are_refused_for_a_documented_reason(held: Cluster) -> None:
    await compare_drawn(held, draw_cases(1, 60, held.name))


@pytest.mark.cluster
async def test_odd_cases_on_a_rich_cluster(rich: Cluster) -> None:
    await compare_drawn(rich, draw_cases(2, 60, rich.name))


async def compare_drawn(cluster: Cluster, cases: Sequence[Case]) -> None:
    """Fail for what differs without being documented."""
    async with Differential(cluster) as differential:
        found = await compare_cases(differential, cases)
    assert sum(one.accepted for one in found) > 15
    wrong = [f"{one.case.id}: {one.text[:300]}" for one in found if one.text and not is_documented(one)]
    assert not wrong, "\n".join(wrong)


async def compare_all(cluster: Cluster, cases: Sequence[Case], expected: Mapping[str, str]) -> None:
    """Fail for what differs otherwise than expected."""
    assert set(expected) <= {case.id for case in cases}
    async with Differential(cluster) as differential:
        found = await differing(differential, cases)
    wrong = {name: text for name, text in found.items() if name not in expected or expected[name] not in text}
    wrong |= {name: "does not differ any more" for name in expected if name not in found}
    assert not wrong, "\n".join(f"{name}: {text[:300]}" for name, text in sorted(wrong.items()))


async def differing(differential: Differential, cases: Sequence[Case]) -> dict[str, str]:
    """Return what differs, by the case's id."""
    return {one.case.id: one.text for one in await compare_cases(differential, cases) if one.text}


# One value or more for each option that every release and version can express.
VALUES: dict[str, list[str | None]] = {
    "account": ["default"], "acctg-freq": ["task=30"], "array": ["0-1", "1-7:3%2"],
    "begin": ["now+1day", "2031-02-03"], "batch": ["intel"], "chdir": ["/tmp", "sub"],
    "comment": ["a b", "x#y"], "constraint": ["intel", "intel|amd"], "container": ["/oci"],
    "contiguous": [None], "cpu-freq": ["high"], "cpus-per-gpu": ["2"], "cpus-per-task": ["1", "2"],
    "deadline": ["now+9days"], "delay-boot": ["5"], "dependency": ["afterany:1"],
    "distribution": ["cyclic", "plane=2"], "error": ["e.txt", "none"], "exclude": ["n2"],
    "exclusive": [None, "user"], "export": ["NONE", "A=1,HOME", "ALL"], "extra": ["x"], "get-user-env": [None],
    "gpu-bind": ["closest"], "gpu-freq": ["medium"], "gpus": ["2", "a100:1"], "gpus-per-node": ["1", "v100:2"],
    "gpus-per-socket": ["1"], "gpus-per-task": ["1"], "gres": ["gpu:1"], "gres-flags": ["enforce-binding"],
    "hint": ["nomultithread", "multithread"], "input": ["i"], "job-name": ["j"], "kill-on-invalid-dep": ["yes"],
    "licenses": ["matlab:1"], "mail-type": ["END,FAIL", "ALL"], "mail-user": ["root"], "mem": ["1G", "0"],
    "mem-bind": ["local"], "mem-per-cpu": ["500M"], "mem-per-gpu": ["1G"], "mincpus": ["2"], "network": ["x"],
    "nice": ["5", None], "no-kill": [None], "no-requeue": [None], "nodelist": ["n1", "n[1-2]"],
    "nodes": ["1", "2", "1-2", "1,2"], "ntasks": ["1", "4"], "ntasks-per-core": ["1"], "ntasks-per-gpu": ["2"],
    "ntasks-per-node": ["2"], "ntasks-per-socket": ["1"], "open-mode": ["append"], "output": ["%x-%j.out"],
    "overcommit": [None], "oversubscribe": [None], "partition": ["normal", "debug"], "prefer": ["amd"],
    "priority": ["5"], "profile": ["task"], "propagate": ["NOFILE", "NONE"], "qos": ["normal"],
    "requeue": [None], "signal": ["B:USR1@30"], "sockets-per-node": ["1"], "spread-job": [None],
    "switches": ["1@5"], "thread-spec": ["1"], "threads-per-core": ["1"], "time": ["10", "1-0"],
    "time-min": ["5"], "tmp": ["1G"], "tres-bind": ["gres/gpu:single:1"],
    "tres-per-task": ["cpu=2", "gres/gpu=1"], "use-min-nodes": [None], "wait-all-nodes": ["1"], "wckey": ["w"],
}  # fmt: skip


def combinations(count: int) -> list[list[str]]:
    """Return combinations of two to seven options, always the same ones."""
    words = [
        f"--{name}" + ("" if value is None else f"={value}") for name, values in VALUES.items() for value in values
    ]
    found: list[list[str]] = []

    @settings(max_examples=count, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.sampled_from(words), min_size=2, max_size=7, unique_by=lambda word: word.partition("=")[0]))
    def collect(drawn: list[str]) -> None:
        found.append(drawn)

    collect()
    return found


@pytest.mark.cluster
async def test_combinations_give_the_same_job_or_the_same_refusal(held: Cluster) -> None:
    cases = [Case(" ".join(words), TRUE, ["--hold", *words]) for words in combinations(120)]
    async with Differential(held) as differential:
        found = await differing(differential, cases)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
