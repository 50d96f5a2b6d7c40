"""What can be changed of a job that exists: a row for each option, with its REST field and scontrol's word.

Observed on 22.05, 24.11 and 26.05. What Slurm takes depends on the job's state and the user's rights: a running job's
time limit can be lowered, its nodes cannot be changed; deadlines and higher limits are for operators.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slurm_rest.errors import SpecError

from .derive import no_val
from .options import ROW_OF
from .spec import read_keyword
from .times import resolve

if TYPE_CHECKING:
    from typing_extensions import TypedDict
else:
    from typing import TypedDict

__all__ = ["CHANGEABLE", "JobChanges", "changed_fields", "changed_words", "read_changes"]


class JobChanges(TypedDict, total=False):
    """sbatch's long options that Slurm lets one change, with ``_`` for ``-``. None leaves an option as it is."""

    account: str | None
    begin: str | int | datetime | None
    comment: str | None
    constraint: str | None
    cpus_per_task: int | None
    deadline: str | int | datetime | None
    dependency: str | None
    error: str | os.PathLike[str] | None
    exclude: str | Sequence[str] | None
    extra: str | None
    input: str | os.PathLike[str] | None
    licenses: str | Sequence[str] | None
    mail_type: str | Sequence[str] | None
    mail_user: str | None
    mem: str | int | None
    mem_per_cpu: str | int | None
    name: str | None
    nice: int | None
    nodelist: str | Sequence[str] | None
    nodes: int | str | None
    ntasks: int | None
    output: str | os.PathLike[str] | None
    partition: str | Sequence[str] | None
    prefer: str | None
    priority: str | int | None
    qos: str | None
    requeue: bool | None
    reservation: str | Sequence[str] | None
    time: str | int | timedelta | None
    time_min: str | int | timedelta | None
    tmp: str | int | None
    wckey: str | None


@dataclass(frozen=True, slots=True)
class _Change:
    """One option: the field of ``POST job/{id}``, the word of ``scontrol update`` and the release that has it first."""

    field: str
    word: str
    value: Callable[[str, object], object] = lambda name, value: ROW_OF[name].show(value)
    text: Callable[[str, object], str] = lambda name, value: ROW_OF[name].show(value)
    since: str = ""


def _number(name: str, value: object) -> object:
    return value


def _digits(name: str, value: object) -> str:
    return str(value)


def _set_number(name: str, value: object) -> object:
    return no_val(value)


def _minutes(name: str, value: object) -> object:
    if isinstance(value, timedelta):
        return no_val(int(value.total_seconds()) // 60)
    return {"set": False, "infinite": True, "number": 0}


def _minutes_text(name: str, value: object) -> str:
    return str(int(value.total_seconds()) // 60) if isinstance(value, timedelta) else "UNLIMITED"


def _seconds_text(name: str, value: object) -> str:
    # Slurm's own way to say Unix seconds, free of anybody's time zone.
    return f"uts{value}"


def _one(name: str, value: object) -> object:
    return [ROW_OF[name].show(value)]


def _words(name: str, value: object) -> object:
    return ROW_OF[name].show(value).split(",")


def _yes(name: str, value: object) -> object:
    return value is not False


def _yes_text(name: str, value: object) -> str:
    return str(int(value is not False))


_CHANGES: Mapping[str, _Change] = {
    "account": _Change("account", "Account"),
    "begin": _Change("begin_time", "StartTime", _set_number, _seconds_text),
    "comment": _Change("comment", "Comment"),
    "constraint": _Change("constraints", "Features"),
    "cpus_per_task": _Change("cpus_per_task", "CPUsPerTask", _number, _digits),
    "deadline": _Change("deadline", "Deadline", _number, _seconds_text),
    "dependency": _Change("dependency", "Dependency"),
    "error": _Change("standard_error", "StdErr", since="24.11"),
    "exclude": _Change("excluded_nodes", "ExcNodeList", _one),
    "extra": _Change("extra", "Extra", since="24.11"),
    "input": _Change("standard_input", "StdIn", since="24.11"),
    "licenses": _Change("licenses", "Licenses"),
    "mail_type": _Change("mail_type", "MailType", _words),
    "mail_user": _Change("mail_user", "MailUser"),
    "mem": _Change("memory_per_node", "MinMemoryNode", _set_number, _digits),
    "mem_per_cpu": _Change("memory_per_cpu", "MinMemoryCPU", _set_number, _digits),
    "name": _Change("name", "JobName"),
    "nice": _Change("nice", "Nice", _number, _digits),
    "nodelist": _Change("required_nodes", "ReqNodeList", _one),
    "nodes": _Change("nodes", "NumNodes"),
    "ntasks": _Change("tasks", "NumTasks", _number, _digits),
    "output": _Change("standard_output", "StdOut"),
    "partition": _Change("partition", "Partition"),
    "prefer": _Change("prefer", "Prefer"),
    "priority": _Change("priority", "Priority", _set_number, _digits),
    "qos": _Change("qos", "QOS"),
    "requeue": _Change("requeue", "Requeue", _yes, _yes_text),
    "reservation": _Change("reservation", "ReservationName"),
    "time": _Change("time_limit", "TimeLimit", _minutes, _minutes_text),
    "time_min": _Change("time_minimum", "TimeMin", _minutes, _minutes_text),
    "tmp": _Change("temporary_disk_per_node", "MinTmpDiskNode", _number, _digits),
    "wckey": _Change("wckey", "WCKey"),
}
_FILES = ("error", "input", "output")

CHANGEABLE = tuple(_CHANGES)


def read_changes(options: Mapping[str, object], now: datetime) -> dict[str, object]:
    """Return canonical values, times as Unix seconds; SpecError for what cannot be changed or has a wrong value.

    ``now`` is naive local time, where relative times begin.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not given:
        hint = f"It takes {', '.join(CHANGEABLE)}."
        raise SpecError("There is nothing to change", kind="usage", hint=hint)
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in _CHANGES:
            raise _unknown(name)
        found = read_keyword(name, value)
        if name in ("begin", "deadline"):
            found = _moment(name, found, now)
        if name in _FILES and not str(found).startswith("/"):
            hint = "Slurm would take a relative one as it is."
            raise SpecError(f"{name}={str(found)[:100]!r} is not absolute", field=name, kind="value", hint=hint)
        values[name] = found
    return values


def _moment(name: str, value: object, now: datetime) -> int:
    try:
        return resolve(value if isinstance(value, int) else str(value), now)
    except ValueError as error:
        raise SpecError(f"{name}={value!r}: it {error}", field=name, kind="value") from None


def _unknown(name: str) -> SpecError:
    near = difflib.get_close_matches(name, CHANGEABLE, 1, 0.6)
    if name in ROW_OF:
        hint = f"These can be: {', '.join(CHANGEABLE)}."
        return SpecError(f"{name} cannot be changed after submission", field=name, kind="usage", hint=hint)
    hint = f"Did you mean {near[0]!r}?" if near else f"These can be changed: {', '.join(CHANGEABLE)}."
    return SpecError(f"A job has no option {name!r}", field=name, kind="usage", hint=hint)


def changed_fields(values: Mapping[str, object]) -> dict[str, object]:
    """Return the body of ``POST job/{id}``."""
    return {_CHANGES[name].field: _CHANGES[name].value(name, value) for name, value in values.items()}


def changed_words(values: Mapping[str, object], release: str) -> list[str]:
    """Return words for ``scontrol update``; SpecError for what that release does not change."""
    words = []
    for name, value in values.items():
        row = _CHANGES[name]
        if row.since and release < row.since:
            message = f"Slurm {release} cannot change {name}"
            raise SpecError(message, field=name, kind="inexpressible", hint=f"Slurm {row.since} can.")
        words.append(f"{row.word}={row.text(name, value)}")
    return words
