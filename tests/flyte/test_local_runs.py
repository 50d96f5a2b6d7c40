"""Runs without a platform, where flyte's local executor calls the connector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flyte
import pytest
from flyte._persistence._db import LocalDB
from flyte.connectors import ConnectorRegistry

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.running import LOCAL_RUN, LocalRun

from .support.platform import serialize
from .support.site import Site, jobs, script, written_to


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
