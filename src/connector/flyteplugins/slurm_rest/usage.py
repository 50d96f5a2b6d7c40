"""What a job used, as accounting keeps it: from the record of ``slurmdb``'s job, with its steps. Pure.

Steps are summed up as sacct does it for people: the CPU time of a job is that of its steps (slurmdb's own total for a
job is 0 on 24.11), memory the largest that any one task of any step had (``TRESUsageInMax``). Both are known only where
the site gathers them (``JobAcctGatherType``), and once a step has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

__all__ = ["allocated", "used"]

_Record = Mapping[str, object]
_UNITS = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def allocated(tres: Mapping[str, str]) -> dict[str, float]:
    """Return what a job was given: ``tres/NAME`` as numbers, ``tres/mem`` in bytes."""
    found = {}
    for name, text in tres.items():
        number = _memory(text) if name == "mem" else _number(text)
        # Slurm has -2 for what it does not know, energy say.
        if number is not None and number >= 0:
            found[f"tres/{name}"] = number
    return found


def _memory(text: str) -> float | None:
    """Read ``4G``, ``4000M``, or a number of MiB, which slurmdb gives."""
    unit = text[-1:].upper()
    if unit not in _UNITS:
        number = _number(text)
        return None if number is None else number * 1024**2
    number = _number(text[:-1])
    return None if number is None else number * 1024 ** _UNITS[unit]


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def used(record: _Record) -> dict[str, float]:
    """Return ``cpu_seconds``, ``cpu_user_seconds``, ``cpu_system_seconds``, ``memory_max_bytes`` and ``gpu_...``."""
    found: dict[str, float] = {}
    for step in _items(record.get("steps")):
        times = _mapping(step.get("time"))
        for name, word in (("cpu_seconds", "total"), ("cpu_user_seconds", "user"), ("cpu_system_seconds", "system")):
            span = _mapping(times.get(word))
            if "seconds" in span:
                seconds = (_number(span["seconds"]) or 0) + (_number(span.get("microseconds")) or 0) / 1e6
                found[name] = found.get(name, 0.0) + seconds
        for item in _items(_mapping(_mapping(step.get("tres")).get("requested")).get("max")):
            metric = _USED.get((str(item.get("type")), str(item.get("name") or "")))
            count = _number(item.get("count"))
            if metric and count is not None and count >= 0:
                found[metric] = max(found.get(metric, 0.0), count)
    return found


_USED = {
    ("mem", ""): "memory_max_bytes",
    ("gres", "gpuutil"): "gpu_utilization_percent",
    ("gres", "gpumem"): "gpu_memory_max_bytes",
}


def _mapping(value: object) -> _Record:
    return cast("_Record", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> Iterable[_Record]:
    return [_mapping(one) for one in value] if isinstance(value, list) else []
