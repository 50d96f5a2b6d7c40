"""Which way to the cluster's files the settings mean."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError
from slurm_rest.pathmap import PathMap
from slurm_rest.transport.base import SlurmTransport

from .base import Files, Store
from .checking import NO_FILES_HINT
from .directory import DirectoryStore
from .stored import StoredFiles

__all__ = ["choose_files"]

if TYPE_CHECKING:
    from .sftp import SftpStore

T = TypeVar("T", bound=Store)

_EVERYTHING = PathMap((("/", "/"),))


def choose_files(settings: Settings, transport: SlurmTransport | None = None) -> Files:
    """Return the files that the settings lead to, path by path: the path map, else this host, else SFTP, else nothing.

    All of this host's own paths are the cluster's where jobs are run by its commands (transport ``cli``), or the
    environment rule says that it is a host of the cluster (``submit``). The SSH connection of
    ``transport``, if it has one, is shared; otherwise SFTP makes its own to the configured host. Nothing is opened
    before it is needed.
    """
    return _Ways(settings, transport).files()


class _Ways:
    """The stores that settings lead to, each made when a path first needs it."""

    def __init__(self, settings: Settings, transport: SlurmTransport | None) -> None:
        self._settings, self._transport = settings, transport
        self._stores: list[Store] = []

    def files(self) -> Files:
        return StoredFiles(self.route, self._stores, self.home)

    async def home(self) -> str:
        settings = self._settings
        if settings.ways()[0] == "cli" or settings.environment == "submit":
            return os.path.expanduser("~")  # noqa: ASYNC240  # a variable, or a line of /etc/passwd
        if settings.ssh_host:
            return await self._sftp.home()
        hint = "A login node can tell it: set SLURM_REST_SSH_HOST."
        raise ConfigError("Nobody on the cluster can be asked for the home directory", hint=hint)

    def route(self, path: str) -> Store:
        settings = self._settings
        if settings.path_map.to_local(path) is not None:
            return self._mapped
        if settings.ways()[0] == "cli" or settings.environment == "submit":
            return self._here
        if settings.ssh_host:
            return self._sftp
        raise ConfigError(f"Nothing leads to {path} on the cluster", hint=NO_FILES_HINT)

    @cached_property
    def _mapped(self) -> Store:
        return self._kept(DirectoryStore(self._settings.path_map, "the path map"))

    @cached_property
    def _here(self) -> Store:
        return self._kept(DirectoryStore(_EVERYTHING))

    @cached_property
    def _sftp(self) -> SftpStore:
        from slurm_rest.transport.command_line import CommandTransport
        from slurm_rest.transport.fallback import FallbackTransport
        from slurm_rest.transport.ssh import SshRunner

        from .sftp import SftpStore

        transport = self._transport
        ways = transport.transports if isinstance(transport, FallbackTransport) else [transport]
        runners = [way.runner for way in ways if isinstance(way, CommandTransport)]
        own = next((runner for runner in runners if isinstance(runner, SshRunner)), None)
        return self._kept(SftpStore(own or SshRunner(self._settings), shared=own is not None))

    def _kept(self, store: T) -> T:
        self._stores.append(store)
        return store
