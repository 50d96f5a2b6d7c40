"""sbatch's TIMESTAMP: ``now+1hour``, ``teatime``, ``16:00``, ``0131``, ``2030-01-02T03:04``, ``uts1893456000``.

A text is kept as it is and resolved when the job is submitted, in the submitter's time zone, as sbatch does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .kinds import Kind, text

__all__ = ["TIMESTAMP", "resolve"]

_FORMS = 'takes a time such as "now+1hour", "16:00", "tomorrow", "2030-01-02T03:04", an aware datetime or Unix seconds'
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_NOW = re.compile(r"now(?:\s*(?P<sign>[+-])\s*(?P<count>[0-9]+)\s*(?P<unit>[a-z]*))?", re.IGNORECASE)
_CLOCKS = {"midnight": time(0), "noon": time(12), "elevenses": time(11), "fika": time(15), "teatime": time(16)}
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*(am|pm)?", re.IGNORECASE)
_DATES = (
    re.compile(r"(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"),
    re.compile(r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})(?:/(?P<y>[0-9]{2,4}))?"),
    re.compile(r"(?P<m>[0-9]{1,2})\.(?P<d>[0-9]{1,2})(?:\.(?P<y>[0-9]{2,4}))?"),
    re.compile(r"(?P<m>[0-9]{2})(?P<d>[0-9]{2})(?P<y>[0-9]{2})?(?![0-9:])"),
)
_WORD = re.compile(r"today|tomorrow|midnight|noon|elevenses|fika|teatime", re.IGNORECASE)
_BETWEEN = re.compile(r"[T\s-]?\s*")
_LATEST = 2**32 - 3


def _timestamp(value: object) -> str | int:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("takes a datetime with a time zone, for instance datetime.now(timezone.utc)")
        value = int(value.timestamp())
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= _LATEST:
            raise ValueError(_FORMS)
        return value
    word = text(value).strip()
    # Resolving it once, at any time, shows whether it can be.
    resolve(word, datetime(2026, 1, 1, 12))
    return word


def resolve(value: str | int, now: datetime) -> int:
    """Return Unix seconds. ``now`` is naive local time; ValueError for what is no time."""
    if isinstance(value, int):
        return value
    if re.fullmatch(r"uts[0-9]+", value):
        return int(value[3:])
    relative = _NOW.fullmatch(value)
    if relative:
        return int(now.timestamp()) + _delta(relative)
    found = _Parts()
    rest = value
    while rest:
        rest = _BETWEEN.sub("", _next_part(rest, found, now), count=1)
    if found.day is None and found.clock is None:
        raise ValueError(_FORMS)
    return int(_moment(found, now).timestamp())


@dataclass(slots=True)
class _Parts:
    day: date | None = None
    clock: time | None = None


def _delta(matched: re.Match[str]) -> int:
    if matched["sign"] is None:
        return 0
    unit = matched["unit"].lower()
    seconds = _UNITS.get(unit.removesuffix("s"), 0) if unit else 1
    if not seconds:
        raise ValueError(_FORMS)
    return int(f"{matched['sign']}{matched['count']}") * seconds


def _next_part(rest: str, found: _Parts, now: datetime) -> str:
    """Read a date or a time at the start of ``rest`` and return what stands behind it."""
    word = _WORD.match(rest)
    if word:
        name = word[0].lower()
        if name in _CLOCKS:
            _set(found, None, _CLOCKS[name])
        else:
            _set(found, now.date() + timedelta(days=name == "tomorrow"), None)
        return rest[word.end() :]
    clock = _CLOCK.match(rest)
    if clock:
        _set(found, None, _clock(clock))
        return rest[clock.end() :]
    for pattern in _DATES:
        matched = pattern.match(rest)
        if matched:
            _set(found, _date(matched, now), None)
            return rest[matched.end() :]
    raise ValueError(_FORMS)


def _set(found: _Parts, day: date | None, clock: time | None) -> None:
    if (day and found.day) or (clock is not None and found.clock is not None):
        raise ValueError(_FORMS)
    found.day, found.clock = day or found.day, clock if clock is not None else found.clock


def _clock(matched: re.Match[str]) -> time:
    hour, half = int(matched[1]), (matched[4] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(_FORMS)
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return time(hour, int(matched[2]), int(matched[3] or 0))
    except ValueError:
        raise ValueError(_FORMS) from None


def _date(matched: re.Match[str], now: datetime) -> date:
    year, month, day = matched["y"], int(matched["m"]), int(matched["d"])
    try:
        if year:
            return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
        this = date(now.year, month, day)
        # Without a year it is the next such day.
        return this if this >= now.date() else date(now.year + 1, month, day)
    except ValueError:
        raise ValueError(_FORMS) from None


def _moment(found: _Parts, now: datetime) -> datetime:
    if found.day is not None:
        return datetime.combine(found.day, found.clock or time(0))
    today = datetime.combine(now.date(), found.clock or time(0))
    # Without a date it is the next such time.
    return today if today > now else today + timedelta(days=1)


TIMESTAMP = Kind(_timestamp, lambda value: f"uts{value}" if isinstance(value, int) else str(value), "TIME")
