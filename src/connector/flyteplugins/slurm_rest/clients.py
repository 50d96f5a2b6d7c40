"""One client of slurm_rest for each way to a cluster, shared by all jobs that are reached over it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from slurm_rest import AsyncSlurmClient
from slurm_rest.auth import FileToken, StaticToken, read_claims

from .follower import Follower
from .settings import ClusterAccess

__all__ = ["Cluster", "Clusters", "make_client", "token_user"]

_HOME = "/home/{user}"
# A client that nobody asked for so long is closed: with secrets that are renewed there is another one for each.
_IDLE, _SWEEP = 6 * 3600.0, 600.0


class Cluster:
    """A cluster as it is reached with one access: its client, and whatever jobs are followed there.

    ``follower`` is one that others use, too: who may see the jobs of all users follows them with one request.
    """

    def __init__(self, access: ClusterAccess, client: AsyncSlurmClient, follower: Follower | None = None) -> None:
        self.access = access
        self.client = client
        self.follower = follower or Follower(client)
        self._shares = follower is not None
        self.directories: dict[str, bool] = {}
        self.used = 0.0
        self._busy = 0

    @property
    def is_busy(self) -> bool:
        """True while some work needs the client that no call waits for."""
        return self._busy > 0

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the client while some work goes on, however long that takes."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1

    async def user(self) -> str:
        """Return whom jobs belong to."""
        if not (user := await self.client.user_name()):
            await self.client.ping()
            user = await self.client.user_name()
        return user

    async def release(self) -> str:
        """Return Slurm's release, whose rules scripts are read by. It is asked for once."""
        if not self.client.slurm_release:
            await self.client.ping()
        return self.client.slurm_release

    async def close(self) -> None:
        """Let go of everything. Jobs are left alone."""
        if not self._shares:
            await self.follower.close()
        await self.client.close()


class Clusters:
    """All clusters of this process. A client belongs to one event loop, so each loop has its own.

    ``clock`` gives seconds that never go back.
    """

    def __init__(
        self,
        make: Callable[[ClusterAccess], AsyncSlurmClient] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make or make_client
        self._clock = clock
        # The loop itself, not its id, which another loop may have once it is gone.
        self._found: dict[tuple[asyncio.AbstractEventLoop, ClusterAccess], Cluster] = {}
        self._swept = clock()
        self._closing: set[asyncio.Task[None]] = set()
        self._watching: dict[tuple[asyncio.AbstractEventLoop, ClusterAccess], Cluster] = {}

    def get(self, access: ClusterAccess) -> Cluster:
        """Return the cluster behind an access. Nothing is sent."""
        key = (asyncio.get_running_loop(), access)
        if key not in self._found:
            self._found[key] = Cluster(access, self._make(access), self._follower(access))
        self._found[key].used = self._clock()
        self._sweep()
        return self._found[key]

    def _follower(self, access: ClusterAccess) -> Follower | None:
        """Return who follows the jobs of all users, None where each access follows its own."""
        if access.watched_as is None:
            return None
        access = replace(access, user=access.watched_as, files="", watched_as=None)
        key = (asyncio.get_running_loop(), access)
        if key not in self._watching:
            self._watching[key] = Cluster(access, self._make(access))
        return self._watching[key].follower

    def known(self, plain: ClusterAccess) -> Cluster | None:
        """Return the cluster as an earlier call with secrets reached it, for one who has none: logs are asked so.

        Only as the same user, by name: another one's rights show other files.
        """
        loop = asyncio.get_running_loop()
        fits = [
            cluster
            for (where, access), cluster in self._found.items()
            if where is loop and plain.user and access.without_secrets() == plain.without_secrets()
        ]
        return max(fits, key=lambda cluster: cluster.used, default=None)

    async def close(self) -> None:
        """Close all clients of the running loop."""
        loop = asyncio.get_running_loop()
        for clusters in (self._found, self._watching):
            for key in [key for key in clusters if key[0] is loop]:
                await clusters.pop(key).close()
        await asyncio.gather(*self._closing)

    def _sweep(self) -> None:
        now, here = self._clock(), asyncio.get_running_loop()
        if now - self._swept < _SWEEP:
            return
        self._swept = now
        # Those that watch for others are few, and used as long as there are jobs.
        self._watching = {key: cluster for key, cluster in self._watching.items() if not key[0].is_closed()}
        for key, cluster in list(self._found.items()):
            if key[0].is_closed():
                del self._found[key]
            elif key[0] is here and now - cluster.used > _IDLE and not cluster.is_busy:
                del self._found[key]
                task = asyncio.create_task(cluster.close(), name=f"close {cluster.access.where}")
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)


def make_client(access: ClusterAccess) -> AsyncSlurmClient:
    """Return a client that knows what ``access`` says and nothing of the process's own environment or profile file."""
    environ = {"XDG_CONFIG_HOME": os.devnull}
    if access.transport == "cli":
        environ["PATH"] = os.environ.get("PATH", "")
    if access.skip_host_key_verification:
        environ["SLURM_REST_SSH_INSECURE"] = "1"
    known_hosts = _written(access.known_hosts_data) if access.known_hosts_data else access.known_hosts
    return AsyncSlurmClient(
        access.rest_url or None,
        token=access.rest_token or None,
        token_file=access.rest_token_file or None,
        jwt_key_file=access.rest_jwt_key_file or None,
        ca_file=access.rest_ca_file or None,
        api_version=access.rest_api_version or None,
        user=access.user or None,
        transport=access.transport,
        workdir=_HOME,
        path_map=access.files or None,
        ssh_host=access.host or None,
        ssh_port=access.port,
        ssh_user=_login(access) or None,
        ssh_key=access.ssh_private_key or None,
        ssh_known_hosts=known_hosts or None,
        environ=environ,
    )


def _login(access: ClusterAccess) -> str:
    """Return as whom to log in: as whom the token names where nothing else does, for the jobs are that user's."""
    if access.user or not access.has_ssh:
        return access.user
    token = access.rest_token
    if access.rest_token_file:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            token = Path(access.rest_token_file).read_text(encoding="utf-8")
    return read_claims(token.strip().removeprefix("SLURM_JWT=")).user


async def token_user(access: ClusterAccess) -> str:
    """Return whom the token of an access names, whoever it is used for; empty if it tells nobody."""
    token = FileToken(Path(access.rest_token_file)) if access.rest_token_file else StaticToken(access.rest_token)
    return read_claims(await token.token()).user


def _written(entries: str) -> str:
    """Return a file with known hosts: host keys are public, only their file's name has to be hard to meddle with."""
    name = hashlib.sha256(entries.encode()).hexdigest()[:16]
    folder = Path(tempfile.mkdtemp(prefix="slurm-rest-hosts-"))
    path = folder / name
    path.write_text(entries if entries.endswith("\n") else f"{entries}\n", encoding="utf-8")
    return str(path)
