"""The value grammars of sbatch's options: Python values and sbatch's text forms to what REST wants.

Every reader takes what a caller wrote and returns the JSON value, or raises ``ValueError`` with the forms that it
takes. The grammars are those of sbatch 24.11 and 26.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from math import ceil

__all__ = [
    "comma_list",
    "count",
    "gpus",
    "gres",
    "integer",
    "mebibytes",
    "minutes",
    "moment",
    "node_range",
    "path",
    "switch",
    "text",
    "word_list",
]

_TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<clock>\d+(?::\d+){0,2})?")
_MEMORY = re.compile(r"(?P<number>\d+)(?P<unit>[KMGT]?)B?", re.IGNORECASE)
_KIB = {"K": 1, "": 1024, "M": 1024, "G": 1024**2, "T": 1024**3}
_COUNT_MAX = 2147483646
# Slurm's 32 bits for "no value" and beyond.
_MINUTES_MAX = 4294967294
# More MiB than any machine has, and well below the bit by which Slurm marks memory for each CPU.
_MEMORY_MAX = 2**53
# The last second of the year 9999.
_MOMENT_MAX = 253402300799


def text(value: object) -> str:
    """Any text without NUL, which would cut it short inside Slurm."""
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


def path(value: object) -> str:
    """A file name, as text or as a path object; ``none`` means /dev/null, as for sbatch."""
    if not isinstance(value, str) and hasattr(value, "__fspath__"):
        value = value.__fspath__()
    name = text(value)
    if not name:
        raise ValueError("takes a file name, not an empty text")
    return "/dev/null" if name.lower() == "none" else name


def count(value: object) -> int:
    """A number of 1 or more."""
    number = integer(value)
    if not 1 <= number <= _COUNT_MAX:
        raise ValueError(f"takes a whole number from 1 to {_COUNT_MAX}")
    return number


def integer(value: object) -> int:
    """A whole number, as int or as decimal text."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+", value.strip()):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("takes a whole number")
    return value


def switch(value: object) -> bool:
    """A real bool: a text such as "no" would be true otherwise."""
    if not isinstance(value, bool):
        raise ValueError("takes True or False")
    return value


def comma_list(value: object) -> str:
    """Text, or a list of words that Slurm wants joined by commas."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return ",".join(text(item) for item in value)
    return text(value)


def word_list(value: object) -> list[str]:
    """A list of words, given as a list or as comma text."""
    return [word.strip() for word in comma_list(value).split(",") if word.strip()]


def minutes(value: object) -> Mapping[str, object]:
    """sbatch's TIME: ``90``, ``1:30`` (m:s), ``2:00:00``, ``1-12``, UNLIMITED; an int is minutes.

    Slurm counts whole minutes, rounded up; 0 means no limit, as it does for sbatch.
    """
    total = _seconds(value)
    if total is None or total == 0:
        return {"set": False, "infinite": True, "number": 0}
    whole = ceil(total / 60) if total < 60 * _MINUTES_MAX else _MINUTES_MAX
    if whole >= _MINUTES_MAX:
        raise ValueError(f"takes less than {_MINUTES_MAX} minutes")
    return {"set": True, "infinite": False, "number": whole}


def _seconds(value: object) -> float | None:
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise ValueError("takes no negative time")
        return value.total_seconds()
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value * 60
    if isinstance(value, str):
        if value.strip().upper() in ("UNLIMITED", "INFINITE", "-1"):
            return None
        found = _TIME.fullmatch(value.strip())
        if found and found[0]:
            return _clock(found["days"], [int(part) for part in (found["clock"] or "0").split(":")])
    raise ValueError('takes minutes, "H:M:S", "D-H:M:S", "UNLIMITED" or a timedelta')


def _clock(days: str | None, parts: list[int]) -> int:
    if days is not None:
        hours, mins, secs = [*parts, 0, 0][:3]
    elif len(parts) == 3:
        hours, mins, secs = parts
    else:
        hours, (mins, secs) = 0, [*parts, 0][:2]
    return ((int(days or 0) * 24 + hours) * 60 + mins) * 60 + secs


def mebibytes(value: object) -> int:
    """sbatch's MEM: MiB as int, or ``4G``, ``512M``, ``1T``, ``2048K`` (K rounds up)."""
    size = -1
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    elif isinstance(value, str):
        found = _MEMORY.fullmatch(value.strip())
        if found:
            size = -(-int(found["number"]) * _KIB[found["unit"].upper()] // 1024)
    if 0 <= size <= _MEMORY_MAX:
        return size
    raise ValueError('takes MiB as a number, or text such as "512M", "4G", "1T"')


def moment(value: object) -> int:
    """A time as an aware datetime or as Unix seconds."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("takes a datetime with a time zone, for instance datetime.now(timezone.utc)")
        return int(value.timestamp())
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOMENT_MAX:
        return value
    raise ValueError("takes an aware datetime or Unix seconds")


def node_range(value: object) -> tuple[int, int]:
    """``2`` or ``"2-4"``: the least and the greatest number of nodes."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", value)
        if found:
            least, most = int(found[1]), int(found[2] or found[1])
            if 1 <= least <= most <= _COUNT_MAX:
                return least, most
    elif isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _COUNT_MAX:
        return value, value
    raise ValueError('takes a number of nodes, or a range such as "2-4"')


def gpus(value: object) -> str:
    """``1``, ``"a100:2"`` or a comma list of such: TRES text as REST wants it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(count(value))
    parts = word_list(value)
    if not parts or not all(re.fullmatch(r"(?:[^\s:,=]+:)?\d+", part) for part in parts):
        raise ValueError('takes a number, or text such as "a100:2"')
    return ",".join(f"gres/gpu:{part}" for part in parts)


def gres(value: object) -> str:
    """``gpu:a100:2`` or a comma list of such; without the prefix ``gres/`` REST answers error 2115."""
    parts = word_list(value)
    if not parts:
        raise ValueError('takes text such as "gpu:2" or "gpu:a100:1"')
    if [part.lower() for part in parts] == ["none"]:
        return ""
    return ",".join(part if part.startswith("gres/") else f"gres/{part}" for part in parts)
