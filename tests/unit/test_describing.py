"""Which source is asked for which job's record, whatever the transport."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from slurm_rest import JobState
from slurm_rest.errors import AccountingDown, NoAccounting
from slurm_rest.models import JobInfo
from slurm_rest.transport.describing import Ask, closed, describe, missing, nothing
from slurm_rest.transport.ids import MAX_JOB_ID, group_ids


def made(job_id: int, state: str = "COMPLETED", *, array: int | None = None, task: int | None = None) -> JobInfo:
    return JobInfo(id=job_id, state=JobState.parse(state), array_job_id=array, array_task_id=task)


class Source:
    """Records by id, and what was asked."""

    def __init__(self, *records: JobInfo, error: Exception | None = None) -> None:
        self.records, self.error = records, error
        self.asked: list[list[int]] = []

    async def __call__(self, ids: Sequence[int]) -> list[JobInfo]:
        self.asked.append(list(ids))
        if self.error is not None:
            raise self.error
        return [record for record in self.records if group_ids(record) & set(ids)]


async def labels(*ids: int, controller: Source, accounting: Source, first: Ask = nothing) -> list[str]:
    found = await describe(ids, controller=controller, accounting=accounting, first=first)
    return [record.label for record in found]


async def test_accounting_is_asked_for_what_the_controller_does_not_know() -> None:
    controller, accounting = Source(made(1), made(3)), Source(made(2))
    assert await labels(3, 2, 1, 4, 1, MAX_JOB_ID + 1, controller=controller, accounting=accounting) == ["1", "3", "2"]
    assert (controller.asked, accounting.asked) == ([[1, 2, 3, 4]], [[2, 4]])


async def test_what_is_found_first_is_asked_for_no_more() -> None:
    controller, accounting = Source(made(2)), Source()
    assert await labels(1, 2, controller=controller, accounting=accounting, first=Source(made(1))) == ["1", "2"]
    assert (controller.asked, accounting.asked) == ([[2]], [])
    assert await labels(1, controller=controller, accounting=accounting, first=Source(made(1))) == ["1"]
    assert len(controller.asked) == 1


async def test_the_ended_tasks_of_an_array_that_is_there_in_part_come_from_accounting() -> None:
    controller = Source(made(12, "RUNNING", array=10, task=2))
    past = [made(11, array=10, task=1), made(12, "RUNNING", array=10, task=2), made(10, "PENDING", array=10)]
    accounting = Source(*past)
    assert await labels(10, controller=controller, accounting=accounting) == ["10_2", "10_1"]
    assert accounting.asked == [[10]]
    away = Source(error=AccountingDown("x"))
    assert await labels(10, controller=controller, accounting=away) == ["10_2"]


async def test_accounting_that_is_needed_and_away_is_an_error_and_none_at_all_is_not() -> None:
    with pytest.raises(AccountingDown):
        await labels(1, controller=Source(), accounting=Source(error=AccountingDown("x")))
    assert await labels(1, 2, controller=Source(made(1)), accounting=Source(error=NoAccounting("x"))) == ["1"]


def test_a_group_is_closed_when_all_its_members_are() -> None:
    task = made(11, array=10, task=1)
    assert closed([made(1), task, made(12, "RUNNING", array=10, task=2)]) == [made(1)]
    assert closed([made(1), task, replace(task, id=12)]) == [made(1), task, replace(task, id=12)]
    assert missing([1, 10, 11, 2], [made(1), task]) == [2]
