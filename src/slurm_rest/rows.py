"""Puts the rows of a tick together by job: what the controller said of each and of its members. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .followed import WHOLE
from .identity import MemberKey
from .models import combined_state
from .states import JobState
from .transport.base import StateRow

__all__ = ["combined", "grouped"]

Members = dict[int, Mapping[MemberKey, JobState]]


def combined(rows: Sequence[StateRow]) -> dict[int, JobState]:
    """Return one state for each job."""
    # Most have one row.
    states = {row[0]: row[1] for row in rows}
    if len(states) == len(rows):
        return states
    return {job_id: combined_state(members) for job_id, members in grouped(rows)[0].items()}


def grouped(rows: Iterable[StateRow]) -> tuple[Members, dict[int, dict[MemberKey, int]]]:
    """Return the states of each job's members, and the members' own ids."""
    states: Members = {}
    own_ids: dict[int, dict[MemberKey, int]] = {}
    # Most jobs have one row and one of a handful of states: they share a mapping, which is a third of a tick's time.
    # The rows keep their states, so that no id comes twice; a state itself would be hashed anew for each row.
    single: dict[int, Mapping[MemberKey, JobState]] = {}
    several: dict[int, dict[MemberKey, JobState]] = {}
    for job_id, state, task_id, offset, own_id in rows:
        if task_id is None and offset is None and job_id not in states:
            shared = single.get(id(state))
            states[job_id] = single.setdefault(id(state), {WHOLE: state}) if shared is None else shared
            continue
        key = (task_id, offset)
        several.setdefault(job_id, {})[key] = state
        if own_id is not None:
            own_ids.setdefault(job_id, {})[key] = own_id
    for job_id, members in several.items():
        states[job_id] = {**states.get(job_id, {}), **members}
    return states, own_ids
