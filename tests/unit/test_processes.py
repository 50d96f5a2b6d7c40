"""Commands of this host, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm_rest.processes import TooMuchOutputError, run_command
from slurm_rest.within import within
from tests.support.processes import is_running
from tests.support.waiting import until_true

LIMIT = 10_000_000


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


async def test_what_it_prints_and_how_it_ends() -> None:
    done = await run_command(shell("echo out; echo err >&2; exit 3"), max_output=LIMIT)
    assert (done.status, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert (await run_command(shell("kill -9 $$"), max_output=LIMIT)).status == -9


async def test_its_standard_input_is_what_it_is_given() -> None:
    data = bytes(range(256)) * 20_000
    assert (await run_command(["cat"], data, max_output=LIMIT)).stdout == data
    assert (await run_command(["cat"], max_output=LIMIT)).stdout == b""


async def test_it_need_not_read_it() -> None:
    assert (await run_command(["true"], b"x" * LIMIT, max_output=LIMIT)).status == 0


async def test_what_cannot_be_started() -> None:
    with pytest.raises(FileNotFoundError):
        await run_command(["/no/such/command"], max_output=LIMIT)


async def test_too_much_output_ends_it() -> None:
    with pytest.raises(TooMuchOutputError, match="more than 1000 bytes"):
        await run_command(["yes"], max_output=1000)


async def test_it_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    task = asyncio.create_task(run_command(shell(f"sleep 600 & echo $! >{file}; wait"), max_output=LIMIT))
    await until_true(lambda: file.exists() and file.read_text().endswith("\n"), "the one that it starts")
    with pytest.raises(TimeoutError):
        await within(0, task)
    await until_true(lambda: not is_running(int(file.read_text())))


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Path]:
    """Return a file for the number of a process that is ended afterwards."""
    file = tmp_path / "stranger"
    os.mkfifo(file)
    yield file
    os.kill(int((tmp_path / "known").read_text()), signal.SIGKILL)


async def test_what_left_its_group_and_keeps_its_output_open_is_not_waited_for(stranger: Path, tmp_path: Path) -> None:
    started = f"setsid sh -c 'echo $$ >{stranger}; exec sleep 600' & exec sleep 600"
    task = asyncio.create_task(run_command(shell(started), b"x" * LIMIT, max_output=LIMIT))
    (tmp_path / "known").write_text(await asyncio.to_thread(stranger.read_text))
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=120)
    assert done
    assert task.cancelled()


def wait_for_more(file: Path) -> None:
    before, end = file.stat().st_size, time.monotonic() + 0.2
    while file.stat().st_size == before and time.monotonic() < end:
        time.sleep(0.01)


async def test_it_can_be_given_up_while_it_starts(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    started = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 30' & exec sleep 600"
    try:
        for turns in range(12):
            task = asyncio.create_task(run_command(shell(started), b"x", max_output=LIMIT))
            for _ in range(turns):
                await asyncio.sleep(0)
            # The loop stands still while what was started, if anything was, gets out of its group.
            wait_for_more(pids)
            task.cancel()
            done, _ = await asyncio.wait([task], timeout=120)
            assert done, turns
            assert task.cancelled()
    finally:
        for pid in map(int, pids.read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
