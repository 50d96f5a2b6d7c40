"""The command ``scripts/cluster`` itself: what it prints, and the one line it says when something is missing."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cli import main
from cluster.native import Cluster
from cluster.space import read_holder, wait_until
from cluster.state import clusters_dir
from tests.support.cluster import SharedCluster

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = [sys.executable, str(REPOSITORY / "scripts/cluster")]
NAME = f"script-{os.getpid()}"

pytestmark = pytest.mark.cluster


def run(*words: str, before: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run scripts/cluster, with shell commands before it in a mount namespace of its own where some are given."""
    command = [*SCRIPT, *words]
    if before:
        command = ["unshare", "--mount", "sh", "-ec", f"{before}\nexec {shlex.join(command)}"]
    return subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **env})


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the only line of a failure: what is missing, and what to do."""
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("scripts/cluster: ")
    assert "; " in lines[0]
    return lines[0]


@pytest.fixture
def named() -> Iterator[str]:
    yield NAME
    run("down", NAME)


def test_a_cluster_from_up_to_down(named: str) -> None:
    assert f"cluster {named} is up after" in run("up", "--name", named, "--nodes", "1").stdout
    assert f"cluster {named} is already up" in run("up", "--name", named).stdout
    Cluster.find(named).service("slurmrestd").kill()
    Cluster.find(named).service("slurmctld").freeze()
    again = run("up", "--name", named).stdout
    assert f"slurmrestd of cluster {named} is stopped: starting it again" in again
    assert f"slurmctld of cluster {named} is frozen: starting it again" in again
    row = next(line.split() for line in run("status").stdout.splitlines() if named in line)
    assert row[1] == "24.11"
    assert row[4:] == ["running:", "munge", "database", "slurmdbd", "slurmctld", "slurmrestd", "sshd", "n1"]
    assert "slurmctld" in run("logs", named, "slurmctld").stdout
    assert "accounts of cluster" in one_line(run("logs", named, "accounts"))
    done = run("exec", named, "--user", "bob", "--", "sh", "-c", "id -un; pwd; exit 3")
    assert (done.returncode, done.stdout) == (3, "bob\n/home/bob\n")
    assert "already runs" in one_line(run("up", "--name", named, "--nodes", "2"))
    assert run("down", named).stdout == f"cluster {named} is gone\n"
    assert run("down", named).stdout == f"there is no cluster {named}\n"
    assert named not in run("status").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_start_that_is_broken_off(named: str, number: signal.Signals) -> None:
    with subprocess.Popen([*SCRIPT, "up", "--name", named], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
        assert wait_until(lambda: read_holder(clusters_dir() / named) is not None, 120)
        holder = read_holder(clusters_dir() / named)
        starting.send_signal(number)
        starting.communicate(timeout=120)
    assert holder is not None
    if number == signal.SIGINT:
        assert starting.returncode == 130
        assert not holder.alive()
        assert not (clusters_dir() / named).exists()
    else:
        assert f"cluster {named} is already up" in run("up", "--name", named).stdout
        assert holder.alive()


def test_clusters_of_a_test_session_are_not_meant_by_all(cluster_24_11: Cluster, named: str, tmp_path: Path) -> None:
    """In a cache of its own, because "all" are also the developer's own."""
    (tmp_path / "roots").symlink_to(Path(cluster_24_11.state.root).parent)
    (tmp_path / "clusters").mkdir()
    used = tmp_path / "clusters" / cluster_24_11.name
    used.symlink_to(cluster_24_11.folder)
    env = {"SLURM_REST_CACHE": str(tmp_path)}
    run("up", "--name", named, "--nodes", "1", **env)
    assert run("exec", "--", "hostname", **env).stdout == "login\n"
    assert run("down", "--all", **env).stdout == f"cluster {named} is gone\n"
    assert cluster_24_11.state.running()
    assert used.exists()


def test_env_prints_what_a_shell_can_take_in(cluster_24_11: Cluster) -> None:
    printed = run("env", cluster_24_11.name, "--user", "svc").stdout
    shell = f"{printed}\nenv"
    seen = subprocess.run(
        ["sh", "-c", shell], check=True, capture_output=True, text=True, env={"PATH": os.defpath}
    ).stdout
    values = dict(line.split("=", 1) for line in seen.splitlines())
    assert values["SLURM_REST_URL"] == cluster_24_11.url
    assert values["SLURM_REST_USER"] == values["SLURM_REST_SSH_USER"] == "svc"
    assert values["SLURM_REST_SSH_PORT"] == str(cluster_24_11.ssh_port)
    assert Path(values["SLURM_REST_SSH_KEY_FILE"]).stat().st_mode & 0o077 == 0
    assert values["SLURM_JWT"].count(".") == 2


def test_status_shows_a_frozen_and_a_stopped_daemon(shared_cluster: SharedCluster) -> None:
    cluster = shared_cluster("24.11")
    with cluster.frozen("slurmdbd"), cluster.stopped("n2"):
        row = next(line for line in run("status").stdout.splitlines() if line.startswith(cluster.name))
        assert "frozen: slurmdbd; stopped: n2" in row


@pytest.mark.parametrize(
    "words",
    [
        ["up", "--slurm", "1.0"],
        ["up", "--nodes", "0"],
        ["up", "--conf", "NoValue"],
        ["nonsense"],
        ["exec", "some"],
        ["exec", "some", "words"],
        [],
    ],
)
def test_wrong_usage_is_2(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "usage: scripts/cluster" in done.stderr


def test_a_name_that_is_no_name() -> None:
    assert "is no name for a cluster" in one_line(run("up", "--name", "../other"))
    assert "no cluster absent is running" in one_line(run("env", "absent"))


def test_without_root() -> None:
    """Imported first, given up then: an interpreter below /root could not be started by anybody else."""
    code = (
        f"import sys, os; sys.path.insert(0, {str(REPOSITORY)!r}); from cluster.cli import main; "
        "os.setgid(65534); os.setuid(65534); sys.exit(main(['up']))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "needs root" in one_line(done)
    assert "sudo" in done.stderr


HIDE = 'for path in $HIDDEN; do [ ! -e "$path" ] || mount --bind "$MASK" "$path"; done'


def test_without_debootstrap(tmp_path: Path) -> None:
    mask = tmp_path / "mask"
    mask.write_text("")
    hidden = "/usr/sbin/debootstrap /usr/bin/debootstrap /usr/bin/apt-get"
    done = run("up", before=HIDE, HIDDEN=hidden, MASK=str(mask), SLURM_REST_CACHE=str(tmp_path / "cache"))
    assert "debootstrap is missing" in one_line(done)
    assert "install debootstrap" in done.stderr
    assert not list((tmp_path / "cache/clusters").glob("*"))


def test_without_debootstrap_and_apt_fails(tmp_path: Path) -> None:
    mask = tmp_path / "mask"
    mask.write_text("")
    fails = tmp_path / "fails"
    fails.write_text("#!/bin/sh\necho 'E: Unable to fetch' >&2\nexit 100\n")
    fails.chmod(0o755)
    before = f'{HIDE}; mount --bind "$FAILS" /usr/bin/apt-get'
    env = {"HIDDEN": "/usr/sbin/debootstrap", "MASK": str(mask), "FAILS": str(fails)}
    done = run("up", before=before, SLURM_REST_CACHE=str(tmp_path / "cache"), **env)
    assert "apt-get could not install it (E: Unable to fetch)" in one_line(done)


def test_without_space(tmp_path: Path) -> None:
    small = 'mount -t tmpfs -o size=20m tmpfs "$SLURM_REST_CACHE"'
    done = run("up", before=small, SLURM_REST_CACHE=str(tmp_path))
    assert "GB free, a Debian root needs" in one_line(done)


@pytest.mark.parametrize(
    ("megabytes", "what"),
    [
        pytest.param(4, "the database was copied", id="for the copy of the database"),
        # MariaDB makes a file of 12 MB at its start.
        pytest.param(15, "cluster slurm-24-11 started", id="for the database's own files"),
    ],
)
def test_the_disk_becomes_full_at_the_start(tmp_path: Path, cluster_24_11: Cluster, megabytes: int, what: str) -> None:
    """The root is there, but not the space for a database."""
    roots = Path(cluster_24_11.state.root).parent
    small = f'mount -t tmpfs -o size={megabytes}m tmpfs "$SLURM_REST_CACHE"; ln -s {roots} "$SLURM_REST_CACHE/roots"'
    after = f'{small}; trap "ls \\"$SLURM_REST_CACHE\\"" EXIT'
    done = run("up", before=after, SLURM_REST_CACHE=str(tmp_path))
    assert f"the disk became full while {what}" in one_line(done)


def test_a_full_disk_costs_a_cluster_nothing_of_what_it_had(tmp_path: Path, cluster_24_11: Cluster) -> None:
    """Data that cannot be read is thrown away at a start; data that there is no space to start with is not."""
    script, roots = shlex.join(SCRIPT), Path(cluster_24_11.state.root).parent
    folder = '"$SLURM_REST_CACHE/clusters/slurm-24-11"'
    # Six megabytes are left, and MariaDB makes its ibtmp1 of twelve.
    fill = "dd if=/dev/zero of=filler bs=1M 2>/dev/null && exit 9; truncate --size=-6M filler"
    steps = (
        f'mount -t tmpfs -o size=100m tmpfs "$SLURM_REST_CACHE"; ln -s {roots} "$SLURM_REST_CACHE/roots"',
        f"{script} up --nodes 1; trap '{script} down' EXIT",
        f"touch {folder}/data/kept; kill -KILL $(cut -d' ' -f1 {folder}/holder)",
        f'cd "$SLURM_REST_CACHE"; rm {folder}/data/database/ibtmp1; {fill}',
        f"{script} up && exit 9; rm filler",
        f"{script} up; ls {folder}/data",
    )
    command = ["unshare", "--mount", "sh", "-ec", "\n".join(steps)]
    env = {**os.environ, "SLURM_REST_CACHE": str(tmp_path)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert "the disk became full while cluster slurm-24-11 started" in done.stderr
    assert "\nkept\n" in done.stdout
    assert "starting without" not in done.stdout


def test_the_disk_becomes_full_while_the_database_is_prepared(tmp_path: Path, cluster_24_11: Cluster) -> None:
    root = Path(cluster_24_11.state.root)
    small = (
        'mount -t tmpfs -o size=20m tmpfs "$SLURM_REST_CACHE"; target="$SLURM_REST_CACHE/roots/$NAME"; '
        'mkdir -p "$target"; mount --bind "$ROOT" "$target"; trap "ls -A \\"$SLURM_REST_CACHE/roots\\"" EXIT'
    )
    done = run("up", before=small, SLURM_REST_CACHE=str(tmp_path), ROOT=str(root), NAME=root.name)
    assert "the disk became full while preparing the accounting database" in one_line(done)
    left = [name for name in done.stdout.split() if name.startswith((".priming", root.name))]
    assert [name for name in left if not name.endswith(".log")] == [root.name]


def test_without_network(tmp_path: Path) -> None:
    command = ["unshare", "--net", *SCRIPT, "up", "--slurm", "22.05"]
    env = {**os.environ, "SLURM_REST_CACHE": str(tmp_path)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert "the Debian mirror did not answer" in one_line(done)
    assert not list((tmp_path / "roots").glob("*-*"))
    assert not list((tmp_path / "roots").glob(".building*"))


def test_the_cache_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SLURM_REST_CACHE", str(blocked / "below"))
    assert main(["up"]) == 1
    assert capsys.readouterr().err.startswith("scripts/cluster: cannot use ")
