"""How a root is named and found, how a failed build is explained, and what it leaves; no network is needed."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import native, prime, root
from cluster.errors import ClusterError
from cluster.space import wait_until
from cluster.state import Ports, check_name, choose_ports
from cluster.token import sign

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_name_of_a_root_follows_its_recipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_REST_CACHE", str(tmp_path))
    before = root.root_path("24.11")
    assert before.parent == tmp_path / "roots"
    assert before.name.startswith("24.11-")
    (tmp_path / "install").write_text("another recipe")
    monkeypatch.setattr(root, "HERE", tmp_path)
    assert root.root_path("24.11") != before
    with pytest.raises(ClusterError, match=r"no recipe for Slurm 1\.0; choose one of 22\.05, 24\.11, 26\.05"):
        root.root_path("1.0")


def test_what_nothing_has_used_for_two_weeks_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_REST_CACHE", str(tmp_path))
    own = root.root_path("24.11")
    made = [own, prime.prime_path(own), own.parent / "26.05-new", own.parent / "26.05-old"]
    for folder in made:
        folder.mkdir(parents=True)
    log = own.parent / "26.05-old.accounting.log"
    log.touch()
    for old in (own, made[3], log):
        os.utime(old, (1, 1))
    native._prune(own)
    assert set(own.parent.iterdir()) == set(made[:3])


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_REST_CACHE", "/own")
    assert root.cache_dir() == Path("/own")
    monkeypatch.delenv("SLURM_REST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert root.cache_dir() == Path("/xdg/slurm-rest")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/somebody")
    assert root.cache_dir() == Path("/somebody/.cache/slurm-rest")


@pytest.mark.parametrize(
    ("log", "error", "said"),
    [
        ("tar: write error", ValueError(), "the disk became full"),
        ("cp: No space left on device", ValueError(), "the disk became full"),
        ("", OSError(errno.ENOSPC, "full"), "the disk became full"),
        (
            "cluster-install: this Debian has Slurm 27.05.1, not 26.05",
            ValueError(),
            "has Slurm 27.05.1, not 26.05; choose",
        ),
        ("E: Failed getting release file", ValueError(), "the Debian mirror did not answer"),
        ("Temporary failure resolving 'mirror'", ValueError(), "the Debian mirror did not answer"),
        ("dpkg: error", ValueError(), "failed; read "),
    ],
)
def test_a_failed_build_is_explained_in_one_line(tmp_path: Path, log: str, error: Exception, said: str) -> None:
    path = tmp_path / "26.05.log"
    path.write_text(f"I: Retrieving\n{log}\n")
    explained = str(root._explain("26.05", path, error))
    assert said in explained
    assert "\n" not in explained


def test_the_mirror_is_one_that_serves_a_whole_debian() -> None:
    listing = """
http://one.example/debian-security/ trixie-security main
http://two.example/debian/ trixie-updates main
https://three.example/linux/debian/ trixie stable
cdrom:[disc]/ trixie main
https://four.example/node nodistro main
http://five.example/mirror/ trixie contrib
http://five.example/mirror/ trixie main
http://six.example/debian/ sid main
"""
    assert root.find_mirror(listing) == "http://five.example/mirror/"
    assert root.find_mirror("http://ubuntu.example/ noble main\n") is None


def test_ports_are_free_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_REST_CACHE", str(tmp_path))
    first = choose_ports(3)
    assert len(set(first.all())) == 7
    assert choose_ports(3, first) == first
    assert choose_ports(2, first) != first
    assert choose_ports(1, Ports(1, 2, 3, 22, (5, 6))).all() != (1, 2, 3, 22, 5)


@pytest.mark.parametrize("name", ["", "-x", "a/b", "..", "a b", "x" * 41, "a\n"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ClusterError, match="is no name for a cluster"):
        check_name(name)


def test_a_token_is_what_the_daemons_expect() -> None:
    import jwt

    claims = jwt.decode(sign(b"k" * 32, "alice", 60), b"k" * 32, algorithms=["HS256"])
    assert claims["sun"] == "alice"
    assert claims["exp"] - claims["iat"] == 60
    assert all(isinstance(claims[key], int) for key in ("exp", "iat"))
    with pytest.raises(jwt.ExpiredSignatureError):
        jwt.decode(sign(b"k" * 32, "alice", -1), b"k" * 32, algorithms=["HS256"])


def test_compose_publishes_on_loopback_only() -> None:
    text = (REPOSITORY / "docker-compose.yml").read_text()
    blocks = re.findall(r"^    ports:\n((?:      - .*\n)+)", text, re.MULTILINE)
    published = [line.strip() for block in blocks for line in block.splitlines()]
    assert len(published) == 4
    assert all(line.startswith('- "127.0.0.1:') for line in published)


def test_no_host_of_a_mirror_is_named() -> None:
    """Which mirror is used is the machine's own choice; services of the compose network have names, though."""
    folders = (REPOSITORY / "cluster", REPOSITORY / "deploy/compose")
    for path in (*(path for folder in folders for path in folder.iterdir()), REPOSITORY / "docker-compose.yml"):
        if path.is_file():
            text = re.sub(r"http://(127\.0\.0\.1|slurmrestd:|store:)", "", path.read_text())
            assert not re.search(r"https?://[a-z]", text), path


@pytest.mark.cluster
def test_what_debootstrap_mounts_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is killed unmounts nothing, and the folder with the machine's /proc in it would be removed."""
    fake = tmp_path / "bin/debootstrap"
    fake.parent.mkdir()
    target = tmp_path / "base"
    lines = ["#!/bin/sh", "[ $# -gt 2 ] || exit", f"mkdir -p {target}/proc", f"mount -t proc proc {target}/proc"]
    fake.write_text("\n".join([*lines, "exit 1", ""]))
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_REST_MIRROR", "http://mirror.example/debian")
    with pytest.raises(subprocess.CalledProcessError):
        root.make_base("24.11", target)
    assert (target / "proc").is_dir()
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@pytest.mark.cluster
def test_debootstrap_ends_with_whoever_started_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin/debootstrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n[ $# -gt 2 ] || exit\nmkfifo {tmp_path}/never\ncat {tmp_path}/never\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_REST_MIRROR", "http://mirror.example/debian")
    command = (
        "import sys; from pathlib import Path; from cluster import root; root.make_base('24.11', Path(sys.argv[1]))"
    )
    building = subprocess.Popen([sys.executable, "-c", command, str(tmp_path / "base")], cwd=REPOSITORY)

    def running() -> list[str]:
        shown = subprocess.run(["pgrep", "-f", f"cat {tmp_path}/never"], check=False, capture_output=True, text=True)
        return shown.stdout.split()

    assert wait_until(lambda: bool(running()), 120)
    building.kill()
    building.wait()
    assert wait_until(lambda: not running(), 120)
