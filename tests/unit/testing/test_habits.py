"""What differs between releases stands in one table."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import slurm_rest.testing
from slurm_rest.testing.habits import HABITS, habits_of
from slurm_rest.testing.shapes import RELEASES

SOURCE = Path(slurm_rest.testing.__file__).parent


def test_every_release_that_can_be_played_has_habits() -> None:
    assert set(HABITS) == set(RELEASES)
    assert habits_of("24.11") != habits_of("26.05")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_else_compares_releases(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            words = {
                one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            assert not words & set(RELEASES), f"line {node.lineno}: a row of habits.py says that"
