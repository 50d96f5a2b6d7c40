"""What reading files means, whatever carries the bytes."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from slurm_rest.errors import FilesError

__all__ = [
    "CHUNK",
    "MAX_TAIL",
    "Entry",
    "FileHandle",
    "FileStat",
    "Files",
    "Kind",
    "Problem",
    "Store",
    "Tail",
    "split_last",
]

Kind = Literal["file", "directory", "symlink", "other"]
Problem = Literal["", "outside", "loop", "dangling", "unreadable"]

T = TypeVar("T")

CHUNK = 64 * 1024
MAX_TAIL = 1024 * 1024


def split_last(path: str) -> tuple[str, str]:
    """Return the directory that a path to be removed is in, and its name there; refuse what names a directory only.

    A slash behind a link (``link/``, ``link/.``) makes the system go through it: what is removed would be what is in
    another directory. Nothing else is changed, for ``..`` behind a link leads elsewhere than it seems.
    """
    above, name = posixpath.split(path.rstrip("/"))
    if name in ("", ".", ".."):
        hint = "Name what is to be removed, without . or .. at the end."
        raise FilesError(f"{path} is not to be removed as a whole", path=path, kind="denied", hint=hint)
    return above or "/", name


@dataclass(frozen=True, slots=True)
class FileStat:
    """What is known of a file. ``identity`` tells two files of one name apart, None where the way has no such thing."""

    kind: Kind
    size: int
    modified: datetime
    identity: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a walk. ``relative`` is its path below the top; bytes that are no UTF-8 are surrogates.

    ``kind`` and ``size`` are those of what a link leads to. ``problem`` says why it was not followed or entered:
    ``outside`` (a link out of the tree), ``loop``, ``dangling``, ``unreadable``; the entry is then not in the tree.
    """

    path: str
    relative: str
    kind: Kind
    size: int = 0
    problem: Problem = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a file. ``start`` is where it begins in the file; ``cut`` says that more stands before it."""

    data: bytes
    start: int = 0

    @property
    def cut(self) -> bool:
        """True when the file has more before this."""
        return self.start > 0

    @property
    def text(self) -> str:
        """The text; bytes that are no UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")


class FileHandle(Protocol):
    """An open file."""

    async def stat(self) -> FileStat:
        """Return what is known of the open file now."""

    async def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from there, none at the end."""

    async def close(self) -> None:
        """Let go of it. Raises nothing."""


class Store(Protocol):
    """One place with files: the little that differs from one way to the other.

    Paths are the cluster's, absolute; bytes that are no UTF-8 are surrogates. Raises FileMissing, FilesError for what
    the place itself refuses, and TransportError when it cannot be reached.
    """

    where: str

    async def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""

    async def open(self, path: str) -> FileHandle:
        """Open a regular file to read; anything else is refused without waiting for it."""

    async def scan(self, path: str) -> Sequence[tuple[str, FileStat]]:
        """Return the names in a directory and what each is, links not followed."""

    async def real(self, path: str) -> str:
        """Return the path with no link in it."""

    async def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing. Root gives it the owner of the one above."""

    async def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there.

        It is the user's whose directory it is in: another user's is refused, but to root, who gives it away.
        """

    async def remove(self, path: str, *, recursive: bool) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""

    async def close(self) -> None:
        """Let go of connections."""


class Files(Protocol):
    """Reads the cluster's files, by the paths that the cluster knows.

    Raises FileMissing, FilesError for what cannot be read, ConfigError when nothing leads to the path, and
    TransportError when the way there is broken.
    """

    async def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""

    async def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted."""

    async def tail(self, path: str, *, lines: int | None = None, max_bytes: int = MAX_TAIL) -> Tail:
        """Return the last lines, as many as fit into ``max_bytes``; a single longer line is cut."""

    def read_chunks(self, path: str, *, offset: int = 0, size: int = CHUNK) -> AsyncGenerator[bytes, None]:
        """Yield the file from there to its present end, up to ``size`` bytes at a time."""

    def follow(
        self, path: str, *, offset: int = 0, until: asyncio.Future[T], size: int = CHUNK
    ) -> AsyncGenerator[bytes, None]:
        """Yield the file as it grows, from when it exists, until ``until`` is done and its end is read.

        It starts again when the file was cut or replaced, and goes on where it was after a connection that broke. An
        error of ``until`` is raised when everything that is there has been read.
        """

    def walk(self, path: str) -> AsyncGenerator[Entry, None]:
        """Yield everything below a directory, directories before what is in them, by name.

        Links that stay below it are followed; others are reported, never followed.
        """

    async def home(self) -> str:
        """Return the user's home directory on the cluster; ConfigError where nobody there can be asked."""

    async def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing. Root gives it the owner of the one above."""

    async def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there.

        It is the user's whose directory it is in: another user's is refused, but to root, who gives it away.
        """

    async def remove(self, path: str, *, recursive: bool = False) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""

    async def close(self) -> None:
        """Let go of connections."""
