"""Links beside a task: pages of the site, and copies of the job's output in the object store."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.settings import Deployment
from slurm_rest.errors import ConfigError
from tests.support.waiting import until

from .support.platform import serialize
from .support.s3 import Store
from .support.site import Site, answer, attempt

PAGES = (
    "Job=https://portal/{cluster}/jobs/{job_id}?q={stdout}; Graph=https://g/d?from={start_ms}&to={end_ms}&n={node}\n"
)


def written(site: Site, path: str, data: bytes) -> None:
    local = site.files / path.removeprefix("/home/")
    local.parent.mkdir(parents=True, exist_ok=True)
    local.write_bytes(data)


async def on_s3(site: Site, run: str) -> SlurmJobMetadata:
    return await site.connector.create(serialize(answer), f"s3://runs/{run}", {}, attempt(run))


async def test_pages_of_the_site_come_once_their_values_are_known(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYTE_SLURM_LOG_LINKS", PAGES + "Files=https://f/{user}/{nodes}")
    meta = await site.create()
    _, found = await site.get(meta)
    assert "Graph" not in [link.name for link in found.log_links or []]
    site.fake.start(int(meta.job_id))

    async def all_there() -> dict[str, str] | None:
        _, found = await site.get(meta)
        links = {link.name: link.uri for link in found.log_links or []}
        return links if "Graph" in links else None

    links = await until(all_there, "the links")
    assert links is not None
    (record,) = await site.fake.describe([int(meta.job_id)])
    assert record.start_time is not None
    began = int(record.start_time.timestamp() * 1000)
    path = meta.stdout_path.replace("/", "%2F")
    assert links == {
        "Job": f"https://portal/{record.cluster}/jobs/{meta.job_id}?q={path}",
        "Graph": f"https://g/d?from={began}&to=now&n={record.nodes}",
        "Files": f"https://f/alice/{record.nodes}",
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Job=ftp://x", "NAME=https://"),
        ("https://x/{job_id}", "NAME=https://"),
        ("Job=https://x/{jobid}", r"placeholder that does not exist.*\{job_id\}"),
        ("Job=https://x/{job_id.real}", "placeholder"),
        ("Job=https://x/{", "placeholder"),
    ],
)
def test_a_template_that_cannot_work_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"FLYTE_SLURM_LOG_LINKS.*{reason}"):
        Deployment.read({"FLYTE_SLURM_LOG_LINKS": text})


async def test_what_a_job_wrote_can_be_read_from_the_store_afterwards(site: Site, store: Store) -> None:
    meta = await on_s3(site, "copied")
    written(site, meta.stdout_path, b"hello\n" * 300_000)
    written(site, meta.stderr_path, b"trouble\n")
    site.finish(meta, 3)
    found = await site.until(meta, "FAILED")
    links = {link.name: link for link in found.log_links or []}
    assert set(links) == {"stdout (last MiB)", "stderr"}
    with urllib.request.urlopen(links["stderr"].uri, timeout=30) as answered:  # noqa: ASYNC210  # the test's own
        assert answered.read() == b"trouble\n"
    assert "X-Amz-Signature" in links["stderr"].uri
    assert 1024 * 1024 - 6 < len(store.objects[f"runs/copied/slurm-{meta.job_id}.stdout.txt"]) <= 1024 * 1024
    again = await site.until(meta, "FAILED")
    assert [link.uri for link in again.log_links or []] == [link.uri for link in found.log_links or []]


@pytest.mark.parametrize("why", ["switched off", "no way to files", "store away"])
async def test_without_copies_a_task_ends_all_the_same(
    site: Site, store: Store, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if why == "switched off":
        monkeypatch.setenv("FLYTE_SLURM_LOG_COPIES", "0")
    if why == "no way to files":
        monkeypatch.delenv("FLYTE_SLURM_FILES")
    meta = await on_s3(site, why.replace(" ", "-"))
    if why != "no way to files":
        written(site, meta.stdout_path, b"hello\n")
    if why == "store away":

        async def refuse(*_: object, **__: object) -> None:
            raise OSError("the store is away")

        monkeypatch.setattr("flyteplugins.slurm_rest.objects.create", refuse)
    site.finish(meta, state="NODE_FAIL")
    found = await site.until(meta, "RETRYABLE_FAILED")
    assert not found.log_links
