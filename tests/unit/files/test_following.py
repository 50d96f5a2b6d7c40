"""Following a file: one that grows, is cut, is replaced, goes away, or cannot be reached for a while."""

# ruff: noqa: ASYNC240  # small files of a test: no loop waits for them

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slurm_rest.errors import FileMissing, HostKeyError, SlurmError, Unreachable
from slurm_rest.pathmap import PathMap
from slurm_rest.transport.files import FileHandle, StoredFiles, stored
from slurm_rest.transport.files.directory import DirectoryStore
from tests.support.waiting import until_true


class Breaking(DirectoryStore):
    """A directory that cannot be reached while ``broken`` is set; counts how often it was opened."""

    broken: Exception | None = None

    def __init__(self, covered: PathMap) -> None:
        super().__init__(covered)
        self.opened = 0
        self.handles: list[FileHandle] = []
        self.when_read: list[Callable[[], None]] = []

    async def open(self, path: str) -> FileHandle:  # type: ignore[override]  # wider than the real one's, as the protocol
        self.opened += 1
        if self.broken is not None:
            raise self.broken
        handle = await super().open(path)
        self.handles.append(handle)
        return Noticing(handle, self.when_read) if self.when_read else handle


class Noticing:
    """A file that something happens to right after it was read."""

    def __init__(self, handle: FileHandle, when_read: list[Callable[[], None]]) -> None:
        self.stat, self.close = handle.stat, handle.close
        self._handle, self._when_read = handle, when_read

    async def read(self, offset: int, size: int) -> bytes:
        data = await self._handle.read(offset, size)
        if self._when_read:
            self._when_read.pop(0)()
        return data


class Reader:
    """Collects what a follower yields."""

    def __init__(self, store: Breaking, **options: int) -> None:
        self.over: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.data = b""
        self._task = asyncio.create_task(self._read(StoredFiles.of(store), options))

    async def _read(self, files: StoredFiles, options: dict[str, int]) -> None:
        async for data in files.follow("/w/f", until=self.over, **options):
            self.data += data

    async def has(self, data: bytes) -> None:
        await until_true(lambda: self.data == data or self._task.done(), repr(data))
        assert self.data == data

    async def end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)
        await self._task


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_FASTEST", 0.005)
    monkeypatch.setattr(stored, "_SLOWEST", 0.02)


@pytest.fixture
def store(tmp_path: Path) -> Breaking:
    return Breaking(PathMap.read({"/w": str(tmp_path)}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f"


@asynccontextmanager
async def reading(store: Breaking, **options: int) -> AsyncIterator[Reader]:
    reader = Reader(store, **options)
    try:
        yield reader
    finally:
        reader._task.cancel()
        await asyncio.wait([reader._task])


def void(_: object) -> None:
    """Make a call a statement."""


def append(file: Path, data: bytes) -> None:
    with file.open("ab") as out:
        out.write(data)


async def test_it_waits_for_the_file_and_reads_what_is_written(store: Breaking, file: Path) -> None:
    async with reading(store) as reader:
        await until_true(lambda: store.opened > 2)
        file.write_bytes(b"one ")
        await reader.has(b"one ")
        append(file, b"two")
        await reader.has(b"one two")
        await reader.end()
        assert reader.data == b"one two"


async def test_what_was_written_before_the_end_is_read_after_it(store: Breaking, file: Path) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"x" * 3_000_000)
        await reader.end()
        assert len(reader.data) == 3_000_000


async def test_what_was_written_while_the_job_ended_is_read(store: Breaking, file: Path) -> None:
    file.write_bytes(b"last ")
    over: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    def end() -> None:
        append(file, b"words")
        over.set_result(None)

    store.when_read += [lambda: None, end]
    assert b"".join([data async for data in StoredFiles.of(store).follow("/w/f", until=over)]) == b"last words"


async def test_a_file_that_was_cut_before_anything_new_came(store: Breaking, file: Path) -> None:
    file.write_bytes(b"new")
    over: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    over.set_result(None)
    assert [data async for data in StoredFiles.of(store).follow("/w/f", offset=10, until=over)] == [b"new"]


async def test_it_begins_where_it_is_told_and_keeps_pieces_small(store: Breaking, file: Path) -> None:
    file.write_bytes(b"0123456789")
    over: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    over.set_result(None)
    pieces = [data async for data in StoredFiles.of(store).follow("/w/f", offset=3, until=over, size=2)]
    assert pieces == [b"34", b"56", b"78", b"9"]


@pytest.mark.parametrize("again", [b"", b"new", b"other text, longer than before"])
async def test_a_file_that_was_cut_is_read_from_its_beginning(store: Breaking, file: Path, again: bytes) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"first run\n")
        await reader.has(b"first run\n")
        # The same file, as a requeued job opens it.
        file.write_bytes(again)
        await reader.has(b"first run\n" + again)
        append(file, b"!")
        await reader.has(b"first run\n" + again + b"!")


async def test_a_file_that_is_written_anew_between_two_reads_is_not_mixed(store: Breaking, file: Path) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"first run\n")
        await reader.has(b"first run\n")
        store.when_read.append(lambda: void(file.write_bytes(b"second run, longer\n")))
        await reader.has(b"first run\nsecond run, longer\n")


async def test_a_file_that_was_replaced_is_read_to_its_end_first(store: Breaking, file: Path, tmp_path: Path) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"old ")
        await reader.has(b"old ")
        store.broken = Unreachable("for a moment")
        append(file, b"and its last words ")
        file.rename(tmp_path / "f.1")
        file.write_bytes(b"old but new")
        store.broken = None
        await reader.has(b"old and its last words old but new")


async def test_a_file_that_went_away_is_read_to_its_end_and_then_missed(store: Breaking, file: Path) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"1")
        await reader.has(b"1")
        append(file, b"2")
        file.unlink()
        await reader.has(b"12")
        with pytest.raises(FileMissing):
            await reader.end()


async def test_a_file_that_never_came(store: Breaking) -> None:
    async with reading(store) as reader:
        with pytest.raises(FileMissing, match="/w/f"):
            await reader.end()


async def test_a_way_that_breaks_and_comes_back_loses_and_repeats_nothing(store: Breaking, file: Path) -> None:
    async with reading(store) as reader:
        file.write_bytes(b"before ")
        await reader.has(b"before ")
        store.broken = Unreachable("the cable")
        append(file, b"meanwhile ")
        before = store.opened
        await until_true(lambda: store.opened > before + 2)
        # The job is over, but its end has not been read.
        reader.over.set_result(None)
        store.broken = None
        await reader.end()
        assert reader.data == b"before meanwhile "


async def test_a_way_that_stays_broken_ends_with_its_error(
    store: Breaking, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_PATIENCE", 0.05)
    file.write_bytes(b"x")
    async with reading(store) as reader:
        await reader.has(b"x")
        store.broken = Unreachable("the cable")
        with pytest.raises(Unreachable, match="the cable"):
            await reader.end()


async def test_a_host_that_is_another_is_not_tried_again(store: Breaking) -> None:
    store.broken = HostKeyError("another key")
    async with reading(store) as reader:
        with pytest.raises(HostKeyError):
            await reader._task
    assert store.opened == 1


async def test_an_error_of_the_job_comes_after_its_last_words(store: Breaking, file: Path) -> None:
    file.write_bytes(b"last words")
    async with reading(store) as reader:
        reader.over.set_exception(SlurmError("nobody knows the job"))
        with pytest.raises(SlurmError, match="nobody knows"):
            await reader.end()
        assert reader.data == b"last words"


async def test_it_looks_less_and_less_often_while_nothing_comes(
    store: Breaking, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    either: Callable[..., object] = stored._either

    async def noted(until: asyncio.Future[object], pause: float, **options: bool) -> None:
        pauses.append(pause)
        await either(until, 0.001, **options)  # type: ignore[misc]  # it is a coroutine function

    monkeypatch.setattr(stored, "_either", noted)
    monkeypatch.setattr(stored, "_FASTEST", 0.2)
    monkeypatch.setattr(stored, "_SLOWEST", 2.0)
    file.write_bytes(b"x")
    async with reading(store) as reader:
        await until_true(lambda: len(pauses) >= 6)
        assert pauses[:6] == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
        append(file, b"y")
        await reader.has(b"xy")
        count = len(pauses)
        await until_true(lambda: len(pauses) > count)
        assert 0.2 in pauses[6:]


async def test_a_reader_that_stops_leaves_nothing_open(store: Breaking, file: Path) -> None:
    file.write_bytes(b"x")
    over: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    news = StoredFiles.of(store).follow("/w/f", until=over)
    assert await news.__anext__() == b"x"
    open_now = [link.resolve() for link in Path("/proc/self/fd").iterdir()]
    assert file.resolve() in open_now
    await news.aclose()
    assert file.resolve() not in [link.resolve() for link in Path("/proc/self/fd").iterdir()]
