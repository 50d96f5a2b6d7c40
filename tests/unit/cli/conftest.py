"""The command run in this process, against answers of a slurmrestd that is not there."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import respx

from slurm_rest.cli import main
from tests.unit.cli.server import URL, VERSION, Result, Run, Server, token


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave nothing of the caller's own settings in force."""
    for name in ("CLUSTER", "USER", "TOKEN_FILE", "TOKEN_COMMAND", "JWT_KEY_FILE", "TRANSPORT", "DEBUG", "CA_FILE"):
        monkeypatch.delenv(f"SLURM_REST_{name}", raising=False)
    for name, value in {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "SLURM_REST_URL": URL,
        "SLURM_REST_API_VERSION": VERSION,
        "SLURM_REST_WORKDIR": "/home/{user}",
        "SLURM_REST_ENVIRONMENT": "login",
        "SLURM_JWT": token(),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a slurmrestd that answers a ping and knows no job."""
    fake = Server()
    up = {"hostname": "ctl1", "responding": True, "primary": True, "latency": 900, "mode": "primary", "pinged": "UP"}
    fake.answer("GET", "/slurm/ping/", {"pings": [up]})
    fake.answer("GET", "/slurmdb/clusters/", {"clusters": []})
    fake.answer("GET", "/slurm/diag/", {"statistics": {"jobs_pending": 1, "jobs_running": 1}})
    fake.jobs()
    with respx.mock(assert_all_called=False) as router:
        router.route().mock(side_effect=fake.reply)
        yield fake


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command with these arguments, and ``stdin`` as its standard input."""

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return call
