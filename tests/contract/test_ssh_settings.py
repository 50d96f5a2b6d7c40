"""Known hosts, ~/.ssh/config and addresses as users have them: each error names what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from cluster.native import Cluster
from slurm_rest.errors import ConfigError, HostKeyError, SlurmError, Unreachable
from slurm_rest.transport import ssh
from tests.contract.ways import Way


@pytest.fixture
def way(shared_cluster: Callable[[str], Cluster]) -> Way:
    return Way("ssh", shared_cluster("24.11"))


async def refused(way: Way, kind: type[SlurmError], words: str, **settings: object) -> SlurmError:
    async with way.client(**settings) as client:
        with pytest.raises(kind, match=words) as caught:
            await client.ping()
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("kind", ["ecdsa-sha2-nistp256", "ssh-rsa", "authority"])
async def test_a_host_with_a_key_of_another_type_is_not_trusted(way: Way, tmp_path: Path, kind: str) -> None:
    # sshd has none of the types that the client asks for then, and hangs up without a word.
    made = asyncssh.generate_private_key("ssh-ed25519" if kind == "authority" else kind).export_public_key().decode()
    mark = "@cert-authority " if kind == "authority" else ""
    (tmp_path / "known").write_text(f"{mark}[127.0.0.1]:{way.cluster.ssh_port} {made}")
    await refused(way, HostKeyError, "is not trusted", ssh_known_hosts=tmp_path / "known")


@pytest.mark.parametrize("line", [b"@bad x y z", b"# caf\xe9"])
async def test_known_hosts_that_cannot_be_read_are_named(way: Way, tmp_path: Path, line: bytes) -> None:
    (tmp_path / "known").write_bytes(line + b"\n" + way.cluster.known_hosts.read_bytes())
    await refused(way, ConfigError, str(tmp_path / "known"), ssh_known_hosts=tmp_path / "known")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b" IdentityFile ~/.ssh/none", r"\.ssh/none, for SSH to .*there.*: No such file"),
        (b" ProxyCommand /nowhere/nc %h %p", "/nowhere/nc, for SSH to .*there.*: No such file"),
        (b" ProxyJump there", "leads back to itself"),
        (b"# caf\xe9", "no UTF-8"),
        (b" Port abc", "Port"),
    ],
)
async def test_a_configuration_of_ssh_that_is_wrong_is_named(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, words: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_bytes(b"Host there\n HostName 127.0.0.1\n" + line + b"\n")
    own = {"ssh_host": "there", "ssh_key_file": None}
    error = await refused(way, ConfigError, words, **own)
    assert "~/.ssh/config" in error.hint


@pytest.mark.parametrize("host", ["..", "a" * 300])
async def test_what_no_host_is_called_is_not_known(way: Way, host: str) -> None:
    await refused(way, Unreachable, "is not known", ssh_host=host)


def test_jump_hosts_have_users_ports_and_addresses() -> None:
    for text, told in {
        "hop": ("hop", None, None),
        " me@site@hop:2222 ": ("hop", 2222, "me@site"),
        "me@[2001:db8::1]:22": ("2001:db8::1", 22, "me"),
        "[::1]": ("::1", None, None),
    }.items():
        assert ssh._parse_hop(text) == told
    for text in ("hop:99999", "hop:0", "hop:", "hop:x", "me@", "::1", "[::1", "ssh://hop", "-oProxyCommand=x", "@"):
        with pytest.raises(ConfigError, match="is not a jump host") as caught:
            ssh._parse_hop(text)
        assert "[USER@]HOST[:PORT]" in caught.value.hint
