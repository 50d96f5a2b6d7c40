"""Files in directories that this host sees: a shared file system, or the cluster's own host."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import posixpath
import secrets
import stat as modes
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import NoReturn, TypeVar

from slurm_rest.errors import FileMissing, FilesError, Unreachable
from slurm_rest.pathmap import PathMap

from .base import FileStat, Kind, split_last

__all__ = ["DirectoryStore", "kind_of"]

T = TypeVar("T")

_MAX_LINKS = 40
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
# To go through a directory takes no right to read it, where the system can tell the two apart.
_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
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
        return await self._do(path, lambda: self._stat(path))

    async def open(self, path: str) -> _OpenFile:
        """Open a regular file to read; anything else is refused without waiting for it."""
        return await self._do(path, lambda: self._open(path))

    async def scan(self, path: str) -> Sequence[tuple[str, FileStat]]:
        """Return the names in a directory and what each is, links not followed."""
        return await self._do(path, lambda: self._scan(path))

    async def real(self, path: str) -> str:
        """Return the path with no link in it."""
        return await self._do(path, lambda: self._resolve(path))

    async def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing. Root gives it the owner of the one above."""
        await self._do(path, lambda: self._make(path))

    async def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there."""
        await self._do(path, lambda: self._write(path, data))

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

    def _stat(self, path: str) -> FileStat:
        with self._held(self._resolve(path)) as (directory, name):
            return _stat_of(os.stat(name, dir_fd=directory, follow_symlinks=False))

    def _scan(self, path: str) -> list[tuple[str, FileStat]]:
        with self._held(self._resolve(path)) as (directory, name):
            descriptor = os.open(name, _READ | os.O_DIRECTORY, dir_fd=directory)
            try:
                return list(_entries(descriptor))
            finally:
                os.close(descriptor)

    def _open(self, path: str) -> _OpenFile:
        try:
            descriptor = self._descriptor(path)
        except FileNotFoundError:
            # NFS remembers for a while that there was no such name, unless the directory is opened.
            with contextlib.suppress(OSError, FilesError):
                self._scan_nothing(posixpath.dirname(path))
            descriptor = self._descriptor(path)
        handle = _OpenFile(descriptor, lambda error: self._refuse(path, error))
        if not modes.S_ISREG(os.fstat(descriptor).st_mode):
            handle.end()
            raise FilesError(f"{path} is no regular file", path=path, kind="kind")
        return handle

    def _descriptor(self, path: str) -> int:
        with self._held(self._resolve(path)) as (directory, name):
            return os.open(name, _READ | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=directory)

    def _scan_nothing(self, path: str) -> None:
        with self._held(self._resolve(path)) as (directory, name):
            os.close(os.open(name, _READ | os.O_DIRECTORY, dir_fd=directory))

    def _make(self, path: str) -> None:
        there, missing = posixpath.normpath(path), list[str]()
        while True:
            try:
                real = self._resolve(there)
                break
            except FileNotFoundError:
                there, name = posixpath.split(there)
                missing.insert(0, name)
        owner = self._owner(real)
        with self._held(real) as (above, name):
            directory = os.open(name, _ENTER | os.O_NOFOLLOW, dir_fd=above)
        try:
            for name in missing:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=directory)
                    if os.geteuid() == 0:
                        os.chown(name, *owner, dir_fd=directory, follow_symlinks=False)
                deeper = os.open(name, _ENTER | os.O_NOFOLLOW, dir_fd=directory)
                os.close(directory)
                directory = deeper
        finally:
            os.close(directory)

    def _write(self, path: str, data: bytes) -> None:
        above, name = posixpath.split(posixpath.normpath(path))
        real = self._resolve(above)
        uid, gid = self._owner(real)
        if os.geteuid() not in (0, uid):
            hint = "A mount gives files to another user only where this process is root; SFTP writes as the user."
            raise FilesError(f"{above} belongs to another user", path=path, kind="denied", hint=hint)
        temporary = f".{name}.{secrets.token_hex(4)}"
        with self._held(posixpath.join(real, name)) as (directory, name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(temporary, flags, 0o600, dir_fd=directory)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    if os.geteuid() == 0:
                        os.fchown(descriptor, uid, gid)
                    os.fchmod(descriptor, 0o600)
                os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=directory)
                raise

    def _owner(self, real: str) -> tuple[int, int]:
        """Return whose new directories below this one are: what is root's another process may just be making."""
        while True:
            with self._held(real) as (directory, name):
                found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if found.st_uid or self._map.is_top(real):
                return found.st_uid, found.st_gid
            real = posixpath.dirname(real)

    def _remove(self, path: str, recursive: bool) -> bool:
        parent, name = split_last(path)
        try:
            real = path if self._map.is_top(path) else posixpath.join(self._resolve(parent), name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if self._map.is_top(real):
            raise FilesError(f"{path} is not to be removed as a whole", path=path, kind="denied")
        try:
            with self._held(real) as (directory, name):
                if not modes.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=directory)
                elif recursive:
                    _remove_tree(directory, name)
                else:
                    raise FilesError(f"{path} is a directory", path=path, kind="kind", hint="Say recursive=True.")
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    @contextlib.contextmanager
    def _held(self, real: str) -> Iterator[tuple[int, str]]:
        """Open the directory of a path without links, step by step, and yield it with the name in it.

        A link that somebody puts in the way meanwhile is not followed.
        """
        found = self._map.split(real)
        if found is None:
            raise self._away(real, real)
        top, rest = found
        *steps, name = rest.split("/")
        directory = os.open(top, _ENTER)
        try:
            for step in steps:
                deeper = os.open(step, _ENTER | os.O_NOFOLLOW, dir_fd=directory)
                os.close(directory)
                directory = deeper
            yield directory, name or "."
        finally:
            os.close(directory)

    def _resolve(self, path: str) -> str:
        """Return the path on the cluster without links."""
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
        if self._map.to_local(done) is None:
            raise self._away(path, done)
        return done

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


def _entries(directory: int) -> Iterator[tuple[str, FileStat]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                yield entry.name, _stat_of(entry.stat(follow_symlinks=False))


def _remove_tree(directory: int, name: str) -> None:
    """Remove a directory with all in it; no link in it is followed, not even one that appears meanwhile."""
    inside = os.open(name, _READ | os.O_DIRECTORY, dir_fd=directory)
    try:
        for child, stat in list(_entries(inside)):
            with contextlib.suppress(FileNotFoundError):
                if stat.kind == "directory":
                    _remove_tree(inside, child)
                else:
                    os.unlink(child, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=directory)
