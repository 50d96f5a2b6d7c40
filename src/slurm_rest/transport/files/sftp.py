"""Files over SFTP, on the connection that commands use too."""

from __future__ import annotations

import asyncio
import contextlib
import posixpath
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeVar

from slurm_rest.errors import FileMissing, FilesError, Timeout, TransportError, Unreachable
from slurm_rest.transport.ssh import SshRunner
from slurm_rest.within import within

from .base import FileStat, split_last
from .directory import kind_of

if TYPE_CHECKING:
    import asyncssh

__all__ = ["SftpStore"]

T = TypeVar("T")

_SECONDS = 30.0


class SftpStore:
    """What the SSH user can reach on the login node. One SFTP session, opened when it is first needed."""

    def __init__(self, runner: SshRunner, *, shared: bool) -> None:
        self.where = f"SFTP at {runner.where}"
        self._runner = runner
        # Whose connection it is decides who closes it.
        self._shared = shared
        self._client: asyncssh.SFTPClient | None = None
        self._opening = asyncio.Lock()

    async def stat(self, path: str) -> FileStat:
        """Return what is known of a file, links followed."""
        return _stat_of(await self._ask(path, lambda client: client.stat(_raw(path))))

    async def open(self, path: str) -> _OpenFile:
        """Open a regular file to read; anything else is refused without waiting for it."""
        # The server would wait for a writer when it opens a pipe.
        if (await self.stat(path)).kind != "file":
            raise FilesError(f"{path} is no regular file", path=path, kind="kind")
        return _OpenFile(self, path, await self._ask(path, lambda client: client.open(_raw(path), "rb")))

    async def scan(self, path: str) -> Sequence[tuple[str, FileStat]]:
        """Return the names in a directory and what each is, links not followed."""

        async def names(client: asyncssh.SFTPClient) -> list[tuple[str, FileStat]]:
            return [(_text(name.filename), _stat_of(name.attrs)) async for name in client.scandir(_raw(path))]

        return [pair for pair in await self._ask(path, names) if pair[0] not in (".", "..")]

    async def real(self, path: str) -> str:
        """Return the path with no link in it."""
        found = await self._ask(path, lambda client: client.realpath(_raw(path)))
        return _text(found if isinstance(found, bytes) else str(found))

    async def home(self) -> str:
        """Return the SSH user's home directory: where a session starts."""
        return await self.real(".")

    async def make_directory(self, path: str) -> None:
        """Make a directory and those above it, where they are missing."""
        await self._ask(path, lambda client: client.makedirs(_raw(path), exist_ok=True))

    async def write_private(self, path: str, data: bytes) -> None:
        """Write a file that its owner alone may read, mode 0600, whole and in place of one that is there."""
        import asyncssh

        above, name = posixpath.split(posixpath.normpath(path))
        temporary = posixpath.join(above, f".{name}.{secrets.token_hex(4)}")
        mode = asyncssh.SFTPAttrs(permissions=0o600)

        async def write(client: asyncssh.SFTPClient) -> None:
            async with client.open(_raw(temporary), "xb", mode) as file:
                await file.write(data)
            await client.posix_rename(_raw(temporary), _raw(path))

        try:
            await self._ask(path, write)
        except BaseException:
            with contextlib.suppress(FilesError, TransportError):
                await self.remove(temporary, recursive=False)
            raise

    async def remove(self, path: str, *, recursive: bool) -> bool:
        """Remove a file or link, or with ``recursive`` a directory with all in it; return whether it was there."""
        path = posixpath.join(*split_last(path))
        try:
            kind = _stat_of(await self._ask(path, lambda client: client.lstat(_raw(path)))).kind
            if kind != "directory":
                await self._ask(path, lambda client: client.remove(_raw(path)))
                return True
            if not recursive:
                raise FilesError(f"{path} is a directory", path=path, kind="kind", hint="Say recursive=True.")
            for name, _ in await self.scan(path):
                await self.remove(posixpath.join(path, name), recursive=True)
            await self._ask(path, lambda client: client.rmdir(_raw(path)))
        except FileMissing:
            return False
        return True

    async def close(self) -> None:
        """End the session, and the connection if nobody else uses it."""
        client, self._client = self._client, None
        if client is not None:
            client.exit()
            with contextlib.suppress(Exception):
                await within(_SECONDS, client.wait_closed())
        if not self._shared:
            await self._runner.close()

    async def _ask(self, path: str, call: Callable[[asyncssh.SFTPClient], Awaitable[T]]) -> T:
        """Ask the server; over a new session where the old one had ended before."""
        fresh = self._client is None
        client = await self._session()
        try:
            return await self.answer(path, client, call(client))
        except Unreachable:
            if fresh:
                raise
        client = await self._session()
        return await self.answer(path, client, call(client))

    async def answer(self, path: str, client: asyncssh.SFTPClient | None, call: Awaitable[T]) -> T:
        """Await an answer and turn what the server refuses into errors of ours."""
        import asyncssh

        try:
            return await within(_SECONDS, call)
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath, asyncssh.SFTPNotADirectory):
            raise FileMissing(f"There is no {path} on {self._runner.where}", path=path) from None
        except asyncssh.SFTPPermissionDenied as error:
            hint = "Files are read as the SSH user (SLURM_REST_SSH_USER)."
            raise FilesError(f"{path}: Permission denied", path=path, kind="denied", hint=hint) from error
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.ConnectionLost, OSError) as error:
            await self._drop(client)
            if isinstance(error, TimeoutError):
                hint = "Does its file system hang? Try it with: ssh HOST ls"
                raise Timeout(f"{self.where} gave no answer within {_SECONDS:g} s", hint=hint) from error
            hint = "Try it with: ssh HOST true"
            raise Unreachable(f"The connection to {self._runner.where} broke", hint=hint) from error
        except asyncssh.SFTPError as error:
            raise FilesError(f"{path}: {error.reason}", path=path, kind="failed") from error

    async def _session(self) -> asyncssh.SFTPClient:
        async with self._opening:
            if self._client is None:
                self._client = await self._runner.open_sftp()
            return self._client

    async def _drop(self, client: asyncssh.SFTPClient | None) -> None:
        if client is None or client is self._client:
            lost, self._client = self._client, None
            if lost is not None:
                lost.exit()


class _OpenFile:
    """A file that is open on the server."""

    def __init__(self, store: SftpStore, path: str, file: asyncssh.SFTPClientFile) -> None:
        self._store, self._path, self._file = store, path, file

    async def stat(self) -> FileStat:
        """Return what is known of the open file now."""
        return _stat_of(await self._store.answer(self._path, None, self._file.stat()))

    async def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from there, none at the end."""
        data = await self._store.answer(self._path, None, self._file.read(size, offset))
        return data if isinstance(data, bytes) else data.encode()

    async def close(self) -> None:
        """Let go of it. A server that is gone has let go already."""
        with contextlib.suppress(Exception):
            await within(_SECONDS, self._file.close())


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(raw: bytes | str) -> str:
    return raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw


def _stat_of(attrs: asyncssh.SFTPAttrs) -> FileStat:
    modified = datetime.fromtimestamp(attrs.mtime or 0, timezone.utc)
    return FileStat(kind_of(attrs.permissions or 0), attrs.size or 0, modified)
