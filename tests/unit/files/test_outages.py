"""Following a job whose file is not certain yet while slurmrestd comes and goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from slurm_rest import logs
from slurm_rest.errors import FileMissing, Unreachable
from tests.unit.captures import capture
from tests.unit.wire import NEW, Server, client, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

AWAY = httpx.ConnectError("refused")
WAITS: dict[str, Any] = {"array_job_id": 5, "array_task_string": "1-3"}
TASK: dict[str, Any] = {"array_job_id": 5, "array_task_id": {"set": True, "number": 1}, "stdout_expanded": "/w/o"}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_FASTEST", 0.01)


async def followed(tmp_path: Path) -> str:
    from slurm_rest import AsyncJob

    async with client(path_map={"/w": str(tmp_path)}) as slurm:
        return "".join([text async for text in AsyncJob(slurm, 5, task_id=1).follow()])


async def test_an_outage_while_the_job_waits_is_sat_out(server: Server, tmp_path: Path) -> None:
    (tmp_path / "o").write_bytes(b"task 1\n")
    server.ping()
    waiting, over = good(jobs=[job(5, "PENDING", **WAITS)]), good(jobs=[job(6, **TASK)])
    # Three refusals are one outage: a read is tried three times.
    replies: list[httpx.Response | Exception] = [waiting.response, AWAY, AWAY, AWAY, waiting.response]
    ended = False

    def record(request: httpx.Request) -> httpx.Response:
        nonlocal ended
        if not replies:
            ended = True
            return over.response
        reply = replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def state(request: httpx.Request) -> httpx.Response:
        return states(("5_1", "COMPLETED" if ended else "PENDING")).response

    server.on("GET", "/job/5", record)
    server.on("GET", "/jobs/state/", state)
    server.router.route(path__startswith="/slurmdb/").mock(return_value=capture(NEW, "slurmdb_jobs_none").response)
    assert await asyncio.wait_for(followed(tmp_path), 120) == "task 1\n"
    assert not replies


async def test_what_never_worked_is_an_error_at_once(server: Server, tmp_path: Path) -> None:
    server.ping(AWAY)
    with pytest.raises(Unreachable):
        await asyncio.wait_for(followed(tmp_path), 120)


async def test_a_job_that_ends_without_a_file(server: Server, tmp_path: Path) -> None:
    server.ping()
    server.on("GET", "/job/5", good(jobs=[job(6, "CANCELLED", **TASK)]))
    server.on("GET", "/jobs/state/", states(("5_1", "CANCELLED")))
    server.router.route(path__startswith="/slurmdb/").mock(return_value=capture(NEW, "slurmdb_jobs_none").response)
    with pytest.raises(FileMissing, match="Job 5_1 ended CANCELLED, and there is no /w/o"):
        await asyncio.wait_for(followed(tmp_path), 120)
