"""The command as people run it: a process of its own against real clusters."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO

import pytest

from cluster.native import Cluster

COMMAND = [sys.executable, "-m", "slurm_rest"]
ODD_NAME = b"a\nb\x1b[31m|\"'\xff".decode("utf-8", "surrogateescape")


class Shell:
    """Runs the command for alice on one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        own = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        self.env = {
            **own,
            "SLURM_REST_URL": cluster.url,
            "SLURM_JWT": cluster.token("alice"),
            "SLURM_REST_WORKDIR": "/home/{user}",
            "TERM": "xterm",
            "COLUMNS": "80",
        }
        self.made: set[str] = set()

    def __call__(self, *arguments: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env={**self.env, **env},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            timeout=300,
        )
        if arguments[0] == "submit" and done.stdout.strip().isdigit():
            self.made.add(done.stdout.strip())
        return done

    def submit(self, *arguments: str) -> str:
        """Submit a job and return its id."""
        done = self("submit", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *arguments: str, **streams: int | IO[str]) -> subprocess.Popen[str]:
        """Start the command and return it while it runs."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen([*COMMAND, *arguments], env=self.env, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def shell(any_cluster: Cluster) -> Iterator[Shell]:
    """Return the command on each release; whatever it submitted is cancelled afterwards."""
    made = Shell(any_cluster)
    yield made
    if made.made:
        made("cancel", *made.made)


def test_from_submit_to_the_end(shell: Shell) -> None:
    job_id = shell.submit("-J", ODD_NAME, "-t", "5", "-n2", "--wrap", "sleep 1")

    shown = shell("status", job_id)
    assert shown.returncode == 0
    assert "a\\nb\\x1b[31m|\"'\\xff" in shown.stdout
    assert len(shown.stdout.splitlines()) == 2

    waited = shell("wait", job_id, job_id)
    assert waited.returncode == 0, waited.stderr
    assert "COMPLETED" in waited.stdout
    assert waited.stderr.splitlines()[-1].endswith("1 job: 1 COMPLETED")

    (record,) = json.loads(shell("status", "--json", job_id).stdout)
    assert (record["id"], record["state"], record["exit_code"]) == (int(job_id), "COMPLETED", 0)
    assert record["name"] == ODD_NAME


def test_arguments_and_variables_reach_the_job(shell: Shell) -> None:
    script = '#!/bin/sh\necho "$A|$1|$2" > "$HOME/cli-$SLURM_JOB_ID"\n'
    done = shell("submit", "-W", "-Q", "--env", "A=x y", "-", "one two", "--wrap", stdin=script)

    assert (done.returncode, done.stderr) == (0, "")
    name = f"/home/alice/cli-{done.stdout.strip()}"
    assert shell.cluster.exec(["cat", name], check=True).stdout == "x y|one two|--wrap\n"


@pytest.mark.parametrize(("end", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 1)])
def test_submit_wait_ends_as_the_job_did(shell: Shell, end: str, status: int) -> None:
    done = shell("submit", "--wait", "--wrap", end)
    assert done.returncode == status, done.stderr
    assert done.stdout.strip().isdigit()


def test_submit_wait_for_an_array_ends_with_the_highest_exit_code(shell: Shell) -> None:
    done = shell("submit", "-W", "-Q", "-a", "0-2", "--wrap", "exit $SLURM_ARRAY_TASK_ID")
    assert done.returncode == 2, done.stderr


def test_refusals_are_a_line_and_a_hint(shell: Shell) -> None:
    done = shell("submit", "-p", "nowhere", "--wrap", "true")
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = done.stderr.splitlines()
    assert "partition" in error
    assert hint == "hint: List partitions with: slurm-rest partitions"


def test_cancel_tells_what_came_of_each(shell: Shell) -> None:
    running, over = shell.submit("--wrap", "sleep 900"), shell.submit("-W", "-Q", "--wrap", "true")
    others = shell.cluster.exec(["sbatch", "--parsable", "-H", "--wrap", "true"], user="bob", check=True)
    foreign = others.stdout.strip()

    done = shell("cancel", running, over, "67000000", foreign)

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:3] == [f"{running}  cancelled", f"{over}  already over", "67000000  no such job"]
    assert lines[3].startswith(f"{foreign}  not allowed")
    assert shell("cancel", running, over).returncode == 0
    shell.cluster.exec(["scancel", foreign], check=True)


def test_listings(shell: Shell) -> None:
    mine = shell.submit("-H", "-J", "listed", "--wrap", "true")
    others = shell.cluster.exec(["sbatch", "--parsable", "-H", "--wrap", "true"], user="bob", check=True)
    foreign = others.stdout.strip()

    def ids(*arguments: str) -> set[str]:
        done = shell("jobs", *arguments)
        assert done.returncode == 0, done.stderr
        return {line.split()[0] for line in done.stdout.splitlines()[1:]}

    assert mine in ids()
    assert foreign not in ids("-t", "PD")
    assert {mine, foreign} <= ids("-a", "-t", "pending")
    assert ids("-n", "listed", "-t", "PD") == {mine}
    assert {node["name"] for node in json.loads(shell("nodes", "--json").stdout)} == set(shell.cluster.nodes)
    assert "normal" in shell("partitions").stdout
    shell.cluster.exec(["scancel", foreign], check=True)


def test_ping_and_version(shell: Shell) -> None:
    done = shell("ping")
    assert (done.returncode, done.stderr) == (0, "")
    told = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()[1:5]}
    assert told == {"token": "ok", "controller": "ok", "accounting": "ok", "files": "nowhere"}
    assert f"Slurm {shell.cluster.release}" in done.stdout
    assert f"Slurm {shell.cluster.release}" in shell("version", "--server").stdout


def test_ping_tells_tokens_apart(shell: Shell) -> None:
    def said(token: str) -> str:
        done = shell("ping", SLURM_JWT=token)
        assert done.returncode == 1
        return done.stdout

    assert "The token expired at" in said(shell.cluster.token("alice", lifespan=-60))
    assert "not signed with this cluster's key" in said(shell.cluster.token("alice")[:-6] + "AAAAAA")
    assert "slurmrestd wants a token" in said_without_token(shell)


def said_without_token(shell: Shell) -> str:
    del shell.env["SLURM_JWT"]
    return shell("ping").stdout


def test_a_reader_that_leaves_is_no_matter(shell: Shell) -> None:
    process = shell.start("nodes", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(300) == 1
    process.stderr.close()


def test_any_encoding_will_do(shell: Shell) -> None:
    job_id = shell.submit("-H", "-J", "café", "--wrap", "true")
    done = shell("status", job_id, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, "")
    assert "caf\\xe9" in done.stdout


def test_interrupting_a_wait_leaves_the_job_alone(shell: Shell) -> None:
    job_id = shell.submit("--wrap", "sleep 900")
    process = shell.start("wait", job_id)
    assert process.stderr is not None
    while "RUNNING" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)

    out, err = process.communicate(timeout=300)

    assert (process.returncode, out) == (130, "")
    assert err.splitlines() == [
        f"slurm-rest: interrupted: job {job_id} goes on",
        f"hint: Cancel it with: slurm-rest cancel {job_id}",
    ]
    assert "RUNNING" in shell("status", job_id).stdout


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_terminal_gets_its_cursor_back(shell: Shell, sent: signal.Signals, status: int) -> None:
    job_id = shell.submit("--wrap", "sleep 900")
    ours, theirs = pty.openpty()
    process = shell.start("wait", job_id, stderr=theirs)
    os.close(theirs)
    read = b""
    while b"RUNNING" not in read:
        read += os.read(ours, 4096)
    process.send_signal(sent)

    out, _ = process.communicate(timeout=300)
    # All at once: a piece may end within a character.
    seen = (read + b"".join(_rest(ours))).decode()

    assert (process.returncode, out) == (status, "")
    assert "0/1" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")
    assert "Traceback" not in seen


def _rest(terminal: int) -> Iterator[bytes]:
    """Return what is still to be read; Linux ends that with an error once the other side is closed."""
    try:
        while chunk := os.read(terminal, 4096):
            yield chunk
    except OSError:
        pass
    finally:
        os.close(terminal)


def test_ping_does_not_let_one_daemon_hide_the_other(own_cluster: Callable[..., Cluster]) -> None:
    cluster = own_cluster("26.05")
    shell = Shell(cluster)

    with cluster.stopped("slurmctld"):
        process = shell.start("ping")
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(3)]
        # Said long before slurmrestd has given up on slurmctld.
        assert re.match(r" +accounting +ok", told[2])
        assert process.poll() is None
        out, err = process.communicate(timeout=300)

    assert (process.returncode, err) == (1, "")
    assert re.match(r" +controller +FAILED +slurmrestd cannot reach slurmctld", out)
    with cluster.stopped("slurmdbd"):
        done = shell("ping", "--json")
    (rest,) = json.loads(done.stdout)["transports"]
    assert {check["name"]: check["error"] for check in rest["checks"]} == {
        "token": None,
        "controller": None,
        "accounting": "AccountingDown",
    }
