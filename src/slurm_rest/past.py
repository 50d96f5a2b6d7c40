"""Reads the jobs of a span of time from accounting, in bounded pieces."""

from __future__ import annotations

from .errors import AnswerTooLarge
from .history import HistoryQuery, Slices, newest
from .models import JobInfo
from .tables import JobTable, PastTable
from .transport.base import SlurmTransport

__all__ = ["read_history"]


async def read_history(transport: SlurmTransport, query: HistoryQuery, limit: int | None) -> JobTable:
    """Ask for one span after the other, newest first, until there are ``limit`` records; return them oldest first."""
    spans = Slices(query)
    found: list[JobInfo] = []
    for span in spans:
        try:
            records = await transport.history(span)
        except AnswerTooLarge:
            if not spans.shorten():
                raise
            continue
        spans.found(len(records))
        # Accounting means the state in that span; what has become of the job since may be another one.
        found += [record for record in records if not query.states or record.state.is_any_of(query.states)]
        if limit is not None and len(found) >= limit:
            break
    return PastTable(newest(found, limit))
