"""The transport over commands, with fakes of Slurm's commands on the path of a real shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slurm_rest.errors import AccountingDown, AnswerTooLarge, CommandMissing, ControllerDown, ProtocolError
from slurm_rest.sbatch import JobSpec
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.cli import LocalRunner
from slurm_rest.transport.command_line import CommandTransport, Runner
from slurm_rest.transport.shell import Wrapped

KEY = "slurm-rest:" + "0" * 20
VERSION = 'case $1 in --version) echo "slurm-wlm 24.11.5";; *) echo "ClusterName             = c";; esac'

Fake = Callable[..., CommandTransport]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Return a function that makes a transport whose host has these commands, as shell texts, and no others."""

    def make(**texts: str) -> CommandTransport:
        for name, text in {"scontrol": VERSION, "squeue": "exit 1", **texts}.items():
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/calls\n{text}\n")
            path.chmod(0o755)
        return CommandTransport(LocalRunner(["/usr/bin/env", f"PATH={tmp_path}:/usr/bin:/bin", "/bin/sh", "-c"]))

    return make


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[str]]:
    return lambda: (tmp_path / "calls").read_text().split() if (tmp_path / "calls").exists() else []


def job(**options: object) -> PreparedJob:
    spec = JobSpec("#!/bin/sh\n", **options)  # type: ignore[arg-type]  # whatever a test wants to set
    made = {"environment": ["A=1"], "current_working_directory": "/w", "name": "n", "comment": KEY}
    return PreparedJob({"script": spec.script, "job": made}, KEY, spec=spec)


class Breaking:
    """A runner whose connection breaks under so many commands, after they have run."""

    name, user, where = "ssh", "alice", "login"

    def __init__(self, runner: Runner, times: int) -> None:
        self._runner, self._times = runner, times

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        stdout, stderr = await self._runner.execute(line, program, timeout)
        self._times -= 1
        return (stdout, stderr) if self._times < 0 else (stdout[: len(stdout) // 2], b"")

    async def close(self) -> None:
        await self._runner.close()


def breaking(transport: CommandTransport, times: int) -> CommandTransport:
    transport.runner = Breaking(transport.runner, times)
    return transport


async def test_a_read_that_broke_off_is_asked_once_more(fake: Fake, calls: Callable[[], list[str]]) -> None:
    rows = await breaking(fake(squeue="echo 5 5 RUNNING"), 1).states([5])
    assert [row.job_id for row in rows] == [5]
    assert calls() == ["squeue", "squeue"]


async def test_a_read_that_always_breaks_off_fails(fake: Fake, calls: Callable[[], list[str]]) -> None:
    with pytest.raises(ProtocolError):
        await breaking(fake(squeue="echo 5 5 RUNNING"), 9).states([5])
    assert calls() == ["squeue", "squeue"]


async def test_80_mb_are_refused_and_not_asked_for_again(fake: Fake, calls: Callable[[], list[str]]) -> None:
    with pytest.raises(AnswerTooLarge, match="more than 64 MiB"):
        await fake(squeue="head -c 80000000 /dev/zero").states([5])
    assert calls() == ["squeue"]


async def test_an_empty_answer_with_a_bad_status_is_not_no_jobs(fake: Fake) -> None:
    with pytest.raises(ProtocolError, match="exit status 1"):
        await fake(squeue="exit 1").states([5])
    said = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    with pytest.raises(ControllerDown):
        await fake(squeue=f"echo '{said}' >&2; exit 1").describe([5])


async def test_a_missing_command_is_named(fake: Fake) -> None:
    with pytest.raises(CommandMissing, match="no sbatch"):
        await fake().submit(job())


async def test_nothing_is_asked_for_no_jobs(fake: Fake, calls: Callable[[], list[str]]) -> None:
    transport = fake()
    assert await transport.states([]) == []
    assert await transport.describe([]) == []
    assert await transport.cancel([]) == []
    assert calls() == []


async def test_a_waiting_job_is_not_signalled(fake: Fake, calls: Callable[[], list[str]]) -> None:
    transport = fake(squeue="echo 5 5 PENDING; echo 6 6 RUNNING", scancel="echo $* > ${0%/*}/sent")
    results = await transport.cancel([5, 6], "USR1")
    assert [result.outcome for result in results] == ["denied", "signalled"]
    assert calls() == ["squeue", "scancel"]


async def test_accounting_that_is_away_does_not_hide_what_the_controller_says(fake: Fake) -> None:
    transport = fake(squeue="exit 0", sacct="echo 'sacct: error: Problem talking to the database' >&2; exit 1")
    with pytest.raises(AccountingDown):
        await transport.describe([5])


async def test_environment_and_script_reach_sbatch_apart(fake: Fake, tmp_path: Path) -> None:
    text = "cat > ${0%/*}/script; cat <&3 > ${0%/*}/env; printf '%s\\n' \"$@\" > ${0%/*}/argv; echo '7;east'"
    found = await fake(sbatch=text).submit(job(export="NONE", wait=True, time=5))
    assert (found.job_id, found.cluster) == (7, "east")
    assert (tmp_path / "script").read_text() == "#!/bin/sh\n"
    assert (tmp_path / "env").read_bytes() == b"A=1\0SLURM_JOB_NAME=n\0"
    words = (tmp_path / "argv").read_text().splitlines()
    assert {"--parsable", "--chdir=/w", f"--comment={KEY}", "--export=ALL", "--export-file=3"} <= set(words)
    assert not {word for word in words if word.startswith(("--wait", "--export=NONE"))}
