"""What an operation is, and the request that it becomes: plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from slurm_rest.api._versions import API_VERSIONS, FIELDS

__all__ = ["ApiRequest", "Operation", "QueryParam", "known_in", "versions_of"]


def versions_of(mask: int) -> tuple[str, ...]:
    """The versions whose bits are set, oldest first."""
    return tuple(version for bit, version in enumerate(API_VERSIONS) if mask >> bit & 1)


def known_in(model: str, field: str) -> tuple[str, ...]:
    """The versions that know a field of a model: ``known_in("JobInfo", "stdout_expanded")``; none if there is none."""
    for mask, names in FIELDS.get(model, {}).items():
        if field in names.split():
            return versions_of(mask)
    return ()


@dataclass(frozen=True, slots=True)
class QueryParam:
    """A query parameter under the name that some versions give it; another entry may have the others' name."""

    name: str
    wire: str
    versions: tuple[str, ...]
    kind: Literal["bool", "time", "list", "scalar"] = "scalar"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of slurmrestd. ``safe`` ones may be sent again; a GET that changes something is not safe."""

    name: str
    service: Literal["slurm", "slurmdb", "util"]
    method: str
    path: str
    versions: tuple[str, ...]
    response: str
    family: str
    query: tuple[QueryParam, ...] = ()
    body: str | None = None
    safe: bool = False


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request, ready but for address, authentication and encoding of the query."""

    operation: Operation
    version: str
    path: str
    """``/slurm/v0.0.45/job/42``, percent-encoded."""
    query: tuple[tuple[str, str], ...] = ()
    """Pairs, repeated for lists, not encoded yet."""
    body: bytes | None = field(default=None, repr=False)
    """JSON; the content type must be exactly ``application/json``. Not in the repr: it holds the job's environment."""
