"""Spreads pauses, so that many clients do not ask in the same moment."""

from __future__ import annotations

import random

__all__ = ["spread"]

# Not the numbers of ``random`` itself: a program that seeds them to repeat itself would find others, now and then.
_own = random.Random()  # noqa: S311  # no secret


def spread(least: float, most: float) -> float:
    """Return any number between the two."""
    return _own.uniform(least, most)
