"""``--dependency``, read and decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .jobs import FakeJob

__all__ = ["Condition", "decide", "read_dependency"]

_KINDS = frozenset({"after", "afterany", "afterok", "afternotok", "aftercorr"})
_ID = re.compile(r"(\d+)(?:_(?:\d+|\*))?(?:\+\d+)?")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; ``job_id`` is 0 for ``singleton``."""

    kind: str
    job_id: int = 0


def read_dependency(text: str) -> tuple[list[Condition], bool]:
    """Return the conditions, and whether one of them is enough; ValueError for what is no dependency."""
    found: list[Condition] = []
    for part in re.split(r"[,?]", text) if text else ():
        kind, *ids = part.split(":")
        if kind == "singleton" and not ids:
            found.append(Condition(kind))
            continue
        matches = [_ID.fullmatch(one) for one in ids]
        if kind not in _KINDS or not ids or None in matches:
            raise ValueError(text)
        found += [Condition(kind, int(match[1])) for match in matches if match]
    return found, "?" in text


def decide(
    job: FakeJob, text: str, find: Callable[[int], Sequence[FakeJob]], others: Callable[[], Iterable[FakeJob]]
) -> str:
    """Return ``met``, ``open`` or ``never``. ``find`` gives all jobs of an id, ``others`` all that are not over."""
    conditions, one_is_enough = read_dependency(text)
    verdicts = [_verdict(one, job, find, others) for one in conditions]
    if not verdicts:
        return "met"
    if one_is_enough:
        return next((word for word in ("met", "open") if word in verdicts), "never")
    return next((word for word in ("never", "open") if word in verdicts), "met")


def _verdict(
    condition: Condition,
    job: FakeJob,
    find: Callable[[int], Sequence[FakeJob]],
    others: Callable[[], Iterable[FakeJob]],
) -> str:
    if condition.kind == "singleton":
        name = job.request.name
        earlier = (one for one in others() if one.request.name == name and one.owner == job.owner and one is not job)
        return "open" if any(one.submit_time <= job.submit_time and one.group < job.group for one in earlier) else "met"
    jobs = find(condition.job_id)
    if condition.kind == "aftercorr":
        jobs = [one for one in jobs if one.task_id == job.task_id] or jobs
    if condition.kind == "after":
        return "met" if all(not one.is_pending for one in jobs) else "open"
    if not all(one.is_over for one in jobs):
        return "open"
    good = all(one.base == "COMPLETED" for one in jobs)
    if condition.kind == "afterany" or good == (condition.kind != "afternotok"):
        return "met"
    return "never"
