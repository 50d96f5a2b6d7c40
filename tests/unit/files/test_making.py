"""Directories that are made on the cluster, and the home that they may be below."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slurm_rest.config import load_settings
from slurm_rest.errors import ConfigError, FilesError, SpecError
from slurm_rest.transport.files import choose_files

NOBODY = {"XDG_CONFIG_HOME": os.devnull}


def mapped(folder: Path) -> dict[str, object]:
    return {"url": "http://slurm", "path_map": {"/home": str(folder)}}


async def test_a_directory_is_made_with_those_above_it(tmp_path: Path) -> None:
    files = choose_files(load_settings(mapped(tmp_path), NOBODY))
    for _ in range(2):  # the second time it is there
        await files.make_directory("/home/alice/.flyte/jobs")
        assert (tmp_path / "alice/.flyte/jobs").is_dir()


async def test_one_that_another_process_is_just_making_is_nobodys_yet(tmp_path: Path) -> None:
    (tmp_path / "alice/.flyte").mkdir(parents=True)
    if os.geteuid() == 0:  # others own all of it anyway
        os.chown(tmp_path / "alice", 1234, 1235)
    await choose_files(load_settings(mapped(tmp_path), NOBODY)).make_directory("/home/alice/.flyte/jobs")
    above, found = (tmp_path / "alice").stat(), (tmp_path / "alice/.flyte/jobs").stat()
    assert (found.st_uid, found.st_gid) == (above.st_uid, above.st_gid)


async def test_it_has_the_owner_of_the_one_above(tmp_path: Path) -> None:
    (tmp_path / "alice").mkdir()
    if os.geteuid() == 0:  # others own all of it anyway
        os.chown(tmp_path / "alice", 1234, 1235)
    await choose_files(load_settings(mapped(tmp_path), NOBODY)).make_directory("/home/alice/a/b")
    above, found = (tmp_path / "alice").stat(), (tmp_path / "alice/a/b").stat()
    assert (found.st_uid, found.st_gid) == (above.st_uid, above.st_gid)


async def test_no_directory_is_made_through_a_link_that_leads_away(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "home/link").symlink_to(tmp_path / "outside")
    files = choose_files(load_settings(mapped(tmp_path / "home"), NOBODY))
    with pytest.raises(FilesError, match="not at hand"):
        await files.make_directory("/home/link/new")
    assert list((tmp_path / "outside").iterdir()) == []


async def test_a_directory_of_no_way_or_no_name_is_refused(tmp_path: Path) -> None:
    files = choose_files(load_settings(mapped(tmp_path), NOBODY))
    with pytest.raises(ConfigError, match="Nothing leads to /scratch"):
        await files.make_directory("/scratch/new")
    with pytest.raises(SpecError, match="no absolute path"):
        await files.make_directory("new")


async def test_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "alice").mkdir()
    if os.geteuid() == 0:  # others own all of it anyway
        os.chown(tmp_path / "alice", 1234, 1235)
    files = choose_files(load_settings(mapped(tmp_path), NOBODY))
    before = os.umask(0)
    try:
        for data in (b"first", b"2"):
            await files.write_private("/home/alice/x", data)
    finally:
        os.umask(before)
    found, above = (tmp_path / "alice/x").stat(), (tmp_path / "alice").stat()
    assert (found.st_mode & 0o7777, found.st_uid, found.st_gid) == (0o600, above.st_uid, above.st_gid)
    assert (tmp_path / "alice/x").read_bytes() == b"2"
    assert [path.name for path in (tmp_path / "alice").iterdir()] == ["x"]


async def test_a_private_file_follows_no_link_and_goes_to_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home/alice").mkdir(parents=True)
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "home/alice/x").symlink_to(tmp_path / "outside")
    files = choose_files(load_settings(mapped(tmp_path / "home"), NOBODY))
    await files.write_private("/home/alice/x", b"new")
    assert (tmp_path / "outside").read_text() == "kept"
    assert not (tmp_path / "home/alice/x").is_symlink()
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(FilesError, match="belongs to another user"):
        await files.write_private("/home/alice/y", b"new")
    assert not (tmp_path / "home/alice/y").exists()


async def test_the_home_is_told_where_somebody_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own = load_settings({"transport": "cli"}, NOBODY)
    assert await choose_files(own).home() == str(tmp_path)
    with pytest.raises(ConfigError, match="Nobody on the cluster"):
        await choose_files(load_settings(mapped(tmp_path), NOBODY)).home()
