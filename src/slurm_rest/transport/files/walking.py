"""Walks a tree on a store: links inside it are followed, others are reported."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

from slurm_rest.errors import FileMissing, FilesError

from .base import Entry, FileStat, Store

__all__ = ["walk"]

# Links to directories above each other can make a small tree endless in width.
_MAX_ENTRIES = 1_000_000


async def walk(store: Store, path: str) -> AsyncGenerator[Entry, None]:
    """Yield everything below a directory, directories before what is in them, by name."""
    top = await store.real(path)
    # What is still to be entered: a directory, its path below the top, and the directories that it is in.
    waiting: list[tuple[Entry, frozenset[str]]] = [(Entry(top, "", "directory"), frozenset({top}))]
    count = 0
    while waiting:
        directory, above = waiting.pop()
        try:
            found = sorted(await store.scan(directory.path))
        except FilesError:
            if not directory.relative:
                raise
            yield replace(directory, problem="unreadable")
            continue
        if directory.relative:
            yield directory
        deeper = []
        for name, stat in found:
            count += 1
            if count > _MAX_ENTRIES:
                hint = "Does it have links to directories in it that lead to each other?"
                raise FilesError(f"{path} has more than {_MAX_ENTRIES} entries", path=path, kind="kind", hint=hint)
            entry, real = await _look(store, directory, name, stat, top)
            if entry.kind == "directory" and not entry.problem:
                if real in above:
                    yield replace(entry, problem="loop", target=real)
                else:
                    deeper.append((entry, above | {real}))
            else:
                yield entry
        waiting += reversed(deeper)


async def _look(store: Store, directory: Entry, name: str, stat: FileStat, top: str) -> tuple[Entry, str]:
    """Return the entry and, for a directory, its real path."""
    path = f"{directory.path.rstrip('/')}/{name}"
    relative = f"{directory.relative}/{name}" if directory.relative else name
    if stat.kind != "symlink":
        return Entry(path, relative, stat.kind, stat.size), path
    entry = Entry(path, relative, "symlink")
    try:
        real = await store.real(path)
        if real != top and not real.startswith(f"{top.rstrip('/')}/"):
            return replace(entry, problem="outside", target=real), real
        stat = await store.stat(real)
    except FileMissing:
        return replace(entry, problem="dangling"), ""
    except FilesError as error:
        return replace(entry, problem="outside" if error.kind == "away" else "loop"), ""
    # What stands behind the link is read by its real path, so that nobody can bend the link meanwhile.
    return Entry(real, relative, stat.kind, stat.size), real
