"""What a job was given and used, as metrics."""

from __future__ import annotations

import json

import pytest

from flyteplugins.slurm_rest.usage import allocated, used
from slurm_rest.api.accounting import OpenapiSlurmdbdJobsResp
from tests.packaging.support import ROOT


@pytest.mark.parametrize(
    ("text", "size"),
    [("4G", 4 * 1024**3), ("4000M", 4000 * 1024**2), ("4000", 4000 * 1024**2), ("2T", 2 * 1024**4)],
)
def test_memory_is_in_bytes_from_either_source(text: str, size: float) -> None:
    given = {"mem": text, "cpu": "2", "gres/gpu:a100": "8", "energy": "-2", "license/x": "odd"}
    assert allocated(given) == {"tres/mem": size, "tres/cpu": 2.0, "tres/gres/gpu:a100": 8.0}


def test_steps_are_summed_up() -> None:
    def step(memory: int, *more: dict[str, object]) -> dict[str, object]:
        return {
            "time": {"total": {"seconds": 1, "microseconds": 250_000}, "user": {"seconds": 1, "microseconds": 0}},
            "tres": {"requested": {"max": [{"type": "mem", "name": "", "count": memory}, *more]}},
        }

    record = {
        "time": {"total": {"seconds": 0, "microseconds": 0}},
        "steps": [step(10), step(30, {"type": "gres", "name": "gpuutil", "count": 97}), step(20), {"tres": {}}],
    }
    assert used(record) == {
        "cpu_seconds": 3.75,
        "cpu_user_seconds": 3.0,
        "memory_max_bytes": 30.0,
        "gpu_utilization_percent": 97.0,
    }


@pytest.mark.parametrize("version", ["24.11.5/v0.0.41", "24.11.5/v0.0.42", "26.05.5/v0.0.42", "26.05.5/v0.0.45"])
def test_a_real_record_is_understood(version: str) -> None:
    raw = json.loads((ROOT / f"tests/data/captures/{version}/slurmdb_jobs.json").read_text())
    answer = OpenapiSlurmdbdJobsResp.model_validate(raw)
    records = [one.model_dump(mode="json", by_alias=True) for one in answer.jobs or () if one.steps]
    assert records
    for one in records:
        assert {"cpu_seconds", "cpu_user_seconds", "cpu_system_seconds"} <= used(one).keys()
