"""Tails, chunks and removing, on directories of this host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.errors import FileMissing, FilesError, SpecError
from slurm_rest.pathmap import PathMap
from slurm_rest.transport.files import StoredFiles
from slurm_rest.transport.files.base import FileStat
from slurm_rest.transport.files.directory import DirectoryStore


@pytest.fixture
def files(tmp_path: Path) -> StoredFiles:
    """Return files whose ``/home`` is the temporary directory."""
    return StoredFiles.of(DirectoryStore(PathMap.read({"/home": str(tmp_path)})))


class Memory:
    """A store with one file that shrinks when it has been read so many times."""

    where = "memory"

    def __init__(self, content: bytes, *later: bytes) -> None:
        self.contents = [content, *later]
        self.read_bytes = 0

    async def stat(self, path: str = "") -> FileStat:
        from datetime import datetime, timezone

        return FileStat("file", len(self.contents[0]), datetime.now(timezone.utc))

    async def open(self, path: str) -> Memory:
        return self

    async def read(self, offset: int, size: int) -> bytes:
        if len(self.contents) > 1:
            del self.contents[0]
        data = self.contents[0][offset : offset + min(size, 1000)]
        self.read_bytes += len(data)
        return data

    async def close(self) -> None:
        """Stay."""

    async def scan(self, path: str) -> list[tuple[str, FileStat]]:
        return []

    async def real(self, path: str) -> str:
        return path

    async def make_directory(self, path: str) -> None:
        """Have it."""

    async def write_private(self, path: str, data: bytes) -> None:
        """Have it."""

    async def remove(self, path: str, *, recursive: bool) -> bool:
        return False


def lines_of(data: bytes, count: int) -> bytes:
    """Return the last lines, the plain way."""
    return b"".join(data.splitlines(keepends=True)[-count:]) if count else b""


LINES = st.lists(st.binary(max_size=40).map(lambda line: line.translate(None, b"\r\n\v\f\x1c\x1d\x1e\x85") + b"\n"))


@given(LINES, st.binary(max_size=5), st.integers(0, 12))
async def test_the_last_lines_are_those_that_anybody_would_count(lines: list[bytes], rest: bytes, count: int) -> None:
    data = b"".join(lines) + rest.translate(None, b"\r\n\v\f\x1c\x1d\x1e\x85")
    tail = await StoredFiles.of(Memory(data)).tail("/x", lines=count)
    assert tail.data == lines_of(data, count)
    assert tail.start == len(data) - len(tail.data)


@given(LINES, st.integers(1, 200), st.none() | st.integers(0, 12))
async def test_a_tail_keeps_its_bound_and_is_the_end_of_the_file(
    lines: list[bytes], bound: int, count: int | None
) -> None:
    data = b"".join(lines)
    tail = await StoredFiles.of(Memory(data)).tail("/x", lines=count, max_bytes=bound)
    assert len(tail.data) <= bound
    assert tail.start == len(data) - len(tail.data)
    assert data.endswith(tail.data)
    assert tail.cut == (tail.data != data)
    whole_line = data[tail.start - 1 : tail.start] in (b"", b"\n")
    assert whole_line or b"\n" not in tail.data[:-1]


async def test_a_few_lines_of_a_big_file_cost_little() -> None:
    memory = Memory(b"a line of text\n" * 1_000_000)
    tail = await StoredFiles.of(memory).tail("/x", lines=10)
    assert tail.data == b"a line of text\n" * 10
    assert memory.read_bytes < 200_000


async def test_a_tail_begins_with_no_half_character() -> None:
    tail = await StoredFiles.of(Memory("é€𝄞".encode() * 100)).tail("/x", max_bytes=100)
    assert "\ufffd" not in tail.text
    assert 96 < len(tail.data) <= 100
    assert (await StoredFiles.of(Memory(b"\xff\xfeok")).tail("/x")).text == "\ufffd\ufffdok"


async def test_a_file_that_shrinks_while_its_tail_is_read() -> None:
    tail = await StoredFiles.of(Memory(b"old\n" * 1000, b"new\n")).tail("/x", lines=2)
    assert (tail.data, tail.start) == (b"new\n", 0)


async def test_chunks_are_the_whole_file_or_an_error() -> None:
    data = os.urandom(5000)
    assert b"".join([piece async for piece in StoredFiles.of(Memory(data)).read_chunks("/x", size=700)]) == data
    rest = [piece async for piece in StoredFiles.of(Memory(data)).read_chunks("/x", offset=4000)]
    assert b"".join(rest) == data[4000:]
    with pytest.raises(FilesError, match="was cut while it was read"):
        _ = [piece async for piece in StoredFiles.of(Memory(data, data[:100])).read_chunks("/x")]


@pytest.mark.parametrize("path", ["", "x", "../x", "/a\0b"])
async def test_paths_that_are_none(files: StoredFiles, path: str) -> None:
    with pytest.raises(SpecError, match="no absolute path"):
        await files.stat(path)


async def test_bounds_that_are_none(files: StoredFiles) -> None:
    with pytest.raises(SpecError):
        await files.tail("/home/x", max_bytes=0)
    with pytest.raises(SpecError):
        await files.tail("/home/x", lines=-1)


# --- a directory of this host ---------------------------------------------------------------------------------


async def test_the_clusters_paths_lead_to_the_files_here(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice/x").write_bytes(b"text")
    assert (await files.tail("/home/alice/x")).data == b"text"
    assert (await files.tail("//home/./alice/../alice//x")).data == b"text"
    stat = await files.stat("/home/alice/x")
    assert (stat.kind, stat.size) == ("file", 4)
    assert (await files.stat("/home")).kind == "directory"
    assert await files.names("/home/alice") == ["x"]


@pytest.mark.parametrize("name", ["a\nb", "a'b\"c", "a b", "-rf", "\udcff\udcfe", "é", "$(id)", "*", "n" * 255])
async def test_odd_names_are_names_like_others(files: StoredFiles, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert await files.names("/home") == [name]
    assert (await files.tail(f"/home/{name}")).data == b"x"
    assert await files.remove(f"/home/{name}") is True
    assert await files.remove(f"/home/{name}") is False


async def test_what_is_missing_and_what_is_no_file(files: StoredFiles, tmp_path: Path) -> None:
    for path in ("/home/none", "/home/none/deeper"):
        with pytest.raises(FileMissing) as missing:
            await files.tail(path)
        assert missing.value.path == path
    os.mkfifo(tmp_path / "pipe")
    for path in ("/home/pipe", "/home"):
        # Opening a pipe would wait for a writer.
        with pytest.raises(FilesError, match="no regular file") as caught:
            await files.tail(path)
        assert caught.value.kind == "kind"
    (tmp_path / "file").touch()
    with pytest.raises(FileMissing):
        await files.tail("/home/file/below")


async def test_links_mean_what_they_mean_on_the_cluster(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"here")
    (tmp_path / "absolute").symlink_to("/home/real")
    (tmp_path / "relative").symlink_to("../home/real")
    (tmp_path / "chain").symlink_to("absolute")
    for name in ("absolute", "relative", "chain"):
        assert (await files.tail(f"/home/{name}")).data == b"here"


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../../../../etc/hostname", "/proc/self/environ"])
async def test_no_link_leads_to_a_file_of_this_host_that_is_not_the_clusters(
    files: StoredFiles, tmp_path: Path, target: str
) -> None:
    (tmp_path / "slurm-1.out").symlink_to(target)
    with pytest.raises(FilesError, match="not at hand here") as caught:
        await files.tail("/home/slurm-1.out")
    assert caught.value.kind == "away"
    assert "SLURM_REST_PATH_MAP" in caught.value.hint


async def test_links_that_lead_to_each_other(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FilesError) as caught:
        await files.tail("/home/a")
    assert caught.value.kind == "loop"


async def test_removing_takes_links_for_what_they_are(files: StoredFiles, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").touch()
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/deep/link").symlink_to("/home/kept")
    with pytest.raises(FilesError, match="recursive=True"):
        await files.remove("/home/tree")
    assert await files.remove("/home/tree", recursive=True)
    assert not (tmp_path / "tree").exists()
    assert (tmp_path / "kept/file").exists()
    (tmp_path / "link").symlink_to("kept")
    assert await files.remove("/home/link", recursive=True)
    assert (tmp_path / "kept/file").exists()
    assert not await files.remove("/home/gone/deeper")
    assert not await files.remove("/home/kept/file/deeper")


@pytest.mark.parametrize("path", ["/home", "/", "/home/", "/home/x/.."])
async def test_nobody_removes_all_of_it(files: StoredFiles, tmp_path: Path, path: str) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(FilesError, match=r"not to be removed|not at hand"):
        await files.remove(path, recursive=True)
    assert (tmp_path / "x").exists()


@pytest.mark.parametrize("act", ["read", "remove"])
async def test_a_link_that_appears_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Somebody swaps a directory for a link to one of this host's own, between the look and the act."""
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "f").write_bytes(b"secret")
    (tmp_path / "home/dir").mkdir(parents=True)
    (tmp_path / "home/dir/f").write_bytes(b"harmless")
    store = DirectoryStore(PathMap.read({"/home": str(tmp_path / "home")}))
    look = store._resolve

    def swap(path: str) -> str:
        found = look(path)
        if not (tmp_path / "home/old").exists():
            (tmp_path / "home/dir").rename(tmp_path / "home/old")
            (tmp_path / "home/dir").symlink_to(secret)
        return found

    monkeypatch.setattr(store, "_resolve", swap)
    files = StoredFiles.of(store)
    if act == "remove":
        assert await files.remove("/home/dir/f") is False
    else:
        with pytest.raises(FilesError):
            await files.tail("/home/dir/f")
    assert (secret / "f").read_bytes() == b"secret"
