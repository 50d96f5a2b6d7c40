"""What create makes on a cluster in memory: one job for each attempt, and metadata that any replica understands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flyteplugins.slurm_rest.clients import Cluster
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.plan import JobPlan
from flyteplugins.slurm_rest.service import SlurmConnector
from flyteplugins.slurm_rest.workplace import never_began
from slurm_rest import AsyncJob
from slurm_rest.errors import ConfigError

from .support.site import Site, attempt, jobs, script


async def test_an_attempt_has_one_job_also_after_a_restart(site: Site) -> None:
    first = await site.create()
    site.connector = site.restarted()
    again = await site.create()
    assert first.job_id == again.job_id
    assert jobs(site) == 1
    other = await site.create(execution=attempt(number=1))
    assert other.job_id != first.job_id


async def test_the_metadata_holds_no_secret_and_survives_its_bytes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYTE_SLURM_REST_TOKEN", "hidden-token")
    meta = await site.create()
    assert b"hidden" not in meta.encode()
    assert SlurmJobMetadata.decode(meta.encode()) == meta
    assert meta.identity().key.startswith("slurm-rest:")


async def test_metadata_of_the_official_package_is_understood() -> None:
    raw = (
        b'{"job_id": "12", "job_name": "flyte-t-1", "host": "login", "username": "u", "port": 22, "stdout_path": "/o",'
        b' "stderr_path": "/e", "known_hosts": null, "skip_host_key_verification": false, "declared_outputs":'
        b' {"m": {"uri": "s3://b/m", "kind": "file", "upload": "job", "written_to": "s3://b/m"}}}'
    )
    meta = SlurmJobMetadata.decode(raw)
    assert (meta.job_id, meta.asked().host, meta.declared_outputs["m"]["uri"]) == ("12", "login", "s3://b/m")


async def test_outputs_that_nobody_could_fetch_are_refused_before_the_job(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    with pytest.raises(ConfigError, match=r"output_upload='connector' needs.*FLYTE_SLURM_FILES"):
        await site.create(script())
    assert jobs(site) == 0
    await site.create(script(output_upload="job"))
    assert jobs(site) == 1


async def test_an_attempt_whose_job_made_no_output_has_none_that_ended(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its job may be made while accounting is away: one that had begun would have made the file."""
    plans: list[tuple[Cluster, JobPlan]] = []
    submit = SlurmConnector._submit

    async def noted(self: SlurmConnector, cluster: Cluster, plan: JobPlan, *more: Any) -> AsyncJob:
        plans.append((cluster, plan))
        return await submit(self, cluster, plan, *more)

    monkeypatch.setattr(SlurmConnector, "_submit", noted)
    meta = await site.create()
    ((cluster, plan),) = plans
    assert await never_began(cluster, plan)
    assert not await never_began(cluster, replace(plan, spec=plan.spec.replace(array="0-1")))
    out = site.files / meta.stdout_path.removeprefix("/home/")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.touch()
    assert not await never_began(cluster, plan)
    out.unlink()
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    await site.create()
    assert not await never_began(*plans[1]), "nothing tells"


async def test_the_job_of_an_attempt_that_was_given_up_is_cancelled(site: Site) -> None:
    first = await site.create()
    site.fake.start(int(first.job_id))
    site.connector = site.restarted()
    second = await site.create(execution=attempt(number=1))
    states = {record.id: str(record.state) for record in await site.fake.describe([1, 2])}
    assert states == {int(first.job_id): "CANCELLED", int(second.job_id): "PENDING"}
