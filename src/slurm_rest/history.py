"""Which jobs of the past somebody asks accounting for, and the two languages of the question. Nothing here does I/O."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from .errors import SpecError
from .models import JobInfo
from .states import BaseState

__all__ = ["STATES", "HistoryQuery", "Moment", "Slices", "make_query", "newest", "read_states", "read_time"]

Moment = datetime | timedelta
Names = str | Collection[str]
# squeue's short names of the states.
_SHORT = {
    "PD": "PENDING",
    "R": "RUNNING",
    "S": "SUSPENDED",
    "CG": "COMPLETING",
    "CF": "CONFIGURING",
    "CD": "COMPLETED",
    "CA": "CANCELLED",
    "F": "FAILED",
    "TO": "TIMEOUT",
    "NF": "NODE_FAIL",
    "PR": "PREEMPTED",
    "BF": "BOOT_FAIL",
    "DL": "DEADLINE",
    "OOM": "OUT_OF_MEMORY",
    "RQ": "REQUEUED",
    "RH": "REQUEUE_HOLD",
    "SE": "SPECIAL_EXIT",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
}
_BASES = frozenset(state.value for state in BaseState if state is not BaseState.UNKNOWN)
_RARE = {"EXPEDITING", "LAUNCH_FAILED", "POWER_UP_NODE", "REQUEUE_FED", "RESIZING", "RESV_DEL_HOLD", "REVOKED"}
STATES = sorted(_BASES | set(_SHORT.values()) | _RARE | {"SIGNALING", "RECONFIG_FAIL"})
# The span that is asked for first, and how many records make the next one shorter or longer.
_FIRST = timedelta(hours=6)
_SHORTEST = timedelta(minutes=1)
_MANY, _SOME = 4000, 1000


def read_states(words: str | Iterable[str] | None) -> set[str]:
    """Return the long names of states given by long or short name; SpecError names the nearest of an unknown one."""
    found = set()
    for word in words.split(",") if isinstance(words, str) else words or ():
        name = _SHORT.get(word.strip().upper(), word.strip().upper())
        if name not in STATES:
            near = difflib.get_close_matches(name, STATES, 1)
            hint = f"Did you mean {near[0]}?" if near else f"States are {', '.join(STATES)}."
            raise SpecError(f"{word!r} is not a state", field="state", hint=hint)
        found.add(name)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """Jobs that were pending or running at any moment between two times, as accounting filters them.

    With ``states`` it is every start of a job that counts: one that ended FAILED, was requeued and COMPLETED is
    found under both. Jobs that were cancelled while held never show up in a span of time (24.11 and 26.05).
    """

    start: datetime
    end: datetime
    users: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    def pairs(self) -> list[tuple[str, str]]:
        """Return the query of ``slurmdb/jobs``. A bare number is a time in v0.0.41+ only, ``uts`` in front in all."""
        return [
            ("start_time", f"uts{int(self.start.timestamp())}"),
            ("end_time", f"uts{int(self.end.timestamp())}"),
            *(("users", word) for word in self.users),
            *(("state", word) for word in self.states),
            *(("job_name", word) for word in self.names),
            *(("partition", word) for word in self.partitions),
            *(("account", word) for word in self.accounts),
        ]

    def words(self) -> list[str]:
        """Return sacct's options."""
        words = [f"--starttime=uts{int(self.start.timestamp())}", f"--endtime=uts{int(self.end.timestamp())}"]
        given = {
            "user": self.users,
            "state": self.states,
            "name": self.names,
            "partition": self.partitions,
            "account": self.accounts,
        }
        return [*words, *(f"--{name}={','.join(listed)}" for name, listed in given.items() if listed)]

    def matches(self, record: JobInfo) -> bool:
        """Tell whether a record is meant, as accounting does: for a source that has nothing but records."""
        given = (
            (self.users, record.user),
            (self.names, record.name),
            (self.partitions, record.partition),
            (self.accounts, record.account),
        )
        return (
            (record.submit_time is None or record.submit_time <= self.end)
            and (record.end_time is None or record.end_time >= self.start or not record.state.is_terminal)
            and all(not wanted or value in wanted for wanted, value in given)
            and (not self.states or record.state.is_any_of(self.states))
        )

    def check(self) -> HistoryQuery:
        """Return itself; SpecError for what accounting would misread."""
        if self.start >= self.end:
            raise SpecError("The span of time ends before it starts", field="start", hint="Give an earlier start.")
        for name in ("users", "names", "partitions", "accounts"):
            for word in getattr(self, name):
                if not word or "," in word:
                    raise SpecError(f"{word!r} is no single name", field=name, hint="Give several names as a list.")
        flags = set(self.states) - _BASES - {"REQUEUED"}
        if flags:
            hint = f"It knows {', '.join(sorted(_BASES))}."
            raise SpecError(f"Accounting keeps no jobs in {', '.join(sorted(flags))}", field="state", hint=hint)
        return self


def make_query(
    start: Moment | None,
    end: Moment | None,
    *,
    user: Names = (),
    state: Names = (),
    name: Names = (),
    partition: Names = (),
    account: Names = (),
) -> HistoryQuery:
    """Return the query that a caller's words mean; SpecError for what accounting would misread."""
    now = datetime.now(timezone.utc)
    # Without a zone until then: on a day when clocks are changed, midnight has another one than now.
    midnight = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0, fold=0).astimezone()
    return HistoryQuery(
        start=_moment(midnight if start is None else start, now),
        # The cluster's clock may be ahead of this host's.
        end=_moment(end, now) if end is not None else now + timedelta(hours=1),
        users=_words(user),
        states=tuple(sorted(read_states(state))),
        names=_words(name),
        partitions=_words(partition),
        accounts=_words(account),
    ).check()


def _moment(value: Moment, now: datetime) -> datetime:
    """Return an aware time: a span is that long before ``now``, a time without a zone is this host's."""
    if isinstance(value, timedelta):
        return now - abs(value)
    return read_time(value, "a datetime, or a timedelta before now")


def read_time(value: datetime, takes: str = "a datetime") -> datetime:
    """Return an aware time: one without a zone is this host's. Raises SpecError for what is none."""
    if not isinstance(value, datetime):
        raise SpecError(f"{value!r} is no moment", hint=f"Pass {takes}; datetime.fromisoformat reads a text.")
    return value.astimezone(timezone.utc)


def _words(value: Names) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class Slices:
    """Cuts a query into spans, newest first, so that no answer is much larger than some thousand records."""

    def __init__(self, query: HistoryQuery) -> None:
        self._query = query
        self._end = query.end
        self._span = _FIRST
        self._again = False

    def __iter__(self) -> Iterator[HistoryQuery]:
        while self._end > self._query.start:
            start = max(self._query.start, self._end - self._span)
            yield replace(self._query, start=start, end=self._end)
            if not self._again:
                self._end = start
            self._again = False

    def found(self, count: int) -> None:
        """Take how many records the last span had, and choose the next."""
        if count > _MANY:
            self._span = max(self._span / 4, _SHORTEST)
        elif count < _SOME:
            self._span *= 4

    def shorten(self) -> bool:
        """Ask for a part of the last span instead, since it had too much; False when it is as short as can be."""
        if min(self._span, self._end - self._query.start) <= _SHORTEST:
            return False
        self._span = max(min(self._span, self._end - self._query.start) / 4, _SHORTEST)
        self._again = True
        return True


def newest(records: Collection[JobInfo], limit: int | None) -> list[JobInfo]:
    """Return the newest records, oldest first, each job and each of its tasks once."""
    found: dict[tuple[int, int | None, int | None, datetime | None], JobInfo] = {}
    for record in records:
        found[record.id, record.array_task_id, record.het_job_offset, record.submit_time] = record
    listed = sorted(found.values(), key=_order)
    return listed if limit is None else listed[max(0, len(listed) - limit) :]


def _order(record: JobInfo) -> tuple[float, int, int, int]:
    # A task that started has an id of its own, and the last one has the array's: they count by their places in it.
    submitted = record.submit_time.timestamp() if record.submit_time else 0.0
    return (submitted, record.array_job_id or record.het_job_id or record.id, record.array_task_id or 0, record.id)
