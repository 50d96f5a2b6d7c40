"""How the prepared database is named, made and copied; nothing here needs root."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from cluster import prime
from cluster.errors import ClusterError


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a root, in a cache of its own."""
    monkeypatch.setenv("SLURM_REST_CACHE", str(tmp_path))
    root = tmp_path / "roots/24.11-abc"
    root.mkdir(parents=True)
    return root


def building(argv: list[str]) -> Path:
    """Return the folder that the command under way is given to fill."""
    return Path(argv[-1])


def test_its_name_follows_the_root_and_the_script(
    debian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = prime.prime_path(debian)
    assert before.parent == debian.parent
    assert before.name.startswith("24.11-abc.accounting-")
    assert prime.prime_path(debian.with_name("24.11-def")) != before
    (tmp_path / "start").write_text("another script")
    monkeypatch.setattr(prime, "HERE", tmp_path)
    assert prime.prime_path(debian) != before


def test_it_is_made_once(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def make(argv: list[str], **_: object) -> None:
        (building(argv) / "sparse").mkdir()
        (building(argv) / "database").mkdir()
        made.append(building(argv))

    left = debian.parent / ".priming-24.11-abc-1"
    left.mkdir()
    monkeypatch.setattr(subprocess, "run", make)
    assert prime.ensure_prime(debian) == prime.ensure_prime(debian) == prime.prime_path(debian)
    assert prime.prime_path(debian).is_dir()
    assert len(made) == 1
    assert not made[0].exists()
    assert not left.exists()


@pytest.mark.parametrize(
    ("printed", "error", "said"),
    [
        (
            "cp: error writing 'x': No space left on device",
            subprocess.CalledProcessError(1, "sh"),
            "the disk became full",
        ),
        ("", OSError(errno.ENOSPC, "full"), "the disk became full"),
        (
            "start: slurmdbd has ended: fatal",
            subprocess.CalledProcessError(1, "sh"),
            "(start: slurmdbd has ended: fatal)",
        ),
        ("", subprocess.TimeoutExpired("sh", 1), "could not be prepared (no output); read "),
    ],
)
def test_a_failure_is_explained_and_leaves_nothing(
    debian: Path, monkeypatch: pytest.MonkeyPatch, printed: str, error: Exception, said: str
) -> None:
    def fail(argv: list[str], **options: object) -> None:
        (building(argv) / "database").mkdir()
        os.write(options["stdout"].fileno(), printed.encode())  # type: ignore[attr-defined]  # the log that was opened
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ClusterError) as raised:
        prime.ensure_prime(debian)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not prime.prime_path(debian).exists()
    assert not list(debian.parent.glob(".priming*"))


def test_a_cluster_gets_a_copy_once(tmp_path: Path) -> None:
    source, data = tmp_path / "prime", tmp_path / "data"
    source.mkdir()
    with (source / "ibdata1").open("wb") as file:
        file.write(b"head")
        file.truncate(8 << 20)
    (data / "database.new").mkdir(parents=True)  # a copy that was cut off
    (data / "database.new/half").touch()
    (data / "registered").touch()
    prime.lay_down(source, data)
    copy = data / "database/ibdata1"
    assert copy.read_bytes()[:5] == b"head\0"
    assert copy.stat().st_size == 8 << 20
    assert copy.stat().st_blocks * 512 < 1 << 20
    assert {entry.name for entry in data.iterdir()} == {"database", "primed"}
    copy.write_bytes(b"in use")
    (data / "primed").unlink()
    prime.lay_down(source, data)
    assert copy.read_bytes() == b"in use"
    assert not (data / "primed").exists()


def test_a_copy_that_fails_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"could not be copied \(cp: .*prime.*\); see that .*data can be written"):
        prime.lay_down(tmp_path / "prime", tmp_path / "data")
    assert not (tmp_path / "data/database").exists()
    assert not (tmp_path / "data/primed").exists()
