from __future__ import annotations

import re
from pathlib import Path

import pytest

from slurm_rest.sbatch.option import NONE, Option
from slurm_rest.sbatch.options import OPTIONS
from tests.unit.cli.server import Run, Server

# --- what a script says ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "#SBATCH -N 2\n#SBATCH --xyzzy",
            "Line 3: sbatch has no option --xyzzy\nhint: sbatch --help lists them.",
        ),
        ("#SBATCH --partiton=x", "Line 2: sbatch has no option --partiton\nhint: Did you mean --partition?"),
        ("#SBATCH -t soon", "Line 2: Invalid --time specification 'soon': it takes minutes"),
        ("\n# x\n#SBATCH -N 2 stray", "Line 4: Invalid directive found in batch script: stray"),
        ("#SBATCH --hold=yes", "Line 2: --hold takes no value, but 'yes' was given"),
        ("#SBATCH --comment='a", "Line 2: an unmatched '"),
        ("#SBATCH --time", "Line 2: --time needs a value"),
    ],
)
def test_what_is_wrong_in_a_script_names_line_and_word(run: Run, server: Server, lines: str, message: str) -> None:
    result = run("submit", stdin=f"#!/bin/sh\n{lines}\n".encode())

    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"slurm-rest: error: {message}")
    assert not server.requests


def test_a_wrong_variable_is_named(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_TIMELIMIT", "soon")
    result = run("submit", "--wrap", "true")
    assert result.status == 2
    assert "SBATCH_TIMELIMIT=soon" in result.err
    assert not server.requests


# --- what is no script ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The script is empty"),
        (b" \n", "only white space"),
        (b"echo\n", "does not start with #!"),
        ("#!/bin/sh\n".encode("utf-16"), "does not start with #!"),
        (b"\x7fELF\0\0", "does not start with #!"),
        (b"#!/bin/sh\n\0", "NUL"),
        (b"#!/bin/sh\r\n", "DOS line ends"),
        (b"#!/bin/sh\n".ljust(4 * 1024 * 1024 + 1, b"#"), "larger than 4194304 bytes"),
    ],
    ids=lambda value: repr(value)[:20],
)
@pytest.mark.parametrize("piped", [True, False])
def test_what_is_no_script_is_refused(
    run: Run, server: Server, tmp_path: Path, content: bytes, message: str, piped: bool
) -> None:
    path = tmp_path / "job.sh"
    path.write_bytes(content)

    result = run("submit", stdin=content) if piped else run("submit", str(path))

    assert result.status == 1
    assert message in result.err
    assert len(result.err.splitlines()) == 2
    assert not server.requests


@pytest.mark.parametrize(("name", "reason"), [(".", "Is a directory"), ("none", "No such file"), ("f/x", "Not a dir")])
def test_a_script_that_cannot_be_read_is_named(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").touch()

    result = run("submit", name)

    assert result.status == 1
    error, hint = result.err.splitlines()
    assert error.startswith(f"slurm-rest: error: Cannot read the script '{name}': {reason}")
    assert hint == "hint: Name a script, or use --wrap."


def test_an_empty_name_is_no_script(run: Run, server: Server) -> None:
    result = run("submit", "")
    assert result.status == 1
    assert "the name of the script is empty" in result.err


# --- wrong usage ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-n", "many"], "Invalid --ntasks specification 'many': it takes a whole number"),
        (["--begin", "yesterday"], "Invalid --begin specification 'yesterday'"),
        (["--begin", "1900000000"], "Invalid --begin specification"),
        (["--hold=yes"], "--hold takes no value, but 'yes' was given"),
        (["-n"], "-n needs a value"),
        (["--mem", "1G", "--mem-per-cpu", "1G"], "--mem and --mem-per-cpu exclude each other"),
        (["--partiton=gpu"], "sbatch has no option --partiton\nhint: Did you mean --partition?\n"),
        (["-Z"], "sbatch has no option -Z"),
        (["--gp=1"], "--gp is ambiguous\nhint: It may be --gpu-bind,"),
        (["-J", "x" * 1025], "--job-name has 1025 bytes"),
        (["--comment", "x" * 1000], "--comment: "),
        (["--test-only"], "--test-only submits nothing"),
        (["--uid", "root"], "--uid is for root"),
        (["-D", "here"], "The job's directory 'here' is not absolute"),
        (["--export-file", "/no/such"], "--export-file: cannot read '/no/such': No such file"),
        (["--env", "=x"], "--env takes NAME=VALUE"),
    ],
)
def test_a_wrong_value_is_a_matter_of_usage(run: Run, server: Server, words: list[str], message: str) -> None:
    result = run("submit", "--wrap", "true", *words)

    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"slurm-rest: error: {message}")
    assert len(result.err.splitlines()) <= 2
    assert not server.requests


@pytest.mark.parametrize(
    "row", [row for row in OPTIONS if row.takes is not NONE and not row.inert], ids=lambda row: row.long
)
def test_no_word_of_python_reaches_the_command_line(run: Run, server: Server, row: Option) -> None:
    for word in ("", "\u00a7,x", "-1,,"):
        said = run("convert", f"--{row.long}={word}", "--wrap", "true").err
        assert not re.search(r"timedelta|datetime|\bTrue\b|\bFalse\b|\bNone\b|[a-z_]=[\s,.]", said), said
