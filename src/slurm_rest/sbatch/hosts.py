"""``--nodelist``, ``--nodefile`` and ``--exclude``: names for the REST body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cmp_to_key

from slurm_rest.errors import SpecError

from .derived import Reader, read_named
from .hostlist import expand_hostlist
from .kinds import whole

__all__ = ["hosts_of", "ranged"]


def hosts_of(name: str, text: str, values: Mapping[str, object], read_file: Reader | None) -> list[str]:
    """Return the hosts of an option: those to use sorted and once each, unless the distribution is arbitrary."""
    arbitrary = str(values.get("distribution", "")).startswith("arbitrary") and name != "exclude"
    from_file = name == "nodefile" or "/" in text
    if from_file:
        text = _in_file(read_named(name, text, read_file).decode("utf-8", "surrogateescape"))
    try:
        hosts = expand_hostlist(text)
    except ValueError as error:
        hint = "It takes names as in n1,n[3-5], in a file one line or more of them."
        raise SpecError(f"--{name} {error}", field=name, kind="value", hint=hint) from None
    tasks = values.get("ntasks")
    if arbitrary and from_file and isinstance(tasks, int):
        hosts = _first(hosts, tasks, name)
    if name == "exclude" or arbitrary:
        return hosts
    # slurmctld looks at the last name of a list only, so the order decides which names it refuses.
    return sorted(set(hosts), key=cmp_to_key(_compare))


def ranged(hosts: list[str]) -> str:
    """Return hosts as Slurm writes a list of them, in their order: ``n[1,1-2]``."""
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for host in hosts:
        prefix, number = _split(host)
        if not groups or groups[-1][0] != prefix or not number:
            groups.append((prefix, []))
        ranges = groups[-1][1]
        if ranges and len(ranges[-1][1]) == len(number) and whole(ranges[-1][1]) + 1 == whole(number):
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ",".join(_group(prefix, ranges) for prefix, ranges in groups)


def _group(prefix: str, ranges: list[tuple[str, str]]) -> str:
    shown = ",".join(low if low == high else f"{low}-{high}" for low, high in ranges)
    return f"{prefix}[{shown}]" if len(ranges) > 1 or ranges[0][0] != ranges[0][1] else f"{prefix}{shown}"


def _compare(one: str, other: str) -> int:
    """Order two names as Slurm's host lists do."""
    (prefix, number), (other_prefix, other_number) = _split(one), _split(other)
    if prefix != other_prefix:
        return -1 if _natural(prefix) < _natural(other_prefix) else 1
    if not number or not other_number:
        return bool(number) - bool(other_number)
    if _looks_alike(number, other_number):
        return whole(number) - whole(other_number)
    return len(number) - len(other_number)


def _split(host: str) -> tuple[str, str]:
    found = re.search("[0-9]*$", host)
    start = found.start() if found else len(host)
    return host[:start], host[start:]


def _looks_alike(number: str, other: str) -> bool:
    """Return whether both numbers belong to one range: of one width, or one is the same in the other's."""
    return any(long.lstrip("0").zfill(len(short)) == long for short, long in ((number, other), (other, number)))


def _natural(text: str) -> tuple[object, ...]:
    return tuple(whole(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", text))


def _first(hosts: list[str], count: int, name: str) -> list[str]:
    """Return one host for each task."""
    if len(hosts) < count:
        message = f"--{name} names {len(hosts)} hosts for {count} tasks"
        raise SpecError(message, field=name, kind="value", hint="Name one for each task, or ask for fewer tasks.")
    return hosts[:count]


def _in_file(text: str) -> str:
    """Return the lines of a file as one list, without remarks."""
    lines = (line.partition("#")[0].strip(" \t\v\f\r") for line in text.split("\n"))
    return ",".join(line for line in lines if line)
