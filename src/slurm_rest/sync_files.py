"""The cluster's files for blocking code."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Protocol, TypeVar

from .errors import SlurmError
from .transport.files.base import CHUNK, MAX_TAIL, Entry, Files, FileStat, Tail

__all__ = ["SyncFiles", "iterate"]

T = TypeVar("T")


class _Run(Protocol):
    def __call__(self, coroutine: Coroutine[object, object, T], /) -> T:
        """Run it on the client's loop."""


class SyncFiles:
    """Reads the cluster's files, by the paths that the cluster knows; see Files for what each call raises."""

    def __init__(self, files: Files, run: _Run) -> None:
        self._files, self._run = files, run

    def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""
        return self._run(self._files.stat(path))

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted."""
        return self._run(self._files.names(path))

    def tail(self, path: str, *, lines: int | None = None, max_bytes: int = MAX_TAIL) -> Tail:
        """Return the last lines, as many as fit into ``max_bytes``; a single longer line is cut."""
        return self._run(self._files.tail(path, lines=lines, max_bytes=max_bytes))

    def read_chunks(self, path: str, *, offset: int = 0, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the file from there to its present end, up to ``size`` bytes at a time."""
        return iterate(self._files.read_chunks(path, offset=offset, size=size), self._run)

    def walk(self, path: str) -> Iterator[Entry]:
        """Yield everything below a directory; links that lead out of it are reported, never followed."""
        return iterate(self._files.walk(path), self._run)

    def home(self) -> str:
        """Return the user's home directory on the cluster; ConfigError where nobody there can be asked."""
        return self._run(self._files.home())

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing. Root gives it the owner of the one above."""
        self._run(self._files.make_directory(path))

    def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there."""
        self._run(self._files.write_private(path, data))

    def remove(self, path: str, *, recursive: bool = False) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""
        return self._run(self._files.remove(path, recursive=recursive))


def iterate(items: AsyncIterator[T], run: _Run) -> Iterator[T]:
    """Yield what an asynchronous iterator yields, each item awaited on the client's loop."""

    async def following() -> tuple[T, ...]:
        async for item in items:
            return (item,)
        return ()

    async def end() -> None:
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()

    try:
        while found := run(following()):
            yield found[0]
    finally:
        # The garbage collector may come here from the client's own thread, and after the client was closed.
        with contextlib.suppress(SlurmError):
            run(end())
