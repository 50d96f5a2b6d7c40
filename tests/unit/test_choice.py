"""Which transport a client gets, from its settings alone: nothing is asked."""

from __future__ import annotations

import logging
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from slurm_rest import AsyncSlurmClient, SlurmClient, TransportHealth
from slurm_rest.errors import ConfigError
from slurm_rest.transport.fallback import FallbackTransport

URL = "http://127.0.0.1:9"


def ways(client: AsyncSlurmClient | SlurmClient) -> list[str]:
    return [way.transport for way in client.health()[:-1]]


@pytest.fixture(autouse=True)
def asyncssh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it as far as making a client needs it, also where it is not installed."""
    module = ModuleType("asyncssh")
    module.__spec__ = ModuleSpec("asyncssh", None)
    monkeypatch.setitem(sys.modules, "asyncssh", module)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put something called sbatch and squeue on PATH."""
    for name in ("sbatch", "squeue"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


async def test_one_way_needs_no_fall_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    async with AsyncSlurmClient(URL) as client:
        assert client.health()[:-1] == [TransportHealth(transport="rest", where=URL, active=True)]
        assert not isinstance(client._transport, FallbackTransport)


@pytest.mark.usefixtures("commands")
async def test_all_that_is_configured_is_used_in_order() -> None:
    async with AsyncSlurmClient(URL, ssh_host="login", ssh_user="alice") as client:
        assert ways(client) == ["rest", "ssh", "cli"]
        assert [way.where for way in client.health()[:-1]] == [URL, "alice@login", "this host"]
        assert [way.active for way in client.health()[:-1]] == [True, False, False]
        assert (client.transport, client.address) == ("rest", URL)
        assert isinstance(client._transport, FallbackTransport)
        assert [way.guarded for way in client._transport.board.ways] == [False, False, True]
    async with AsyncSlurmClient() as client:
        assert ways(client) == ["cli"]


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("name", ["rest", "ssh", "cli"])
async def test_a_pinned_client_has_one_way(name: str) -> None:
    async with AsyncSlurmClient(URL, ssh_host="login", transport=name) as client:  # type: ignore[arg-type]  # one of them
        assert ways(client) == [name]


def test_the_blocking_client_tells_it_too() -> None:
    with SlurmClient(URL, ssh_host="login") as client:
        assert ways(client)[:2] == ["rest", "ssh"]


async def test_a_second_choice_that_cannot_be_made_is_done_without(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "asyncssh", None)  # as where it is not installed
    with caplog.at_level(logging.WARNING, "slurm_rest"):
        async with AsyncSlurmClient(URL, ssh_host="login") as client:
            assert ways(client) == ["rest"]
    assert "asyncssh" in caplog.text
    with pytest.raises(ConfigError, match="asyncssh"):
        AsyncSlurmClient(ssh_host="login")
