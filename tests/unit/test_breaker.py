"""The circuit breaker, by example and by whatever order of events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.transport.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def seen(breaker: Breaker) -> tuple[str, str, float | None]:
    return breaker.state, breaker.reason, breaker.changed


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock, first=2.0, longest=10.0)


def test_an_outage_opens_it_and_a_probe_closes_it(breaker: Breaker, clock: Clock) -> None:
    assert seen(breaker) == ("closed", "", None)
    breaker.fail("away")
    assert seen(breaker) == ("open", "away", 100.0)
    clock.now += 1.9
    assert not breaker.begin_probe()
    clock.now += 0.1
    assert breaker.begin_probe()
    assert seen(breaker) == ("half-open", "away", 100.0)
    assert not breaker.begin_probe(), "one at a time"
    breaker.succeed()
    assert seen(breaker) == ("closed", "", 102.0)


def test_pauses_grow_to_a_bound_and_begin_anew(breaker: Breaker, clock: Clock) -> None:
    pauses = []
    breaker.fail("away")
    for _ in range(5):
        begun = clock.now
        while not breaker.begin_probe():
            clock.now += 0.5
        pauses.append(clock.now - begun)
        breaker.fail("still away")
    assert pauses == [2.0, 4.0, 8.0, 10.0, 10.0]
    assert (breaker.reason, breaker.changed) == ("still away", 100.0), "since the first outage"
    breaker.succeed()
    breaker.fail("again")
    clock.now += 2.0
    assert breaker.begin_probe()


def test_requests_that_were_under_way_do_not_lengthen_the_pause(breaker: Breaker, clock: Clock) -> None:
    for _ in range(50):
        breaker.fail("away")
    clock.now += 2.0
    assert breaker.begin_probe()


def test_a_probe_that_told_nothing_may_be_made_again(breaker: Breaker, clock: Clock) -> None:
    breaker.fail("away")
    clock.now += 2.0
    assert breaker.begin_probe()
    breaker.abandon_probe()
    assert breaker.begin_probe()


def test_the_pause_is_spread(clock: Clock) -> None:
    breaker = Breaker(clock, first=2.0, spread=lambda: 1.5)
    breaker.fail("away")
    clock.now += 2.9
    assert not breaker.begin_probe()
    clock.now += 0.1
    assert breaker.begin_probe()


EVENTS = st.lists(
    st.one_of(
        st.just("fail"), st.just("succeed"), st.just("probe"), st.just("abandon"), st.floats(0, 100, allow_nan=False)
    ),
    max_size=60,
)


@given(EVENTS)
def test_whatever_happens_it_stays_in_order(events: list[str | float]) -> None:
    clock = Clock()
    breaker = Breaker(clock, first=2.0, longest=10.0)
    opened = probing = False
    last = clock.now
    for event in events:
        if isinstance(event, float):
            clock.now += event
        elif event == "fail":
            if not opened or probing:
                last = clock.now
            breaker.fail("away")
            opened, probing = True, False
        elif event == "succeed":
            breaker.succeed()
            opened = probing = False
        elif event == "abandon":
            breaker.abandon_probe()
            probing = False
        else:
            begun = breaker.begin_probe()
            assert not (begun and (probing or not opened)), "a probe where there is none to be made"
            assert not begun or clock.now - last >= 2.0, "too early"
            assert begun or probing or not opened or clock.now - last < 10.0, "never later than the longest pause"
            probing = probing or begun
        expected = "half-open" if probing else "open" if opened else "closed"
        assert breaker.state == expected
        assert bool(breaker.reason) == opened
