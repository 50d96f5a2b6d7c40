"""Small objects that several replicas of the connector write: only when nobody else has, or since it was read.

S3, GCS and Azure answer such a condition themselves; a directory takes the place of a store where there is none, and
its files are locked while they are compared and written.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import flyte.storage as storage
import obstore
from obstore.exceptions import AlreadyExistsError, NotFoundError, NotSupportedError, PreconditionError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

__all__ = ["Found", "create", "is_directory", "is_file", "located", "read", "remove", "replace", "unstorable"]

# S3, GCS and Azure have the same limit for a key.
_LONGEST_KEY = 1024


@dataclass(frozen=True, slots=True)
class Found:
    """What an object holds, and the mark of this version of it."""

    data: bytes
    tag: str


def located(uri: str) -> tuple[ObjectStore, str]:
    """Return the bucket that flyte reaches with its own settings, and the key within it."""
    system = cast("Any", storage.get_underlying_filesystem(path=uri))
    bucket, key = system._split_path(uri)  # noqa: SLF001  # there is no public way
    return system._construct_store(bucket), str(key)  # noqa: SLF001


def unstorable(uri: str) -> str:
    """Return why flyte's storage has no object of that name, empty where it has: it reads a URI, and cuts such names.

    A directory takes whatever the file system does.
    """
    if not storage.is_remote(uri):
        return ""
    if special := [char for char in "#?" if char in uri]:
        return f"a {special[0]} in its name"
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in uri):
        return "a control character in its name"
    try:
        size = len(uri.partition("://")[2].partition("/")[2].encode())
    except UnicodeEncodeError:
        return "a name that is not UTF-8"
    return f"a name of {size:,} bytes with its folders" if size > _LONGEST_KEY else ""


async def is_file(uri: str) -> bool:
    """Tell whether there is an object of that very name; flyte's own question takes a folder for one.

    Raises what the store raises, as ``is_directory`` does.
    """
    if not storage.is_remote(uri):
        path = _path(uri)
        return await asyncio.to_thread(lambda: path.exists() and not path.is_dir())
    store, key = located(uri)
    try:
        await obstore.head_async(store, key)
    except (NotFoundError, FileNotFoundError):
        return False
    return True


async def is_directory(uri: str) -> bool:
    """Tell whether there is something below that name."""
    if not storage.is_remote(uri):
        path = _path(uri)
        return await asyncio.to_thread(lambda: path.is_dir() and any(path.iterdir()))
    store, key = located(uri)
    # A prefix ends where a name does: what only begins alike is not below it.
    async for objects in obstore.list(store, prefix=key, chunk_size=1):
        if any(one["path"] != key for one in objects):
            return True
    return False


async def read(uri: str) -> Found | None:
    """Return an object, None where there is none. Raises what the store raises."""
    if not storage.is_remote(uri):
        with contextlib.suppress(FileNotFoundError):
            return _found(await asyncio.to_thread(_read, _path(uri)))
        return None
    store, key = located(uri)
    try:
        answer = await obstore.get_async(store, key)
    except (NotFoundError, FileNotFoundError):
        return None
    data = bytes(await answer.bytes_async())
    return Found(data, answer.meta["e_tag"] or _found(data).tag)


async def create(uri: str, data: bytes) -> bool:
    """Write an object that is not there yet; False where it is. Raises what the store raises."""
    if not storage.is_remote(uri):
        return await asyncio.to_thread(_create, _path(uri), data)
    store, key = located(uri)
    try:
        await obstore.put_async(store, key, data, mode="create", use_multipart=False)
    except AlreadyExistsError:
        return False
    except NotSupportedError:
        if await read(uri) is not None:
            return False
        await obstore.put_async(store, key, data, use_multipart=False)
    return True


async def replace(uri: str, data: bytes, tag: str) -> bool:
    """Write an object anew if it is still the version ``tag``; False where it is not. Raises what the store raises."""
    if not storage.is_remote(uri):
        return await asyncio.to_thread(_replace, _path(uri), data, tag)
    store, key = located(uri)
    try:
        await obstore.put_async(store, key, data, mode={"e_tag": tag}, use_multipart=False)
    except (PreconditionError, NotFoundError, FileNotFoundError):
        return False
    except NotSupportedError:
        now = await read(uri)
        if now is None or now.tag != tag:
            return False
        await obstore.put_async(store, key, data, use_multipart=False)
    return True


async def remove(uri: str) -> None:
    """Remove an object, if it is there. Raises what the store raises."""
    if not storage.is_remote(uri):
        await asyncio.to_thread(_path(uri).unlink, missing_ok=True)
        return
    store, key = located(uri)
    with contextlib.suppress(NotFoundError, FileNotFoundError):
        await obstore.delete_async(store, key)


def _found(data: bytes) -> Found:
    return Found(data, hashlib.sha256(data).hexdigest())


def _path(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return file.read()


def _create(path: Path, data: bytes) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(data)
    except FileExistsError:
        return False
    return True


def _replace(path: Path, data: bytes, tag: str) -> bool:
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return False
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if _found(file.read()).tag != tag:
            return False
        file.seek(0)
        file.truncate()
        file.write(data)
    return True
