"""A connector on a cluster in memory, and what tests ask of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flyte
from flyte.connectors import Resource
from flyte.io import File
from flyteidl2.connector.connector_pb2 import TaskExecutionMetadata
from flyteidl2.core.execution_pb2 import ContainerError, ErrorDocument, TaskExecution

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.clients import Clusters
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.service import Known, SlurmConnector
from flyteplugins.slurm_rest.settings import ClusterAccess
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until

from .platform import serialize

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


def jobs(site: Site) -> int:
    return len(site.fake.slurm.jobs)


def script(**options: Any) -> SlurmScriptTask:
    task = SlurmScriptTask("legacy", "#!/bin/sh\n", Slurm(), outputs={"model": File}, **options)
    flyte.TaskEnvironment.from_task("legacy", task)
    return task


def written_to(site: Site, meta: SlurmJobMetadata) -> Path:
    path = site.files / meta.declared_outputs["model"]["written_to"].removeprefix("/home/")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


async def lines_of(site: Site, meta: SlurmJobMetadata, token: str = "", lines: int = 0) -> tuple[list[str], str]:
    texts, after = [], ""
    async for one in site.connector.get_logs(meta, token=token, lines=lines):
        texts += [line.message for line in one.body.lines]
        after = one.header.token or after
    return texts, after
