"""What jobs used: steps summed up, from slurmdbd's records and from sacct's lines."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from slurm_rest.models import JobUsage
from slurm_rest.transport.shell import Finished
from slurm_rest.transport.usage_texts import read_usage as read_lines
from slurm_rest.transport.usage_texts import usage_question
from slurm_rest.usage import read_usage
from tests.packaging.support import ROOT

SUBMITTED = datetime(2026, 3, 1, tzinfo=timezone.utc)


def test_steps_are_summed_up() -> None:
    def step(memory: int, *more: dict[str, object]) -> dict[str, object]:
        return {
            "time": {"total": {"seconds": 1, "microseconds": 250_000}, "user": {"seconds": 1, "microseconds": 0}},
            "tres": {"requested": {"max": [{"type": "mem", "name": "", "count": memory}, *more]}},
        }

    record = {
        "job_id": 7,
        "name": "train",
        "time": {"submission": int(SUBMITTED.timestamp()), "total": {"seconds": 0}},
        "steps": [step(10), step(30, {"type": "gres", "name": "gpuutil", "count": 97}), step(-2), "odd"],
    }
    found = read_usage(record)
    assert (found.id, found.name, found.submit_time) == (7, "train", SUBMITTED)
    assert found.values() == {
        "cpu_seconds": 3.75,
        "cpu_user_seconds": 3.0,
        "memory_max_bytes": 30,
        "gpu_utilization_percent": 97,
    }


@pytest.mark.parametrize("version", ["24.11.5/v0.0.41", "24.11.5/v0.0.42", "26.05.5/v0.0.42", "26.05.5/v0.0.45"])
def test_a_real_record_is_understood(version: str) -> None:
    raw = json.loads((ROOT / f"tests/data/captures/{version}/slurmdb_jobs.json").read_text())
    records = [one for one in raw["jobs"] if one["steps"]]
    assert records
    for one in records:
        assert {"cpu_seconds", "cpu_user_seconds", "cpu_system_seconds"} <= read_usage(one).values().keys()


def lines(*records: str) -> list[JobUsage]:
    """Read what sacct printed, with | for the words that nobody can foresee."""
    question = usage_question([3])
    assert question.separator in question.program.text
    text = "".join(f"{record}\n" for record in records).replace("|", question.separator)
    return read_lines(question, Finished("sacct", text, "", 0))


def test_what_sacct_prints_of_steps() -> None:
    """As 22.05 and 24.11 print it: jobs before their steps, an array's tasks under ids of their own."""
    seconds = int(SUBMITTED.timestamp())
    used = "cpu=00:00:00,energy=0,fs/disk=4960,gres/gpumem=2G,gres/gpuutil=97,mem=3239936,pages=0,vmem=4464640"
    first, second = lines(
        f"3|l.sh\nx|{seconds}|00:00.701|00:00.685|00:00.016||3_1",
        f"3.batch|batch|{seconds}|00:00.701|00:00.685|00:00.016|{used}|3_1.batch",
        f"3.0|true|{seconds}|1-02:03:04|01:00:00|00:01.500|mem=3164K|3_1.0",
        f"4|l.sh|{seconds}|00:00:00|00:00:00|00:00:00||3_2",
    )
    assert (first.id, first.name, first.submit_time) == (3, "l.sh\nx", SUBMITTED)
    assert first.cpu_seconds == pytest.approx(93784.701)
    assert first.cpu_user_seconds == pytest.approx(3600.685)
    assert first.cpu_system_seconds == pytest.approx(1.516)
    assert (first.memory_max_bytes, first.gpu_memory_max_bytes) == (3239936, 2 * 1024**3)
    assert first.gpu_utilization_percent == 97
    assert (second.id, second.values()) == (4, {})
