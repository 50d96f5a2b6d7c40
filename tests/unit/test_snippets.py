"""The Python in README.md and docs/: all of it compiles, and what a reader can follow page by page runs as printed."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm_rest.testing import FakeSlurm

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((ROOT / page).read_text())


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_python(page: str) -> None:
    for block in blocks(page):
        # What somebody types at a prompt, and what comes back, is no program.
        if ">>>" not in block:
            compile(block, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeSlurm]:
    """Make the fake the cluster of the environment, and its reader's directory one with a script."""
    with FakeSlurm() as slurm:
        for name, value in slurm.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "train.sbatch").write_text("#!/bin/bash\nhostname\n")
        yield slurm


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/files.md"])
def test_a_page_runs_from_its_first_block_to_its_last(page: str) -> None:
    """A name that a page has made stays: a client that an earlier block closed would be seen here."""
    module = types.ModuleType("page")
    found = blocks(page)
    assert found
    if "SlurmClient()" not in found[0]:
        found.insert(0, "from slurm_rest import SlurmClient\nslurm = SlurmClient()\n")
    for block in found:
        exec(compile(block, page, "exec", dont_inherit=True), module.__dict__)
    module.__dict__["slurm"].close()
