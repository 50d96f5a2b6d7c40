"""What SSH alone can get wrong: hosts, keys, connections that break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import asyncssh
import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.config import load_settings
from slurm_rest.errors import (
    AuthError,
    CommandMissing,
    ConfigError,
    HostKeyError,
    SlurmError,
    TransportError,
    Unreachable,
)
from slurm_rest.transport import ssh
from slurm_rest.transport.cli import cli_transport
from tests.contract.ways import Way
from tests.support.ports import closed_port
from tests.support.tcp import tcp_proxy_to
from tests.support.waiting import until, until_true

TRUE = "#!/bin/sh\n"


@pytest.fixture
def way(shared_cluster: Callable[[str], Cluster]) -> Way:
    return Way("ssh", shared_cluster("24.11"))


@pytest.fixture
async def own(own_cluster: Callable[[str], Cluster]) -> AsyncIterator[tuple[Cluster, AsyncSlurmClient]]:
    cluster = own_cluster("24.11")
    async with Way("ssh", cluster).client() as client:
        yield cluster, client


async def refused(way: Way, kind: type[SlurmError], **settings: object) -> SlurmError:
    async with way.client(**settings) as client:
        with pytest.raises(kind) as caught:
            await client.ping()
    assert caught.value.hint
    return caught.value


async def test_an_unknown_host_key_is_refused(way: Way, tmp_path: Path) -> None:
    empty = tmp_path / "known_hosts"
    empty.touch()
    assert "127.0.0.1" in str(await refused(way, HostKeyError, ssh_known_hosts=empty))


async def test_another_host_key_than_the_known_one_is_refused(way: Way, tmp_path: Path) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{way.cluster.ssh_port} {other}")
    await refused(way, HostKeyError, ssh_known_hosts=tmp_path / "known_hosts")


async def test_only_the_environment_turns_verification_off(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "known_hosts").touch()
    with pytest.raises(TypeError, match="ssh_insecure"):
        way.client(ssh_insecure=True)
    monkeypatch.setenv("SLURM_REST_SSH_INSECURE", "1")
    async with way.client(ssh_known_hosts=tmp_path / "known_hosts") as client:
        assert await client.ping()


async def test_a_key_that_is_not_let_in(way: Way, tmp_path: Path) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    other.write_private_key(tmp_path / "key")
    error = await refused(way, AuthError, ssh_key_file=tmp_path / "key")
    assert "alice@127.0.0.1" in error.message
    await refused(way, AuthError, ssh_user="nobody-there")


async def test_a_key_may_be_given_as_text(way: Way) -> None:
    text = way.cluster.ssh_key.read_text()
    async with way.client(ssh_key_file=None, ssh_key=text) as client:
        assert await client.ping()
        assert "PRIVATE KEY" not in repr(client.settings)


async def test_a_key_from_an_agent(way: Way, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    socket = tmp_path / "agent"
    agent = await asyncio.create_subprocess_exec(
        "ssh-agent", "-D", "-a", str(socket), stdout=asyncio.subprocess.DEVNULL
    )

    async def listens() -> bool:  # the socket is there a moment before
        try:
            _, writer = await asyncio.open_unix_connection(socket)
        except OSError:
            return False
        writer.close()
        return True

    try:
        await until(listens)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        async with asyncssh.connect_agent(str(socket)) as keys:
            await keys.add_keys([asyncssh.read_private_key(way.cluster.ssh_key)])
        async with way.client(ssh_key_file=None) as client:
            assert await client.ping()
    finally:
        agent.terminate()
        await agent.wait()


async def test_keys_that_cannot_be_used_are_named(way: Way, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("no key")
    secret = tmp_path / "secret"
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(secret, "pkcs8-pem", "x")
    for path, words in ((bad, "no private key"), (secret, "passphrase"), (tmp_path / "none", "cannot be read")):
        assert words in (await refused(way, ConfigError, ssh_key_file=path)).message
    # A path where a text belongs, and the other way round.
    name = str(way.cluster.ssh_key)
    assert "not the path" in (await refused(way, ConfigError, ssh_key_file=None, ssh_key=name)).hint
    text = way.cluster.known_hosts.read_text()
    assert "not what stands in one" in (await refused(way, ConfigError, ssh_known_hosts=text)).hint


async def test_hosts_that_are_not_there(way: Way) -> None:
    assert "not known" in (await refused(way, Unreachable, ssh_host="no-such-host.invalid")).message
    with closed_port() as port:
        assert "No sshd listens" in (await refused(way, Unreachable, ssh_port=port)).message


async def test_a_jump_host_is_passed(way: Way, tmp_path: Path) -> None:
    async with way.client(ssh_proxy_jump=f"bob@127.0.0.1:{way.cluster.ssh_port}") as client:
        assert await client.ping()
    # The jump host has to prove itself too.
    (tmp_path / "known_hosts").touch()
    hop = f"bob@127.0.0.1:{way.cluster.ssh_port}"
    error = await refused(way, HostKeyError, ssh_proxy_jump=hop, ssh_known_hosts=tmp_path / "known_hosts")
    assert "bob@" in error.message


async def test_many_at_once_stay_below_the_limit_of_sessions(way: Way) -> None:
    async with way.client() as client:
        found = await asyncio.gather(*(client.states([1]) for _ in range(60)))
    assert len(found) == 60


async def test_a_login_that_talks_does_no_harm(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, _ = own
    talk = "echo Welcome 4711; echo 99 >&2; export SBATCH_PARTITION=nope SQUEUE_FORMAT=%j SLURM_CLUSTERS=nope"
    cluster.exec(["sh", "-c", f"rm -f .bashrc && echo '{talk}' > .bashrc"], user="alice", check=True)
    async with Way("ssh", cluster).client(ssh_user="alice") as talkative:
        async with asyncssh.connect(
            "127.0.0.1",
            cluster.ssh_port,
            username="alice",
            client_keys=[str(cluster.ssh_key)],
            known_hosts=str(cluster.known_hosts),
        ) as plain:
            assert "4711" in str((await plain.run("true")).stdout), "the login talks"
        record = await (await talkative.submit(TRUE)).wait(timeout=300)
    assert record.state.is_success
    assert record.partition == "normal"


async def test_another_loop_is_refused_and_can_still_close(way: Way) -> None:
    async with way.client() as client:
        assert await client.ping()
        with pytest.raises(SlurmError, match="used in another event loop before"):
            await asyncio.to_thread(asyncio.run, client.ping())
        assert await client.ping(), "it goes on in its own"


async def test_a_connection_whose_loop_is_gone_is_let_go(way: Way) -> None:
    class Gone:
        def is_closed(self) -> bool:
            return False

        def close(self) -> None:
            raise RuntimeError("Event loop is closed")

    settings = load_settings({"ssh_host": "127.0.0.1", "ssh_port": way.cluster.ssh_port}, {})
    runner, loop = ssh.SshRunner(settings), asyncio.new_event_loop()
    loop.close()
    runner._connection, runner._loop = cast("asyncssh.SSHClientConnection", Gone()), loop
    await runner.close()
    assert runner._connection is None


async def test_a_login_that_leaves_something_running_holds_nothing_up(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, _ = own
    # It keeps the output of every login open, and sshd the session.
    cluster.exec(["sh", "-c", "rm -f .bashrc && echo 'sleep 900 &' > .bashrc"], user="alice", check=True)
    async with Way("ssh", cluster).client(ssh_user="alice") as client:
        jobs = [await client.submit(f"#!/bin/sh\necho {number}\n") for number in range(3)]
        assert all(record.state.is_success for record in await client.wait(jobs, timeout=300))
        assert [await job.stdout() for job in jobs] == ["0\n", "1\n", "2\n"]
        # More than sshd has sessions.
        assert len(await asyncio.gather(*(client.states(jobs) for _ in range(20)))) == 20
    assert "sleep 900" in cluster.exec(["pgrep", "-a", "-u", "alice"], check=True).stdout, "the logins left something"


async def test_sftp_that_cannot_start_takes_no_session_from_commands(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, _ = own
    cluster.exec(["sh", "-c", "rm -f .bashrc && echo 'echo Welcome' > .bashrc"], user="alice", check=True)
    async with Way("ssh", cluster).client(ssh_user="alice") as client:
        for _ in range(12):
            with pytest.raises(Unreachable, match="SFTP") as caught:
                await client.files.stat("/etc/passwd")
            assert ".bashrc" in caught.value.hint
        assert (await client.ping())[0].responding


async def test_a_host_that_takes_one_session_serves_commands_and_files(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, _ = own
    cluster.exec(["sh", "-c", "echo MaxSessions 1 > /etc/ssh/sshd_config.d/one.conf"], check=True)
    sshd = cluster.service("sshd")
    sshd.kill()
    sshd.start()
    async with Way("ssh", cluster).client() as client:
        assert len(await asyncio.gather(*(client.states([number]) for number in range(1, 13)))) == 12
        job = await client.submit("#!/bin/sh\nfor number in 1 2 3; do echo $number; sleep 1; done\n")
        # The session of SFTP stays open, and commands look for the end meanwhile.
        assert "".join([text async for text in job.follow()]) == "1\n2\n3\n"
        assert await job.stdout() == "1\n2\n3\n"
        assert (await job.wait(timeout=300)).state.is_success


async def test_reads_survive_a_killed_sshd(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, client = own
    job = await client.submit(TRUE, hold=True)
    sshd = cluster.service("sshd")
    sshd.kill()
    with pytest.raises(TransportError):
        await client.states([job])
    sshd.start()
    assert (await client.states([job]))[job.id].is_pending
    sshd.kill()
    sshd.start()
    assert (await client.submit(TRUE, hold=True)).id > job.id, "a dead connection is no reason to fail"


async def test_a_wait_survives_an_outage(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, client = own
    job = await client.submit("#!/bin/sh\nexit 3\n", hold=True)
    waiting = asyncio.create_task(client.wait([job], timeout=300))
    cluster.service("sshd").kill()
    cluster.exec(["scontrol", "release", str(job.id)])
    cluster.service("sshd").start()
    (record,) = await waiting
    assert str(record.exit_code) == "3:0"


async def test_a_submission_survives_a_killed_sshd(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, client = own
    await client.ping()
    with cluster.frozen("slurmctld"):
        submitting = asyncio.create_task(client.submit(TRUE, comment="lost"))
        await until_true(lambda: cluster.exec(["pgrep", "-x", "sbatch"]).returncode == 0, "sbatch's start")
        cluster.service("sshd").kill()
    cluster.service("sshd").start()
    assert (await submitting).found


async def test_a_host_that_hangs_up_is_called_again(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "_HUNG_UP_PAUSES", (0, 0))
    async with tcp_proxy_to(way.cluster.ssh_port) as proxy:
        known = way.cluster.known_hosts.read_text().replace(f":{way.cluster.ssh_port} ", f":{proxy.port} ")
        (tmp_path / "known_hosts").write_text(known)
        through = {"ssh_port": proxy.port, "ssh_known_hosts": tmp_path / "known_hosts"}
        proxy.refuse = 2
        async with way.client("alice", **through) as client:
            assert await client.ping()
        proxy.refuse = 3
        await refused(way, Unreachable, **through)


async def test_a_host_down_for_maintenance_is_called_once_and_says_so(own: tuple[Cluster, AsyncSlurmClient]) -> None:
    cluster, client = own
    cluster.exec(["sh", "-c", "echo 'Back on Monday' > /etc/nologin"], check=True)
    with pytest.raises(Unreachable, match=r"hangs up at the login and says: Back on Monday") as caught:
        await client.submit(TRUE)
    assert "/etc/nologin" in caught.value.hint
    assert cluster.logs("sshd").count("PAM account configuration") == 1
    cluster.exec(["rm", "/etc/nologin"], check=True)
    assert (await client.submit(TRUE, hold=True)).id


async def test_a_silent_peer_is_found_dead(
    own: tuple[Cluster, AsyncSlurmClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, client = own
    monkeypatch.setattr(ssh, "_KEEPALIVE_SECONDS", 1)
    await client.ping()
    with cluster.frozen("sshd"), monkeypatch.context() as hasty:
        # Only now: a login may take longer.
        for name in ("_LOGIN_SECONDS", "_CONNECT_SECONDS"):
            hasty.setattr(ssh, name, 1)
        with pytest.raises(TransportError):
            await client.states([1])
    assert await client.states([1]) == {}


async def test_a_host_without_slurm_says_so() -> None:
    transport = cli_transport()
    transport.runner._argv = ("/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "/bin/sh", "-c")  # type: ignore[attr-defined]  # its own
    with pytest.raises(CommandMissing, match=r"no squeue on this host. Slurm's commands must be on PATH"):
        await transport.states([1])


async def test_a_command_that_the_host_lacks_is_named(way: Way) -> None:
    way.cluster.exec(["mv", "/usr/bin/sbatch", "/usr/bin/sbatch.away"], check=True)
    try:
        async with way.client() as client:
            with pytest.raises(CommandMissing, match=r"no sbatch on alice@127\.0\.0\.1") as caught:
                await client.submit(TRUE)
            assert "login without a terminal" in caught.value.hint
            assert await client.states([99_999]) == {}, "the others are there"
    finally:
        way.cluster.exec(["mv", "/usr/bin/sbatch.away", "/usr/bin/sbatch"], check=True)
