"""The exit record: the program that writes it, run by a real shell; what is read; and what the poller makes of it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

import pytest

from slurm_rest import OutcomeUnknown, watched
from slurm_rest.errors import JobNotFound, Unreachable
from slurm_rest.exit_files import ExitReader
from slurm_rest.exits import ExitRecord, name_of, read_exit_record, with_exit_record
from slurm_rest.followed import Followed
from slurm_rest.identity import Identity
from slurm_rest.models import JobInfo
from slurm_rest.poller import Poller
from slurm_rest.watching import wait

from .memory import Memory, QuickClock

KEY = "slurm-rest:0123456789abcdef"
THEN = datetime(2026, 3, 1, tzinfo=timezone.utc)


class Batch:
    """Runs a script as slurmstepd does: the file itself, with the environment that the submission gives it."""

    def __init__(self, tmp_path: Path) -> None:
        self.directory = tmp_path / "it's a directory" / "exits"
        self.file = tmp_path / "slurm_script"

    def start(self, script: str, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        text, entry = with_exit_record(script, str(self.directory), KEY)
        self.file.write_text(text)
        self.file.chmod(0o700)
        name, _, program = entry.partition("=")
        env = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", name: program, **(environ or {})}
        return subprocess.Popen(
            [self.file, *arguments],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def record(self, name: str = "7.json") -> ExitRecord | None:
        path = self.directory / name
        return read_exit_record(path.read_bytes()) if path.exists() else None


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    return Batch(tmp_path)


@pytest.mark.parametrize("interpreter", ["/bin/sh", "/bin/bash -e", " /usr/bin/env bash "])
def test_a_script_runs_as_it_would_and_leaves_its_status(batch: Batch, interpreter: str) -> None:
    script = (
        f'#!{interpreter}\nread line; echo "$0|$1|$#|$line|${{LINENO:-2}}|${{SLURM_REST_RECORDER-none}}" >&2\nexit 3\n'
    )
    # The kernel's coarse clock, by which some programs tell the second, is a tick behind.
    before = int(time.time() - 0.1)
    job = batch.start(script, "a b", "", environ={"SLURM_RESTART_COUNT": "2"})
    _, told = job.communicate("typed\n", timeout=120)
    assert told == f"{batch.file}|a b|2|typed|2|none\n"
    assert job.returncode == 3
    found = batch.record()
    assert found is not None
    assert (found.label, found.key, found.restarts, found.status, found.signal) == ("7", KEY, 2, 3, "")
    assert before <= found.started.timestamp() <= found.ended.timestamp() <= time.time()
    assert [path.name for path in batch.directory.iterdir()] == ["7.json"]


def test_other_languages_are_run_by_their_own_interpreter(batch: Batch) -> None:
    job = batch.start("#!/usr/bin/env python3\nimport sys; print(sys.argv[1]); sys.exit(4)\n", "x")
    assert job.communicate(timeout=120) == ("x\n", "")
    found = batch.record()
    assert job.returncode == 4
    assert found is not None
    assert found.status == 4


def test_an_earlier_record_is_gone_while_the_job_runs(batch: Batch) -> None:
    batch.start("#!/bin/sh\nexit 3\n").communicate(timeout=120)
    assert batch.record() is not None
    job = batch.start("#!/bin/sh\necho started; read line\n")
    assert job.stdout is not None
    assert job.stdout.readline() == "started\n"
    assert batch.record() is None
    job.communicate("\n", timeout=120)
    assert batch.record() is not None


def test_a_task_has_a_record_of_its_own(batch: Batch) -> None:
    environ = {"SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": "0"}
    batch.start("#!/bin/sh\ntrue\n", environ=environ).communicate(timeout=120)
    found = batch.record(name_of(5, 0))
    assert found is not None
    assert found.label == "5_0"


def test_what_slurm_ends_says_so(batch: Batch) -> None:
    # Slurm signals every process of the job; this script makes a good end of it, which is not for it to decide.
    job = batch.start("#!/bin/bash\ntrap 'exit 0' TERM; echo $$; while :; do read -t 0.1 line; done\n")
    assert job.stdout is not None
    inner = int(job.stdout.readline())
    os.kill(job.pid, signal.SIGTERM)
    os.kill(inner, signal.SIGTERM)
    job.communicate(timeout=120)
    found = batch.record()
    assert found is not None
    assert (found.status, found.signal) == (0, "TERM")


def test_a_directory_that_cannot_be_made_is_not_the_jobs_business(batch: Batch) -> None:
    batch.directory = Path("/proc/nothing")
    job = batch.start("#!/bin/sh\necho done; exit 5\n")
    assert (*job.communicate(timeout=120), job.returncode) == ("done\n", "", 5)


def test_a_job_whose_environment_lost_the_program_fails(batch: Batch) -> None:
    text, _ = with_exit_record("#!/bin/sh\ntrue\n", "/tmp", KEY)
    batch.file.write_text(text)
    batch.file.chmod(0o700)
    done = subprocess.run([batch.file], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "SLURM_REST_RECORDER" in done.stderr


GOOD = b'{"version":1,"job":"7","key":"k","restarts":0,"started":1,"ended":2,"status":0,"signal":""}'


def test_records_are_read_strictly() -> None:
    assert read_exit_record(GOOD) is not None
    for old, new in [
        (b'"version":1', b'"version":2'),
        (b'"status":0', b'"status":"0"'),
        (b'"status":0', b'"status":true'),
        (b'"ended":2', b'"ended":99999999999999999999'),
        (b'"key":"k"', b'"key":null'),
        (b',"signal":""', b""),
        (b"{", b"[{"),
        (b"}", b"\xff"),
    ]:
        assert read_exit_record(GOOD.replace(old, new)) is None, new


# --- what becomes of it -----------------------------------------------------------------------------------------


class Records(ExitReader):
    """Exit records by label; an error is raised once and then gone."""

    def __init__(self, **found: ExitRecord | str | Exception) -> None:
        self.found = {name.removeprefix("j"): record for name, record in found.items()}

    async def read(self, job_id: int, task_id: int | None = None) -> ExitRecord | str:
        label = name_of(job_id, task_id).removesuffix(".json")
        found = self.found.get(label, "it left none")
        if isinstance(found, Exception):
            self.found[label] = record(3)
            raise found
        return found


def record(status: int, *, signal: str = "", restarts: int = 0, key: str = KEY) -> ExitRecord:
    return ExitRecord("1", key, restarts, THEN, THEN, status, signal)


async def ended(memory: Memory, exits: Records, identity: Identity, task: int | None = None) -> JobInfo:
    poller = Poller(memory, fastest=1, slowest=10, clock=QuickClock(), exits=exits)
    (found,) = await wait(poller, [Followed(identity, (task, None))])
    return found


MINE = Identity(1, key=KEY)


@pytest.mark.parametrize(("status", "state"), [(0, "COMPLETED"), (3, "FAILED")])
async def test_a_job_that_nobody_else_knows_ends_as_its_record_says(status: int, state: str) -> None:
    found = await ended(Memory({"1": "RUNNING"}, {}, looks=[{}]), Records(j1=record(status)), MINE)
    assert (found.id, str(found.state), found.exit_code.code, found.source) == (1, state, status, "exit record")
    assert (found.start_time, found.end_time) == (THEN, THEN)


async def test_what_slurm_knows_wins_over_the_record() -> None:
    memory = Memory({"1": "RUNNING"}, {}, looks=[{"1": "CANCELLED"}])
    assert str((await ended(memory, Records(j1=record(0)), MINE)).state) == "CANCELLED"
    memory = Memory({"1": "RUNNING"}, {"1": "TIMEOUT"})
    assert str((await ended(memory, Records(j1=record(0)), MINE)).state) == "TIMEOUT"


@pytest.mark.parametrize(
    ("told", "identity", "why"),
    [
        (record(0, signal="TERM"), MINE, "told to end by SIGTERM, and its script's status was then 0"),
        (record(0, key="another"), MINE, "another job's"),
        (record(0), Identity(1), "nothing tells whose"),
        (record(0), Identity(1, submit_time=datetime(2026, 3, 2, tzinfo=timezone.utc)), "another job's"),
        ("it left no exit record in /x", MINE, "it left no exit record in /x"),
    ],
)
async def test_nothing_is_guessed_from_a_record(told: ExitRecord | str, identity: Identity, why: str) -> None:
    memory = Memory({"1": "RUNNING"}, {}, looks=[{}])
    with pytest.raises(OutcomeUnknown, match=f"How job 1 ended cannot be told: last seen RUNNING.*{why}"):
        await ended(memory, Records(j1=told), identity)


async def test_a_handle_with_a_submit_time_takes_a_record_of_a_later_start() -> None:
    identity = Identity(1, submit_time=THEN)
    found = await ended(Memory({"1": "RUNNING"}, {}, looks=[{}]), Records(j1=record(0)), identity)
    assert found.source == "exit record"


@pytest.mark.parametrize("identity", [MINE, Identity(1, submit_time=THEN)])
async def test_who_first_looks_when_the_job_has_left_is_told_what_it_left(identity: Identity) -> None:
    found = await ended(Memory({}), Records(j1=record(3)), identity)
    assert (str(found.state), found.exit_code.code, found.source) == ("FAILED", 3, "exit record")
    found = await ended(Memory({}), Records(j1_3=record(3)), identity, task=3)
    assert (found.label, found.exit_code.code) == ("1_3", 3)


async def test_one_tasks_record_is_not_its_arrays_end() -> None:
    poller = Poller(Memory({}), fastest=1, slowest=10, clock=QuickClock(), exits=Records(j1_3=record(0)))
    whole, task = await asyncio.gather(
        wait(poller, [Followed(MINE)]), wait(poller, [Followed(MINE, (3, None))]), return_exceptions=True
    )
    assert isinstance(whole, JobNotFound)
    assert "it left none" in whole.hint
    assert isinstance(task, JobNotFound)


async def test_an_id_alone_takes_no_record_of_a_job_that_was_never_seen() -> None:
    with pytest.raises(JobNotFound):
        await ended(Memory({}), Records(j1=record(3)), Identity(1))


async def test_the_record_of_an_earlier_start_does_not_count() -> None:
    memory = Memory({"1": "RUNNING"}, {"1": "PENDING"}, {}, looks=[{}])
    with pytest.raises(OutcomeUnknown, match="earlier start"):
        await ended(memory, Records(j1=record(0)), MINE)
    memory = Memory({"1": "RUNNING"}, {"1": "PENDING"}, {}, looks=[{}])
    assert (await ended(memory, Records(j1=record(0, restarts=1)), MINE)).restart_count == 1


async def test_files_that_are_away_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "GRACE", 0)
    memory = Memory({"1": "RUNNING"}, {}, looks=[{}])
    found = await ended(memory, Records(j1=Unreachable("no file server")), MINE)
    assert (str(found.state), found.exit_code.code) == ("FAILED", 3)


async def test_tasks_have_records_of_their_own() -> None:
    def memory() -> Memory:
        return Memory({"1_1": "RUNNING", "1_2": "RUNNING"}, {"1_1": "COMPLETED"}, looks=[{"1_1": "COMPLETED"}])

    found = await ended(memory(), Records(j1_2=record(3)), MINE)
    assert (str(found.state), found.exit_code.code) == ("FAILED", 3)
    # Without it, the array is not what its other tasks are; but they are.
    with pytest.raises(OutcomeUnknown, match=r"How 1_2 ended cannot be told.*it left none"):
        await ended(memory(), Records(), MINE)
    assert str((await ended(memory(), Records(), MINE, 1)).state) == "COMPLETED"
    with pytest.raises(OutcomeUnknown, match="1_2"):
        await ended(memory(), Records(), MINE, 2)
