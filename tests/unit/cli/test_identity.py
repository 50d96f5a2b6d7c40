from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from slurm_rest import AsyncSlurmClient, Ping, __version__
from slurm_rest.cli.identity import TOKEN_KEYS
from slurm_rest.config import Settings
from slurm_rest.errors import Unreachable
from slurm_rest.transport import ssh_token
from tests.unit.cli.server import Run, Server, token


def test_the_claims_are_shown_and_never_the_token(run: Run, server: Server) -> None:
    result = run("token")

    assert (result.status, result.err, server.requests) == (0, "", [])
    shown = dict(line.split(maxsplit=1) for line in result.out.splitlines())
    assert (shown["user"], shown["from"], shown["algorithm"]) == ("alice", "SLURM_JWT", "HS256")
    assert "left)" in shown["expires"]
    for part in os.environ["SLURM_JWT"].split("."):
        assert part not in result.out


def test_json_has_the_documented_keys(run: Run) -> None:
    result = run("token", "--json")

    document = json.loads(result.out)
    assert list(document) == list(TOKEN_KEYS)
    assert (document["ok"], document["problem"]) == (True, "")
    assert 3500 < document["seconds_left"] <= 3600


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "error: no token is configured"),
        ("", "is empty"),
        ("not-a-token", "the token (from SLURM_JWT) cannot be used: it is not a JWT"),
        (token(exp=int(time.time()) - 60), "the token (from SLURM_JWT) cannot be used: it has expired"),
        (token(exp=time.time() + 60.5), 'no whole number as "exp"'),
        (token(sun=7), "it names no user"),
        ("two words", "not one word of ASCII"),
    ],
    ids=["none", "empty", "text", "expired", "float", "nobody", "words"],
)
def test_an_unusable_token_is_a_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str | None, message: str
) -> None:
    if value is None:
        monkeypatch.delenv("SLURM_JWT")
    else:
        monkeypatch.setenv("SLURM_JWT", value)

    result = run("token")

    assert result.status == 1
    assert message in result.err
    assert len(result.err.splitlines()) == 2 or value == "two words"
    assert json.loads(run("token", "--json").out)["ok"] is False


def test_claims_are_made_harmless(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JWT", token(sun="al\x1b[31mice\n"))

    result = run("token")

    assert "al\\x1b[31mice\\n" in result.out
    assert "\x1b" not in result.out


def test_no_server_has_to_be_configured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_REST_URL")
    assert run("token").status == 0


@pytest.mark.parametrize("arguments", [("version",), ("--version",)])
def test_the_version_asks_nobody(run: Run, server: Server, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.status == 0
    assert result.out.startswith(f"slurm-rest {__version__}")
    assert not server.requests


def test_the_servers_version_is_asked_for_on_demand(run: Run, server: Server) -> None:
    assert "Slurm 24.11.5, API v0.0.42, cluster testing" in run("version", "--server").out
    document = json.loads(run("version", "--server", "--json").out)
    assert (document["slurm"], document["api_version"], document["client"]) == ("24.11.5", "v0.0.42", __version__)


def test_what_answers_over_ssh_has_no_api_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ping(_: AsyncSlurmClient) -> list[Ping]:
        return [Ping(hostname="ctl1", responding=True, primary=True, slurm="22.05.8", cluster="old")]

    monkeypatch.setattr(AsyncSlurmClient, "ping", ping)
    monkeypatch.setattr(AsyncSlurmClient, "address", "alice@login.test")
    assert run("version", "--server").out.splitlines()[1] == "Slurm 22.05.8, cluster old, alice@login.test"
    assert json.loads(run("version", "--server", "--json").out)["url"] == "alice@login.test"


def test_what_a_chain_passed_over_is_told_with_the_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(token(sun="alice"))
    monkeypatch.setenv("SLURM_JWT", token(exp=int(time.time()) - 60))
    monkeypatch.setenv("SLURM_REST_TOKEN_FILE", str(tmp_path / "token"))

    result = run("token")

    assert result.status == 0
    assert f"from         the token file {tmp_path}/token" in result.out
    assert "passed over  SLURM_JWT: its token has expired" in result.out
    document = json.loads(run("token", "--json").out)
    assert document["passed_over"] == {"SLURM_JWT": "its token has expired"}


def test_a_token_over_ssh_that_cannot_be_had_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JWT")
    monkeypatch.setenv("SLURM_REST_TOKEN_SSH", "1")
    monkeypatch.setenv("SLURM_REST_SSH_HOST", "127.0.0.1")

    async def refuse(_: Settings) -> str:
        raise Unreachable("No sshd listens at 127.0.0.1")

    monkeypatch.setattr(ssh_token, "scontrol_token", refuse)

    result = run("token")

    assert result.status == 1
    assert "No sshd listens at 127.0.0.1" in result.err
