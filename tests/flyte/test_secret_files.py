"""Secrets that the connector sends: in a file of the job's user alone, gone with the job, and written nowhere else."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import flyte
import pytest
from flyteidl2.core.execution_pb2 import TaskExecution

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask, service
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.running import LOCAL_RUN, LocalRun
from flyteplugins.slurm_rest.secret_files import SecretFiles
from flyteplugins.slurm_rest.secret_ways import UndeliverableSecret
from slurm_rest.errors import SubmitRejected, Unreachable
from tests.support.waiting import until, until_true

from .support.platform import serialize
from .support.site import Site, attempt, jobs

VALUE = "s3cret of 'é' $(id)\nand more"


def task(**more: Any) -> SlurmScriptTask:
    text = '#!/bin/sh\nprintf "%s|%s" "$HF_TOKEN" "$TEAM_KEY"\n'
    wanted = [flyte.Secret("hf-token"), flyte.Secret("key", group="team", as_env_var="TEAM_KEY")]
    made = SlurmScriptTask("secretive", text, Slurm(), secrets=wanted, **more)
    flyte.TaskEnvironment.from_task("secretive", made)
    return made


@pytest.fixture(autouse=True)
def holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that has one of the secrets in a variable and the other in a file."""
    (tmp_path / "held").mkdir()
    (tmp_path / "held/team.key").write_text("of the team\n")
    monkeypatch.setenv("HELD_TOKEN", VALUE)
    rules = f"hf-token=connector-env:HELD_TOKEN; team/*=file:/x; *=connector-file:{tmp_path}/held/{{group}}.{{key}}"
    monkeypatch.setenv("FLYTE_SLURM_SECRETS", rules)


def sent(site: Site) -> list[Path]:
    """Return the files with secrets on the cluster."""
    return sorted(path for path in site.files.glob("*/.flyte/secrets/*"))


def run(site: Site, meta: SlurmJobMetadata) -> subprocess.CompletedProcess[str]:
    """Do on a node what the job does; there the home is where the cluster has it."""
    (job,) = site.fake.slurm.jobs[int(meta.job_id)]
    script = job.request.script.replace("/home/", f"{site.files}/")
    return subprocess.run(["bash", "-c", script], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)


async def test_a_job_has_what_the_connector_holds_and_nothing_else_shows_it(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    meta = await site.create(task())
    (file,) = sent(site)
    assert file.stat().st_mode & 0o7777 == 0o600
    assert file.name == meta.job_name
    assert (run(site, meta).stdout, run(site, meta).stderr) == (f"{VALUE}|of the team", "")
    (job,) = site.fake.slurm.jobs[int(meta.job_id)]
    site.finish(meta, 1)
    found = await site.until(meta, "FAILED")
    shown = f"{meta.encode()!r} {job.request.script} {job.comment} {job.request.environment} {found} {caplog.text}"
    assert "s3cret" not in shown
    assert "of the team" not in shown
    await until_true(lambda: not sent(site), "the removal")
    done = run(site, meta)
    assert done.returncode == 1
    assert "the secrets of this job cannot be read on this node from" in done.stderr


@pytest.mark.parametrize(
    "state", ["COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "CANCELLED"]
)
async def test_it_goes_with_the_job_however_that_ends(site: Site, state: str) -> None:
    meta = await site.create(task())
    await site.get(meta)
    assert len(sent(site)) == 1
    site.finish(meta, 0 if state == "COMPLETED" else 1, state=state)
    # Another replica, or the same after a restart, knows what the platform kept and no more.
    site.connector = site.restarted()

    async def ended() -> bool:
        found = await site.connector.get(SlurmJobMetadata.decode(meta.encode()))
        return TaskExecution.Phase.Name(found.phase) not in ("QUEUED", "RUNNING", "INITIALIZING")

    await until(ended, "its end")
    await until_true(lambda: not sent(site), "the removal")


async def test_it_goes_when_flyte_cancels(site: Site) -> None:
    meta = await site.create(task())
    await site.connector.delete(meta)
    await until_true(lambda: not sent(site), "the removal")
    await site.connector.delete(meta)


async def test_it_goes_at_the_end_of_a_local_run(site: Site) -> None:
    token = LOCAL_RUN.set(run := LocalRun())
    try:
        await site.connector.create(serialize(task()), f"file://{site.store}", {})
        assert len(sent(site)) == 1
        await run.cancel()
    finally:
        LOCAL_RUN.reset(token)
    await until_true(lambda: not sent(site), "the removal")


async def test_a_job_that_slurm_refuses_leaves_none(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise SubmitRejected("Invalid partition name specified")

    monkeypatch.setattr(site.fake, "submit", refuse)
    with pytest.raises(SubmitRejected):
        await site.create(task())
    await until_true(lambda: not sent(site), "the removal")


async def test_an_error_that_leaves_one_guessing_leaves_it_for_the_job(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier call may have made the job, whose answer was lost."""

    async def lose(*_: object) -> None:
        raise Unreachable("gone")

    submit = site.fake.submit
    monkeypatch.setattr(site.fake, "submit", lose)
    with pytest.raises(Unreachable):
        await site.create(task())
    assert len(sent(site)) == 1
    monkeypatch.setattr(site.fake, "submit", submit)
    meta = await site.create(task())
    assert [path.name for path in sent(site)] == [meta.job_name]


async def test_a_new_attempt_removes_what_the_one_before_had(site: Site) -> None:
    first = await site.create(task(), attempt(number=0))
    second = await site.create(task(), attempt(number=1))
    await until_true(lambda: [path.name for path in sent(site)] == [second.job_name], "the removal")
    assert first.job_name != second.job_name


async def test_where_no_way_leads_to_files_it_is_refused_before_the_job(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    with pytest.raises(
        UndeliverableSecret, match=r"no way to write one.*FLYTE_SLURM_HOST \(SFTP\) or FLYTE_SLURM_FILES"
    ):
        await site.create(task())
    assert jobs(site) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: os.environ.pop("HELD_TOKEN"), "the connector has no variable HELD_TOKEN"),
        (lambda held: (held / "team.key").unlink(), "cannot be read by the connector from .*team.key: No such file"),
        (lambda held: (held / "team.key").write_bytes(b"a\0b"), "fits into no variable"),
        (lambda held: (held / "team.key").write_bytes(b"a" * 131072), "fits into no variable"),
    ],
)
async def test_what_the_connector_does_not_hold_is_refused(
    site: Site, tmp_path: Path, change: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELD_TOKEN", VALUE)
    change(tmp_path / "held")
    with pytest.raises(UndeliverableSecret, match=words) as caught:
        await site.create(task())
    assert jobs(site) == 0
    assert "s3cret" not in str(caught.value)


async def test_a_way_that_is_broken_is_tried_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    site.connector.known.secret_files = SecretFiles(pause)
    meta = await site.create(task())
    (cluster,) = site.connector.known.clusters._found.values()
    remove, calls = cluster.client.files.remove, [0]

    async def broken(path: str, **more: bool) -> bool:
        calls[0] += 1
        if calls[0] < 3:
            raise Unreachable("no way")
        return await remove(path, **more)

    monkeypatch.setattr(cluster.client.files, "remove", broken)
    await site.connector.delete(meta)
    await until_true(lambda: not sent(site), "the removal")
    assert pauses == [1.0, 2.0]


async def test_what_is_still_to_be_removed_stays_when_the_job_is_made_after_all(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm has refused it, the file could not be removed just then, and the platform has asked again."""
    again, removals = asyncio.Event(), 0

    async def pause(_: float) -> None:
        await again.wait()

    async def refuse(*_: object) -> None:
        raise SubmitRejected("Job violates accounting/QOS policy")

    site.connector.known.secret_files = SecretFiles(pause)
    await site.create(task(), attempt("other"))
    (cluster,) = site.connector.known.clusters._found.values()
    remove = cluster.client.files.remove

    async def broken(path: str, **more: bool) -> bool:
        nonlocal removals
        removals += 1
        if removals == 1:
            raise Unreachable("no way")
        return await remove(path, **more)

    monkeypatch.setattr(cluster.client.files, "remove", broken)
    with monkeypatch.context() as refusing:
        refusing.setattr(site.fake, "submit", refuse)
        refusing.setattr(service, "_REFUSED_PATIENCE", 0.05)
        with pytest.raises(SubmitRejected):
            await site.create(task())
    meta = await site.create(task())
    again.set()
    await until_true(lambda: not site.connector.known.secret_files._removing, "the end of the removals")
    assert meta.job_name in [path.name for path in sent(site)]


async def test_what_was_left_behind_goes_when_another_job_is_made(site: Site) -> None:
    """Of a job that is over and of one that never was; what a job may still read stays, and whatever is not ours."""
    live = await site.create(task(), attempt("r1"))
    over = await site.create(task(), attempt("r2"))
    site.finish(over)
    folder = sent(site)[0].parent
    for name in ("flyte-secretive-r9-a0-0-00000000", ".flyte-secretive-r9-a0-0-00000001.12345678", "mine"):
        (folder / name).touch()
    (folder / "flyte-secretive-young-a0-0-00000002").touch()
    old = time.time() - 7200
    for path in folder.iterdir():
        if "young" not in path.name:
            os.utime(path, (old, old))
    site.connector = site.restarted()
    new = await site.create(task(), attempt("r3"))
    kept = {"mine", "flyte-secretive-young-a0-0-00000002", live.job_name, new.job_name}
    await until_true(lambda: not site.connector.known.secret_files._sweeping, "the end of the sweep")
    assert {path.name for path in folder.iterdir()} == kept
