"""The connector on a cluster in memory: one job for each attempt, the truth at the end, outages, cancelling."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest.mock import patch

import flyte
import pytest
from flyte._persistence._db import LocalDB
from flyte.connectors import ConnectorRegistry, Resource
from flyte.io import File
from flyteidl2.connector.connector_pb2 import TaskExecutionMetadata
from flyteidl2.core.execution_pb2 import ContainerError, ErrorDocument, TaskExecution

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.clients import Clusters
from flyteplugins.slurm_rest.members import output_of
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.running import LOCAL_RUN, LocalRun
from flyteplugins.slurm_rest.service import Known, SlurmConnector
from flyteplugins.slurm_rest.settings import ClusterAccess
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import ConfigError, PermissionDenied, TokenRejected, Unreachable
from slurm_rest.testing import FakeCluster, FakeTransport
from tests.support.waiting import until

from .support.platform import serialize

environment = flyte.TaskEnvironment(name="fake", plugin_config=Slurm(), image=flyte.Image.from_base("python:3.11"))


@environment.task
async def answer() -> int:
    """Never runs here: the cluster is one in memory."""
    return 42


def attempt(run: str = "r1", number: int = 0) -> TaskExecutionMetadata:
    found = TaskExecutionMetadata()
    found.task_execution_id.retry_attempt = number
    found.task_execution_id.node_execution_id.node_id = "a0"
    found.task_execution_id.node_execution_id.execution_id.name = run
    return found


class Site:
    """A connector, the cluster behind it, and the directory that is both object store and shared file system."""

    def __init__(self, folder: Path) -> None:
        self.fake = FakeTransport()
        self.store = folder / "store"
        self.files = folder / "home"
        for made in (self.store, self.files):
            made.mkdir()
        self.connector = self.restarted()

    def restarted(self) -> SlurmConnector:
        """Return a connector that knows nothing yet: another replica, or the same after a restart."""
        return SlurmConnector(Known(clusters=Clusters(self._client)))

    def _client(self, access: ClusterAccess) -> AsyncSlurmClient:
        shared = {"/home": str(self.files)} if access.files else None
        return AsyncSlurmClient(transport=self.fake, workdir="/home/{user}", path_map=shared, environ={})

    async def create(self, task: Any = answer, execution: Any = None, **inputs: object) -> SlurmJobMetadata:
        execution = execution or attempt()
        template = serialize(task)
        return await self.connector.create(template, str(self.store), dict(inputs), execution)

    async def get(self, meta: SlurmJobMetadata) -> tuple[str, Resource]:
        """Ask as the platform does: the metadata goes through bytes."""
        found = await self.connector.get(SlurmJobMetadata.decode(meta.encode()))
        return str(TaskExecution.Phase.Name(found.phase)), found

    async def until(self, meta: SlurmJobMetadata, phase: str) -> Resource:
        async def reached() -> Resource | None:
            now, found = await self.get(meta)
            return found if now == phase else None

        found = await until(reached, phase)
        assert found is not None
        return found

    def fails(self, message: str, *, recoverable: bool = False) -> None:
        """Write what the entrypoint writes when the task raises."""
        kind = ContainerError.RECOVERABLE if recoverable else ContainerError.NON_RECOVERABLE
        document = ErrorDocument(error=ContainerError(code="ValueError", message=message, kind=kind))
        (self.store / "error.pb").write_bytes(document.SerializeToString())

    def finish(self, meta: SlurmJobMetadata, exit_code: int = 0, state: str = "") -> None:
        self.fake.finish(int(meta.job_id), exit_code, state=state)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://slurm")
    monkeypatch.setenv("FLYTE_SLURM_FILES", "/home=/mounted")
    return Site(tmp_path)


def jobs(site: Site) -> int:
    return len(site.fake.slurm.jobs)


# --- create ---------------------------------------------------------------------------------------------------


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


async def test_the_job_of_an_attempt_that_was_given_up_is_cancelled(site: Site) -> None:
    first = await site.create()
    site.fake.start(int(first.job_id))
    site.connector = site.restarted()
    second = await site.create(execution=attempt(number=1))
    states = {record.id: str(record.state) for record in await site.fake.describe([1, 2])}
    assert states == {int(first.job_id): "CANCELLED", int(second.job_id): "PENDING"}


# --- the truth ------------------------------------------------------------------------------------------------


async def test_a_task_goes_through_its_phases(site: Site) -> None:
    meta = await site.create()
    assert (await site.get(meta))[0] in ("QUEUED", "WAITING_FOR_RESOURCES")
    site.fake.start(int(meta.job_id))
    running = await site.until(meta, "RUNNING")
    assert running.custom_info is not None
    assert running.custom_info["job_id"] == meta.job_id
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    await site.until(meta, "SUCCEEDED")
    assert (await site.get(meta))[0] == "SUCCEEDED", "it stays"


async def test_a_job_that_exits_zero_is_no_success_when_the_task_raised(site: Site) -> None:
    meta = await site.create()
    site.fails("no such column")
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert found.message is not None
    assert found.message.startswith("ValueError: no such column\nSlurm job")


async def test_an_error_worth_another_attempt_is_retryable(site: Site) -> None:
    meta = await site.create()
    site.fails("again", recoverable=True)
    site.finish(meta)
    await site.until(meta, "RETRYABLE_FAILED")


async def test_a_job_that_wrote_nothing_has_failed(site: Site) -> None:
    meta = await site.create()
    site.finish(meta)
    found = await site.until(meta, "FAILED")
    assert "wrote neither outputs.pb nor error.pb" in (found.message or "")


async def test_a_job_that_failed_by_itself_says_how(site: Site) -> None:
    meta = await site.create()
    log = site.files / meta.stderr_path.removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("first\nKilled by something\n")
    site.finish(meta, 9)
    found = await site.until(meta, "FAILED")
    assert "exit code 9:0" in (found.message or "")
    assert (found.message or "").endswith("--- stderr (last 30 lines) ---\nfirst\nKilled by something")


@pytest.mark.parametrize(
    ("state", "phase"), [("NODE_FAIL", "RETRYABLE_FAILED"), ("PREEMPTED", "RETRYABLE_FAILED"), ("TIMEOUT", "FAILED")]
)
async def test_ends_that_slurm_chose(site: Site, state: str, phase: str) -> None:
    meta = await site.create()
    site.finish(meta, state=state)
    await site.until(meta, phase)


# --- limits and interruptions -----------------------------------------------------------------------------------


async def test_a_job_that_waits_too_long_is_cancelled_and_worth_another_attempt(site: Site) -> None:
    task = answer.override(timeout=flyte.Timeout(max_queued_time=60))
    meta = await site.create(task)
    phase, found = await site.get(meta)
    assert phase in ("QUEUED", "WAITING_FOR_RESOURCES")
    assert "too long" not in (found.message or "")
    site.fake.slurm.advance(61)
    late = replace(meta, submitted=(datetime.now(timezone.utc) - timedelta(seconds=61)).isoformat())
    for job in site.fake.slurm.members(int(meta.job_id)):
        job.submit_time -= 61
    found = await site.until(late, "RETRYABLE_FAILED")
    assert "longer than the 0:01:00 that the task allows (max_queued_time" in (found.message or "")
    site.connector = site.restarted()
    found = await site.until(late, "RETRYABLE_FAILED")
    assert "longer than the 0:01:00" in (found.message or ""), "also on another replica"


async def test_a_job_that_started_in_time_is_left_alone(site: Site) -> None:
    meta = await site.create(answer.override(timeout=flyte.Timeout(max_queued_time=60)))
    site.fake.start(int(meta.job_id))
    late = replace(meta, submitted=(datetime.now(timezone.utc) - timedelta(seconds=61)).isoformat())
    await site.until(late, "RUNNING")
    assert not site.connector.known.giving_up
    await site.fake.cancel([int(meta.job_id)])
    found = await site.until(late, "FAILED")
    assert "max_queued_time" not in (found.message or "")


# --- outages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [Unreachable("slurmrestd is away"), TokenRejected("the token is old")])
async def test_an_outage_keeps_the_phase(site: Site, error: Exception) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    site.fake.failing = error  # type: ignore[assignment]  # one of slurm_rest's

    async def told() -> Resource | None:
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        return found if "no news from Slurm since" in (found.message or "") else None

    told_last = await until(told, "the outage in the message")
    assert told_last is not None
    assert (told_last.message or "").endswith(f"\n{error}"), "in the poller's own words"
    assert told_last.custom_info is not None
    assert told_last.custom_info["stale_reason"] == str(error)
    site.fake.failing = None
    (site.store / "outputs.pb").write_bytes(b"")
    site.finish(meta)
    await site.until(meta, "SUCCEEDED")


async def test_a_restart_in_an_outage_ends_nothing(site: Site) -> None:
    meta = await site.create()
    site.connector = site.restarted()
    site.fake.failing = Unreachable("slurmrestd is away")
    phase, found = await asyncio.wait_for(site.get(meta), 10)
    assert (phase, found.outputs) == ("QUEUED", None)
    assert "this connector has not heard of it yet" in (found.message or "")
    assert (found.message or "").endswith("\nslurmrestd is away")


async def test_no_phase_goes_back_with_a_restart_in_an_outage(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = await site.create()
    log = site.files / meta.stdout_path.removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    site.fake.failing = Unreachable("slurmrestd is away")
    assert (await site.get(meta))[0] == "QUEUED", "the process that made the job knows that it told no other phase"
    site.connector = site.restarted()
    assert (await site.get(meta))[0] == "RUNNING", "it has made its output file"
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    site.connector = site.restarted()
    assert (await site.get(meta))[0] == "RUNNING", "nothing tells that it has not"
    site.fake.failing = None

    async def heard() -> bool:
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        return "is PENDING" in (found.message or "")

    await until(heard, "the first news")


async def test_get_answers_while_nothing_else_does(site: Site) -> None:
    meta = await site.create()
    site.connector = site.restarted()

    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    with patch.object(site.fake, "states", never), patch.object(site.fake, "describe", never):
        phase, found = await asyncio.wait_for(site.get(meta), 10)
    assert phase == "QUEUED"
    assert "has not heard of it yet" in (found.message or "")


# --- cancelling -----------------------------------------------------------------------------------------------


async def test_delete_cancels_and_can_be_repeated(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    for _ in range(2):
        await site.connector.delete(meta)
    (record,) = await site.fake.describe([int(meta.job_id)])
    assert str(record.state) == "CANCELLED"
    await site.until(meta, "ABORTED")


async def test_a_cancellation_by_somebody_else_is_a_failure_that_says_so(site: Site) -> None:
    meta = await site.create()
    await site.fake.cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "not through Flyte" in (found.message or "")


async def test_it_is_said_who_cancelled(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    await FakeTransport(site.fake.slurm, user="root").cancel([int(meta.job_id)])
    found = await site.until(meta, "FAILED")
    assert "cancelled by root, not through Flyte" in (found.message or "")


async def test_a_cancellation_that_is_denied_is_said(site: Site) -> None:
    meta = await site.create()
    site.fake.user = "bob"
    with pytest.raises(PermissionDenied, match="may not be cancelled"):
        await site.connector.delete(meta)


# --- scripts --------------------------------------------------------------------------------------------------


def script(**options: Any) -> SlurmScriptTask:
    task = SlurmScriptTask("legacy", "#!/bin/sh\n", Slurm(), outputs={"model": File}, **options)
    flyte.TaskEnvironment.from_task("legacy", task)
    return task


def written_to(site: Site, meta: SlurmJobMetadata) -> Path:
    path = site.files / meta.declared_outputs["model"]["written_to"].removeprefix("/home/")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


async def test_what_a_script_wrote_is_moved(site: Site) -> None:
    meta = await site.create(script())
    written_to(site, meta).write_bytes(b"weights")
    site.finish(meta)
    found = await site.until(meta, "SUCCEEDED")
    assert found.outputs is not None
    assert found.outputs["model"].path == f"{site.store}/model"
    assert (site.store / "model").read_bytes() == b"weights"


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


def group(text: str, **options: Any) -> SlurmScriptTask:
    task = SlurmScriptTask("group", text, Slurm(**options))
    flyte.TaskEnvironment.from_task("group", task)
    return task


ARRAY = "#!/bin/sh\n#SBATCH --array=0-2\n"
HET = "#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 2\n"


async def test_an_array_is_over_when_all_its_tasks_are(site: Site) -> None:
    meta = await site.create(group(ARRAY))
    site.fake.start(int(meta.job_id))
    first, second, third = site.fake.slurm.members(int(meta.job_id))
    site.fake.slurm.finish(first, 0)
    site.fake.slurm.finish(third, 4)
    await site.until(meta, "RUNNING")
    log = site.files / output_of(meta.stderr_path, 2).removeprefix("/home/")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("what went wrong\n")
    site.fake.slurm.finish(second, 0)
    found = await site.until(meta, "FAILED")
    assert "1 of its 3 members failed: task 2 FAILED (exit code 4:0)" in (found.message or "")
    assert (found.message or "").endswith("what went wrong")


@pytest.mark.parametrize("text", [ARRAY, HET])
async def test_all_members_are_cancelled(site: Site, text: str) -> None:
    meta = await site.create(group(text))
    site.fake.start(int(meta.job_id))
    await site.until(meta, "RUNNING")
    await site.connector.delete(meta)
    assert {job.base for job in site.fake.slurm.members(int(meta.job_id))} == {"CANCELLED"}
    await site.until(meta, "ABORTED")


async def test_a_het_script_with_outputs_keeps_its_components(site: Site) -> None:
    task = SlurmScriptTask("het", HET, Slurm(), outputs={"model": File})
    flyte.TaskEnvironment.from_task("het", task)
    meta = await site.create(task)
    assert len(site.fake.slurm.members(int(meta.job_id))) == 2


async def test_the_logs_of_an_array_are_those_of_its_tasks(site: Site) -> None:
    meta = await site.create(group(ARRAY))
    for task in (0, 2):
        path = site.files / output_of(meta.stdout_path, task).removeprefix("/home/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of {task}\n")
    lines, token = await lines_of(site, meta)
    assert [line for line in lines if line.startswith("of ")] == ["of 0", "of 2"]
    assert lines[0] == f"--- stdout of task 0: {output_of(meta.stdout_path, 0)} ---"
    assert await lines_of(site, meta, token) == ([], token)


# --- logs -----------------------------------------------------------------------------------------------------


async def lines_of(site: Site, meta: SlurmJobMetadata, token: str = "", lines: int = 0) -> tuple[list[str], str]:
    texts, after = [], ""
    async for one in site.connector.get_logs(meta, token=token, lines=lines):
        texts += [line.message for line in one.body.lines]
        after = one.header.token or after
    return texts, after


async def test_logs_go_on_where_they_were(site: Site) -> None:
    meta = await site.create()
    lines, _ = await lines_of(site, meta)
    assert lines == [f"No output yet from Slurm job {meta.job_id}; it goes to {meta.stdout_path}"]
    out, err = (site.files / path.removeprefix("/home/") for path in (meta.stdout_path, meta.stderr_path))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(b"one\ntwo \xff\n")
    err.write_bytes(b"trouble\n")
    lines, token = await lines_of(site, meta)
    assert lines == [
        f"--- stdout: {meta.stdout_path} ---",
        "one",
        "two \ufffd",
        f"--- stderr: {meta.stderr_path} ---",
        "trouble",
    ]
    with out.open("ab") as more:
        more.write(b"three\nhalf a li")
    lines, token = await lines_of(site, meta, token)
    assert lines == ["three"]
    with out.open("ab") as more:
        more.write(b"ne\n")
    lines, token = await lines_of(site, meta, token)
    assert lines == ["half a line"]
    with out.open("ab") as more:
        more.write(b"no end")
    found = []
    for _ in range(3):
        lines, token = await lines_of(site, meta, token)
        found.append(lines)
    assert found == [[], ["no end"], []], "a last line without an end comes once it is quiet"
    out.write_bytes(b"anew\n")
    assert (await lines_of(site, meta, token))[0] == ["anew"], "as after a requeue"


async def test_as_many_lines_as_are_asked_for(site: Site) -> None:
    meta = await site.create()
    out = site.files / meta.stdout_path.removeprefix("/home/")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"{number}\n" for number in range(1000)))
    assert (await lines_of(site, meta, lines=2))[0][1:] == ["998", "999"]
    assert len((await lines_of(site, meta))[0]) == 501
    for odd in ("x", "[]", '{"stdout": [1]}', '{"stdout": [-1, 0]}', '{"other": 3}'):
        assert (await lines_of(site, meta, odd))[0][-1] == "999"


async def test_logs_that_cannot_be_read_are_explained(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    meta = await site.create()
    lines, token = await lines_of(site, meta)
    assert len(lines) == 1
    assert f"The output of Slurm job {meta.job_id} cannot be read: Nothing leads to /home/alice" in lines[0]
    assert (await lines_of(site, meta, token))[0] == []


async def test_metrics(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    found = await site.connector.get_metrics(meta)
    assert "elapsed_seconds" in {one.metric for one in found.results}
