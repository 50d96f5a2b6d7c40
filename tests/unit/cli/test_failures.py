from __future__ import annotations

import io
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slurm_rest.cli import main, terminal
from slurm_rest.cli.failures import in_options
from slurm_rest.client import AsyncSlurmClient
from slurm_rest.tables import NodeTable
from tests.unit.cli.server import Run, Server

COMMANDS = ["cancel", "convert", "history", "jobs", "logs", "nodes", "partitions", "ping", "status", "submit", "token"]
COMMANDS += ["version", "wait"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert f"Usage: slurm-rest {command}" in result.out
    assert f"  {command} " in run("--help").out
    assert "..." not in next(line for line in run("--help").out.splitlines() if line.startswith(f"  {command} "))


def test_help_says_how_to_complete(run: Run) -> None:
    assert "_SLURM_REST_COMPLETE=bash_source slurm-rest" in run("--help").out


def test_no_command_shows_help_as_wrong_usage(run: Run) -> None:
    result = run()
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("Usage: slurm-rest ")


@pytest.mark.parametrize("words", [["jobs", "--limit", "x"], ["logs", "-n", "x", "7"]])
def test_what_is_no_number_is_said_plainly(run: Run, words: list[str]) -> None:
    assert "'x' is no whole number\n" in run(*words).err


def test_an_unknown_command_is_a_matter_of_usage(run: Run) -> None:
    result = run("stauts")
    assert result.status == 2
    assert result.err == "slurm-rest: error: no such command: stauts\nhint: Did you mean status?\n"


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("squeue", "jobs"),
        ("queue", "jobs"),
        ("sinfo", "nodes or partitions"),
        ("info", "status, nodes or partitions"),
        ("sacct", "history"),
        ("scancel", "cancel"),
        ("sbatch", "submit"),
        ("scontrol", "status, nodes or partitions"),
    ],
)
def test_slurms_own_commands_are_told_what_they_are_called_here(run: Run, word: str, ours: str) -> None:
    result = run(word, "show", "job")
    assert result.status == 2
    assert result.err == f"slurm-rest: error: no such command: {word}\nhint: Here it is: slurm-rest {ours}\n"


@pytest.mark.parametrize("name", ["hpc", "my hpc"])
def test_a_cluster_without_a_profile_file_is_told_what_to_write(run: Run, tmp_path: Path, name: str) -> None:
    result = run("--cluster", name, "ping")

    found = re.search(r"(\[clusters\..*\]) and, below it, (url = \S+\")\.", result.err)
    assert found, result.err
    path = tmp_path / "config" / "slurm-rest" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(found.groups()).replace("HOST", "slurm.test"))
    assert "is asked for" not in run("--cluster", name, "ping").err


@pytest.mark.parametrize("command", ["nodes", "submit"])
def test_an_option_behind_the_command_is_told_where_it_goes(run: Run, command: str) -> None:
    result = run(command, "--url", "http://x")
    assert result.status == 2
    assert f"in front of the command: slurm-rest --url ... {command}" in result.err


def test_no_server_is_one_line_and_a_hint(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_REST_URL")
    result = run("nodes")
    assert result.status == 1
    error, hint = result.err.splitlines()
    assert error == "slurm-rest: error: No slurmrestd is configured"
    assert hint.startswith("hint: Set SLURM_REST_URL")
    assert "--url" in hint
    assert "SLURM_REST_SSH_HOST" in hint
    assert run("ping").err == result.err


def test_one_way_is_chosen_in_front_of_the_command(run: Run) -> None:
    result = run("--transport", "rest", "--ssh-host", "login.test", "ping")
    assert result.out.startswith("rest ")
    assert "ssh" not in result.out.split("files")[0]
    result = run("--transport", "http", "nodes")
    assert result.status == 2
    assert "'http' is not one of 'auto', 'rest', 'ssh', 'cli'" in result.err


def broken(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    async def nodes(self: AsyncSlurmClient) -> object:
        raise error

    monkeypatch.setattr(AsyncSlurmClient, "nodes", nodes)


def test_a_fault_of_ours_is_called_a_bug(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, KeyError("x\n\x1b"))

    result = run("nodes")

    assert result.status == 1
    error, hint = result.err.splitlines()
    assert error.startswith("slurm-rest: error: unexpected KeyError: ")
    assert "this is a bug" in error
    assert "SLURM_REST_DEBUG=1" in hint
    assert "Traceback" not in result.err


def test_the_traceback_is_shown_on_demand(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, KeyError("x"))
    monkeypatch.setenv("SLURM_REST_DEBUG", "1")
    assert "Traceback" in run("nodes").err


def test_an_interrupt_is_no_traceback(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, KeyboardInterrupt())
    result = run("nodes")
    assert (result.status, result.out, result.err) == (130, "", "slurm-rest: interrupted\n")


class Broken(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def write(self, _text: str) -> int:
        raise self._error


def test_a_reader_that_left_is_no_matter(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer("GET", "/slurm/partitions/", {"partitions": []})
    monkeypatch.setattr(sys, "stdout", Broken(BrokenPipeError()))
    result = run("partitions", "--json")
    assert (result.status, result.err) == (1, "")


def test_a_full_disk_is_told(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(OSError(28, "No space left on device")))
    result = run("version")
    assert result.status == 1
    assert result.err == "slurm-rest: error: cannot write to standard output: No space left on device\n"


def test_an_id_that_cannot_be_printed_is_not_lost(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer("POST", "/slurm/job/submit", {"job_id": 12})
    server.answer("GET", "/slurm/job/12", {"jobs": []})
    monkeypatch.setattr(sys, "stdout", Broken(OSError(28, "No space left on device")))

    result = run("submit", "--wrap", "true")

    assert result.status == 1
    assert "job 12 is submitted" in result.err


def test_a_closed_stdout_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run("version").err == "slurm-rest: error: cannot write to standard output: it is closed\n"


def test_the_librarys_warnings_are_lines_of_this_command(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nodes(self: AsyncSlurmClient) -> NodeTable:
        for _ in range(2):
            logging.getLogger("slurm_rest").warning("no news of %s", "n\x1b1")
        return NodeTable()

    monkeypatch.setattr(AsyncSlurmClient, "nodes", nodes)

    assert run("nodes").err == "slurm-rest: warning: no news of n\\x1b1\n"


def test_requests_are_told_on_demand(run: Run, server: Server) -> None:
    server.answer("GET", "/slurm/nodes/", {"nodes": []})
    told = run("-vv", "nodes").err
    assert "GET /slurm/v0.0.42/nodes/: HTTP 200" in told
    assert run("nodes").err == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Pass it (time=..., nodes=...) now.", "Pass it (--time=..., --nodes=...) now."),
        ("Check account=, or ask.", "Check --account, or ask."),
        ("Check qos=.", "Check --qos."),
        ("or pass url=.", "or pass --url."),
        ("Try again with the same idempotency_key.", "Try again with the same --idempotency-key."),
        ("limit=None and SLURM_JWT=x, --time=3", "limit=None and SLURM_JWT=x, --time=3"),
    ],
)
def test_hints_speak_of_options(text: str, shown: str) -> None:
    assert in_options(text) == shown


def test_one_line_is_one_line() -> None:
    assert terminal.one_line(" a\r\n  b\x1b[0m\tc\udcff ") == "a b\\x1b[0m\\tc\\xff"


@pytest.mark.parametrize("arguments", [["--help"], ["submit", "--help"], ["version"], ["status", "x"]])
def test_nothing_heavy_is_loaded_before_it_is_needed(arguments: list[str]) -> None:
    script = (
        "import sys; from slurm_rest.cli import main; status = main(sys.argv[1:]);"
        "heavy = {'rich', 'httpx', 'pydantic', 'jwt', 'slurm_rest.client'} & set(sys.modules);"
        "sys.exit(f'{heavy} loaded' if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_package_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "slurm_rest", "version"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("slurm-rest ")
    usage = subprocess.run([*words, "--nope"], capture_output=True, text=True, check=False)
    assert (usage.returncode, usage.stdout) == (2, "")


@pytest.mark.parametrize("arguments", [("jobs",), ("nodes",), ("version",), ("jobs", "--json")])
def test_a_stdout_that_is_closed(
    arguments: tuple[str, ...], server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer("GET", "/slurm/nodes/", {"nodes": []})
    monkeypatch.setattr(sys, "stdout", None)
    assert main(arguments) == 1
    assert capsys.readouterr().err == "slurm-rest: error: cannot write to standard output: it is closed\n"


def test_an_interrupt_while_the_command_is_loaded_is_no_traceback() -> None:
    """click is the first thing that takes time to load; here it is interrupted once."""
    program = """
import builtins, sys
from slurm_rest.cli import main
real, left = builtins.__import__, ["click"]
def interrupted(name, *rest, **more):
    if left and name == left[0]:
        left.clear()
        raise KeyboardInterrupt
    return real(name, *rest, **more)
builtins.__import__ = interrupted
sys.exit(main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "slurm-rest: interrupted\n")
