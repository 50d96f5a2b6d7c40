"""Work that is done once across replicas: against a store with S3's protocol, and in a directory."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import flyte
import pytest

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask, objects
from flyteplugins.slurm_rest.links import Copies
from flyteplugins.slurm_rest.members import output_of
from flyteplugins.slurm_rest.receipts import Receipts
from tests.support.waiting import until, until_true

from .support.platform import serialize
from .support.s3 import Store
from .support.site import Site, attempt, script, written_to

_numbers = itertools.count()


@pytest.fixture(params=["s3", "directory"])
def place(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> str:
    """Return where a receipt goes."""
    return f"s3://receipts/{next(_numbers)}/r.json" if request.param == "s3" else f"{tmp_path}/a/r.json"


class Work:
    """Work that waits to be let go."""

    def __init__(self, result: bytes = b"done") -> None:
        self.result, self.begun, self.may_end = result, 0, asyncio.Event()

    async def __call__(self) -> bytes:
        self.begun += 1
        await self.may_end.wait()
        return self.result


def replica(lease: float = 1000.0, clock: Callable[[], float] = lambda: 0.0) -> Receipts:
    async def pause(_: float) -> None:
        await asyncio.sleep(0.01)

    return Receipts(pause, clock, lease, beat=0.02)


async def test_work_is_done_once_by_whoever_begins(place: str) -> None:
    work, others = Work(), Work()
    first = asyncio.create_task(replica().once(place, work))
    await until_true(lambda: work.begun == 1, "the work begun")
    second = asyncio.create_task(replica().once(place, others))
    tags = {found.tag for found in [await objects.read(place)] if found}

    async def renewed() -> bool:
        tags.add((await objects.read(place) or objects.Found(b"", "")).tag)
        return len(tags) > 2

    await until(renewed, "the receipt renewed")
    work.may_end.set()
    assert [*await asyncio.gather(first, second)] == [b"done", b"done"]
    assert await replica().once(place, others) == b"done"
    assert (work.begun, others.begun) == (1, 0)


async def test_what_a_dead_replica_began_is_done_anew(place: str) -> None:
    dead, work = Work(), Work(b"again")
    task = asyncio.create_task(replica().once(place, dead))
    await until_true(lambda: dead.begun == 1, "the work begun")
    task.cancel()
    await asyncio.wait([task])
    now = [0.0]
    work.may_end.set()
    second = asyncio.create_task(replica(30, lambda: now[0]).once(place, work))
    now[0] = 29
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert work.begun == 0, "not before the lease has run out"
    # More than once: a last sign of the dead one may have been under way.
    while not second.done():
        now[0] += 31
        await asyncio.sleep(0.01)
    assert await second == b"again"


async def test_two_that_take_over_at_once_do_it_once(place: str) -> None:
    assert await objects.create(place, b'{"owner": "dead", "beat": 7}')
    work, now, looks = Work(), [0.0], itertools.count(1)

    def clock() -> float:
        if next(looks) > 8:
            now[0] = 70.0
        return now[0]

    tasks = [asyncio.create_task(replica(30, clock).once(place, work)) for _ in range(2)]
    await until_true(lambda: work.begun > 0, "the work begun")
    work.may_end.set()
    assert await asyncio.gather(*tasks) == [b"done", b"done"]
    assert work.begun == 1


async def test_a_replica_that_was_taken_for_dead_stops(place: str) -> None:
    slow, work = Work(b"slow"), Work(b"quick")
    first = asyncio.create_task(replica().once(place, slow))
    await until_true(lambda: slow.begun == 1, "the work begun")
    found = await objects.read(place)
    while found and not await objects.replace(place, b'{"owner": "other", "beat": 1}', found.tag):
        found = await objects.read(place)
    found = await objects.read(place)
    assert found is not None
    assert await objects.replace(place, b'{"result": "cXVpY2s="}', found.tag)
    assert await first == b"quick"
    assert work.begun == 0


async def test_a_fault_of_the_work_is_raised_and_the_next_try_goes_on(place: str) -> None:
    receipts, calls = replica(), []

    async def work() -> bytes:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("the store is away")
        return b"done"

    with pytest.raises(OSError, match="away"):
        await receipts.once(place, work)
    assert await receipts.once(place, work) == b"done"


async def test_half_a_receipt_is_nobodys(place: str) -> None:
    assert await objects.create(place, b'{"own')
    work, clock = Work(), itertools.count(0, 100)
    work.may_end.set()
    assert await replica(30, lambda: next(clock)).once(place, work) == b"done"


async def test_conditions_are_kept(place: str) -> None:
    assert await objects.read(place) is None
    assert not await objects.replace(place, b"x", '"none"')
    assert await objects.create(place, b"1")
    assert not await objects.create(place, b"2")
    found = await objects.read(place)
    assert found is not None
    assert await objects.replace(place, b"3", found.tag)
    assert not await objects.replace(place, b"4", found.tag)
    assert (await objects.read(place) or found).data == b"3"
    await objects.remove(place)
    await objects.remove(place)
    assert await objects.read(place) is None


async def test_of_many_that_write_at_once_one_does(place: str) -> None:
    created = await asyncio.gather(*[objects.create(place, b"%d" % number) for number in range(20)])
    assert created.count(True) == 1
    found = await objects.read(place)
    assert found is not None
    assert found.data == b"%d" % created.index(True)
    replaced = await asyncio.gather(*[objects.replace(place, b"+%d" % number, found.tag) for number in range(20)])
    assert replaced.count(True) == 1
    found = await objects.read(place)
    assert found is not None
    assert found.data == b"+%d" % replaced.index(True)


async def test_a_store_that_does_not_answer_is_asked_again(
    site: Site, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flyte's own clients of stores have no time-out that would ever be reached."""
    monkeypatch.setattr("flyteplugins.slurm_rest.transfers._PATIENCE", 0.3)
    meta = await site.connector.create(serialize(script()), "s3://runs/silent", {}, attempt("silent"))
    written_to(site, meta).write_bytes(b"weights")
    store.held.add("runs/silent/model")
    site.finish(meta)

    async def troubled() -> bool:
        phase, found = await site.get(meta)
        assert phase in ("QUEUED", "RUNNING"), found.message
        return "trouble with it: TimeoutError" in (found.message or "")

    await until(troubled, "the trouble told")
    monkeypatch.setattr("flyteplugins.slurm_rest.transfers._PATIENCE", 60.0)
    store.held.clear()
    await site.until(meta, "SUCCEEDED")
    assert store.objects["runs/silent/model"] == b"weights"


async def test_files_of_an_array_are_copied_those_of_failed_tasks_first(
    site: Site, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flyteplugins.slurm_rest.links._COPY_PATIENCE", 120.0)
    task = SlurmScriptTask("array", "#!/bin/sh\n#SBATCH --array=0-29\n", Slurm())
    flyte.TaskEnvironment.from_task("array", task)
    meta = await site.connector.create(serialize(task), "s3://runs/array", {}, attempt("array"))
    for number in range(30):
        path = site.files / output_of(meta.stdout_path, number).removeprefix("/home/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % number)
    files = site.connector._cluster_of(meta, None).client.files
    links = await Copies().links("k", meta, files, timedelta(days=1), patience=130, failed=[27])
    assert [link.name for link in links or []] == [f"stdout of task {number}" for number in (27, *range(9))]
    assert store.objects[f"runs/array/slurm-{meta.job_id}_27.stdout.txt"] == b"27"
