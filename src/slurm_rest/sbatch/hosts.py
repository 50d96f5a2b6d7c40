"""``--nodelist``, ``--nodefile`` and ``--exclude``: names for the REST body."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from slurm_rest.errors import SpecError

from .hostlist import expand_hostlist

__all__ = ["hosts_of"]


def hosts_of(name: str, text: str, values: Mapping[str, object], read_file: Callable[[str], bytes] | None) -> list[str]:
    """Return the hosts of an option, sorted and once each, but as given where the distribution is arbitrary."""
    try:
        if name == "nodefile" or "/" in text:
            text = _from_file(name, text, read_file)
        hosts = expand_hostlist(text)
    except ValueError as error:
        raise SpecError(f"--{name} {error}", field=name, kind="value") from None
    if str(values.get("distribution", "")).startswith("arbitrary") and name != "exclude":
        return hosts
    return sorted(set(hosts), key=_natural)


def _natural(name: str) -> tuple[object, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", name))


def _from_file(name: str, path: str, read_file: Callable[[str], bytes] | None) -> str:
    if read_file is None:
        raise SpecError(f"--{name} names a file, which cannot be read here: {path}", field=name, kind="value")
    try:
        text = read_file(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SpecError(f"--{name}: cannot read {path!r}: {error.strerror}", field=name, kind="value") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return ",".join(line for line in lines if line)
