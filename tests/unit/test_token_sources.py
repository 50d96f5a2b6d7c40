"""Several sources of tokens in a row, keys that sign them, and providers of a caller's own."""

from __future__ import annotations

import traceback
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from slurm_rest.auth import ChainToken, KeyToken, ScontrolToken, StaticToken, read_claims
from slurm_rest.errors import ConfigError, TokenMissing, TokenSourceError

from .sources import Source, Time, keep, make, now

__all__ = ["now"]

# --- chains ---------------------------------------------------------------------------------------------------


async def test_the_first_that_gives_one_is_taken_and_the_reasons_are_kept(now: Time) -> None:
    failing, expired = Source([ConfigError("no file")], "a"), Source([make(-1)], "b")
    working, never = Source([make(100)], "c"), Source([], "d")
    chain = ChainToken([failing, expired, working, never], clock=now)
    assert chain.name == "a or b or c or d"
    assert await chain.token() == make(100)
    assert chain.name == "c"
    assert chain.reasons == {"a": "no file", "b": "its token has expired"}
    assert never.asked == 0


async def test_an_earlier_source_is_used_again_when_it_is_back(now: Time, caplog: pytest.LogCaptureFixture) -> None:
    first, second = Source([ConfigError("no file")], "a"), Source([make(100)], "b")
    chain = ChainToken([first, second], clock=now)
    await chain.token()
    first.tokens = [make(200)]
    assert await chain.token() == make(200)
    assert "Tokens now come from a" in caplog.text


async def test_a_refused_token_leads_to_the_next_source(now: Time) -> None:
    first, second = Source([make(100)], "a"), Source([make(200)], "b")
    chain = ChainToken([first, second], clock=now)
    assert await chain.token() == make(100)
    assert await chain.token(renew=True) == make(200)
    assert first.renewed == 1
    assert "refused" in chain.reasons["a"]


async def test_a_chain_never_changes_who_one_is(now: Time) -> None:
    first, second = Source([make(100)], "a"), Source([make(200, user="bob")], "b")
    chain = ChainToken([first, second], clock=now)
    await chain.token()
    first.tokens = [ConfigError("gone")]
    with pytest.raises(TokenMissing, match="another user's \\(bob, not alice\\)"):
        await chain.token()


async def test_without_a_usable_one_slurm_has_the_last_word(now: Time) -> None:
    chain = ChainToken([Source([make(-5)], "a"), Source([ConfigError("no")], "b")], clock=now)
    assert await chain.token() == make(-5)
    assert chain.reasons == {"a": "its token has expired", "b": "no"}
    with pytest.raises(TokenMissing, match="None of 2 token sources gave one: a: no; b: no"):
        await ChainToken([Source([ConfigError("no")], "a"), Source([ConfigError("no")], "b")]).token()


def test_a_chain_shows_no_token() -> None:
    chain = ChainToken([StaticToken("s3cret"), StaticToken("s3cret")])
    assert "s3cret" not in f"{chain!r} {chain} {chain.name}"


# --- keys -----------------------------------------------------------------------------------------------------


def rsa_key() -> tuple[bytes, rsa.RSAPublicKey]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form), key.public_key()


async def test_a_pem_key_with_an_id_signs_rs256_and_without_one_hs256(tmp_path: Path) -> None:
    private, public = rsa_key()
    file = tmp_path / "key.pem"
    file.write_bytes(private)
    token = await KeyToken(file, "alice", key_id="k1").token()
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    assert jwt.decode(token, public, algorithms=["RS256"])["sun"] == "alice"
    assert read_claims(await KeyToken(file, "alice").token()).algorithm == "HS256"


@pytest.mark.parametrize("text", [b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", b"-----BEGIN x"])
async def test_what_is_no_key_for_rs256(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(text)
    with pytest.raises(ConfigError, match="is no key for RS256"):
        await KeyToken(tmp_path / "key.pem", "alice", key_id="k1").token()


async def test_an_unbound_scontrol_says_so() -> None:
    with pytest.raises(ConfigError, match="not bound"):
        await ScontrolToken("login").token()


# --- a provider of the caller's own ---------------------------------------------------------------------------


async def test_what_a_callers_provider_raises_is_an_error_of_its_source(now: Time) -> None:
    text = make(1800)
    broken = Source([RuntimeError(f"the vault took {text} back")])
    with pytest.raises(TokenSourceError, match="the source failed: RuntimeError: the vault") as caught:
        await keep(broken, now).token()
    shown = traceback.format_exception(type(caught.value), caught.value, caught.value.__traceback__)
    assert text not in "".join(shown)
    assert caught.value.hint
    # Others step in.
    assert await keep(ChainToken([broken, Source([text], name="another")], clock=now), now).token() == text


@pytest.mark.parametrize("given", [None, b"token", 7])
async def test_what_is_no_text_is_no_token(now: Time, given: object) -> None:
    with pytest.raises(TokenSourceError, match=f"gave no text but {type(given).__name__}"):
        await keep(Source([given]), now).token()  # type: ignore[list-item]  # wrong on purpose


async def test_a_callers_token_may_have_blanks_around_it(now: Time) -> None:
    """As a file or a secret store has it."""
    assert await keep(Source([f"SLURM_JWT={make(1800)}\n"]), now).token() == make(1800)
