"""slurmrestd where only an SSH host can reach it: on its loopback, or on a unix socket there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import (
    AuthError,
    ConfigError,
    HostKeyError,
    SlurmError,
    TokenMissing,
    Unreachable,
)
from slurm_rest.transport import ssh
from slurm_rest.transport.rest import RestTransport
from tests.contract.ways import Way
from tests.support.ports import closed_port
from tests.support.tcp import tcp_proxy_to
from tests.support.waiting import until_true

SCRIPT = "#!/bin/sh\ntrue\n"


@pytest.fixture(params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    return shared_cluster(request.param)


def tunnelled(cluster: Cluster, **settings: object) -> AsyncSlurmClient:
    """Return a client of alice's that gets to slurmrestd through SSH only."""
    given = {"url": cluster.url, "token": cluster.token("alice"), "transport": "rest", "ssh_tunnel": True}
    return Way("ssh", cluster).client("alice", **{**given, **settings})


def listens(path: Path) -> bool:
    """Return whether somebody takes connections there: the socket is there a moment before."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextlib.asynccontextmanager
async def daemon(cluster: Cluster, user: str, auth: str) -> AsyncIterator[str]:
    """Run a second slurmrestd, on a unix socket, and yield the socket's path in the cluster."""
    name = f"{user}.sock"
    line = f"echo $$ > /shared/{name}.pid; exec slurmrestd -a {auth} unix:/shared/{name}"
    command = cluster.command(["sh", "-c", line], user=user, env={"SLURM_JWT": "daemon"} if "jwt" in auth else {})
    with (cluster.shared / f"{name}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    try:
        await until_true(lambda: listens(cluster.shared / name), "the socket")
        yield f"/shared/{name}"
    finally:
        cluster.exec(["sh", "-c", f"kill -9 $(cat /shared/{name}.pid)"])
        await process.wait()
        (cluster.shared / name).unlink(missing_ok=True)


@pytest.fixture
async def alone(own_cluster: Callable[[str], Cluster]) -> AsyncIterator[tuple[Cluster, AsyncSlurmClient]]:
    cluster = own_cluster("24.11")
    async with tunnelled(cluster) as slurm:
        yield cluster, slurm


async def test_a_job_runs_through_the_tunnel(cluster: Cluster) -> None:
    async with tunnelled(cluster) as slurm:
        job = await slurm.submit(SCRIPT, name="tunnel")
        assert (await job.wait(timeout=300)).state.is_success
        assert [ping.responding for ping in await slurm.ping()] == [True]
        await slurm.ping_accounting()
        assert slurm.transport == "rest"
        assert slurm.address == f"{cluster.url} through alice@127.0.0.1:{cluster.ssh_port}"


async def test_nothing_goes_around_the_tunnel(
    shared_cluster: Callable[[str], Cluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = shared_cluster("24.11")
    monkeypatch.setattr(ssh, "_HUNG_UP_PAUSES", ())
    async with tcp_proxy_to(cluster.ssh_port) as proxy:
        known = cluster.known_hosts.read_text().replace(f":{cluster.ssh_port} ", f":{proxy.port} ")
        (tmp_path / "known_hosts").write_text(known)
        through = {"ssh_port": proxy.port, "ssh_known_hosts": tmp_path / "known_hosts"}
        async with tunnelled(cluster, **through) as slurm:
            assert await slurm.ping()
            proxy.refuse = 99
            proxy.cut()
            with pytest.raises(Unreachable, match="SSH"):
                await slurm.ping()


async def test_a_slurmrestd_of_ones_own_needs_no_token(cluster: Cluster) -> None:
    async with daemon(cluster, "alice", "rest_auth/local") as socket:
        async with tunnelled(cluster, url=f"unix:{socket}", token=None) as slurm:
            job = await slurm.submit(SCRIPT, name="socket")
            record = await job.wait(timeout=300)
            assert (record.user, record.state.is_success) == ("alice", True)
            await slurm.ping_accounting()
        async with tunnelled(cluster, url=f"unix:{socket}", token=None, ssh_user="bob") as slurm:
            with pytest.raises(TokenMissing, match="rest_auth/local"):
                await slurm.ping()


LOCAL = """
import sys
from slurm_rest import SlurmClient
with SlurmClient(sys.argv[1], workdir="/tmp") as slurm:
    record = slurm.submit("#!/bin/sh\\nexit 3\\n").wait(timeout=300)
    slurm.ping_accounting()
    print(record.user, record.exit_code)
"""


async def test_a_socket_of_this_host_serves_its_owner_and_root_without_a_token(cluster: Cluster) -> None:
    holder = cluster.state.holder
    assert holder is not None
    async with daemon(cluster, "alice", "rest_auth/local") as socket:
        # slurmrestd serves whom it can see among the processes, so the client joins those of the cluster.
        url = f"unix:{cluster.shared}/{socket.rpartition('/')[2]}"
        command = ["nsenter", f"--target={holder.pid}", "--pid", sys.executable, "-c", LOCAL, url]
        env = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        client = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=env)
        printed, _ = await client.communicate()
    assert (client.returncode, printed) == (0, b"alice 3:0\n")


async def test_a_socket_of_this_host_serves_tokens(cluster: Cluster) -> None:
    async with daemon(cluster, "slurmrestd", "rest_auth/jwt") as socket:
        # The folder that the cluster sees as /shared is one of this host.
        here = {"url": f"unix:{cluster.shared}/{socket.rpartition('/')[2]}", "ssh_tunnel": None}
        async with tunnelled(cluster, **here) as slurm:
            assert (await (await slurm.submit(SCRIPT)).wait(timeout=300)).user == "alice"
            await slurm.ping_accounting()
        async with tunnelled(cluster, **here, token=None) as slurm:
            with pytest.raises(TokenMissing):
                await slurm.ping()


async def refused(cluster: Cluster, kind: type[SlurmError], words: str, **settings: object) -> None:
    async with tunnelled(cluster, **settings) as slurm:
        with pytest.raises(kind, match=words) as caught:
            await slurm.submit(SCRIPT)
    assert caught.value.hint


async def test_each_link_is_named_when_it_is_the_one(shared_cluster: Callable[[str], Cluster], tmp_path: Path) -> None:
    cluster = shared_cluster("24.11")
    empty = tmp_path / "known_hosts"
    empty.touch()
    await refused(cluster, Unreachable, "SSH host .* is not known", ssh_host="no-such-host.invalid")
    await refused(cluster, HostKeyError, "host key", ssh_known_hosts=empty)
    await refused(cluster, AuthError, "does not let us in", ssh_user="nobody-there")
    seen = f"as seen from alice@127.0.0.1:{cluster.ssh_port}"
    with closed_port() as port:
        await refused(cluster, Unreachable, "No sshd listens", ssh_port=port)
        await refused(cluster, Unreachable, f"{port} {seen}", url=f"http://127.0.0.1:{port}")
    await refused(cluster, Unreachable, f"/none.sock {seen}", url="unix:/none.sock")
    with pytest.raises(ConfigError, match="No SSH host"):
        tunnelled(cluster, ssh_host=None)


async def test_a_silent_ssh_host_is_found_dead(
    alone: tuple[Cluster, AsyncSlurmClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, slurm = alone
    monkeypatch.setattr(ssh, "_KEEPALIVE_SECONDS", 1)
    await slurm.ping()
    with cluster.frozen("sshd"), monkeypatch.context() as hasty:
        # Only now: a login may take longer.
        for name in ("_LOGIN_SECONDS", "_CONNECT_SECONDS"):
            hasty.setattr(ssh, name, 1)
        # The probes find out, long before an answer would be due.
        with pytest.raises(Unreachable, match="in time"):
            await slurm.states([1])
    assert await slurm.states([1]) == {}


async def test_the_tunnel_is_made_again(alone: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, slurm = alone
    assert await slurm.ping()
    sshd = cluster.service("sshd")
    sshd.kill()
    with pytest.raises(Unreachable, match="sshd"):
        await slurm.ping()
    sshd.start()
    assert await slurm.ping()
    transport = slurm._transport
    assert isinstance(transport, RestTransport)
    tunnel = transport.connection._dialer
    assert isinstance(tunnel, ssh.SshRunner)
    connection = tunnel._connection
    assert connection is not None
    sshd.kill()
    sshd.start()
    await until_true(connection.is_closed, "that the client notices")
    # Then nothing is sent into a dead tunnel: this is no lost answer.
    job = await slurm.submit(SCRIPT, hold=True)
    assert not job.found
    cluster.service("slurmrestd").kill()
    with pytest.raises(Unreachable, match="as seen from"):
        await slurm.ping()
    cluster.service("slurmrestd").start()
    assert (await slurm.states([job]))[job.id].is_pending
