"""Several connectors for the same jobs, one that is killed, and a store that is away: each output is moved once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import flyte
import pytest
from flyte.io import Dir, File
from flyteidl2.core.execution_pb2 import TaskExecution

from cluster.native import Cluster
from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from tests.support.waiting import until, until_true

from .conftest import over_rest
from .support.platform import Platform, Submitted, service
from .support.releases import some_releases
from .support.s3 import Store

# A replica that is silent is waited for half a minute, which one that lives must never be on a busy machine; where one
# is killed, less. The mark of a cancellation, which tells the others, may take longer there. Flyte's own clients try a
# request for 20 seconds; here less.
HURRIED = """
import flyteplugins.slurm_rest.receipts as r
r._LEASE, r._BEAT, r._LOOK = {lease}, 0.5, 0.2
import flyteplugins.slurm_rest.cancelling as cancelling
cancelling._WRITE_PATIENCE = 5.0
import flyte.storage._config as c
kwargs = c.Storage.get_fsspec_kwargs
c.Storage.get_fsspec_kwargs = lambda self, anonymous=False, **given: kwargs(self, anonymous, retries=0, **given)
"""
_ORDER = ("QUEUED", "WAITING_FOR_RESOURCES", "INITIALIZING", "RUNNING", "SUCCEEDED")
Start = Callable[..., tuple[Platform, Callable[[], None]]]


@pytest.fixture(params=some_releases("26.05"))
async def start(
    request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster], store: Store
) -> AsyncIterator[Start]:
    """Return a function that starts a replica, and gives what the platform sees of it and what kills it."""
    cluster = shared_cluster(request.param)
    async with contextlib.AsyncExitStack() as ends:

        def started(lease: float = 60.0) -> tuple[Platform, Callable[[], None]]:
            running, variables = contextlib.ExitStack(), {**store.variables(), **over_rest(cluster)}
            address = running.enter_context(service(variables, HURRIED.replace("{lease}", str(lease))))
            platform = Platform(address, environment=store.variables())
            ends.callback(running.close)
            ends.push_async_callback(platform.close)
            return platform, running.close

        yield started
        store.down = False
        store.held.clear()


def script() -> SlurmScriptTask:
    task = SlurmScriptTask(
        "moves",
        "#!/bin/bash\n"
        'head -c 25000000 /dev/zero >"$FLYTE_OUTPUT_BIG"\nprintf weights >"$FLYTE_OUTPUT_MODEL"\n'
        'printf a >"$FLYTE_OUTPUT_TREE/a"\nprintf b >"$FLYTE_OUTPUT_TREE/b"\nprintf 0.5 >"$FLYTE_OUTPUT_SCORE"\n',
        Slurm(time_limit="5"),
        outputs={"big": File, "model": File, "tree": Dir, "score": float},
    )
    flyte.TaskEnvironment.from_task("moves", task)
    return task


class Seen:
    """What the platform was told, call by call. Replicas follow a job separately: one may hear of it a moment later."""

    def __init__(self) -> None:
        self.last: dict[str, str] = {}

    async def ask(self, platform: Platform, job: Submitted) -> Any:
        found = await platform.get(job)
        last, now = self.last.get(platform.address, "QUEUED"), str(TaskExecution.Phase.Name(found.phase))
        assert now in _ORDER, found.message
        assert _ORDER.index(now) >= _ORDER.index(last), f"{last}, then {now}"
        self.last[platform.address] = now
        return found

    def goes_on(self, before: Platform, after: Platform) -> None:
        """Let a replica that was restarted be measured by what it told before."""
        self.last[after.address] = self.last[before.address]

    async def until(self, job: Submitted, text: str, *platforms: Platform) -> Any:
        """Ask them in turn until each says the phase, or has the text in its message."""

        async def said() -> Any:
            found = [await self.ask(platform, job) for platform in platforms]
            fits = [TaskExecution.Phase.Name(one.phase) == text or text in one.message for one in found]
            return found if all(fits) else None

        return (await until(said, text))[0]


def is_right(store: Store, job: Submitted, found: Any) -> None:
    prefix = job.prefix.removeprefix("s3://")
    assert len(store.objects[f"{prefix}/big"]) == 25_000_000
    assert [store.objects[f"{prefix}/{name}"] for name in ("model", "tree/a", "tree/b")] == [b"weights", b"a", b"b"]
    values = {pair.name: pair.value.scalar for pair in found.outputs.literals}
    assert values["score"].primitive.float_value == 0.5
    assert values["tree"].blob.uri == f"{job.prefix}/tree"


async def test_two_replicas_move_each_output_once(start: Start, store: Store) -> None:
    """They are asked in turn while one of them moves the outputs."""
    (one, _), (two, _) = start(), start()
    job = await one.create(script())
    prefix, seen = job.prefix.removeprefix("s3://"), Seen()
    store.held.add(f"{prefix}/model")
    await seen.until(job, "the connector is moving", one, two)
    await until_true(lambda: store.written(f"{prefix}/model") > 0, "the output being moved")
    store.held.clear()
    found = await seen.until(job, "SUCCEEDED", one, two)
    is_right(store, job, found)
    assert [store.written(f"{prefix}/{name}") for name in ("model", "tree/a", "tree/b")] == [1, 1, 1]
    assert store.requests.count(f"POST {prefix}/big") == 2, "an upload in parts is begun once and completed once"


async def test_what_a_killed_connector_began_is_done_by_the_next(start: Start, store: Store) -> None:
    first, kill = start()
    job = await first.create(script())
    prefix, seen = job.prefix.removeprefix("s3://"), Seen()
    store.held.add(f"{prefix}/tree/b")
    await seen.until(job, "the connector is moving", first)
    await until_true(lambda: store.written(f"{prefix}/tree/b") > 0, "half of the outputs moved")
    kill()
    store.held.clear()
    second, kill = start(lease=3.0)
    seen.goes_on(first, second)
    is_right(store, job, await seen.until(job, "SUCCEEDED", second))
    kill()
    requests = [line for line in store.requests if line.startswith((f"PUT {prefix}/", f"POST {prefix}/"))]
    third, _ = start()
    seen.goes_on(first, third)
    is_right(store, job, await seen.until(job, "SUCCEEDED", third))
    assert requests
    again = [line for line in store.requests if line.startswith((f"PUT {prefix}/", f"POST {prefix}/"))]
    assert again == requests, "nothing is moved again"


async def test_an_outage_of_the_store_is_waited_out(start: Start, store: Store) -> None:
    platform, _ = start()
    job, seen = await platform.create(script()), Seen()
    store.down = True
    await seen.until(job, "trouble with it", platform)
    store.down = False
    is_right(store, job, await seen.until(job, "SUCCEEDED", platform))


async def test_what_one_replica_cancels_is_aborted_for_the_others(start: Start, store: Store) -> None:
    """What somebody else cancels is not."""
    (one, _), (two, _) = start(), start()
    waits = SlurmScriptTask("waits", "#!/bin/sh\nsleep 600\n", Slurm(time_limit="20"))
    flyte.TaskEnvironment.from_task("waits", waits)
    job = await one.create(waits)
    await two.until(job, "RUNNING")
    await one.delete(job)
    await two.until(job, "ABORTED")
    third, _ = start()
    assert "CANCELLED" in (await third.until(job, "ABORTED")).message
    marks = [path for path in list(store.objects) if path.endswith(".cancelled")]
    assert [path for path in marks if f"/slurm-{json.loads(job.meta)['job_id']}-" in path]
