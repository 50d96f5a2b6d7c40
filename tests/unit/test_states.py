"""JobState: what is read from Slurm's words, and what a group of jobs is as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest import BaseState, JobState

END = (
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
)
LIVE = ("PENDING", "RUNNING", "SUSPENDED")
FLAGS = ("COMPLETING", "CONFIGURING", "REQUEUED", "SPECIAL_EXIT", "EXPEDITING", "A_WORD_OF_TOMORROW")

words = st.sampled_from((*END, *LIVE, *FLAGS))
states = st.builds(JobState.parse, st.lists(words, max_size=3))


@pytest.mark.parametrize(
    ("value", "base", "flags"),
    [
        (["RUNNING"], "RUNNING", set()),
        ("RUNNING", "RUNNING", set()),
        (["TIMEOUT", "COMPLETING"], "TIMEOUT", {"COMPLETING"}),
        (["PENDING", "REQUEUED"], "PENDING", {"REQUEUED"}),
        (["REQUEUED", "PENDING"], "PENDING", {"REQUEUED"}),
        ("CANCELLED by 1000", "CANCELLED", set()),
        ("CANCELLED+", "CANCELLED", set()),
        ("cancelled", "CANCELLED", set()),
        (["EXPEDITING"], "UNKNOWN", {"EXPEDITING"}),
        (["PENDING", "EXPEDITING"], "PENDING", {"EXPEDITING"}),
        ("COMPLETING", "UNKNOWN", {"COMPLETING"}),
        ([], "UNKNOWN", set()),
        (None, "UNKNOWN", set()),
        ("", "UNKNOWN", set()),
        (7, "UNKNOWN", set()),
        ([None, 3, "RUNNING", ["x"]], "RUNNING", set()),
    ],
)
def test_words_become_a_state(value: object, base: str, flags: set[str]) -> None:
    state = JobState.parse(value)
    assert state.base.value == base
    assert state.flags == flags


def test_a_repr_is_as_short_as_the_state() -> None:
    assert repr(JobState.parse(["PENDING", "REQUEUED"])) == "<JobState PENDING+REQUEUED>"


def test_the_words_are_kept_as_they_came() -> None:
    assert JobState.parse("CANCELLED by 1000").raw == ("CANCELLED by 1000",)
    assert JobState.parse(["PENDING", "Odd_Word"]).raw == ("PENDING", "Odd_Word")


@pytest.mark.parametrize("word", END)
def test_an_end_is_final_only_without_completing(word: str) -> None:
    ended, ending = JobState.parse([word]), JobState.parse([word, "COMPLETING"])
    assert ended.is_terminal
    assert not ended.is_running
    assert not ended.is_pending
    assert not ending.is_terminal
    assert ending.is_running
    assert not ending.is_success
    assert ended.is_success is (word == "COMPLETED")


@pytest.mark.parametrize("word", [*LIVE, "A_WORD_OF_TOMORROW"])
def test_nothing_else_is_an_end(word: str) -> None:
    state = JobState.parse([word])
    assert not state.is_terminal
    assert not state.is_success
    assert state.is_pending is (word == "PENDING")
    assert state.is_running is (word == "RUNNING")


def test_a_requeued_job_that_cleans_up_is_pending() -> None:
    state = JobState.parse(["PENDING", "COMPLETING"])
    assert state.is_pending
    assert not state.is_running


def test_it_shows_base_and_flags() -> None:
    assert str(JobState.parse(["RUNNING"])) == "RUNNING"
    assert str(JobState.parse(["PENDING", "SPECIAL_EXIT", "COMPLETING"])) == "PENDING+COMPLETING+SPECIAL_EXIT"


@pytest.mark.parametrize(
    ("members", "whole"),
    [
        ([], "UNKNOWN"),
        (["FAILED"], "FAILED"),
        (["PENDING", "PENDING"], "PENDING"),
        (["PENDING", "RUNNING"], "RUNNING"),
        (["RUNNING", "COMPLETED"], "RUNNING"),
        (["PENDING", "COMPLETED"], "RUNNING"),
        (["SUSPENDED", "RUNNING"], "RUNNING"),
        (["SUSPENDED", "PENDING"], "SUSPENDED"),
        (["FAILED COMPLETING", "PENDING"], "RUNNING"),
        (["FAILED COMPLETING", "RUNNING"], "RUNNING"),
        (["FAILED COMPLETING", "COMPLETED"], "FAILED+COMPLETING"),
        (["UNKNOWN", "RUNNING"], "RUNNING"),
        (["UNKNOWN", "PENDING"], "PENDING"),
        (["UNKNOWN", "COMPLETED"], "UNKNOWN"),
        (["COMPLETED", "COMPLETED"], "COMPLETED"),
        (["COMPLETED", "FAILED", "TIMEOUT"], "FAILED"),
        (["COMPLETED", "CANCELLED"], "CANCELLED"),
    ],
)
def test_a_group_is_what_its_members_are(members: list[str], whole: str) -> None:
    assert str(JobState.combine(JobState.parse(member.split()) for member in members)) == whole


@given(st.lists(states, min_size=1, max_size=6))
def test_a_group_is_over_when_all_are_and_never_earlier(members: list[JobState]) -> None:
    whole = JobState.combine(members)
    assert whole.is_terminal is all(member.is_terminal for member in members)
    assert whole.is_success is all(member.is_success for member in members)
    if any(member.is_running for member in members):
        assert whole.is_running or whole.base is BaseState.SUSPENDED
    if all(member.is_pending for member in members):
        assert whole.is_pending


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.integers(),
        st.lists(st.one_of(st.text(), st.none())),
        st.dictionaries(st.text(), st.text()),
    )
)
def test_nothing_makes_it_raise(value: object) -> None:
    state = JobState.parse(value)
    assert isinstance(str(state), str)
    assert state == JobState.parse(list(state.raw))
