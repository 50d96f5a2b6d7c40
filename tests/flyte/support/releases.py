"""On which releases a test of faults runs: on one, and on both where ``SLURM_REST_FAULT_SECONDS`` is set."""

from __future__ import annotations

import os

import pytest

__all__ = ["short_on", "some_releases"]

_RELEASES = ["24.11", "26.05"]


def some_releases(short: str) -> list[str]:
    """Return the releases to run on, in a short run this one."""
    return _RELEASES if os.environ.get("SLURM_REST_FAULT_SECONDS") else [short]


def short_on(release: str) -> pytest.MarkDecorator:
    """Have a test run on that ``release`` in a short run."""
    return pytest.mark.parametrize("release", some_releases(release))
