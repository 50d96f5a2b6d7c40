"""Walks: everything below a directory, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurm_rest.errors import FileMissing, FilesError
from slurm_rest.pathmap import PathMap
from slurm_rest.transport.files import StoredFiles, walking
from slurm_rest.transport.files.directory import DirectoryStore


@pytest.fixture
def files(tmp_path: Path) -> StoredFiles:
    return StoredFiles.of(DirectoryStore(PathMap.read({"/w": str(tmp_path)})))


async def walked(files: StoredFiles, path: str = "/w") -> list[tuple[str, str, str]]:
    return [(entry.relative, entry.kind, entry.problem) async for entry in files.walk(path)]


async def test_a_tree_by_name_and_each_directory_before_what_is_in_it(files: StoredFiles, tmp_path: Path) -> None:
    for name in ("b/2/x", "b/1", "a\nb", "c \udcff'"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"123")
    assert await walked(files) == [
        ("a\nb", "file", ""),
        ("c \udcff'", "file", ""),
        ("b", "directory", ""),
        ("b/1", "file", ""),
        ("b/2", "directory", ""),
        ("b/2/x", "file", ""),
    ]
    entries = [entry async for entry in files.walk("/w/b/2")]
    assert [(entry.path, entry.relative, entry.size) for entry in entries] == [("/w/b/2/x", "x", 3)]


async def test_links_inside_are_followed_and_read_by_their_real_path(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "run_3").mkdir()
    (tmp_path / "run_3/log").write_bytes(b"text")
    (tmp_path / "latest").symlink_to("run_3")
    (tmp_path / "shortcut").symlink_to("/w/run_3/log")
    found = {entry.relative: entry async for entry in files.walk("/w")}
    assert sorted(found) == ["latest", "latest/log", "run_3", "run_3/log", "shortcut"]
    assert {entry.problem for entry in found.values()} == {""}
    assert found["latest/log"].path == found["shortcut"].path == "/w/run_3/log"
    assert (found["shortcut"].kind, found["shortcut"].size) == ("file", 4)


async def test_links_out_of_the_tree_are_reported(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "treehouse").mkdir()
    (tmp_path / "treehouse/secret").touch()
    for number, target in enumerate(("/etc", "../treehouse", "/w/treehouse/secret", "..", "/w", "../../../etc/passwd")):
        (tmp_path / f"tree/{number}").symlink_to(target)
    (tmp_path / "tree/none").symlink_to("nowhere")
    found = await walked(files, "/w/tree")
    assert found == [*((str(number), "symlink", "outside") for number in range(6)), ("none", "symlink", "dangling")]


async def test_loops_end(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/up").symlink_to("..")
    (tmp_path / "a/b/top").symlink_to("/w")
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "side").symlink_to("a/b")
    found = await walked(files)
    assert ("a/b/up", "directory", "loop") in found
    assert ("a/b/top", "directory", "loop") in found
    assert ("a/self", "symlink", "loop") in found
    # By another way it is reached once more, and ends there as well.
    assert ("side", "directory", "") in found
    assert ("side/up/b", "directory", "loop") in found
    assert len(found) < 20


async def test_a_tree_of_links_that_never_ends_is_given_up(
    files: StoredFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "_MAX_ENTRIES", 500)
    for level in range(20):
        (tmp_path / f"d{level}").mkdir()
        for link in ("x", "y"):
            (tmp_path / f"d{level}" / link).symlink_to(f"../d{level + 1}")
    with pytest.raises(FilesError, match="more than 500 entries"):
        await walked(files)


async def test_what_cannot_be_entered_is_reported(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "kept").mkdir()
    seen = []
    async for entry in files.walk("/w"):
        seen.append((entry.relative, entry.problem))
        if entry.relative == "gone":
            (tmp_path / "kept").rmdir()
    assert seen == [("gone", ""), ("kept", "unreadable")]
    with pytest.raises(FileMissing):
        await walked(files, "/w/none")
