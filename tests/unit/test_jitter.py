"""Pauses that differ, and a program's own random numbers that do not."""

from __future__ import annotations

import random

from slurm_rest.jitter import spread


def test_numbers_differ_and_keep_their_bounds() -> None:
    found = [spread(0.9, 1.1) for _ in range(100)]
    assert len(set(found)) > 50
    assert all(0.9 <= one <= 1.1 for one in found)


def test_a_programs_own_numbers_stay_as_they_are() -> None:
    random.seed(7)
    before = random.getstate()
    spread(0, 1)
    assert random.getstate() == before
