"""Refuses fields that an API version does not know: slurmrestd would drop them and make another job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from slurm_rest.api import known_in
from slurm_rest.errors import UnsupportedVersion

__all__ = ["require_fields"]


def require_fields(body: Mapping[str, object], version: str) -> None:
    """Raise UnsupportedVersion for the first field of a submission's body that ``version`` lacks."""
    several = body.get("jobs")
    parts = several if isinstance(several, list) else [body.get("job")]
    for name in sorted({name for part in parts if isinstance(part, Mapping) for name in part}):
        supported = _versions_with(name)
        if version not in supported:
            message = f"API version {version} cannot express {name}"
            hint = f"These can: {', '.join(supported) or 'none'}."
            raise UnsupportedVersion(message, version=version, supported=supported, hint=hint)


@cache
def _versions_with(name: str) -> tuple[str, ...]:
    """Jobs have a hundred different fields at most, and every submission looks at its own."""
    return known_in("JobDescMsg", name)
