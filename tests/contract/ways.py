"""The ways to a cluster: a transport and a release. The fakes are ways too: what they do is what the real ones do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeCluster, FakeSlurm, FakeTransport
from slurm_rest.testing.changing import change, requeue
from slurm_rest.testing.jobs import Owner
from slurm_rest.transport.cli import LocalRunner
from slurm_rest.transport.command_line import CommandTransport
from slurm_rest.transport.fallback import FallbackTransport
from tests.support.transports import ssh_way

_ROOT = Owner("root", 0)
FAKE_WAYS = [(name, release) for name in ("fake", "fakeserver") for release in ("24.11", "26.05")]
# "auto" falls back, and here it need not; "fallback" is the same with a slurmrestd that is not there.
WAYS = [
    *(("rest", release) for release in ("24.11", "26.05")),
    *((name, release) for name in ("ssh", "cli") for release in ("22.05", "24.11", "26.05")),
    ("auto", "24.11"),
    ("fallback", "26.05"),
]
# Nothing listens on the discard port.
_NOBODY = "http://127.0.0.1:9"

_START_NOW = """
for _ in 1 2 3 4 5 6 7 8; do
    [ "$(squeue --noheader --jobs="$1" --format=%T)" = PENDING ] || exit 0
    scontrol update jobid="$1" starttime=now+2
    sleep 4
done
"""


@dataclass(frozen=True)
class Way:
    """A transport to a cluster of some release."""

    name: str
    cluster: Cluster
    # What the tests call in a het job.
    step = "srun --het-group=0,1 true"

    @property
    def release(self) -> str:
        """Slurm's release."""
        return self.cluster.release

    def home(self, user: str = "alice") -> str:
        """The home of a user as the cluster sees it."""
        return f"/home/{user}"

    def here(self, user: str = "alice") -> Path:
        """The same home as this machine sees it."""
        return self.cluster.home / user

    def read(self, path: str) -> str:
        """Return what a file of the cluster holds."""
        return self.cluster.exec(["cat", path]).stdout

    def requeue(self, job_id: int) -> None:
        """Send a job back to the queue, as root does."""
        self.cluster.exec(["scontrol", "requeue", str(job_id)])

    def start_now(self, job_id: int) -> None:
        """Let a requeued job not wait for its two minutes, and wait until it starts.

        Slurm sets them once more when the run before is cleaned up, so once is not enough. One that starts again
        within the same second often fails with exit status 1 (24.11, 5 of 14 tries).
        """
        self.cluster.exec(["sh", "-c", _START_NOW, "sh", str(job_id)])

    def client(self, user: str = "alice", /, **settings: object) -> AsyncSlurmClient:
        """Return a client of one user that can go no other way."""
        own: dict[str, object] = {"transport": "auto" if self.name == "fallback" else self.name}
        if self.name in ("rest", "auto", "fallback"):
            url = _NOBODY if self.name == "fallback" else self.cluster.url
            own |= {"url": url, "token": self.cluster.token(user)}
        if self.name in ("ssh", "auto", "fallback"):
            own |= ssh_way(self.cluster, user)
        if self.name == "cli":
            own["user"] = user
        given = {**own, "workdir": f"/home/{user}", **settings}
        client = AsyncSlurmClient(**given)  # type: ignore[arg-type]  # whatever a test wants to set
        if isinstance(client._transport, FallbackTransport):
            for way in client._transport.board.ways:
                # What is counted here are the requests that tests make, and no probe.
                way.breaker.first = 3600.0
        if self.name == "cli":
            # Slurm is not installed on this machine but inside the cluster.
            transport = client._transport
            assert isinstance(transport, CommandTransport)
            transport.runner = LocalRunner(self.cluster.command(["/bin/sh", "-c"], user=user), "the cluster")
        return client


@dataclass(frozen=True)
class FakeWay:
    """A fake transport, or a fake server over REST."""

    name: str
    cluster: FakeCluster
    server: FakeSlurm | None = None
    # No Slurm, no srun.
    step = "true"

    @property
    def release(self) -> str:
        """Slurm's release that is imitated."""
        return self.cluster.release

    def home(self, user: str = "alice") -> str:
        """The home of a user."""
        return str(self.here(user))

    def here(self, user: str = "alice") -> Path:
        """The same."""
        return self.cluster.runner.home(user)

    def read(self, path: str) -> str:
        """Return what a file holds."""
        return Path(path).read_bytes().decode("utf-8", "surrogateescape")

    def requeue(self, job_id: int) -> None:
        """Send a job back to the queue, as root does."""
        self._do(lambda: requeue(self.cluster, self.cluster.members(job_id), _ROOT))

    def start_now(self, job_id: int) -> None:
        """Let a requeued job not wait for its two minutes."""
        self._do(lambda: change(self.cluster, self.cluster.members(job_id), {"begin_time": 1}, _ROOT))

    def _do(self, what: Callable[[], object]) -> None:
        """A server's cluster lives in a thread of its own."""
        if self.server is None:
            what()
        else:
            self.server.call(what)

    def client(self, user: str = "alice", /, **settings: object) -> AsyncSlurmClient:
        """Return a client of one user."""
        given: dict[str, object] = {"workdir": self.home(user), **settings}
        if self.server is None:
            given |= {"transport": FakeTransport(self.cluster, user=user)}
        else:
            given |= {"transport": "rest", "url": self.server.url, "token": self.server.token_for(user)}
        return AsyncSlurmClient(**given)  # type: ignore[arg-type]  # whatever a test wants to set
