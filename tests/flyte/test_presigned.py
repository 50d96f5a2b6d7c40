"""Outputs that a script uploads to a URL which is signed for it: with a real curl, to a store that speaks S3."""

from __future__ import annotations

import logging
import os
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import flyte
import pytest
from flyte.io import Dir, File

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.plan import JobPlan, make_plan
from flyteplugins.slurm_rest.presigned import CannotSign, with_upload_urls
from flyteplugins.slurm_rest.template import Execution, Task
from slurm_rest.errors import ConfigError

from .support.platform import serialize
from .support.s3 import Store
from .support.site import Site, attempt, jobs

WEEK = timedelta(days=7)
TASK = Task("slurm_script", "t", script="#!/bin/sh\n", outputs={"model": "file"}, output_upload="presigned")


def plan(task: Task = TASK, prefix: str = "s3://runs/pre", **options: object) -> JobPlan:
    task = replace(task, options=options)
    return make_plan(task, Execution(), directory="/d", home="/h", output_prefix=prefix, inputs={}, unique="u")


def script(**outputs: Any) -> SlurmScriptTask:
    outputs = outputs or {"model": File}
    task = SlurmScriptTask("t", "#!/bin/sh\n", Slurm(time_limit="60"), outputs=outputs, output_upload="presigned")
    flyte.TaskEnvironment.from_task("t", task)
    return task


def environment_of(site: Site, meta: SlurmJobMetadata) -> dict[str, str]:
    (job,) = site.fake.slurm.jobs[int(meta.job_id)]
    return dict(one.split("=", 1) for one in job.request.environment)


def upload(env: dict[str, str], path: Path, name: str = "MODEL", **more: str) -> subprocess.CompletedProcess[str]:
    """Do on a node what a script does."""
    given = {**env, f"FLYTE_OUTPUT_{name}": str(path), "PATH": os.environ["PATH"], **more}
    words = ["sh", "-c", f'eval "$FLYTE_OUTPUT_{name}_UPLOAD"']
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False, timeout=60)


async def test_a_node_needs_nothing_but_curl(
    site: Site, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    caplog.set_level(logging.DEBUG)
    task = script(model=File, score=float)
    meta = await site.connector.create(serialize(task), "s3://runs/pre/a0", {}, attempt())
    env = environment_of(site, meta)
    assert env["FLYTE_OUTPUT_MODEL"].endswith(".outputs/model")
    for name, data in {"model": b"weights" * 1000, "score": b"0.5\n"}.items():
        path = tmp_path / f"{name} [1] {{2}}"
        path.write_bytes(data)
        done = upload(env, path, name.upper())
        assert done.returncode == 0, done.stderr
        assert store.objects[f"runs/pre/a0/{name}"] == data
    site.finish(meta)
    found = await site.until(meta, "SUCCEEDED")
    assert found.outputs is not None
    assert (found.outputs["model"].path, found.outputs["score"]) == ("s3://runs/pre/a0/model", 0.5)
    (job,) = site.fake.slurm.jobs[int(meta.job_id)]
    shown = f"{meta.encode()!r} {job.request.script} {found} {caplog.text} {env['FLYTE_OUTPUT_MODEL_UPLOAD']}"
    assert "X-Amz-Signature" not in shown
    assert "X-Amz-Signature" in env["FLYTE_OUTPUT_MODEL_URL"]


async def test_the_url_is_no_word_of_a_command(site: Site, store: Store, tmp_path: Path) -> None:
    meta = await site.connector.create(serialize(script()), "s3://runs/pre/a1", {}, attempt())
    tool = tmp_path / "curl"
    tool.write_text('#!/bin/sh\nprintf "%s " "$@"; echo; cat\n')
    tool.chmod(0o755)
    env = environment_of(site, meta)
    done = upload(env, tmp_path / "m", PATH=f"{tmp_path}:{os.environ['PATH']}")
    words, config = done.stdout.splitlines()
    assert "http" not in words
    assert config == f'url = "{env["FLYTE_OUTPUT_MODEL_URL"]}"'


async def test_an_upload_that_fails_fails_the_command(site: Site, store: Store, tmp_path: Path) -> None:
    meta = await site.connector.create(serialize(script()), "s3://runs/pre/a2", {}, attempt())
    done = upload(environment_of(site, meta), tmp_path / "nothing here")
    assert done.returncode != 0
    site.finish(meta)
    message = (await site.until(meta, "FAILED")).message or ""
    assert "output 'model': nothing was uploaded to s3://runs/pre/a2/model; the script writes" in message


async def test_a_url_is_good_as_long_as_the_deployment_says(store: Store) -> None:
    for lifetime in (WEEK, timedelta(hours=1)):
        signed = await with_upload_urls(plan(), lifetime)
        query = parse_qs(urlsplit((signed.spec.env or {})["FLYTE_OUTPUT_MODEL_URL"]).query)
        assert query["X-Amz-Expires"] == [str(int(lifetime.total_seconds()))]


async def test_no_job_outlives_its_urls(store: Store) -> None:
    hour = timedelta(hours=1)
    assert (await with_upload_urls(plan(time="30"), hour)).spec.deadline == "now+3300"
    assert (await with_upload_urls(plan(time="30", deadline="23:00"), hour)).spec.deadline == plan(
        deadline="23:00"
    ).spec.deadline
    assert (await with_upload_urls(plan(), hour)).spec.deadline is None, "Slurm wants a time limit with it"
    with pytest.raises(ValueError, match=r"time limit of 1:00:00 is longer than an upload URL is good \(1:00:00\)"):
        await with_upload_urls(plan(time="60"), hour)


async def test_other_plans_are_left_alone() -> None:
    other = plan(replace(TASK, output_upload="job"))
    assert await with_upload_urls(other, WEEK) is other


async def test_a_store_that_signs_nothing_is_refused_before_the_job(site: Site) -> None:
    with pytest.raises(CannotSign, match=r"no upload URLs for .*output_upload='connector'"):
        await site.create(script())
    assert jobs(site) == 0


async def test_a_connector_without_credentials_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> str:
        raise RuntimeError("PUT /x?X-Amz-Signature=hidden")

    monkeypatch.setattr("obstore.sign_async", refuse)
    with pytest.raises(CannotSign, match=r"No URL for s3://.* can be signed .*RuntimeError.*credentials") as caught:
        await with_upload_urls(plan(), WEEK)
    assert "hidden" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_directory_is_refused_with_the_remedy() -> None:
    for refused in (lambda: script(tree=Dir), lambda: plan(replace(TASK, outputs={"tree": "directory"}))):
        with pytest.raises(ValueError, match=r"'tree'.* for one object: declare a File .* tar"):
            refused()


def test_names_that_collide_with_the_urls_are_refused() -> None:
    with pytest.raises(ValueError, match="'m' and the output 'm_url' would both be FLYTE_OUTPUT_M_URL"):
        script(m=File, m_url=File)


def test_a_script_may_name_the_url_and_the_command() -> None:
    text = '#!/bin/sh\neval "$FLYTE_OUTPUT_M_UPLOAD"; echo ${FLYTE_OUTPUT_M_URL}\n'
    SlurmScriptTask("t", text, Slurm(), outputs={"m": File}, output_upload="presigned")
    with pytest.raises(ValueError, match="FLYTE_OUTPUT_M_UPLOAD"):
        SlurmScriptTask("t", text, Slurm(), outputs={"m": File})


async def test_azure_wants_a_header(store: Store) -> None:
    from flyteplugins.slurm_rest.presigned import _command

    place = plan().outputs["model"]
    assert "BlockBlob" in _command("model", replace(place, uri="abfs://c/x"))
    assert "BlockBlob" not in _command("model", place)


@pytest.mark.parametrize("text", ["8d", "1m", "week", "0"])
def test_a_lifetime_that_no_store_gives_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from flyteplugins.slurm_rest.settings import Deployment

    with pytest.raises(ConfigError, match="FLYTE_SLURM_UPLOAD_URL_TTL"):
        Deployment.read({"FLYTE_SLURM_UPLOAD_URL_TTL": text})
    assert Deployment.read({"FLYTE_SLURM_UPLOAD_URL_TTL": "12h"}).upload_url_ttl == timedelta(hours=12)
