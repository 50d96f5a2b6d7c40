"""Builds the wheel once and puts it into environments that hold nothing else than what it asks for; no network."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import venv
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and from it the wheel, with the pinned backend of this environment."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def install(wheel: Path, folder: Path, *tools: str) -> Path:
    """Return the Python of a new environment with the wheel, its base dependencies, and tools for testing.

    Dependencies are linked from the running environment, so that this needs no network and what is not declared is
    not there.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, str(wheel)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (metadata,) = site.glob("*.dist-info")
    asked = importlib.metadata.Distribution.at(metadata).requires or []
    for distribution in _closure([*asked, *tools]):
        _link(distribution, site)
    return python


def _closure(asked: list[str]) -> list[importlib.metadata.Distribution]:
    found: dict[str, importlib.metadata.Distribution] = {}
    left = [Requirement(text) for text in asked]
    while left:
        requirement = left.pop()
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name.lower() not in found:
            distribution = importlib.metadata.distribution(requirement.name)
            found[requirement.name.lower()] = distribution
            left += [Requirement(text) for text in distribution.requires or []]
    return list(found.values())


def _link(distribution: importlib.metadata.Distribution, site: Path) -> None:
    for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        target = site / top
        if not target.exists():
            target.symlink_to(Path(str(distribution.locate_file(top))))
