"""Slurm's host lists: ``n[1-3,7],login`` to names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .kinds import whole

__all__ = ["expand_hostlist"]

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_MOST = 65536
_APART = ", \t\n"


def expand_hostlist(text: str) -> list[str]:
    """Return the names in order, duplicates kept; ValueError for what Slurm does not read as a host list."""
    names = [name for part in _split(text) for name in _expand(part)]
    if not names:
        raise ValueError("names no host")
    return names


def _split(text: str) -> Iterator[str]:
    """Split at commas and blanks outside of brackets."""
    part, depth = "", 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if depth not in (0, 1):
            raise ValueError("has brackets that do not match")
        if character in _APART and not depth:
            yield part
            part = ""
        else:
            part += character
    if depth:
        raise ValueError("has brackets that do not match")
    yield part


def _expand(part: str) -> Iterator[str]:
    if not part:
        return
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    inner, _, after = rest.partition("]")
    for piece in inner.split(","):
        found = _RANGE.fullmatch(piece)
        if not found:
            raise ValueError(f"has a range that is none: [{inner}]")
        first, last = found[1], found[2] or found[1]
        if not whole(first) <= whole(last) < whole(first) + _MOST:
            raise ValueError(f"has a range that is none: [{inner}]")
        for number in range(whole(first), whole(last) + 1):
            yield from _expand(f"{before}{number:0{len(first)}}{after}")
