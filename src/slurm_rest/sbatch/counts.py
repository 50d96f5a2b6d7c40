"""Counts with units, as sbatch reads them behind the name of a resource: ``gres/gpu:a100:2``, ``gres/gpu=1k``."""

from __future__ import annotations

import re

from slurm_rest.errors import SpecError

from .kinds import whole

__all__ = ["gres_item", "read_count"]

_LETTERS = "kmgtp"
_COUNT = re.compile(f"([0-9]+)(?:([{_LETTERS}])(i?b)?)?", re.ASCII | re.I)
_GRES = re.compile("gres/([^:=,]+)(?:([:=])(.*))?", re.DOTALL)
# As strtoull has it. A product that is larger becomes some other number in sbatch.
_MOST = 2**64 - 1


def read_count(text: str) -> int | None:
    """Return the number, or None for what is none; ``k`` and ``KiB`` are 1024, ``kB`` is 1000 (24.11, 26.05)."""
    found = _COUNT.fullmatch(text)
    if found is None:
        return None
    digits, letter, end = found.groups()
    base = 1000 if (end or "").lower() == "b" else 1024
    unit: int = base ** (_LETTERS.index(letter.lower()) + 1) if letter else 1
    return min(whole(digits), _MOST) * unit


def gres_item(part: str) -> tuple[str, str, int] | None:
    """Return name, type and count of ``gres/NAME[:TYPE][:COUNT]`` or ``gres/NAME[:TYPE]=COUNT``; None for others.

    What stands behind the last separator is the count. Alone behind a colon it may be the type, of which there is one.
    """
    found = _GRES.fullmatch(part)
    if found is None:
        return None
    name, sign, rest = found.groups()
    if sign is None:
        return name, "", 1
    place = max(rest.rfind(":"), rest.rfind("=")) if sign == ":" else -1
    count = read_count(rest[place + 1 :])
    if count is None:
        return (name, rest, 1) if sign == ":" and rest and place < 0 else None
    if count > _MOST:
        hint = f"Slurm counts no more than {_MOST}."
        raise SpecError(f"{part[:100]!r} asks for too many", kind="value", hint=hint)
    return name, rest[: max(place, 0)], count
