"""Several clusters in one connector: which of them a task means, and how its variables are called. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slurm_rest.errors import ConfigError

__all__ = ["CLUSTERS", "cluster_names", "cluster_prefix", "find_cluster"]

CLUSTERS = "FLYTE_SLURM_CLUSTERS"
_PREFIX = "FLYTE_SLURM_"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Any of them makes a cluster of the variables without a name.
_WAYS = ("REST_URL", "HOST")


def cluster_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names in ``FLYTE_SLURM_CLUSTERS``; raises ConfigError for one that cannot be part of a variable."""
    names = tuple(name for name in re.split(r"[,\s]+", environ.get(CLUSTERS, "")) if name)
    for name in names:
        if not _NAME.fullmatch(name):
            hint = "A name is letters, digits, - and _, and begins with a letter; names are separated by commas."
            raise ConfigError(f"{CLUSTERS} has {name!r}", hint=hint)
    prefixes = [cluster_prefix(name) for name in names]
    for place, prefix in enumerate(prefixes):
        if (first := prefixes.index(prefix)) != place:
            what = f"{CLUSTERS} has {names[first]!r} and {names[place]!r}, whose variables both begin with {prefix}"
            raise ConfigError(what, hint="Give them names that differ in letters or digits.")
    return names


def cluster_prefix(name: str) -> str:
    """Return what the variables of a cluster begin with: ``FLYTE_SLURM_GPU_EAST_`` for ``gpu-east``."""
    return f"{_PREFIX}{name.upper().replace('-', '_')}_" if name else _PREFIX


def find_cluster(environ: Mapping[str, str], asked: str) -> str:
    """Return the name of the cluster that a task gets: what it asks for, else the unnamed one, else the first.

    Raises ConfigError for a name that is none of ``FLYTE_SLURM_CLUSTERS``.
    """
    names = cluster_names(environ)
    if asked:
        if asked in names:
            return asked
        known = f"It serves {', '.join(names)}." if names else f"It names none: {CLUSTERS} is not set."
        raise ConfigError(f"The connector has no cluster {asked!r}", hint=known)
    own = any(environ.get(_PREFIX + way, "").strip() for way in _WAYS)
    own = own or environ.get(f"{_PREFIX}TRANSPORT", "").strip() == "cli"
    return names[0] if names and not own else ""
