"""Requests and replies of the fake slurmrestd, and the errors that all operations share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .answers import Answers
from .cluster import FakeCluster
from .faults import Faults
from .habits import habits_of
from .jobs import Owner
from .requests import Issue
from .shapes import Record

__all__ = ["Handler", "Reply", "Request", "failed", "not_found", "refused", "status_of"]

# Errors of slurmrestd's own parsers keep 500 in 26.05, where slurmctld's are 422.
_PARSERS = range(9200, 9300)


@dataclass(frozen=True, slots=True)
class Request:
    """One request, routed. ``owner`` is None when the token is refused; ``body`` is the parsed JSON."""

    cluster: FakeCluster
    faults: Faults
    version: str
    owner: Owner | None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Sequence[tuple[str, str]] = ()
    body: object = None

    @property
    def answers(self) -> Answers:
        """The writer of records in the version that was asked for."""
        return Answers(self.cluster, self.version)

    @property
    def release(self) -> str:
        """The release that answers."""
        return self.cluster.release

    def values(self, name: str) -> list[str]:
        """Return all values of a query parameter."""
        return [value for key, value in self.query if key == name]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: JSON without ``meta``, or plain text."""

    status: int = 200
    body: Mapping[str, object] = field(default_factory=dict)
    errors: Sequence[Issue] = ()
    warnings: Sequence[Issue] = ()
    text: str | None = None

    @property
    def record(self) -> Record:
        """The JSON body without ``meta``."""
        errors, warnings = ([one.as_record() for one in issues] for issues in (self.errors, self.warnings))
        return {**self.body, "errors": errors, "warnings": warnings}


Handler = Callable[[Request], Reply]


def status_of(number: int, release: str) -> int:
    """Return the HTTP status for an error number: 26.05 sends 422 for what 24.11 sends as 500."""
    known = {2017: 404, 1007: 511, 7000: 502, 1800: 502, 9000: 422, 6010: 500, -1: 500, 0: 200}
    if number in known:
        return known[number]
    habits = habits_of(release)
    if number == 1:
        return habits.permission_error
    return habits.other_error if number not in _PARSERS and number > 1 else 500


def failed(release: str, number: int, description: str, source: str, body: Mapping[str, object] | None = None) -> Reply:
    """Return an error answer with one error."""
    return Reply(status_of(number, release), body or {}, [Issue(description, source, number)])


def refused(request: Request, what: str, source: str) -> Reply:
    """Say that parameters or a query cannot be read; ``what`` is one of these words."""
    return failed(request.release, 9000, f"Rejecting request. Failure parsing {what}", source)


def not_found(release: str) -> Reply:
    """Say that there is no such URL: plain text."""
    return Reply(404, text=habits_of(release).lost_page)
