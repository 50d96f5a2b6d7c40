"""Waits with an end, and what becomes of them when they are cancelled."""

from __future__ import annotations

import asyncio

import pytest

from slurm_rest.within import within


async def test_what_is_done_in_time_is_returned() -> None:
    assert await within(60, asyncio.sleep(0, "done")) == "done"
    assert await within(None, asyncio.sleep(0, "done")) == "done"


async def test_what_is_not_done_in_time_is_ended() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        await within(0.01, work())
    assert ended.is_set()


async def test_a_cancellation_is_not_lost_when_the_work_is_done_in_the_same_moment() -> None:
    news = asyncio.Event()

    async def wait_twice() -> None:
        await within(60, news.wait())
        await asyncio.Event().wait()

    task = asyncio.create_task(wait_twice())
    await asyncio.sleep(0.01)
    news.set()
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=120)
    assert done
    assert task.cancelled()
