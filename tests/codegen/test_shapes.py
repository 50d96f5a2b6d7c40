"""The shapes that the fake server fills are those of the captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import shapes


def test_the_shapes_are_up_to_date() -> None:
    assert shapes.main(["--check"]) == 0, "run python -m codegen.shapes"


def test_what_is_stale_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "OUT", tmp_path)
    assert shapes.main(["--check"]) == 1
    shapes.main([])
    assert shapes.main(["--check"]) == 0


def test_what_is_made_no_more_is_told_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "OUT", tmp_path)
    shapes.main([])
    (tmp_path / "22.05-v0.0.38.json").write_text("{}")
    assert shapes.main(["--check"]) == 1
    shapes.main([])
    assert shapes.main(["--check"]) == 0
    assert not (tmp_path / "22.05-v0.0.38.json").exists()
