"""A client's tokens: one renewal for all, ahead of time by the server's clock, and sources that fail."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from slurm_rest.auth import ChainToken, KeyToken, ScontrolToken, ServerClock, read_claims
from slurm_rest.auth import keeper as keeper_module
from slurm_rest.errors import ConfigError
from tests.support.logs import logged

from .sources import KEY, NOW, Source, Time, keep, make, now

__all__ = ["now"]


@pytest.fixture
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a source that failed be asked again at once."""
    monkeypatch.setattr(keeper_module, "_RETRY_SECONDS", 0.0)


# --- one for all ----------------------------------------------------------------------------------------------


async def test_a_hundred_requests_at_once_ask_once(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    assert len(set(await asyncio.gather(*(tokens.token() for _ in range(100))))) == 1
    assert (source.asked, source.renewed) == (1, 0)
    await tokens.token()
    assert source.asked == 2


async def test_a_hundred_requests_at_the_end_of_a_token_cause_one_renewal(now: Time) -> None:
    source = Source([make(1800), make(3600)])
    tokens = keep(source, now)
    first = await tokens.token()
    now.now += 1700
    found = await asyncio.gather(*(tokens.token() for _ in range(100)))
    assert set(found) == {make(3600)} != {first}
    assert source.renewed == 1
    assert tokens.metrics.token_renewals == 1


async def test_a_hundred_refusals_at_once_cause_one_renewal(now: Time) -> None:
    source = Source([make(1800), make(1801)])
    tokens = keep(source, now)
    refused = await tokens.token()
    assert all(await asyncio.gather(*(tokens.replace(refused) for _ in range(100))))
    assert source.renewed == 1
    assert await tokens.token() == make(1801)
    assert await tokens.replace(refused), "one who hears of the refusal late takes what there is"
    assert source.renewed == 1


async def test_an_answer_that_was_asked_for_before_the_refusal_is_not_taken_for_a_new_token(now: Time) -> None:
    source = Source([make(1800), make(1801)], gate=asyncio.Event())
    tokens = keep(source, now)
    early = asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = asyncio.ensure_future(tokens.replace(make(1800)))
    await asyncio.sleep(0)
    tokens._refused = ""  # as it was when the early one was asked
    assert source.gate is not None
    source.gate.set()
    assert await early == make(1800)
    tokens._refused = make(1800)
    assert await late
    assert await tokens.token() == make(1801)


async def test_a_refused_token_is_replaced_before_the_next_request(now: Time) -> None:
    source = Source([make(1800), make(1801)])
    tokens = keep(source, now)
    tokens.refuse(await tokens.token())
    assert await tokens.token() == make(1801)


async def test_a_waiter_that_gives_up_disturbs_no_other(now: Time) -> None:
    source = Source([make(1800)], gate=asyncio.Event())
    tokens = keep(source, now)
    one, other = asyncio.ensure_future(tokens.token()), asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.wait([one])
    assert source.gate is not None
    source.gate.set()
    assert await other == make(1800)
    assert source.asked == 1


async def test_closing_ends_what_is_still_being_asked(now: Time) -> None:
    source = Source([make(1800)], gate=asyncio.Event())
    tokens = keep(source, now)
    waiting = asyncio.ensure_future(tokens.token())
    await asyncio.sleep(0)
    await tokens.close()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


# --- a source that fails --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_no_rest")
async def test_a_failing_source_is_reported_once_and_the_old_token_used(
    now: Time, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = Source([make(1800)])
    tokens = keep(source, now)
    first = await tokens.token()
    source.tokens = [ConfigError("no ticket for you")]
    assert [await tokens.token() for _ in range(5)] == [first] * 5
    assert [record.levelname for record in caplog.records if "no ticket" in record.message] == ["WARNING"]
    assert tokens.metrics.token_failures == 5
    assert tokens.why == "no ticket for you"
    source.tokens = [make(3600)]
    assert await tokens.token() == make(3600)
    assert "gives tokens again" in caplog.text
    assert tokens.why == ""


async def test_a_failing_source_is_left_alone_for_a_while(now: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "_RETRY_SECONDS", 3600.0)
    source = Source([make(1800)])
    tokens = keep(source, now)
    await tokens.token()
    source.tokens = [ConfigError("no")]
    for _ in range(5):
        await tokens.token()
    assert source.asked == 2


async def test_when_the_old_token_is_over_the_failure_is_raised(now: Time) -> None:
    source = Source([make(1800)])
    tokens = keep(source, now)
    await tokens.token()
    source.tokens = [ConfigError("no ticket")]
    now.now += 1801
    with pytest.raises(ConfigError, match="no ticket"):
        await tokens.token()


async def test_a_source_that_hangs_does_not_hold_up_a_token_that_works(
    now: Time, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper_module, "_PATIENCE_SECONDS", 0.0)
    source = Source([make(1800)])
    tokens = keep(source, now)
    first = await tokens.token()
    source.gate = asyncio.Event()
    assert await tokens.token() == first
    # Once it is known to take its time, nobody waits for it at all.
    monkeypatch.setattr(keeper_module, "_PATIENCE_SECONDS", None)
    assert [await tokens.token() for _ in range(3)] == [first] * 3
    assert source.asked == 2
    assert caplog.text.count("takes its time") == 1
    await tokens.close()


async def test_a_source_without_a_fresher_token_is_not_pressed(now: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "_RETRY_SECONDS", 3600.0)
    source = Source([make(1800)])
    tokens = keep(source, now)
    now.now += 1700
    for _ in range(5):
        assert await tokens.token() == make(1800)
    assert source.renewed == 1


# --- the server's clock ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "before", "after", "skew"),
    [
        (100, 100.2, 100.9, 0.0),
        (100, 99.5, 100.1, 0.0),
        (100, 100.9, 101.5, 0.0),
        (700, 100.0, 100.0, 600.5),
        (100, 700.0, 700.0, -599.5),
    ],
)
def test_a_whole_second_tells_the_difference(told: int, before: float, after: float, skew: float) -> None:
    clock = ServerClock(Time(after))
    clock.note(told, before, after)
    assert clock.is_known
    assert clock.skew == skew
    assert clock.now() == after + skew


def test_slurms_word_counts_more_than_a_proxys() -> None:
    clock = ServerClock(Time(100))
    assert clock.note(700, 100, 100, from_slurm=False)
    assert clock.note(400, 100, 100)
    assert not clock.note(700, 100, 100, from_slurm=False)
    assert clock.skew == 300.5


def test_a_large_difference_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = ServerClock(Time(100))
    for _ in range(3):
        clock.note(700, 100, 100)
    assert logged(caplog) == ["The server's clock is 600 s ahead of this one"]


async def test_a_token_is_renewed_ahead_by_the_servers_clock(now: Time) -> None:
    source = Source([make(1800), make(3600)])
    tokens = keep(source, now)
    assert await tokens.token() == make(1800)
    tokens.note_time(NOW + 1650, NOW, NOW)
    assert await tokens.token() == make(3600)


async def test_sources_that_look_at_the_end_themselves_are_told_the_difference(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    key = KeyToken(tmp_path / "key", "alice", lifespan=300, clock=now)
    tokens = keep(ChainToken([key], clock=now), now)
    tokens.note_time(NOW + 600, NOW, NOW)
    expires = read_claims(await tokens.token()).expires
    assert expires is not None
    assert expires.timestamp() == NOW + 600 + 300


async def test_a_key_finds_out_when_the_servers_clock_is_ahead(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    provider = KeyToken(tmp_path / "key", "alice", lifespan=300, clock=now)
    lasts = [read_claims(await provider.token(renew=renew)).lifetime for renew in (False, True)]
    provider.note_skew(0.0)
    now.now += 1
    lasts.append(read_claims(await provider.token(renew=True)).lifetime)
    assert lasts == [300, 3900, 300]


async def test_a_short_life_is_used_to_nearly_its_end(now: Time, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    provider = KeyToken(tmp_path / "key", "alice", lifespan=5, clock=now)
    found = []
    for _ in range(10):
        found.append(await provider.token())
        now.now += 1
    assert len(set(found)) == 2


async def test_a_source_whose_tokens_seem_over_at_once_is_not_asked_each_time(now: Time) -> None:
    made: list[str] = []

    async def scontrol() -> str:
        made.append(make(300 - 600 + len(made), issued=NOW - 600))
        return f"SLURM_JWT={made[-1]}\n"

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    tokens = keep(provider, now)
    for _ in range(10):
        await tokens.token()
    assert len(made) < 5
    assert tokens.wants_time
    tokens.note_time(NOW - 600, NOW, NOW)
    assert not tokens.wants_time


async def test_a_source_that_gives_the_same_again_is_given_time(now: Time) -> None:
    asked = 0

    async def scontrol() -> str:
        nonlocal asked
        asked += 1
        return make(30, issued=None)

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    for _ in range(10):
        await provider.token()
        now.now += 0.1
    assert asked == 2
    now.now += 6
    await provider.token()
    assert asked == 3


async def test_a_fresh_token_that_is_over_by_this_clock_lasts_as_long_as_it_says(now: Time) -> None:
    asked = 0

    async def scontrol() -> str:
        nonlocal asked
        asked += 1
        return make(-300 + asked, issued=NOW - 600 + asked)

    provider = ScontrolToken("login", run=scontrol)
    provider._held.clock = now
    for _ in range(10):
        await provider.token()
        now.now += 0.1
    assert asked == 1
    now.now += 280
    await provider.token()
    assert asked == 2
