"""The names of jobs that carry no key, which tell that they are not the one that is looked for.

Read once for all searches. Of many at once accounting tells them: 4 kB and 0.2 ms of slurmrestd a job, where a record
of the controller's takes 8 kB and 2 ms (24.11, 26.05).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from slurm_rest.errors import AuthError, SlurmError
from slurm_rest.models import JobInfo
from slurm_rest.records import mapping, number, text
from slurm_rest.transport.answers import listing_of

if TYPE_CHECKING:
    from .transport import RestTransport

__all__ = ["Names"]

_KEPT = 50_000
# 2 MB an answer.
_IDS_PER_REQUEST = 500
# Accounting writes such characters as others, and cuts names off.
_CHANGED = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 200


class Names:
    """Names of jobs without a key, by id. ``are_kept`` is False where a site gives jobs other names than was asked."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self.are_kept = True

    def saw(self, record: JobInfo) -> None:
        """Keep in mind what a job without a key is called."""
        self._keep(record.id, record.name)

    def _keep(self, job_id: int, name: str) -> None:
        if name:
            self._names.pop(job_id, None)
            self._names[job_id] = _stored(name)
            if len(self._names) > _KEPT:
                del self._names[next(iter(self._names))]

    def others(self, name: str) -> set[int]:
        """Return the jobs that are not of this name; none where names tell nothing."""
        if not (name and self.are_kept):
            return set()
        stored = _stored(name)
        return {job_id for job_id, one in self._names.items() if one != stored}

    def clear(self) -> None:
        """Trust no id any more."""
        self._names.clear()

    async def ask(self, rest: RestTransport, ids: Sequence[int], since: float) -> None:
        """Learn from accounting what these jobs are called, as far as it knows them as submitted after ``since``.

        An older one may have had the same id. Where it does not answer nothing is learned.
        """
        for start in range(0, len(ids), _IDS_PER_REQUEST):
            asked = ids[start : start + _IDS_PER_REQUEST]
            known = frozenset(asked)
            query = [*(("step", str(job_id)) for job_id in asked), ("skip_steps", "true")]
            try:
                records = listing_of(await rest.accounting("/jobs/", query), "jobs")
            except AuthError:
                raise
            except SlurmError:
                return
            for job_id, (submitted, name) in _latest(records).items():
                if submitted >= since and job_id in known:
                    self._keep(job_id, name)


def _latest(records: Iterable[Mapping[str, object]]) -> dict[int, tuple[float, str]]:
    """Return when each job by itself was submitted last, and its name. To read whole records takes ten times that."""
    found: dict[int, tuple[float, str]] = {}
    for record in records:
        groups = (mapping(record.get(name)).get("job_id") for name in ("array", "het"))
        if any(number(group) for group in groups):
            continue
        job_id = number(record.get("job_id")) or 0
        one = (float(number(mapping(record.get("time")).get("submission")) or 0), text(record.get("name")))
        found[job_id] = max(found.get(job_id, one), one)
    return found


def _stored(name: str) -> str:
    return _CHANGED.sub("?", name)[:_LONGEST]
