"""Comparing a model with the JSON that it was read from: nothing lost, nothing changed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pydantic import BaseModel

from slurm_rest.api import INFINITE


def losses(value: object, raw: object, place: str = "") -> Iterator[str]:
    """What of ``raw`` is not in ``value``, or is something else there."""
    if isinstance(value, BaseModel) and isinstance(raw, dict):
        names = {one.validation_alias or name: name for name, one in type(value).model_fields.items()}
        for key, inner in raw.items():
            if key not in names:
                yield f"{place}.{key}: no such field"
            else:
                yield from losses(getattr(value, names[key]), inner, f"{place}.{key}")
    elif isinstance(value, list) and isinstance(raw, list) and len(value) == len(raw):
        for one, inner in zip(value, raw, strict=True):
            yield from losses(one, inner, f"{place}[]")
    elif expected(raw) != value or isinstance(value, bool) != isinstance(raw, bool):
        yield f"{place}: {value!r} for {raw!r}"


def expected(raw: object) -> object:
    """What a plain value or a ``{set, infinite, number}`` should have become."""
    if isinstance(raw, dict) and raw.keys() == {"set", "infinite", "number"}:
        return INFINITE if raw["infinite"] else raw["number"] if raw["set"] else None
    if isinstance(raw, float) and math.isinf(raw):
        return INFINITE
    return raw
