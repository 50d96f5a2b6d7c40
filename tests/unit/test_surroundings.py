"""What surrounds a client: proxies of the environment, other event loops, forked processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import httpx
import pytest

from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import ConfigError, ProtocolError, SlurmError, Unreachable
from slurm_rest.transport.rest.proxies import proxy_of

from .test_sockets import closed_port, failure, listening, says
from .wire import URL, Server, no_pauses, server, states

__all__ = ["no_pauses", "server"]


def test_the_proxy_of_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_of("http://slurm:6820") == ""
    monkeypatch.setenv("http_proxy", "http://me:secret@proxy:3128/")
    assert proxy_of("http://slurm:6820") == "proxy:3128"
    assert proxy_of("https://slurm:6820") == ""
    assert proxy_of("unix:/run/slurmrestd") == ""
    monkeypatch.setenv("ALL_PROXY", "socks5://other:1080")
    assert proxy_of("https://slurm:6820") == "other:1080"
    monkeypatch.setenv("no_proxy", "localhost,slurm")
    assert proxy_of("http://slurm:6820") == ""


async def test_a_failure_on_the_way_names_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_port() as port:
        monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{port}")
        error = await failure("http://slurm.test:6820")
    assert isinstance(error, Unreachable)
    way = f"It goes through the proxy 127.0.0.1:{port} (http_proxy); to go there directly set no_proxy=slurm.test."
    assert error.hint == way
    async with listening(says(b"SSH-2.0-x\r\n", first=True)) as speaker:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{speaker}")
        error = await failure("http://slurm.test:6820")
    assert isinstance(error, ProtocolError)
    assert f"through the proxy 127.0.0.1:{speaker} " in error.hint


@pytest.mark.parametrize("proxy", ["junk://proxy", "http://proxy:port"])
async def test_a_proxy_that_is_none(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    error = await failure("http://slurm.test:6820")
    assert isinstance(error, ConfigError)
    assert error.message.startswith("A proxy of the environment cannot be used: ")
    assert "no_proxy" in error.hint


async def test_a_proxy_that_needs_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise ImportError("Using SOCKS proxy, but the 'socksio' package is not installed.")

    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    monkeypatch.setattr(httpx, "AsyncClient", missing)
    error = await failure("http://slurm.test:6820")
    assert isinstance(error, ConfigError)
    assert "socksio" in error.message


async def test_an_exchange_without_a_reason_names_its_kind() -> None:
    async with listening(says(b"")) as port:
        error = await failure(f"http://127.0.0.1:{port}")
    assert error.message.endswith("): RemoteProtocolError") or "disconnected" in error.message
    assert not error.message.endswith(": ")


def test_another_loop_is_refused_and_can_still_close(server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("1", "RUNNING")))
    client = AsyncSlurmClient(URL, token="tok")
    assert list(asyncio.run(client.states([1]))) == [1]
    with pytest.raises(SlurmError, match="used in another event loop before") as caught:
        asyncio.run(client.states([1]))
    assert "async with" in caught.value.hint
    asyncio.run(client.close())
    assert list(asyncio.run(client.states([1]))) == [1]
    asyncio.run(client.close())


FORKED = """
import os, sys
from slurm_rest import SlurmClient, SlurmError

def ask(client):
    try:
        client.states([1])
    except SlurmError as error:
        print(f"{type(error).__name__}: {error}", flush=True)

client = SlurmClient(sys.argv[1], token="tok")
ask(client)
child = os.fork()
if not child:
    ask(client)
    with SlurmClient(sys.argv[1], token="tok") as own:
        ask(own)
    sys.exit(7)  # which ends the client as well
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
ask(client)
client.close()
"""


def test_a_forked_child_is_told_and_does_not_disturb_its_parent() -> None:
    with closed_port() as port:
        url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    gone = f"Unreachable: Nothing listens at {url}. "
    first, child, own, status, again = done.stdout.splitlines()
    assert first.startswith(gone)
    assert child == "SlurmError: This client was made before the fork, by another process. Make one in each."
    assert own.startswith(gone)
    assert status == "7"
    assert again.startswith(gone)
