"""``scripts/differential``: draws submissions, makes each with sbatch and over REST, and prints what differs."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cluster.native import Cluster, down
from tests.differential.drawn import draw_cases, is_documented
from tests.differential.harness import Case, Comparison, Differential, Verdict, compare_cases
from tests.differential.shapes import SHAPES, start
from tests.support.cluster import REST_RELEASES

__all__ = ["main"]

_LONGEST = 600


def main(argv: Sequence[str]) -> int:
    """Run the command; 1 where a job is silently another one, or more than one in a hundred is refused here alone."""
    options = _parser().parse_args(argv)
    name = f"differential-{options.shape}-{options.slurm.replace('.', '-')}"
    cluster = start(name, options.shape, options.slurm)
    try:
        cases = draw_cases(options.seed, options.count, name) if options.replay is None else _read(options.replay)
        began = time.monotonic()
        found = asyncio.run(_compare(cases, cluster, options.api_version))
        print(f"{options.shape} {options.slurm}: {len(found)} cases in {time.monotonic() - began:.0f} s")
        return _report(found, all_of_it=options.all)
    finally:
        if not options.keep:
            down(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/differential", description=__doc__)
    parser.add_argument("--slurm", choices=REST_RELEASES, default=REST_RELEASES[0], help="the release")
    parser.add_argument("--shape", choices=SHAPES, default=SHAPES[0], help="the cluster")
    parser.add_argument("--api-version", help="of REST; without it the newest, as for users")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same cases")
    parser.add_argument("--count", type=int, default=300, help="how many")
    parser.add_argument("--replay", type=Path, help="cases as they are printed, one on a line, instead of drawn ones")
    parser.add_argument("--keep", action="store_true", help="leave the cluster running for the next time")
    parser.add_argument("--all", action="store_true", help="print what is documented, too")
    return parser


def _read(path: Path) -> list[Case]:
    lines = [line for line in path.read_text().split("\n") if line.startswith("{")]
    return [Case(**json.loads(line)) for line in lines]


async def _compare(cases: Sequence[Case], cluster: Cluster, version: str | None) -> list[Comparison]:
    async with Differential(cluster, version) as differential:
        return await compare_cases(differential, cases)


def _report(found: Sequence[Comparison], *, all_of_it: bool) -> int:
    counts = Counter(one.verdict for one in found)
    for one in found:
        if one.text and (all_of_it or not is_documented(one)):
            case = one.case
            held = {
                "id": case.id,
                "script": case.script,
                "words": case.words,
                "environ": case.environ,
                "name": case.name,
            }
            print(f"\n{one.verdict.value}: {one.text[:_LONGEST]}\n{json.dumps(held, ensure_ascii=False)}")
    print(f"\n{sum(one.accepted for one in found)} taken by sbatch")
    for verdict in Verdict:
        documented = sum(one.verdict is verdict and is_documented(one) for one in found)
        print(f"{counts[verdict]:6} {verdict.value}" + (f", {documented} of them documented" if documented else ""))
    return int(bool(counts[Verdict.SILENT]) or counts[Verdict.REFUSED] > len(found) / 100)
