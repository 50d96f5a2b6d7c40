"""Files over any store: tails, chunks, and following a file that grows, is cut, or is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

from slurm_rest.errors import ConfigError, FileMissing, FilesError, HostKeyError, SpecError, TransportError

from .base import CHUNK, MAX_TAIL, Entry, FileHandle, FileStat, Store, Tail
from .walking import walk

__all__ = ["StoredFiles"]

T = TypeVar("T")

log = logging.getLogger("slurm_rest")

# Looking at a file costs a file server little, but not nothing: the pause doubles while nothing is new.
_FASTEST, _SLOWEST = 0.2, 2.0
# How long a broken way may stay broken while a file is followed.
_PATIENCE = 60.0
_BATCH = 1024 * 1024
# What was read last is read again and compared: a file that was cut and has grown again looks the same otherwise.
_MEMORY = 256


class StoredFiles:
    """The files of one store. ``route`` finds the store for a path; it raises ConfigError when nothing leads there."""

    def __init__(
        self, route: Callable[[str], Store], stores: list[Store], home: Callable[[], Awaitable[str]] | None = None
    ) -> None:
        self._route = route
        self._stores = stores
        self._home = home

    @classmethod
    def of(cls, store: Store) -> StoredFiles:
        """Return the files of one store alone."""
        return cls(lambda _: store, [store])

    def _store(self, path: str) -> Store:
        if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
            raise SpecError(f"{path!r} is no absolute path on the cluster", field="path", hint="It starts with /.")
        try:
            path.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            hint = "Bytes that are no UTF-8 are surrogates from U+DC80 to U+DCFF, as os.fsdecode makes them."
            raise SpecError(f"{path!r} is no path: no bytes stand for it", field="path", hint=hint) from None
        return self._route(path)

    async def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""
        return await self._store(path).stat(path)

    async def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted."""
        return sorted(name for name, _ in await self._store(path).scan(path))

    async def tail(self, path: str, *, lines: int | None = None, max_bytes: int = MAX_TAIL) -> Tail:
        """Return the last lines, as many as fit into ``max_bytes``; a single longer line is cut."""
        if max_bytes < 1 or (lines is not None and lines < 0):
            raise SpecError("A tail has at least one byte and no negative lines", field="max_bytes", kind="value")
        async with _opened(self._store(path), path) as handle:
            end = (await handle.stat()).size
            return await _tail(handle, end, lines, max_bytes)

    async def read_chunks(self, path: str, *, offset: int = 0, size: int = CHUNK) -> AsyncGenerator[bytes, None]:
        """Yield the file from there to its present end, up to ``size`` bytes at a time."""
        async with _opened(self._store(path), path) as handle:
            end = (await handle.stat()).size
            while offset < end:
                # Much at once: over a long way each answer takes its time.
                data = await handle.read(offset, min(_BATCH, end - offset))
                if not data:
                    raise FilesError(f"{path} was cut while it was read", path=path, hint="Read it again.")
                offset += len(data)
                for start in range(0, len(data), size):
                    yield data[start : start + size]

    async def follow(
        self, path: str, *, offset: int = 0, until: asyncio.Future[T], size: int = CHUNK
    ) -> AsyncGenerator[bytes, None]:
        """Yield the file as it grows, from when it exists, until ``until`` is done and its end is read."""
        followed = _Followed(self._store(path), path, offset)
        pause, broken_since = _FASTEST, 0.0
        try:
            while True:
                # Asked before reading: what was written before the end must be read after it.
                over = until.done()
                try:
                    data = await followed.news()
                    broken_since = 0.0
                except FileMissing:
                    if over:
                        until.result()
                        raise
                    data = b""
                except HostKeyError:
                    raise
                except TransportError as error:
                    now = time.monotonic()
                    broken_since = broken_since or now
                    if now - broken_since > _PATIENCE:
                        raise
                    log.info("Cannot read %s at present: %s", path, error.message)
                    # The end is not reached before it was read.
                    data, over = b"", False
                for start in range(0, len(data), size):
                    yield data[start : start + size]
                if data:
                    pause = _FASTEST
                elif over:
                    until.result()
                    return
                else:
                    await _either(until, pause, hasty=not broken_since)
                    pause = min(pause * 2, _SLOWEST)
        finally:
            await followed.close()

    def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        """Yield everything below a directory, directories before what is in them, by name."""
        return walk(self._store(path), path)

    async def home(self) -> str:
        """Return the user's home directory on the cluster; ConfigError where nobody there can be asked."""
        if self._home is None:
            raise ConfigError("Nobody tells the home directory", hint="A login node can: set SLURM_REST_SSH_HOST.")
        return await self._home()

    async def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing. Root gives it the owner of the one above."""
        await self._store(path).make_directory(path)

    async def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there."""
        await self._store(path).write_private(path, data)

    async def remove(self, path: str, *, recursive: bool = False) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""
        return await self._store(path).remove(path, recursive=recursive)

    async def close(self) -> None:
        """Let go of connections."""
        for store in self._stores:
            await store.close()


@contextlib.asynccontextmanager
async def _opened(store: Store, path: str) -> AsyncIterator[FileHandle]:
    handle = await store.open(path)
    try:
        yield handle
    finally:
        await handle.close()


async def _either(until: asyncio.Future[T], pause: float, *, hasty: bool) -> None:
    """Wait for a while; the end cuts it short, unless the way is broken and trying at once would be no use."""
    if hasty and not until.done():
        await asyncio.wait([until], timeout=pause)
    else:
        await asyncio.sleep(pause)


async def _tail(handle: FileHandle, end: int, lines: int | None, max_bytes: int) -> Tail:
    floor = max(0, end - max_bytes)
    data, start = b"", end
    # One more line break than lines: that in front of the first, and the file's last one counts for its line.
    while start > floor and (lines is None or data.count(b"\n", 0, max(0, len(data) - 1)) < lines) and lines != 0:
        size = start - floor if lines is None else min(CHUNK, start - floor)
        more = await _exactly(handle, start - size, size)
        if len(more) < size:
            # It was cut meanwhile: what is left of it is its end.
            return await _tail(handle, (await handle.stat()).size, lines, max_bytes)
        data, start = more + data, start - size
    cut = _cut_at(data, lines, whole=start == 0)
    return Tail(data[cut:], start + cut)


def _cut_at(data: bytes, lines: int | None, *, whole: bool) -> int:
    """Return where the wanted lines begin, at a line's start where there is one."""
    if lines is not None:
        at = len(data) - 1
        for _ in range(lines):
            at = data.rfind(b"\n", 0, max(at, 0))
            if at < 0:
                break
        else:
            return at + 1 if lines else len(data)
    if whole:
        return 0
    first = data.find(b"\n")
    if 0 <= first < len(data) - 1:
        return first + 1
    # One long line: not from the middle of a character.
    return next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0)


async def _exactly(handle: FileHandle, offset: int, size: int) -> bytes:
    """Read so many bytes; fewer come only from a file that has no more."""
    found = b""
    while len(found) < size and (data := await handle.read(offset + len(found), size - len(found))):
        found += data
    return found


class _Followed:
    """A file that is followed: how far it was read, and what stood there."""

    def __init__(self, store: Store, path: str, offset: int) -> None:
        self._store, self._path = store, path
        self._offset = offset
        self._memory = b""
        self._handle: FileHandle | None = None
        self._identity: tuple[int, int] | None = None

    async def news(self) -> bytes:
        """Return what is new, at most a megabyte; the file is opened anew, which makes NFS look at the server."""
        try:
            fresh = await self._store.open(self._path)
        except FileMissing:
            # Moved away or removed, but still open here.
            rest = b"" if self._handle is None else await _exactly(self._handle, self._offset, _BATCH)
            if not rest:
                raise
            self._remember(rest)
            return rest
        try:
            stat = await fresh.stat()
        except BaseException:
            await fresh.close()
            raise
        old, self._handle = self._handle, fresh
        try:
            if old is not None and stat.identity != self._identity:
                # Another file has the name now. What was written to the old one is still to be had.
                rest = await _exactly(old, self._offset, _BATCH)
                if rest:
                    self._remember(rest)
                    self._handle, old = old, fresh
                    return rest
                self._restart("was replaced")
            self._identity = stat.identity
        finally:
            if old is not None:
                await old.close()
        return await self._grown(fresh, stat.size)

    async def _grown(self, handle: FileHandle, size: int) -> bytes:
        if size < self._offset:
            self._restart("was cut")
        # Up to the size that was told and no further: otherwise the end of a new text could follow the start of an old
        # one when the file is written anew between two reads.
        start = self._offset - len(self._memory)
        data = await _exactly(handle, start, min(size - start, len(self._memory) + _BATCH))
        if not data.startswith(self._memory):
            self._restart("was written anew")
            data = await _exactly(handle, 0, min((await handle.stat()).size, _BATCH))
        new = data[len(self._memory) :]
        self._remember(new)
        return new

    def _remember(self, data: bytes) -> None:
        self._offset += len(data)
        self._memory = (self._memory + data)[-_MEMORY:]

    def _restart(self, what: str) -> None:
        log.info("%s %s: it is read from its beginning", self._path, what)
        self._offset, self._memory = 0, b""

    async def close(self) -> None:
        if self._handle is not None:
            await self._handle.close()
