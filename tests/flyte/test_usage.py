"""What a job was given, as metrics."""

from __future__ import annotations

import pytest

from flyteplugins.slurm_rest.usage import allocated


@pytest.mark.parametrize(
    ("text", "size"),
    [("4G", 4 * 1024**3), ("4000M", 4000 * 1024**2), ("4000", 4000 * 1024**2), ("2T", 2 * 1024**4)],
)
def test_memory_is_in_bytes_from_either_source(text: str, size: float) -> None:
    given = {"mem": text, "cpu": "2", "gres/gpu:a100": "8", "energy": "-2", "license/x": "odd"}
    assert allocated(given) == {"tres/mem": size, "tres/cpu": 2.0, "tres/gres/gpu:a100": 8.0}
