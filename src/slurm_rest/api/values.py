"""Slurm's numbers that may be unset or infinite, as one value: an ``int`` (or ``float``), ``INFINITE`` or ``None``.

slurmrestd writes them ``{"set": true, "infinite": false, "number": 5}``; with the parser flag ``complex``: ``5``,
``null`` and ``"Infinity"``; a few fields of old versions are bare numbers. All of these are read. Requests write the
first form: a ``number`` without ``set`` would be taken as unset without a word.
"""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

__all__ = ["INFINITE", "Infinite", "NoVal", "NoValFloat", "read_no_val", "write_no_val"]


class Infinite(str, enum.Enum):
    """The type of ``INFINITE``, its only value. As text, and so in JSON, it is Slurm's own ``Infinity``."""

    INFINITE = "Infinity"

    def __repr__(self) -> str:
        return "INFINITE"

    def __str__(self) -> str:
        return "INFINITE"


INFINITE: Final[Literal[Infinite.INFINITE]] = Infinite.INFINITE
"""No limit. Compare with ``is``: ``if job.time_limit is INFINITE``."""


def read_no_val(value: object) -> int | float | Infinite | None:
    """Read any of the forms; raise ValueError on what is none of them."""
    # The usual form first: a job record has thirty of them.
    if isinstance(value, dict):
        if value.get("infinite"):
            return INFINITE
        number = value.get("number") if value.get("set") else None
        return number if number is None else _number(number)
    if value is None:
        return None
    if value is INFINITE or value == "Infinity":
        return INFINITE
    return _number(value)


def _number(value: object) -> int | float | Infinite:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, INFINITE or None, got {value!r}")
    if isinstance(value, float) and math.isinf(value) and value > 0:
        return INFINITE
    if value != value:  # NaN is the one number that differs from itself
        raise ValueError("NaN is no value that Slurm knows")
    return value


def _integer(value: object) -> int | Infinite | None:
    number = read_no_val(value)
    if isinstance(number, float):
        if not number.is_integer():
            raise ValueError(f"expected a whole number, got {number!r}")
        return int(number)
    return number


def _floating(value: object) -> float | Infinite | None:
    number = read_no_val(value)
    return float(number) if isinstance(number, int) else number


def write_no_val(value: float | Infinite | None) -> dict[str, object] | None:
    """Write the form that every version reads."""
    if value is None:
        return None
    if value is INFINITE:
        return {"set": False, "infinite": True, "number": 0}
    return {"set": True, "infinite": False, "number": value}


class _NoValSchema:
    """Tells pydantic how to read and write the value; a plain function is faster than a union of its parts."""

    def __init__(self, *, integer: bool) -> None:
        self._read = _integer if integer else _floating

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - pydantic's own signature
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        from pydantic_core import core_schema  # here, so that the values cost no import of pydantic

        return core_schema.no_info_plain_validator_function(
            self._read,
            serialization=core_schema.plain_serializer_function_ser_schema(write_no_val, when_used="json"),
        )


# Annotated with the union, not used in one: that would build pydantic's union validator around the function.
NoVal = Annotated[int | Infinite | None, _NoValSchema(integer=True)]
"""A whole number, ``INFINITE`` or ``None`` (unset)."""

NoValFloat = Annotated[float | Infinite | None, _NoValSchema(integer=False)]
"""A number, ``INFINITE`` or ``None`` (unset)."""
