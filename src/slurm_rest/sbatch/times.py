"""sbatch's TIMESTAMP: ``now+1hour``, ``teatime``, ``16:00``, ``0131``, ``2030-01-02T03:04``, ``uts1893456000``.

A text is kept as it is and resolved when the job is submitted, in the submitter's time zone, as sbatch does. sbatch
reads it from left to right, piece by piece; a later piece replaces an earlier one of its kind ("noon midnight" is
midnight), ``T``, ``-`` and blanks between pieces mean nothing, and a day that its month does not have runs over into
the next one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .kinds import Kind, text, whole

__all__ = ["TIMESTAMP", "counts_from_now", "resolve"]

_FORMS = 'takes a time such as "now+1hour", "16:00", "tomorrow", "2030-01-02T03:04", an aware datetime or Unix seconds'
# The end of the year 9999, where Python's own dates end.
_LATEST = 253402300799
# Anything before is taken for a mistake.
_EARLIEST_UTS = 1_000_000
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_UTS = re.compile(r"uts\s*\+?([0-9]+)", re.ASCII | re.I)
_BETWEEN = re.compile(r"[ \tT-]+")
_NOW = re.compile(
    r"now[ \t]*(?:(?P<sign>[+-])(?P<count>(?:\s*[0-9])+)\s*(?:(?P<unit>second|minute|hour|day|week)s?)?|$)",
    re.ASCII | re.I,
)
_CLOCKS = {"midnight": time(0), "noon": time(12), "elevenses": time(11), "fika": time(15), "teatime": time(16)}
_WORD = re.compile("today|tomorrow|" + "|".join(_CLOCKS), re.ASCII | re.I)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*(am|pm)?", re.ASCII | re.I)
# Two digits wherever there are two, without looking ahead whether the rest then fits.
_TWO = r"[0-9]{2}|[0-9](?![0-9])"
_ISO = re.compile(rf"(?P<y>[0-9]{{4}})-(?P<m>[0-9]{{2}})-(?P<d>{_TWO})")
_SHORT = re.compile(rf"(?P<m>{_TWO})[./]?(?P<d>{_TWO})[./]?(?P<y>[0-9]{{2}})?")


def _timestamp(value: object) -> str | int:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("takes a datetime with a time zone, for instance datetime.now(timezone.utc)")
        value = int(value.timestamp())
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= _LATEST:
            raise ValueError(_FORMS)
        return value
    word = text(value)
    # Resolving it once, at any time, shows whether it can be.
    resolve(word, datetime(2026, 1, 1, 12))
    return word


def resolve(value: str | int, now: datetime) -> int:
    """Return Unix seconds. ``now`` is naive local time; ValueError for what is no time."""
    if isinstance(value, int):
        return value
    moment = _read(value.partition("\n")[0], now)
    if not 0 < moment <= _LATEST:
        raise ValueError(_FORMS)
    return moment


def counts_from_now(value: object) -> bool:
    """Tell whether a time is ``now`` and seconds from there: the same in every time zone."""
    return isinstance(value, str) and _NOW.fullmatch(value.partition("\n")[0].strip()) is not None


def _read(value: str, now: datetime) -> int:
    if value[:3].lower() == "uts":
        matched = _UTS.fullmatch(value)
        if not matched or whole(matched[1]) < _EARLIEST_UTS:
            raise ValueError(_FORMS)
        return whole(matched[1])
    try:
        found = _parts(value, now)
        return int(_moment(found, now).timestamp())
    except (OverflowError, OSError, ValueError):
        raise ValueError(_FORMS) from None


def _parts(value: str, now: datetime) -> _Parts:
    found = _Parts()
    rest = value
    while True:
        between = _BETWEEN.match(rest)
        rest = rest[between.end() :] if between else rest
        if not rest:
            break
        rest = _next_part(value, rest, found, now)
    if found.day is None and found.clock is None:
        raise ValueError(_FORMS)
    return found


@dataclass(slots=True)
class _Parts:
    """What was read so far. A day without a year has year 0."""

    day: tuple[int, int, int] | None = None
    clock: time | None = None


def _next_part(value: str, rest: str, found: _Parts, now: datetime) -> str:
    """Read a date or a time at the start of ``rest``, where ``value`` ends, and return what stands behind it."""
    relative = _NOW.match(rest)
    if relative:
        if len(rest) < len(value):
            rest, relative = _displaced(value, rest, relative)
        # Seconds, as sbatch has it: a day over which clocks are changed is no 24 hours of the local time.
        moment = datetime.fromtimestamp(now.timestamp() + _delta(relative))
        found.day, found.clock = _day_of(moment.date()), moment.time().replace(microsecond=0)
        return rest[relative.end() :]
    word = _WORD.match(rest)
    if word:
        name = word[0].lower()
        if name in _CLOCKS:
            found.clock = _CLOCKS[name]
        else:
            found.day = _day_of(now.date() + timedelta(days=name == "tomorrow"))
        return rest[word.end() :]
    return _number_part(rest, found)


def _displaced(value: str, rest: str, relative: re.Match[str]) -> tuple[str, re.Match[str]]:
    """Return what sbatch 24.11 and 26.05 read of a ``now`` that is not at the very beginning.

    They take the place of the sign from the beginning for one from the ``now``: of " now+12hours" they read "2hours".
    Mostly they then look behind the end, where they find whatever the memory holds.
    """
    before = len(value) - len(rest)
    unread = value[2 * before + relative.start("count") :] if relative["sign"] else ""
    rest = f"now{relative['sign']}{unread}"
    again = _NOW.match(rest) if unread else None
    if again is None:
        raise ValueError(_FORMS)
    return rest, again


def _number_part(rest: str, found: _Parts) -> str:
    if rest[1:2] == ":" or rest[2:3] == ":":
        clock = _CLOCK.match(rest)
        if clock is None:
            raise ValueError(_FORMS)
        found.clock = _clock(clock)
        return rest[clock.end() :]
    day = (_ISO if rest[4:5] == "-" and rest[7:8] == "-" else _SHORT).match(rest)
    if day is None:
        raise ValueError(_FORMS)
    found.day = _date(day, found.day[0] if found.day else 0)
    return rest[day.end() :]


def _delta(matched: re.Match[str]) -> int:
    if matched["sign"] is None:
        return 0
    count = whole("".join(matched["count"].split()))
    if count > _LATEST:
        raise ValueError(_FORMS)
    return int(f"{matched['sign']}{count}") * _UNITS[(matched["unit"] or "second").lower()]


def _day_of(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day


def _clock(matched: re.Match[str]) -> time:
    hour, half = int(matched[1]), (matched[4] or "").lower()
    if half == "pm":
        hour = 12 if hour == 12 else hour + 12
    elif half == "am":
        if hour > 12:
            raise ValueError(_FORMS)
        hour %= 12
    try:
        return time(hour, int(matched[2]), int(matched[3] or 0))
    except ValueError:
        raise ValueError(_FORMS) from None


def _date(matched: re.Match[str], year: int) -> tuple[int, int, int]:
    month, day, given = int(matched["m"]), int(matched["d"]), int(matched["y"] or 0)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError(_FORMS)
    if given:
        year = given if len(matched["y"]) == 4 else 2000 + given
    return year, month, day


def _moment(found: _Parts, now: datetime) -> datetime:
    clock = found.clock or time(0)
    if found.day is None:
        # Without a date it is the next such time, to the minute.
        later = (clock.hour, clock.minute) > (now.hour, now.minute)
        return datetime.combine(now.date() + timedelta(days=not later), clock)
    year, month, day = found.day
    if not year:
        # Without a year it is the next such day, to the minute.
        later = (month, day, clock.hour, clock.minute) > (now.month, now.day, now.hour, now.minute)
        year = now.year if later else now.year + 1
    return datetime.combine(date(year, month, 1) + timedelta(days=day - 1), clock)


TIMESTAMP = Kind(_timestamp, lambda value: f"uts{value}" if isinstance(value, int) else str(value), "TIME")
