"""Both connectors, called alike: ours reaches the cluster over REST, flyteplugins-slurm over SSH."""

from __future__ import annotations

import abc
import asyncio
import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from slurm_rest import AsyncSlurmClient

__all__ = ["PEER", "Ours", "Side", "Theirs", "Way", "script_template"]

PEER = "2.12.1"
# Of either package, which share no types.
Foreign: TypeAlias = Any
# When no more records come for so many seconds, jobs without one are asked for again.
_ASK_AGAIN = 2.0
_SCRIPT = "#!/bin/bash\n#SBATCH --time=0:30:00\nsrun hostname\n"


@dataclass(frozen=True, slots=True)
class Way:
    """How a cluster is reached; it can be handed to another process."""

    url: str
    token: str
    ssh_port: int
    ssh_key: str
    known_hosts: str
    user: str


class Side(abc.ABC):
    """A connector that is asked as the platform does. ``connector`` is flyte's, of either package."""

    name: str
    connector: Any
    secrets: Mapping[str, str]

    def __init__(self, way: Way) -> None:
        self.way = way

    @abc.abstractmethod
    def meta(self, job_id: int) -> Foreign:
        """Return what the platform keeps of a job."""

    @abc.abstractmethod
    def asked(self) -> int:
        """Return how many requests or commands it has made."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Let go of the cluster."""

    async def get(self, job_id: int) -> None:
        """Ask for one job."""
        await self.connector.get(self.meta(job_id), **self.secrets)

    async def create(self, template: Foreign, run: str) -> None:
        """Make the job of one attempt."""
        from flyteidl2.connector.connector_pb2 import TaskExecutionMetadata

        execution = TaskExecutionMetadata()
        node = execution.task_execution_id.node_execution_id
        node.node_id = "a0"
        node.execution_id.project, node.execution_id.domain, node.execution_id.name = "p", "d", run
        await self.connector.create(template, f"file:///tmp/{run}", {}, execution, **self.secrets)

    def fields(self, job_id: int) -> dict[str, Any]:
        """Return the fields that the metadata of both have."""
        paths = {name: f"/home/{self.way.user}/{job_id}.{name}" for name in ("out", "err")}
        return {
            "job_id": str(job_id),
            "job_name": "waiting",
            "host": "127.0.0.1",
            "username": self.way.user,
            "port": self.way.ssh_port,
            "stdout_path": paths["out"],
            "stderr_path": paths["err"],
            "known_hosts": self.way.known_hosts,
        }


class Ours(Side):
    """flyteplugins.slurm_rest, over REST alone. ``hurried`` asks for full records without pauses."""

    name = "ours, over REST"

    def __init__(self, way: Way, *, hurried: bool = False) -> None:
        super().__init__(way)
        os.environ["FLYTE_SLURM_REST_URL"], os.environ["FLYTE_SLURM_REST_TOKEN"] = way.url, way.token
        os.environ["FLYTE_SLURM_TRANSPORT"] = "rest"
        import_peer()
        from flyteplugins.slurm_rest.clients import Cluster, Clusters, make_client
        from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
        from flyteplugins.slurm_rest.service import Known, SlurmScriptConnector
        from flyteplugins.slurm_rest.settings import ClusterAccess

        self.records = 0
        self._hurried = hurried
        self._clients: list[AsyncSlurmClient] = []
        self._metadata = SlurmJobMetadata

        def make(access: ClusterAccess) -> AsyncSlurmClient:
            client = make_client(access)
            self._clients.append(client)
            self._count_records(client)
            return client

        self._clusters = Clusters(make)
        self._cluster: Cluster | None = None
        self.connector = SlurmScriptConnector(Known(clusters=self._clusters))
        self.secrets = {}

    def _count_records(self, client: AsyncSlurmClient) -> None:
        info = client.info

        async def counted(job: Foreign) -> Foreign:
            found = await info(job)
            self.records += 1
            return found

        client.info = counted  # type: ignore[method-assign]  # to be counted

    def meta(self, job_id: int) -> Foreign:
        """Return it as it is kept: a connection that the deployment sets is not."""
        kept = self.fields(job_id) | {"host": "", "port": 0, "known_hosts": None}
        return self._metadata(**kept, task_type="slurm_script")

    def asked(self) -> int:
        """Return the number of requests over HTTP."""
        return sum(client.requests for client in self._clients)

    def ticks(self) -> int:
        """Return how many intervals of the poller have begun: what is asked in one counts before it ends."""
        return sum(client._poller._begun for client in self._clients)  # noqa: SLF001

    async def all_records(self, ids: Sequence[int]) -> None:
        """Wait until the full records of these jobs have come, which is not part of any answer.

        One that was not heard of in the time of its first answer, or whose record could not be had, is asked for again.
        """
        if self._hurried:
            for cluster in self._clusters._found.values():  # noqa: SLF001
                cluster.follower._records._pause = _no_pause  # noqa: SLF001
        before = 0
        while missing := [job_id for job_id in ids if not self._has_record(job_id)]:
            if len(missing) == before:
                await asyncio.gather(*map(self.get, missing))
            before = len(missing)
            await asyncio.sleep(_ASK_AGAIN)

    def _has_record(self, job_id: int) -> bool:
        followers = [cluster.follower for cluster in self._clusters._found.values()]  # noqa: SLF001
        entries = [follower._entries.get((job_id, "")) for follower in followers]  # noqa: SLF001
        return any(entry is not None and entry.record is not None for entry in entries)

    async def close(self) -> None:
        """Let go of the cluster."""
        await self._clusters.close()


class Theirs(Side):
    """flyteplugins-slurm, over SSH."""

    name = f"flyteplugins-slurm {PEER}"

    def __init__(self, way: Way) -> None:
        super().__init__(way)
        module, transport = import_peer(), importlib.import_module("flyteplugins.slurm.transport")
        self.commands = 0
        self._metadata = module.SlurmJobMetadata
        self.connector = module.SlurmScriptConnector()
        self.secrets = {"ssh_private_key": Path(way.ssh_key).read_text(encoding="utf-8")}
        run = transport.SSHTransport._run  # noqa: SLF001

        async def counted(*args: Foreign, **kwargs: Foreign) -> Foreign:
            self.commands += 1
            return await run(*args, **kwargs)

        transport.SSHTransport._run = counted  # noqa: SLF001

    def meta(self, job_id: int) -> Foreign:
        """Return the metadata of one job."""
        return self._metadata(**self.fields(job_id))

    def asked(self) -> int:
        """Return the number of commands over SSH."""
        return self.commands

    async def close(self) -> None:
        """Hang up."""
        for transport in self.connector._transports.values():  # noqa: SLF001
            await transport.close()


async def _no_pause(_: float) -> None:
    await asyncio.sleep(0)


def import_peer() -> Foreign:
    """Return the other package. It comes first: ours registers over it, it refuses to register over ours."""
    return importlib.import_module("flyteplugins.slurm")


def script_template(way: Way) -> Foreign:
    """Return a held script task as flyteplugins-slurm serialises it."""
    import flyte
    from flyte._internal.runtime.task_serde import get_proto_task
    from flyte.models import SerializationContext

    peer = import_peer()
    config = peer.Slurm(
        sbatch_options={"hold": True},
        host="127.0.0.1",
        port=way.ssh_port,
        username=way.user,
        known_hosts=way.known_hosts,
    )
    task = peer.SlurmScriptTask(name="bench", script=_SCRIPT, plugin_config=config)
    flyte.TaskEnvironment.from_task("bench", task)
    context = SerializationContext(version="1", project="p", domain="d", org="o", code_bundle=None, root_dir=Path())
    return get_proto_task(task, context)
