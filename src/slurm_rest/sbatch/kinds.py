"""The value grammars of sbatch: text or a Python value to one canonical value, and back to text that sbatch reads.

``read`` raises ValueError with the forms that it takes; the caller adds which option it was. The grammars are those of
sbatch 24.11 and 26.05; where they only pass text on for slurmctld to judge, so does this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

__all__ = [
    "COUNT",
    "COUNT16",
    "DELAY",
    "FLAG",
    "INTEGER",
    "LIST",
    "MEMORY",
    "PATH",
    "TEXT",
    "TIME_LIMIT",
    "TMP",
    "UNLIMITED",
    "Kind",
    "TooLargeError",
    "count_or_none",
    "integer",
    "number_between",
    "show_span",
    "text",
    "unsendable",
    "whole",
    "words_of",
]

UNLIMITED = "UNLIMITED"
COUNT_MAX = 2147483646
_MOST_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Kind:
    """A grammar: ``read`` to the canonical value, ``show`` to text, ``metavar`` for help."""

    read: Callable[[object], object]
    show: Callable[[object], str] = str
    metavar: str = "TEXT"


def text(value: object) -> str:
    """Any text that can be sent."""
    if not isinstance(value, str):
        raise ValueError("takes text")
    problem = unsendable(value)
    if problem:
        raise ValueError(problem)
    return value


def unsendable(value: str) -> str:
    """Say what keeps a text from being sent, empty for nothing. Bytes read as surrogates are fine."""
    if "\0" in value:
        return "must not contain a NUL character"
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "contains half a character (a lone surrogate)"
    return ""


def _path(value: object) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return text(value)


def integer(value: object) -> int:
    """A whole number as int or decimal text; sbatch reads no fraction, no hexadecimal, no trailing text."""
    if isinstance(value, str) and re.fullmatch(r"(?a)\s*[+-]?[0-9]{1,40}", value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("takes a whole number")
    return value


def whole(digits: str) -> int:
    """Return the number of decimal text; one of more digits than any field of Slurm has is just as large as that.

    Python refuses to read more than 4300 digits.
    """
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS * (-1 if digits.lstrip()[:1] == "-" else 1)


def number_between(least: int, most: int) -> Kind:
    """A whole number within bounds."""

    def read(value: object) -> int:
        found = integer(value)
        if not least <= found <= most:
            raise ValueError(f"takes a whole number from {least} to {most}")
        return found

    return Kind(read, str, "N")


def words_of(value: object) -> list[str]:
    """The parts of a comma list, or of a Python list; empty ones are left out."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        value = ",".join(text(item) for item in value)
    return [word for word in text(value).split(",") if word]


def _list(value: object) -> str:
    return ",".join(words_of(value)) if not isinstance(value, str) else text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("takes True or False")
    return value


# --- times and sizes ----------------------------------------------------------------------------------------

_TIME = re.compile(r"(?:(?P<days>[0-9]+)-)?(?P<clock>[0-9]+(?::[0-9]+){0,2})?")
_TIME_FORMS = 'takes minutes, "M:S", "H:M:S", "D-H", "D-H:M", "D-H:M:S", "UNLIMITED" or a timedelta'
_U32 = 4294967293
_MINUTES_MAX = _U32
_TIME_MAX = timedelta(minutes=_MINUTES_MAX)
# One minute less than what overflows, since sbatch rounds up.
_LONGEST_SECONDS = 2**31 - 60


def _span(value: object) -> timedelta | None:
    """Read sbatch's TIME; None for unlimited. A bare number is minutes."""
    if isinstance(value, timedelta):
        found = value
    elif isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value <= _MINUTES_MAX:
            raise ValueError(_TIME_FORMS)
        found = timedelta(minutes=value)
    elif isinstance(value, str) and value.upper() in ("UNLIMITED", "INFINITE", "-1"):
        return None
    else:
        matched = _TIME.fullmatch(text(value))
        if not matched or not matched[0]:
            raise ValueError(_TIME_FORMS)
        found = _clock(matched["days"], [whole(part) for part in (matched["clock"] or "0").split(":")])
    if not timedelta(0) <= found <= _TIME_MAX:
        raise ValueError(_TIME_FORMS)
    return found


def _clock(days: str | None, parts: list[int]) -> timedelta:
    if days is not None or len(parts) == 3:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
    else:
        hours, (minutes, seconds) = 0, (*parts, 0)[:2]
    try:
        return timedelta(days=whole(days or "0"), hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise ValueError(_TIME_FORMS) from None


def _time_limit(value: object) -> timedelta | str:
    # Slurm counts whole minutes, rounded up, and takes none for no limit.
    span = _span(value)
    # sbatch reads seconds into a signed 32-bit number, and what is more becomes another time (24.11, 26.05).
    if span is not None and span.total_seconds() > _LONGEST_SECONDS:
        raise TooLargeError('takes less than 68 years, or "UNLIMITED"')
    return timedelta(minutes=ceil(span.total_seconds() / 60)) if span else UNLIMITED


class TooLargeError(ValueError):
    """A number that Slurm's field would cut to another one."""


def _delay(value: object) -> timedelta | str:
    span = _span(value)
    # Kept as seconds in 32 bits.
    if span is not None and span.total_seconds() > _U32:
        raise TooLargeError("takes less than 136 years")
    return UNLIMITED if span is None else span


def count_or_none(least: int, most: int) -> Kind:
    """A whole number within bounds; sbatch reads 0 from an empty text here."""
    within = number_between(least, most)
    return Kind(lambda value: within.read("0" if value == "" else value), str, "N")


def show_span(value: object) -> str:
    """Return ``D-HH:MM:SS``, the one form that means the same everywhere."""
    if not isinstance(value, timedelta):
        return UNLIMITED
    seconds = int(value.total_seconds())
    days, rest = divmod(seconds, 86400)
    return f"{days}-{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


_MEMORY = re.compile(r"\s*(?:\+|-(?=0+(?![0-9])))?(?P<number>[0-9]+)(?:(?P<unit>[KMGT])B?)?", re.ASCII | re.I)
_MEMORY_MAX = 2**53


def _memory(value: object) -> int:
    """Return MiB. K is rounded up, as sbatch does."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MEMORY_MAX:
        return value
    matched = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    if not matched:
        raise ValueError('takes MiB, or text such as "512M", "4G", "1T"')
    number, unit = whole(matched["number"]), (matched["unit"] or "").upper()
    found = -(-number // 1024) if unit == "K" else number * {"": 1, "M": 1, "G": 1024, "T": 1024 * 1024}[unit]
    if found >= _MEMORY_MAX:
        raise ValueError("is more memory than Slurm can count")
    return found


TEXT = Kind(text)
PATH = Kind(_path, metavar="FILE")
LIST = Kind(_list, metavar="LIST")
FLAG = Kind(_flag, metavar="")
INTEGER = Kind(integer, metavar="N")
COUNT = number_between(1, COUNT_MAX)
# sbatch cuts these to sixteen bits, of which the last two numbers stand for something else.
COUNT16 = number_between(1, 65533)
TIME_LIMIT = Kind(_time_limit, show_span, "TIME")
DELAY = Kind(_delay, show_span, "TIME")
MEMORY = Kind(_memory, lambda value: f"{value}M", "SIZE[K|M|G|T]")


def _tmp(value: object) -> int:
    found = _memory(value)
    if found > _U32:
        raise TooLargeError("is more than Slurm can count here")
    return found


TMP = Kind(_tmp, MEMORY.show, MEMORY.metavar)
