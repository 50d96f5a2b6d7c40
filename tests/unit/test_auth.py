"""Token providers: what they give, when they renew, how they fail, and that nothing shows a token."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.auth import (
    CommandToken,
    EnvironmentToken,
    FileToken,
    KeyToken,
    NoToken,
    StaticToken,
    TokenProvider,
    clean_token,
    read_claims,
)
from slurm_rest.errors import ConfigError, SlurmError, TokenMissing
from tests.support.processes import is_running
from tests.support.waiting import until_true

KEY = bytes(range(32))
SECRET = "eyJhbGciOiJIUzI1NiJ9.very-secret.signature"


def make(claims: dict[str, object]) -> str:
    return jwt.encode(claims, KEY, algorithm="HS256")


# --- claims ---------------------------------------------------------------------------------------------------


def test_claims_of_a_token_that_slurm_takes() -> None:
    claims = read_claims(make({"sun": "alice", "iat": 1_700_000_000, "exp": 1_700_001_800}))
    assert (claims.user, claims.algorithm, claims.problem) == ("alice", "HS256", "")
    assert claims.expires is not None
    assert claims.issued is not None
    assert (claims.expires - claims.issued).total_seconds() == 1800
    assert claims.is_expired(now=1_700_001_801)
    assert not claims.is_expired(now=1_700_001_799)


def test_username_stands_in_for_sun_but_never_before_it() -> None:
    assert read_claims(make({"username": "bob", "exp": 1})).user == "bob"
    assert read_claims(make({"username": "bob", "sun": "alice", "exp": 1})).user == "alice"


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("", "three parts"),
        ("junk", "three parts"),
        ("a.b", "three parts"),
        ("a.b.c", "base64 JSON"),
        ("é.ü.ö", "base64 JSON"),
        (f"{base64.urlsafe_b64encode(b'[1]').decode()}.e30.x", "base64 JSON"),
        (f"{base64.urlsafe_b64encode(b'[' * 200_000).decode()}.e30.x", "base64 JSON"),
        (make({"exp": 1}), "names no user"),
        (make({"sun": 1001, "exp": 1}), "names no user"),
        (make({"sun": "alice"}), "exp"),
        (make({"sun": "alice", "exp": 1.5}), "exp"),
        (make({"sun": "alice", "exp": 10**30}), "exp"),
    ],
)
def test_what_makes_a_token_none_for_slurm_is_said(token: str, words: str) -> None:
    assert words in read_claims(token).problem


@given(st.text())
def test_reading_claims_never_raises(token: str) -> None:
    assert read_claims(token).problem


# --- the simple ones ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["tok", " tok\n", "SLURM_JWT=tok", "SLURM_JWT=tok\n", 'SLURM_JWT="tok"', "'tok'"])
def test_tokens_are_taken_as_people_have_them(text: str) -> None:
    assert clean_token(text, "x") == "tok"


@pytest.mark.parametrize("text", ["", " \n", "SLURM_JWT=", '""'])
def test_an_empty_token_is_a_missing_one(text: str) -> None:
    with pytest.raises(TokenMissing, match="empty"):
        clean_token(text, "x")


@pytest.mark.parametrize("text", ["two words", "a\nb", "tökén", "a\x00b", "a\x1bb"])
def test_what_cannot_stand_in_a_header_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        clean_token(text, "x")
    assert text not in str(caught.value)


async def test_no_token_is_an_empty_one() -> None:
    assert await NoToken().token() == ""


async def test_a_static_token_stays_the_same_when_renewed() -> None:
    assert await StaticToken("a").token(renew=True) == "a"


async def test_the_environment_is_read_at_each_request() -> None:
    environ = {"SLURM_JWT": "one"}
    provider = EnvironmentToken(environ)
    assert await provider.token() == "one"
    environ["SLURM_JWT"] = "two"
    assert await provider.token() == "two"
    del environ["SLURM_JWT"]
    with pytest.raises(TokenMissing, match="SLURM_JWT is not set"):
        await provider.token()


async def test_a_file_is_read_at_each_request(tmp_path: Path) -> None:
    file = tmp_path / "token"
    provider = FileToken(file)
    for text, token in (("SLURM_JWT=one\n", "one"), ("two", "two")):
        file.write_text(text)
        assert await provider.token() == token


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [(None, ConfigError, "No such file"), (b"", TokenMissing, "empty"), (b"\xff\xfe", ConfigError, "not text")],
)
async def test_a_file_without_a_token(
    content: bytes | None, error: type[SlurmError], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(error, match=words) as caught:
        await FileToken(file).token()
    assert str(file) in str(caught.value)


# --- commands -------------------------------------------------------------------------------------------------


def command(tmp_path: Path, code: str, timeout: float = 30.0) -> CommandToken:
    """Return a provider whose command runs Python code that can count its runs in ``runs``."""
    script = tmp_path / "token.py"
    script.write_text(f"import sys, time\nopen({str(tmp_path / 'runs')!r}, 'a').write('x')\n{code}\n")
    return CommandToken([sys.executable, "-I", "-S", str(script)], timeout=timeout)


def runs(tmp_path: Path) -> int:
    file = tmp_path / "runs"
    return len(file.read_text()) if file.exists() else 0


async def test_many_askers_run_the_command_once(tmp_path: Path) -> None:
    provider = command(tmp_path, "print('welcome'); print('SLURM_JWT=tok')")
    assert set(await asyncio.gather(*(provider.token() for _ in range(8)))) == {"tok"}
    assert runs(tmp_path) == 1


async def test_many_rejections_at_once_run_it_once_more(tmp_path: Path) -> None:
    provider = command(tmp_path, "print(len(open(sys.argv[0][:-8] + 'runs').read()))")
    assert await provider.token() == "1"
    assert set(await asyncio.gather(*(provider.token(renew=True) for _ in range(8)))) == {"2"}
    assert runs(tmp_path) == 2


async def test_it_runs_again_before_its_token_expires(tmp_path: Path) -> None:
    old, new = make({"sun": "a", "exp": int(time.time()) + 30}), make({"sun": "a", "exp": int(time.time()) + 3000})
    provider = command(tmp_path, f"print([{old!r}, {new!r}][len(open(sys.argv[0][:-8] + 'runs').read()) > 1])")
    assert [await provider.token() for _ in range(3)] == [old, new, new]
    assert runs(tmp_path) == 2


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("sys.exit('no ticket for you')", ConfigError, "status 1: no ticket for you"),
        ("sys.exit(3)", ConfigError, "status 3: no message"),
        ("", TokenMissing, "empty"),
        ("sys.stdout.buffer.write(b'\\xff\\n')", ConfigError, "ASCII"),
    ],
)
async def test_a_command_that_gives_none(code: str, error: type[SlurmError], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        await command(tmp_path, code).token()


async def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="Cannot run the token command /no/such/command: No such file"):
        await CommandToken(["/no/such/command"]).token()


async def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    provider = command(tmp_path, "time.sleep(600)", timeout=0.5)
    with pytest.raises(ConfigError, match=r"gave no token in 0\.5 s"):
        await provider.token()


async def test_a_command_does_not_read_the_standard_input_of_its_caller() -> None:
    reader, writer = os.pipe()
    kept = os.dup(0)
    os.dup2(reader, 0)
    try:
        found = await CommandToken(["sh", "-c", "readlink /proc/$$/fd/0"]).token()
    finally:
        os.dup2(kept, 0)
        for one in (reader, writer, kept):
            os.close(one)
    assert found == "/dev/null"


async def test_a_command_does_not_outlive_the_request_that_was_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    os.mkfifo(file)
    code = f"import os\nopen({str(file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    task = asyncio.create_task(command(tmp_path, code).token())
    pid = int(await asyncio.to_thread(file.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_command_that_hangs_in_another_one_is_ended_too(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    provider = CommandToken(["sh", "-c", f"sleep 600 & echo $! >{file}; wait"], timeout=1)
    with pytest.raises(ConfigError, match="gave no token in 1 s"):
        await provider.token()
    # On a machine that is busy enough it did not come to start the other one, or to tell its number.
    number = file.read_text() if file.exists() else ""
    await until_true(lambda: not number or not is_running(int(number)))


async def test_a_command_that_talks_without_end_is_ended() -> None:
    with pytest.raises(ConfigError, match="printed more than 1048576 bytes"):
        await CommandToken(["yes"]).token()


# --- keys -----------------------------------------------------------------------------------------------------


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "jwt_hs256.key"
    file.write_bytes(KEY)
    return file


async def test_a_key_signs_what_slurm_takes(key_file: Path) -> None:
    token = await KeyToken(key_file, "alice", clock=lambda: 1_700_000_000.75).token()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims == {"sun": "alice", "iat": 1_700_000_000, "exp": 1_700_001_800}
    assert type(claims["exp"]) is int
    assert jwt.decode(token, KEY, algorithms=["HS256"], options={"verify_exp": False})


async def test_a_key_signs_again_when_a_tenth_is_left(key_file: Path) -> None:
    now = [1_700_000_000.0]
    provider = KeyToken(key_file, "alice", lifespan=1000, clock=lambda: now[0])
    first = await provider.token()
    now[0] += 899
    assert await provider.token() == first
    now[0] += 2
    second = await provider.token()
    assert second != first
    now[0] += 1
    assert await provider.token(renew=True) != second


async def test_a_key_file_that_is_away_for_a_moment_does_not_leave_an_old_token_behind(key_file: Path) -> None:
    now = [1_700_000_000.0]
    provider = KeyToken(key_file, "alice", lifespan=1000, clock=lambda: now[0])
    first = await provider.token()
    now[0] += 2000
    put(key_file, b"")
    with pytest.raises(ConfigError, match="is empty"):
        await provider.token()
    put(key_file, KEY)
    assert await provider.token() != first


def put(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _pem(file: Path) -> None:
    file.write_text("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(Path.unlink, "No such file"), (lambda file: file.write_bytes(b""), "is empty"), (_pem, "is a public key")],
)
async def test_key_files_that_hold_no_key(spoil: Callable[[Path], object], words: str, key_file: Path) -> None:
    spoil(key_file)
    with pytest.raises(ConfigError, match=words):
        await KeyToken(key_file, "alice").token()


# --- secrecy --------------------------------------------------------------------------------------------------


async def test_no_provider_shows_its_token(tmp_path: Path, key_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "token"
    file.write_text(SECRET)
    providers: list[TokenProvider] = [
        StaticToken(SECRET),
        EnvironmentToken({"SLURM_JWT": SECRET}),
        FileToken(file),
        command(tmp_path, f"print(open({str(file)!r}).read())"),
        KeyToken(key_file, "alice"),
    ]
    for provider in providers:
        token = await provider.token()
        shown = f"{provider!r} {provider} {provider.name} {caplog.text}"
        assert token not in shown
        assert SECRET not in shown
        assert str(KEY) not in shown
