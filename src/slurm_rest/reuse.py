"""Whether the id of a handle now belongs to another job, so that nothing is done to that one, or told of it.

A state row carries an id and nothing else, so this costs requests of its own: a record each for a few ids; for many,
one request to accounting for each 100, and a record for those alone that look like another job's there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .errors import AccountingDown
from .identity import Identity, by_id
from .models import JobInfo
from .transport.base import StatusSource

__all__ = ["find_replaced"]

_FEW = 4


async def find_replaced(transport: StatusSource, identities: Iterable[Identity]) -> set[Identity]:
    """Return those whose id the controller has given to another job; what cannot be told from it is not among them."""
    asked = {identity for identity in identities if identity.is_pinned}
    if len({identity.job_id for identity in asked}) > _FEW:
        try:
            # Accounting may be a moment behind the controller, so it only clears.
            known = by_id(await transport.incarnations({identity.job_id for identity in asked}))
        except AccountingDown:
            pass
        else:
            asked = {identity for identity in asked if _is_doubtful(identity, known.get(identity.job_id, []))}
    if not asked:
        return set()
    records = by_id(await _in_controller(transport, {identity.job_id for identity in asked}))
    return {identity for identity in asked if _is_another(identity, records.get(identity.job_id, []))}


async def _in_controller(transport: StatusSource, ids: Collection[int]) -> list[JobInfo]:
    try:
        found = await transport.describe(ids)
    except AccountingDown:
        # Who left the controller has an id that nobody else has either.
        present = {row.job_id for row in await transport.states(ids)}
        found = await transport.describe(present) if present else []
    return [record for record in found if record.source == "controller"]


def _is_another(identity: Identity, records: Collection[JobInfo]) -> bool:
    return bool(records) and not identity.pick(records)


def _is_doubtful(identity: Identity, records: Collection[JobInfo]) -> bool:
    """Tell whether the newest job that accounting has under the id is not, or not certainly, this one."""
    mine = identity.pick(records)
    return not any(record in mine for record in Identity(identity.job_id).pick(records))
