"""Logins that do odd things before a program runs: on a real shell, without a host."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from slurm_rest.errors import ProtocolError
from slurm_rest.transport.shell import LINE, Finished, Program, quote, read_output, wrap


def login(program: Program, before: str = "", *, shell: str = "sh", **env: str) -> Finished:
    """Run a program behind what a profile does in the same session."""
    wrapped = wrap(program)
    given = {"PATH": os.environ["PATH"], **env}
    # Without buffering, as a channel hands it over: what a profile reads is missing behind it.
    ran = subprocess.run(
        [shell, "-c", f"{before}\n{LINE}"], input=wrapped.stdin, capture_output=True, check=False, env=given
    )
    return read_output(program, wrapped, ran.stdout, ran.stderr, "here")


def as_sh(tmp_path: Path, program: Program, **env: str) -> Finished:
    """Run a program where sh is bash, as on Red Hat's systems."""
    bash = shutil.which("bash")
    assert bash, "the project's own scripts need it as well"
    (tmp_path / "sh").symlink_to(bash)
    wrapped = wrap(program)
    line = LINE.replace("/bin/sh", str(tmp_path / "sh"))
    given = {"PATH": os.environ["PATH"], **env}
    ran = subprocess.run(["sh", "-c", line], input=wrapped.stdin, capture_output=True, check=False, env=given)
    return read_output(program, wrapped, ran.stdout, ran.stderr, "here")


@pytest.mark.parametrize("questions", [0, 1, 2, 4])
def test_a_profile_that_asks_is_answered(questions: int) -> None:
    done = login(Program("x", "echo $SQUEUE_FORMAT ran"), "read answer\n" * questions, SQUEUE_FORMAT="mine")
    assert (done.stdout, done.status) == ("ran\n", 0)


@pytest.mark.parametrize("read", [5, 40, 300, 600, 900, 1200])
def test_no_line_of_a_job_runs_where_a_profile_read_the_beginning(tmp_path: Path, read: int) -> None:
    lines = f"touch {quote([str(tmp_path / 'harm')])}\n" * 40
    program = Program("sbatch", f"printf %s {quote([lines])} >/dev/null")
    # Byte by byte, so that no more is gone than is meant.
    eats = f"dd bs=1 count={read} >/dev/null 2>&1"
    with pytest.raises(ProtocolError, match="did not start") as caught:
        login(program, eats)
    assert ".bashrc" in caught.value.hint
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("path", ["/nowhere", ""])
def test_a_path_without_the_systems_own_commands_will_do(path: str) -> None:
    wrapped = wrap(program := Program("x", "cat /dev/null && echo ran"))
    ran = subprocess.run(
        ["/bin/sh", "-c", LINE], input=wrapped.stdin, capture_output=True, check=False, env={"PATH": path}
    )
    assert read_output(program, wrapped, ran.stdout, ran.stderr, "here").stdout == "ran\n"


def test_options_are_read_as_gnu_does() -> None:
    assert login(Program("x", "echo ${POSIXLY_CORRECT-none}"), POSIXLY_CORRECT="1").stdout == "none\n"


def test_options_of_a_bash_are_not_handed_on(tmp_path: Path) -> None:
    done = as_sh(tmp_path, Program("x", "false; echo $NOTHING; exit 3"), SHELLOPTS="errexit:nounset:noglob")
    assert (done.stdout, done.status) == ("\n", 3)


def test_a_directory_that_is_gone_is_left(tmp_path: Path) -> None:
    gone = quote([str(tmp_path / "gone")])
    assert login(Program("x", "pwd"), f"mkdir {gone}; cd {gone}; rmdir {gone}").stdout == "/\n"


def test_errors_in_the_output_are_told(tmp_path: Path) -> None:
    for text in ("echo 1", "echo oops >&2; exit 1"):
        with pytest.raises(ProtocolError, match="mixes output and errors") as caught:
            login(Program("squeue", text), "exec 2>&1")
        assert "2>&1" in caught.value.hint
