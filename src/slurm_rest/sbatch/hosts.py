"""``--nodelist``, ``--nodefile`` and ``--exclude``: names for the REST body."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from slurm_rest.errors import SpecError

from .hostlist import expand_hostlist
from .kinds import whole

__all__ = ["hosts_of", "ranged"]


def hosts_of(name: str, text: str, values: Mapping[str, object], read_file: Callable[[str], bytes] | None) -> list[str]:
    """Return the hosts of an option, sorted and once each, but as given where the distribution is arbitrary."""
    arbitrary = str(values.get("distribution", "")).startswith("arbitrary") and name != "exclude"
    try:
        if name == "nodefile" or "/" in text:
            hosts = _from_file(name, text, read_file)
            tasks = values.get("ntasks")
            if arbitrary and isinstance(tasks, int):
                hosts = _first(hosts, tasks, name)
        else:
            hosts = expand_hostlist(text)
    except ValueError as error:
        raise SpecError(f"--{name} {error}", field=name, kind="value") from None
    return hosts if arbitrary else sorted(set(hosts), key=_natural)


def ranged(hosts: list[str]) -> str:
    """Return hosts as Slurm writes a list of them, in their order: ``n[1,1-2]``."""
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for host in hosts:
        prefix, number = re.fullmatch(r"(.*?)([0-9]*)", host).groups()  # type: ignore[union-attr]  # it always matches
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


def _natural(name: str) -> tuple[object, ...]:
    return tuple(whole(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name))


def _first(hosts: list[str], count: int, name: str) -> list[str]:
    """Return one host for each task."""
    if len(hosts) < count:
        raise SpecError(f"--{name} names {len(hosts)} hosts for {count} tasks", field=name, kind="value")
    return hosts[:count]


def _from_file(name: str, path: str, read_file: Callable[[str], bytes] | None) -> list[str]:
    if read_file is None:
        raise SpecError(f"--{name} names a file, which cannot be read here: {path}", field=name, kind="value")
    try:
        text = read_file(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SpecError(f"--{name}: cannot read {path!r}: {error.strerror}", field=name, kind="value") from None
    lines = (line.partition("#")[0].strip(" \t\v\f\r") for line in text.split("\n"))
    return expand_hostlist(",".join(line for line in lines if line))
