"""What was heard of jobs lately."""

from __future__ import annotations

from slurm_rest.heard import Heard
from slurm_rest.states import JobState

WAITS, RUNS, ENDED = (JobState.parse(word) for word in ("PENDING", "RUNNING", "COMPLETED"))


def test_what_is_old_is_not_told() -> None:
    heard = Heard(100)
    heard.note(10, {1: WAITS})
    heard.note(20, {2: RUNS})
    assert heard.since(10, [1, 2, 3]) == {1: WAITS, 2: RUNS}
    assert heard.since(11, [1, 2, 3]) == {2: RUNS}
    assert heard.since(21, [1, 2, 3]) == {}


def test_the_newest_counts_in_whatever_order_it_came() -> None:
    heard = Heard(100)
    heard.note(20, {1: RUNS, 2: WAITS})
    heard.note(10, {1: WAITS})
    assert heard.since(0, [1]) == {1: RUNS}
    heard.note(15, {1: WAITS})
    heard.note(30, {2: ENDED})
    assert heard.since(0, [1, 2]) == {1: RUNS, 2: ENDED}


def test_only_the_last_are_kept() -> None:
    heard = Heard(4)
    for moment in range(10):
        heard.note(moment, {2 * moment: WAITS, 2 * moment + 1: WAITS})
    assert set(heard.since(0, range(20))) == {16, 17, 18, 19}
    heard.note(10, {16: RUNS})
    heard.note(11, {20: RUNS})
    assert set(heard.since(0, range(30))) == {18, 19, 16, 20}


def test_one_answer_may_be_larger_than_all_that_is_kept() -> None:
    heard = Heard(4)
    heard.note(1, dict.fromkeys(range(100), WAITS))
    assert set(heard.since(0, range(100))) == {96, 97, 98, 99}


def test_answers_wait_for_somebody_who_asks_only_as_long_as_they_may() -> None:
    heard = Heard(4)
    for moment in range(1000):
        heard.note(moment, {})
        heard.note(moment, {1: WAITS})
    assert len(heard._told) <= 5
