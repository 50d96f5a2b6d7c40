"""What a job was given, as metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["allocated"]

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
