"""Which release an unknown one counts as, and that every difference in the table is one."""

from __future__ import annotations

from dataclasses import fields

import pytest

from slurm_rest.sbatch.dialect import DIALECTS, Dialect, dialect_of, known_release


@pytest.mark.parametrize(
    ("release", "known"),
    [("", "24.11"), ("22.05", "24.11"), ("24.11", "24.11"), ("25.11", "24.11"), ("26.05", "26.05"), ("27.05", "26.05")],
)
def test_a_release_counts_as_the_one_before_it(release: str, known: str) -> None:
    assert known_release(release) == known
    assert dialect_of(release) is DIALECTS[known]


@pytest.mark.parametrize("name", [field.name for field in fields(Dialect)])
def test_each_difference_is_one(name: str) -> None:
    assert {getattr(row, name) for row in DIALECTS.values()} == {True, False}
