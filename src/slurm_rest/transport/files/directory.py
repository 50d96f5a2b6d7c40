"""Files in directories that this host sees: a shared file system, or the cluster's own host."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import posixpath
import shutil
import stat as modes
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import NoReturn, TypeVar

from slurm_rest.errors import FileMissing, FilesError, Unreachable
from slurm_rest.pathmap import PathMap

from .base import FileStat, Kind

__all__ = ["DirectoryStore", "kind_of"]

T = TypeVar("T")

_MAX_LINKS = 40
_LOST = frozenset(
    {errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENOTCONN, errno.EREMOTEIO}
)


class DirectoryStore:
    """What a path map covers. Links mean what they mean on the cluster: absolute ones go through the map as well.

    So a link on the cluster leads to no file of this host that is not the cluster's.
    """

    def __init__(self, covered: PathMap, where: str = "this host") -> None:
        self.where = where
        self._map = covered

    async def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""
        return await self._do(path, lambda: _stat_of(os.lstat(self._resolve(path)[1])))

    async def open(self, path: str) -> _OpenFile:
        """Open a regular file to read; anything else is refused without waiting for it."""
        return await self._do(path, lambda: self._open(path))

    async def scan(self, path: str) -> Sequence[tuple[str, FileStat]]:
        """Return the names in a directory and what each is, links not followed."""
        return await self._do(path, lambda: list(_scan(self._resolve(path)[1])))

    async def real(self, path: str) -> str:
        """Return the path with no link in it."""
        return await self._do(path, lambda: self._resolve(path)[0])

    async def remove(self, path: str, *, recursive: bool) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""
        return await self._do(path, lambda: self._remove(path, recursive))

    async def close(self) -> None:
        """Nothing stays open."""

    async def _do(self, path: str, work: Callable[[], T]) -> T:
        """Do it in a thread: a file server may take its time."""

        def translated() -> T:
            try:
                return work()
            except OSError as error:
                self._refuse(path, error)

        return await asyncio.to_thread(translated)

    def _refuse(self, path: str, error: OSError) -> NoReturn:
        reason = error.strerror or type(error).__name__
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise FileMissing(f"There is no {path}", path=path) from None
        if error.errno in _LOST:
            raise Unreachable(f"{path} cannot be read: {reason}", hint="Does its file server answer?") from error
        if error.errno in (errno.EACCES, errno.EPERM):
            hint = "Files are read as the user of this process."
            raise FilesError(f"{path}: {reason}", path=path, kind="denied", hint=hint) from error
        kind = "loop" if error.errno == errno.ELOOP else "failed"
        raise FilesError(f"{path}: {reason}", path=path, kind=kind) from error

    def _open(self, path: str) -> _OpenFile:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            local = self._resolve(path)[1]
            descriptor = os.open(local, flags)
        except FileNotFoundError:
            # NFS remembers for a while that there was no such name, unless the directory is opened.
            with contextlib.suppress(OSError, FilesError):
                os.close(os.open(self._resolve(posixpath.dirname(path))[1], os.O_RDONLY | os.O_DIRECTORY))
            local = self._resolve(path)[1]
            descriptor = os.open(local, flags)
        handle = _OpenFile(descriptor, lambda error: self._refuse(path, error))
        if not modes.S_ISREG(os.fstat(descriptor).st_mode):
            handle.end()
            raise FilesError(f"{path} is no regular file", path=path, kind="kind")
        return handle

    def _remove(self, path: str, recursive: bool) -> bool:
        parent, name = posixpath.split(posixpath.normpath(path))
        try:
            directory, local_directory = self._resolve(parent)
        except FileNotFoundError:
            return False
        if not name or self._map.is_top(posixpath.join(directory, name)):
            raise FilesError(f"{path} is not to be removed as a whole", path=path, kind="denied")
        local = os.path.join(local_directory, name)
        try:
            if not modes.S_ISDIR(os.lstat(local).st_mode):
                os.unlink(local)
            elif recursive:
                shutil.rmtree(local)
            else:
                raise FilesError(f"{path} is a directory", path=path, kind="kind", hint="Say recursive=True.")
        except FileNotFoundError:
            return False
        return True

    def _resolve(self, path: str) -> tuple[str, str]:
        """Return the path on the cluster and the one here, both without links."""
        done, rest, links = "/", [*reversed(path.split("/"))], 0
        while rest:
            name = rest.pop()
            if name in ("", "."):
                continue
            if name == "..":
                done = posixpath.dirname(done)
                continue
            step = posixpath.join(done, name)
            if self._map.is_top(step):
                done = step
                continue
            local = self._map.to_local(step)
            if local is None:
                raise self._away(path, step)
            if not modes.S_ISLNK(os.lstat(local).st_mode):
                done = step
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.readlink(local)
            done = "/" if target.startswith("/") else done
            rest += reversed(target.split("/"))
        local = self._map.to_local(done)
        if local is None:
            raise self._away(path, done)
        return done, local

    def _away(self, path: str, real: str) -> FilesError:
        where = path if real == path else f"{path} leads to {real}, which"
        hint = "Add its directory to SLURM_REST_PATH_MAP."
        return FilesError(f"{where} is not at hand here", path=path, kind="away", hint=hint)


class _OpenFile:
    """A file descriptor; it closes itself at last when a cancelled task lost it."""

    def __init__(self, descriptor: int, refuse: Callable[[OSError], NoReturn]) -> None:
        self._descriptor = descriptor
        self._refuse = refuse

    async def stat(self) -> FileStat:
        """Return what is known of the open file now."""
        return await self._do(lambda: _stat_of(os.fstat(self._descriptor)))

    async def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from there, none at the end."""
        return await self._do(lambda: os.pread(self._descriptor, size, offset))

    async def _do(self, work: Callable[[], T]) -> T:
        def translated() -> T:
            try:
                return work()
            except OSError as error:
                self._refuse(error)

        return await asyncio.to_thread(translated)

    async def close(self) -> None:
        """Let go of it."""
        self.end()

    def end(self) -> None:
        """Close the descriptor, once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.end()


def kind_of(mode: int) -> Kind:
    """Return what a file is, by its mode."""
    if modes.S_ISREG(mode):
        return "file"
    if modes.S_ISDIR(mode):
        return "directory"
    return "symlink" if modes.S_ISLNK(mode) else "other"


def _stat_of(found: os.stat_result) -> FileStat:
    modified = datetime.fromtimestamp(found.st_mtime, timezone.utc)
    return FileStat(kind_of(found.st_mode), found.st_size, modified, (found.st_dev, found.st_ino))


def _scan(local: str) -> Iterator[tuple[str, FileStat]]:
    with os.scandir(local) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                yield entry.name, _stat_of(entry.stat(follow_symlinks=False))
