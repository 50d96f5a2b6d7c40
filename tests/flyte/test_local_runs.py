"""Runs without a platform, where flyte's local executor calls the connector."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import Any

import flyte
import pydantic
import pytest
from flyte._internal.runtime import convert
from flyte._persistence._db import LocalDB
from flyte.connectors import ConnectorRegistry
from flyte.io import File
from flyte.models import NativeInterface
from flyte.types import TypeEngine

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.running import LOCAL_RUN, LocalRun

from .support.platform import serialize
from .support.site import Site, attempt, jobs, script, written_to


async def test_in_a_local_run_no_two_tasks_write_to_one_place(site: Site) -> None:
    """Flyte's local executor gives all tasks of a run one prefix, no execution, and waits for ever for some."""
    template, metas = serialize(script()), []
    for _ in range(2):
        metas.append(await site.connector.create(template, f"file://{site.store}", {}))
        written_to(site, metas[-1]).write_bytes(metas[-1].job_id.encode())
        site.finish(metas[-1])
        await site.until(metas[-1], "SUCCEEDED")
    paths = [Path(meta.declared_outputs["model"]["uri"].removeprefix("file://")) for meta in metas]
    assert [path.read_text() for path in paths] == [meta.job_id for meta in metas]
    token = LOCAL_RUN.set(run := LocalRun())
    lost = await site.connector.create(template, str(site.store), {})
    site.finish(lost, state="PREEMPTED")
    with pytest.raises(RuntimeError, match="PREEMPTED"):
        await site.until(lost, "SUCCEEDED")
    left = await site.connector.create(template, str(site.store), {})
    LOCAL_RUN.reset(token)
    await run.cancel()
    (record,) = await site.fake.describe([int(left.job_id)])
    assert str(record.state) == "CANCELLED"


async def test_a_run_that_is_cancelled_twice_at_once_leaves_no_job() -> None:
    """By ^C and by the end of the process."""
    go, ended, run = asyncio.Event(), list[str](), LocalRun()

    def end_of(name: str) -> Callable[[], Awaitable[None]]:
        async def end() -> None:
            await go.wait()
            ended.append(name)

        return end

    run.ends += [end_of("first"), end_of("second")]
    both = [asyncio.create_task(run.cancel()) for _ in range(2)]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*both)
    assert set(ended) == {"first", "second"}
    assert run.ends == []


async def test_the_cache_works_in_a_local_run_too(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result is used again until the script changes: flyte's local executor has no other rule than ours."""
    monkeypatch.setenv("FLYTE_SLURM_FILES", "/home=/mounted")
    monkeypatch.setattr(LocalDB, "_get_db_path", staticmethod(lambda: str(tmp_path / "cache.db")))
    monkeypatch.setattr(LocalDB, "_initialized", False)
    monkeypatch.setattr(LocalDB, "_conn", None)
    monkeypatch.setattr(LocalDB, "_conn_sync", None)
    monkeypatch.setattr(ConnectorRegistry, "get_connector", lambda *_: site.connector)
    await flyte.init.aio(root_dir=tmp_path)
    here = flyte.with_runcontext(mode="local", raw_data_path=str(tmp_path / "raw"))
    create = site.connector.create

    async def create_and_finish(*args: Any, **kwargs: Any) -> SlurmJobMetadata:
        meta = await create(*args, **kwargs)
        path = site.files / meta.declared_outputs["n"]["written_to"].removeprefix("/home/")
        path.parent.mkdir(parents=True)
        path.write_text(f"{meta.job_id}\n")
        site.finish(meta)
        return meta

    monkeypatch.setattr(site.connector, "create", create_and_finish)
    results = []
    for text in ("#!/bin/sh\n", "#!/bin/sh\n", "#!/bin/sh\n# changed\n"):
        task = SlurmScriptTask("cached", text, Slurm(), outputs={"n": int}, cache="auto")
        flyte.TaskEnvironment.from_task("cached", task)
        results.append((await here.run.aio(task)).outputs()[0])
    await LocalDB.close()  # type: ignore[no-untyped-call]  # of flyte
    assert results[0] == results[1] != results[2]
    assert jobs(site) == 2


class Color(Enum):
    """Members whose names are not their values."""

    RED = "r"
    BLUE = "b"


@dataclass
class Order:
    """A structure of Python's own."""

    color: Color
    others: list[Color]
    due: datetime


class Parcel(pydantic.BaseModel):
    """A structure of pydantic."""

    color: Color
    others: list[Color]
    wait: timedelta


DAY = datetime(2026, 1, 2, tzinfo=timezone.utc)
GIVEN: dict[str, tuple[type, object, str]] = {
    "member": (Color, Color.RED, "RED"),
    "listed": (list[Color], [Color.BLUE], '["BLUE"]'),
    "order": (
        Order,
        Order(Color.RED, [Color.BLUE], DAY),
        '{"color": "r", "others": ["b"], "due": "2026-01-02T00:00:00+00:00"}',
    ),
    "parcel": (
        Parcel,
        Parcel(color=Color.RED, others=[Color.BLUE], wait=timedelta(seconds=90)),
        '{"color": "RED", "others": ["BLUE"], "wait": "PT1M30S"}',
    ),
    "day": (date, date(2026, 1, 2), "2026-01-02T00:00:00+00:00"),
    "naive": (datetime, datetime(2026, 1, 2), "2026-01-02T00:00:00+00:00"),  # as people write it
    "pair": (tuple[int, str], (1, "a"), '{"item_0": 1, "item_1": "a"}'),
}


async def as_the_service_does(task: SlurmScriptTask, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return inputs as flyte's connector service hands them on: it has a description of each type, and no class."""
    carried = await convert.convert_from_native_to_inputs(task.native_interface, **inputs)
    guessed: dict[str, Any] = {
        pair.key: (TypeEngine.guess_python_type(pair.value.type), inspect.Parameter.empty)
        for pair in serialize(task).interface.inputs.variables
    }
    interface = NativeInterface.from_types(inputs=guessed, outputs={})
    return dict(await convert.convert_from_inputs_to_native(interface, carried))


async def test_a_script_is_told_the_same_wherever_it_is_run_from(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above all members of an Enum: flyte carries them by name, in dataclasses by value, in pydantic models by name."""
    task = SlurmScriptTask("told", "#!/bin/sh\n", Slurm(), inputs={name: kind for name, (kind, _, _) in GIVEN.items()})
    flyte.TaskEnvironment.from_task("told", task)
    inputs: dict[str, Any] = {name: value for name, (_, value, _) in GIVEN.items()}
    metas = [
        await site.connector.create(serialize(task), str(tmp_path), await as_the_service_does(task, inputs), attempt())
    ]
    monkeypatch.setattr(ConnectorRegistry, "get_connector", lambda *_: site.connector)
    create = site.connector.create

    async def create_and_finish(*args: Any, **kwargs: Any) -> SlurmJobMetadata:
        metas.append(await create(*args, **kwargs))
        site.finish(metas[-1])
        return metas[-1]

    monkeypatch.setattr(site.connector, "create", create_and_finish)
    await flyte.init.aio(root_dir=tmp_path)
    await flyte.with_runcontext(mode="local", raw_data_path=str(tmp_path / "raw")).run.aio(task, **inputs)
    platform, local = (told(site, meta) for meta in metas)
    assert platform == local == {f"FLYTE_INPUT_{name.upper()}": text for name, (_, _, text) in GIVEN.items()}


def told(site: Site, meta: SlurmJobMetadata) -> dict[str, str]:
    """Return what a job was told of its inputs."""
    (job,) = site.fake.slurm.jobs[int(meta.job_id)]
    pairs = (one.split("=", 1) for one in job.request.environment)
    return {name: text for name, text in pairs if name.startswith("FLYTE_INPUT_")}


async def test_a_preempted_job_is_tried_again_and_a_directory_is_a_store(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """By flyte's own local runner: what one attempt wrote is not what the next one gives."""
    task = SlurmScriptTask("again", "#!/bin/sh\n", Slurm(), outputs={"model": File, "n": int}, retries=1)
    flyte.TaskEnvironment.from_task("again", task)
    monkeypatch.setattr(ConnectorRegistry, "get_connector", lambda *_: site.connector)
    create, metas = site.connector.create, list[SlurmJobMetadata]()

    async def create_and_finish(*args: Any, **kwargs: Any) -> SlurmJobMetadata:
        metas.append(meta := await create(*args, **kwargs))
        for name, text in (("model", f"weights {meta.job_id}"), ("n", meta.job_id)):
            path = site.files / meta.declared_outputs[name]["written_to"].removeprefix("/home/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        site.finish(meta, state="PREEMPTED" if len(metas) == 1 else "")
        return meta

    monkeypatch.setattr(site.connector, "create", create_and_finish)
    await flyte.init.aio(root_dir=tmp_path)
    store = tmp_path / "raw"
    # flyte itself makes an empty directory by the URI's own text where it stands (2.12.1, _local_controller.py).
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    run = await flyte.with_runcontext(mode="local", raw_data_path=f"file://{store}").run.aio(task)
    model, number = run.outputs()
    first, second = metas
    assert number == int(second.job_id)
    path = Path(model.path.removeprefix("file://"))
    assert await asyncio.to_thread(path.read_text) == f"weights {second.job_id}"
    assert path.is_relative_to(store)
    assert first.declared_outputs["model"]["uri"] != second.declared_outputs["model"]["uri"]
    said = capfd.readouterr().err.splitlines()
    assert [line for line in said if line.startswith(f"again: Slurm job {first.job_id} is PREEMPTED")]
    assert [line for line in said if line.startswith(f"again: Slurm job {second.job_id} is COMPLETED")]
    assert not [path for path in here.rglob("*") if path.is_file()]
