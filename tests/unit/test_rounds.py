"""What a tick leaves for the next: the short look must find what a look at each job finds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta, timezone

import pytest

from slurm_rest.followed import WHOLE, Moment
from slurm_rest.identity import Identity, MemberKey
from slurm_rest.models import JobInfo
from slurm_rest.rounds import Round
from slurm_rest.states import JobState
from slurm_rest.transport.base import StateRow
from slurm_rest.watched import Watched

from .memory import record

START = datetime(2026, 11, 30, tzinfo=timezone.utc)
_WORDS = ("PENDING", "RUNNING", "RUNNING", "COMPLETING", "COMPLETED", "FAILED", "REQUEUED+PENDING")
_IDS = range(1, 9)
_TASKS: Sequence[MemberKey] = ((1, None), (2, None), (3, None))


def moment(tick: int) -> Moment:
    return Moment(float(tick), START + timedelta(seconds=tick))


def row(job_id: int, words: str, key: MemberKey = WHOLE) -> StateRow:
    return StateRow(job_id, JobState.parse(words.split("+")), *key)


def known(entry: Watched) -> dict[str, object]:
    return {**{item.name: getattr(entry, item.name) for item in fields(entry)}, "error": repr(entry.error)}


class Story:
    """What a controller tells of some jobs, tick by tick: most stay as they are."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        arrays = self.choose.sample(_IDS, 3)
        self.told: dict[tuple[int, MemberKey], str] = {
            (job_id, key): "PENDING" for job_id in _IDS for key in (_TASKS if job_id in arrays else (WHOLE,))
        }

    def go_on(self) -> None:
        for name in self.choose.sample([*self.told], min(len(self.told), self.choose.choice((0, 0, 1, 3)))):
            if self.choose.random() < 0.2:
                del self.told[name]
            else:
                self.told[name] = self.choose.choice(_WORDS)

    def rows(self, ids: frozenset[int]) -> list[StateRow]:
        return [row(job_id, words, key) for (job_id, key), words in self.told.items() if job_id in ids]

    def record(self, entry: Watched) -> list[JobInfo]:
        """A full record, or none."""
        words = self.choose.choice(("", "COMPLETED", "FAILED", "RUNNING"))
        return [record(str(entry.job_id), words)] if words else []


@pytest.mark.parametrize("seed", range(200))
def test_a_short_look_finds_what_a_look_at_each_finds(seed: int) -> None:
    story = Story(seed)
    short, long = ([Watched(Identity(job_id)) for job_id in _IDS] for _ in range(2))
    around: Round | None = None
    for tick in range(1, 30):
        story.go_on()
        around = around or Round([entry for entry in short if not entry.is_over])
        each = Round([entry for entry in long if not entry.is_over])
        assert around.ids == each.ids
        moved = around.take(story.rows(around.ids), moment(tick))
        assert moved == each.take(story.rows(each.ids), moment(tick))
        assert [known(entry) for entry in short] == [known(entry) for entry in long]
        assert len({id(entry) for entry in around.looked}) == len(around.looked)
        assert {entry.job_id for entry in around.narrow()} == {entry.job_id for entry in each.narrow()}
        for entry in around.looked:
            found, other = story.record(entry), long[entry.job_id - 1]
            if entry.wants_record:
                for one in (entry, other):
                    one.settle(found, float(tick))
            elif story.choose.random() < 0.1:
                entry.replaced = other.replaced = True
        around = around if around.is_kept() else None
        assert [known(entry) for entry in short] == [known(entry) for entry in long]


def test_nobody_is_looked_at_for_the_same_answer() -> None:
    entries = [Watched(Identity(job_id)) for job_id in (1, 2, 3)]
    around = Round(entries)
    rows = [row(1, "RUNNING"), row(2, "RUNNING"), row(3, "PENDING")]
    assert around.take(rows, moment(1))
    assert not around.narrow()
    assert around.is_kept()
    assert not around.take([*rows], moment(2))
    assert not around.looked
    assert [entry.heard_at for entry in entries] == [moment(2).at] * 3
    # One moves: the others are not looked at.
    assert around.take([row(1, "RUNNING"), row(2, "COMPLETED"), row(3, "PENDING")], moment(3))
    assert [entry.job_id for entry in around.looked] == [2]


def test_who_left_keeps_when_it_was_heard_of() -> None:
    entries = [Watched(Identity(job_id)) for job_id in (1, 2)]
    around = Round(entries)
    rows = [row(1, "RUNNING"), row(2, "RUNNING")]
    for tick, told in enumerate((rows, rows, rows[:1], rows[:1], rows[:1]), 1):
        around.take(told, moment(tick))
        around.narrow()
        assert around.is_kept()
    assert [entry.told for entry in entries] == [moment(5), moment(2)]
    assert [entry.missing_since for entry in entries] == [None, 3.0]


def test_a_row_of_one_may_come_in_the_place_of_anothers() -> None:
    entries = [Watched(Identity(job_id)) for job_id in (1, 2)]
    around = Round(entries)
    told = [row(1, "RUNNING", (1, None)), row(2, "RUNNING")]
    for tick, rows in enumerate((told, told, [told[0], row(1, "RUNNING", (2, None))]), 1):
        around.take(rows, moment(tick))
        around.narrow()
        assert around.is_kept()
    assert [[*entry.members] for entry in entries] == [[(1, None), (2, None)], [WHOLE]]
    assert [entry.told for entry in entries] == [moment(3), moment(2)]


def test_who_is_over_is_asked_about_no_more() -> None:
    entries = [Watched(Identity(job_id)) for job_id in (1, 2)]
    around = Round(entries)
    around.take([row(1, "RUNNING"), row(2, "COMPLETED")], moment(1))
    for entry in around.narrow():
        assert entry.settle([record("2", "COMPLETED")], 1.0)
    assert around.is_kept()
    assert ([*around.ids], [entry.job_id for entry in around.asked]) == ([1], [1])
    assert not around.take([row(1, "RUNNING")], moment(2))
    assert [entry.told for entry in entries] == [moment(2), moment(1)]


def test_a_job_is_looked_at_whose_id_another_one_had() -> None:
    """The earlier one is followed as well, and only accounting can tell of it."""
    before, now = Watched(Identity(1)), Watched(Identity(1, key="x"))
    before.replaced = True
    around = Round([before, now])
    around.take([row(1, "PENDING")], moment(1))
    assert [entry is before for entry in around.narrow()] == [True]
    assert around.is_kept()
    around.take([row(1, "RUNNING")], moment(2))
    assert (str(now.state), str(before.state)) == ("RUNNING", "UNKNOWN")
    assert [entry is now for entry in around.looked] == [False, True]


def test_two_under_one_id_are_both_looked_at() -> None:
    two = [Watched(Identity(1)), Watched(Identity(1, key="x"))]
    around = Round(two)
    around.take([row(1, "PENDING")], moment(1))
    around.narrow()
    assert not around.is_kept()
    assert [str(entry.state) for entry in two] == ["PENDING", "PENDING"]
