"""Which way to the cluster's files the settings mean."""

from __future__ import annotations

from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError
from slurm_rest.pathmap import PathMap
from slurm_rest.transport.base import SlurmTransport
from slurm_rest.transport.command_line import CommandTransport
from slurm_rest.transport.fallback import FallbackTransport

from .base import Files, Store
from .directory import DirectoryStore
from .stored import StoredFiles

__all__ = ["choose_files"]

_EVERYTHING = PathMap((("/", "/"),))


def choose_files(settings: Settings, transport: SlurmTransport | None = None) -> Files:
    """Return the files that the settings lead to, path by path: the path map, else this host, else SFTP, else nothing.

    All of this host's own paths are the cluster's where jobs are run by its commands (transport ``cli``), or the
    environment rule says that it is a host of the cluster (``submit``). The SSH connection of
    ``transport``, if it has one, is shared; otherwise SFTP makes its own to the configured host. Nothing is opened
    before it is needed.
    """
    mapped = DirectoryStore(settings.path_map, "the path map") if settings.path_map else None
    rest: Store | None = None
    if settings.ways()[0] == "cli" or settings.environment == "submit":
        rest = DirectoryStore(_EVERYTHING)
    elif settings.ssh_host:
        from slurm_rest.transport.ssh import SshRunner

        from .sftp import SftpStore

        ways = transport.transports if isinstance(transport, FallbackTransport) else [transport]
        runners = [way.runner for way in ways if isinstance(way, CommandTransport)]
        own = next((runner for runner in runners if isinstance(runner, SshRunner)), None)
        rest = SftpStore(own or SshRunner(settings), shared=own is not None)

    def route(path: str) -> Store:
        if mapped is not None and settings.path_map.to_local(path) is not None:
            return mapped
        if rest is None:
            hint = (
                "Set SLURM_REST_PATH_MAP where the directory is mounted here (for instance /home=/mnt/home), or"
                " SLURM_REST_SSH_HOST to read files over SFTP; slurmrestd moves none."
            )
            raise ConfigError(f"Nothing leads to {path} on the cluster", hint=hint)
        return rest

    return StoredFiles(route, [store for store in (mapped, rest) if store is not None])
