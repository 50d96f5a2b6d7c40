"""Thousands of first gets at once, as after a restart: what they cost, and that each answers in its time."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from flyteplugins.slurm_rest.answering import ANSWER
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.running import LOCAL_RUN, LocalRun
from slurm_rest.testing.jobs import JobRequest, Owner

from .support.site import Site

_JOBS = 500


@contextmanager
def leaping() -> Iterator[Callable[[], float]]:
    """Let the loop's clock only leap from one timer to the next: how fast the machine is says nothing then.

    Yields what tells the seconds that were leapt over.
    """
    loop: Any = asyncio.get_running_loop()
    begin, leapt, select = loop.time(), 0.0, loop._selector.select

    def leap(timeout: float | None = None) -> Any:
        nonlocal leapt
        found = select(timeout if timeout is None else 0)
        if not found and timeout:
            leapt += timeout
        return found

    with patch.object(loop._selector, "select", leap), patch.object(loop, "time", lambda: begin + leapt):
        yield lambda: leapt


async def metas_of(site: Site) -> list[SlurmJobMetadata]:
    """Return what the platform keeps of many jobs; the connector knows none of them."""
    one = await site.create()
    request, alice = JobRequest(script="#!/bin/sh\n", name="many"), Owner("alice", 1000)
    ids = [site.fake.slurm.submit([request], alice) for _ in range(_JOBS)]
    await site.connector.known.clusters.close()
    site.connector = site.restarted()
    return [replace(one, job_id=str(job_id), submission_key="") for job_id in ids]


async def test_they_share_their_requests_and_need_no_tasks_of_their_own(site: Site) -> None:
    metas = await metas_of(site)
    loop, made, asked = asyncio.get_running_loop(), [], []
    states = site.fake.states

    def count(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        made.append(work)
        return asyncio.Task(work, loop=loop, **options)

    async def counted(ids: Any) -> Any:
        asked.append(len(ids))
        return await states(ids)

    loop.set_task_factory(count)  # type: ignore[arg-type]  # what it is called with differs by Python's version
    try:
        with patch.object(site.fake, "states", counted), leaping():
            answers = await asyncio.gather(*(site.get(meta) for meta in metas))
    finally:
        loop.set_task_factory(None)
    assert {phase for phase, _ in answers} == {"QUEUED"}
    assert "PENDING" in (answers[-1][1].message or "")
    assert len(asked) <= 2, "one question for whoever came first, one for all"
    assert asked[-1] == _JOBS
    # A task for each get is gather's; the poller and the records in the background have a handful.
    assert len(made) <= _JOBS + 20


async def test_each_answers_in_its_time_though_nothing_else_does(site: Site) -> None:
    """What counts is how long a get is willing to wait."""
    metas = await metas_of(site)

    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    async def waited(meta: SlurmJobMetadata) -> float:
        begun = leapt()
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        assert "has not heard of it yet" in (found.message or "")
        return leapt() - begun

    def files_that_hang(_: object) -> Any:
        return type("Hanging", (), {"stat": staticmethod(never), "tail": staticmethod(never)})

    with (
        patch.object(site.fake, "states", never),
        patch.object(site.fake, "describe", never),
        patch("slurm_rest.AsyncSlurmClient.files", property(files_that_hang)),
        leaping() as leapt,
    ):
        longest = max(await asyncio.gather(*map(waited, metas)))
    assert 0.5 < longest <= ANSWER


@pytest.fixture
def unfrozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


async def test_what_a_service_has_loaded_is_not_looked_through_for_garbage(site: Site, unfrozen: None) -> None:
    meta = await site.create()
    running = LOCAL_RUN.set(LocalRun())
    await site.get(meta)
    LOCAL_RUN.reset(running)
    assert gc.get_freeze_count() == 0, "a local run's process is somebody's own"
    await site.get(meta)
    assert gc.get_freeze_count() > 10_000
