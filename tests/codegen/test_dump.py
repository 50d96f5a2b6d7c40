"""The committed documents are what the daemons print."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cluster.root import require_machine
from codegen.document import document_paths
from codegen.dump import dump
from codegen.main import REPOSITORY

OPENAPI = REPOSITORY / "openapi"


@pytest.mark.cluster
def test_a_new_dump_is_the_committed_one(tmp_path: Path) -> None:
    require_machine()
    shutil.copy(OPENAPI / "lock.toml", tmp_path)
    assert sorted(dump(tmp_path, [], None)) == sorted(document_paths(OPENAPI))
    for path in (*document_paths(OPENAPI).values(), OPENAPI / "lock.toml"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
