"""The server as a command and as a pytest plugin."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm_rest import SlurmClient
from slurm_rest.testing import FakeSlurm
from slurm_rest.testing.server import main
from slurm_rest.testing.shapes import fill, shape, versions_of

USERS_TESTS = """
import pytest
from slurm_rest.testing import FakeCluster

pytest_plugins = "slurm_rest.testing.plugin"

@pytest.fixture
def fake_slurm_cluster():
    return FakeCluster("24.11", nodes=1)

def test_it(fake_slurm, fake_slurm_client):
    job = fake_slurm_client.submit("#!/bin/sh\\necho hello\\n")
    assert job.wait(timeout=120).state.is_success
    assert job.stdout() == "hello\\n"
    assert (fake_slurm.home() / f"slurm-{job.id}.out").exists()
    assert [node.name for node in fake_slurm_client.nodes()] == ["n1"]

def test_another(fake_slurm_client):
    assert fake_slurm_client.states() == {}
"""


def settings_of(text: str) -> dict[str, str]:
    pairs = (line.removeprefix("export ").partition("=") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


@contextlib.contextmanager
def running(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process whose end is not waited for when the test has failed already."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_command_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "slurm_rest.testing.server", "--user", "alice", "--release", "24.11"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with running(command, env) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        settings = settings_of("".join(server.stdout.readline() for _ in range(6)))
        with SlurmClient(
            settings["SLURM_REST_URL"], token=settings["SLURM_JWT"], workdir=settings["SLURM_REST_WORKDIR"]
        ) as client:
            job = client.submit('#!/bin/sh\necho "$USER"\n')
            record = job.wait(timeout=120)
        assert Path(record.stdout or "").read_text() == "alice\n"
        assert Path(record.stdout or "").is_relative_to(tmp_path)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=120) == 0
        assert server.stderr.read().splitlines() == [
            f"a simulation of Slurm 24.11.5 at {settings['SLURM_REST_URL']}; jobs run as this user"
        ]
    assert list(tmp_path.iterdir()) == [], "its files are gone"


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with FakeSlurm() as slurm:
        port = slurm.url.rpartition(":")[2]
        assert main(["--port", port]) == 1
    assert "cannot listen" in capsys.readouterr().err


def test_a_key_file_that_cannot_be_read_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert main(["--key-file", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == (
        f"slurm_rest.testing.server: cannot read {tmp_path / 'none'}: No such file or directory\n"
    )


def test_without_its_extra_the_server_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main([]) == 1
    assert "pip install 'slurm-rest-client[testing]'" in capsys.readouterr().err


def test_its_clients_see_nothing_of_the_developers_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who tries things on a cluster in the same shell, or has a profile, tests against the fake all the same."""
    profile = tmp_path / "slurm-rest" / "config.toml"
    profile.parent.mkdir()
    profile.write_text('[clusters.hpc]\nurl = "http://slurm.example"\nexit_records = "/nowhere"\n')
    for name, value in {
        "XDG_CONFIG_HOME": str(tmp_path),
        "SLURM_REST_USER": "root",
        "SLURM_REST_API_VERSION": "v0.0.45",
        "SLURM_REST_SSH_HOST": "login.example",
        "SLURM_REST_CLUSTER": "another",
        "SLURM_JWT": "a real token",
    }.items():
        monkeypatch.setenv(name, value)
    with FakeSlurm("24.11") as slurm, slurm.client() as client:
        assert client.settings.ssh_host == ""
        assert client.settings.exit_records is None
        job = client.submit("#!/bin/sh\n")
        assert slurm.jobs(job.id)[0].owner.name == "alice"
        for name, value in slurm.env.items():
            monkeypatch.setenv(name, value)
        assert os.environ["SLURM_REST_USER"] == "alice"


def test_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_users.py").write_text(USERS_TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:asyncio",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_fixed_token() -> None:
    with FakeSlurm(token="hush", key=b"not used, but 32 bytes long.....") as slurm:
        with slurm.client() as client:
            assert client.ping()[0].cluster == "fake"
        assert "hush" not in repr(slurm)
        assert slurm.env["SLURM_JWT"] == "hush"


def test_what_is_not_started_says_so() -> None:
    with pytest.raises(RuntimeError, match="not started"):
        _ = FakeSlurm().url


@pytest.mark.parametrize("release", ["24.11", "26.05"])
def test_values_take_the_form_of_the_version(release: str) -> None:
    for version in versions_of(release):
        values = {"job_id": 7, "time_limit": float("inf"), "array_task_id": None, "step_id/step_id": "x", "no": 1}
        record = fill(shape(release, version, "job"), values)
        assert record["job_id"] == 7
        assert record["time_limit"] == {"set": False, "infinite": True, "number": 0}
        assert record["array_task_id"] == {"set": False, "infinite": False, "number": 0}
        assert "no" not in record
        assert ("step_id" in record) == (version in ("v0.0.44", "v0.0.45"))
