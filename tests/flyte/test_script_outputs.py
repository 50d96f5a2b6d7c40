"""What scripts wrote is moved or read, and what is missing named; on a cluster in memory."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import flyte
import pytest
from flyte.io import File

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from slurm_rest.testing import FakeCluster, FakeTransport

from .support.site import Site, script, written_to


async def test_what_a_script_wrote_is_moved(site: Site) -> None:
    meta = await site.create(script())
    written_to(site, meta).write_bytes(b"weights")
    site.finish(meta)
    found = await site.until(meta, "SUCCEEDED")
    assert found.outputs is not None
    assert found.outputs["model"].path == f"{site.store}/model"
    assert (site.store / "model").read_bytes() == b"weights"


async def test_what_a_script_did_not_write_is_named(site: Site) -> None:
    meta = await site.create(script())
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert "output 'model': nothing was written to /home/alice/" in (found.message or "")


async def test_what_is_too_large_is_refused_with_the_remedy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES", "6")
    meta = await site.create(script())
    written_to(site, meta).write_bytes(b"weights")
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert "7 bytes are more than the 6" in (found.message or "")
    assert "output_upload='job'" in (found.message or "")
    assert not (site.store / "model").exists()


def values(**options: Any) -> SlurmScriptTask:
    outputs = {"score": float, "names": list[str], "model": File}
    task = SlurmScriptTask("legacy", "#!/bin/sh\n", Slurm(), outputs=outputs, **options)
    flyte.TaskEnvironment.from_task("legacy", task)
    return task


async def test_values_are_read_from_small_files(site: Site) -> None:
    meta = await site.create(values())
    folder = written_to(site, meta).parent
    (folder / "score").write_text("0.93\n")
    (folder / "names").write_text('["a", "b"]')
    (folder / "model").write_bytes(b"weights")
    site.finish(meta)
    found = await site.until(meta, "SUCCEEDED")
    assert found.outputs is not None
    assert (found.outputs["score"], found.outputs["names"]) == (0.93, ["a", "b"])
    names = sorted(path.name for path in site.store.iterdir())
    assert [name for name in names if not name.startswith("slurm-")] == ["model"], "values are not moved"


async def test_values_that_cannot_be_had_are_all_named(site: Site) -> None:
    meta = await site.create(values())
    folder = written_to(site, meta).parent
    (folder / "score").write_text("good\n")
    (folder / "names").write_bytes(b'["' + b"x" * 300_000)
    site.finish(meta)
    message = (await site.until(meta, "FAILED")).message or ""
    assert re.search(
        r"output 'score': /home/\S*/score does not hold what is declared: 'good\S*: Input .* number", message
    )
    assert re.search(r"output 'names': \S* has more than the 262,144 bytes of a value", message)
    assert "output 'model': nothing was written" in message


async def test_values_that_the_job_uploads_are_read_from_the_store(site: Site) -> None:
    meta = await site.create(values(output_upload="job"))
    for name, text in {"score": "1", "names": "[]", "model": "w"}.items():
        (site.store / name).write_text(text)
    site.finish(meta)
    found = await site.until(meta, "SUCCEEDED")
    assert found.outputs is not None
    assert (found.outputs["score"], found.outputs["names"]) == (1.0, [])


async def test_a_script_that_failed_has_no_outputs(site: Site) -> None:
    meta = await site.create(script())
    written_to(site, meta).write_bytes(b"weights")
    site.finish(meta, 1)
    found = await site.until(meta, "FAILED")
    assert found.outputs is None
    assert not (site.store / "model").exists()


async def test_a_script_is_read_by_the_rules_of_the_cluster(site: Site) -> None:
    """24.11 adds one kind of mail to the other, 26.05 takes the last."""
    task = SlurmScriptTask("mails", "#!/bin/sh\n#SBATCH --mail-type=END --mail-type=FAIL\n", Slurm())
    flyte.TaskEnvironment.from_task("mails", task)
    for release, kinds in (("24.11", ["END", "FAIL"]), ("26.05", ["FAIL"])):
        site.fake = FakeTransport(FakeCluster(run=False, release=release))
        site.connector = site.restarted()
        with patch.object(site.fake, "submit", wraps=site.fake.submit) as submitted:
            await site.create(task)
        assert submitted.await_args is not None
        assert sorted(submitted.await_args.args[0].body["job"]["mail_type"]) == kinds
