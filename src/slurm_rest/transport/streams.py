"""Byte streams to where Slurm is, through something that only its own module knows."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Dialer", "Stream"]


class Stream(Protocol):
    """One connection. Its methods raise OSError when it breaks."""

    @property
    def ended(self) -> bool:
        """Whether there is nothing to be read any more, because the other side closed it or it broke."""

    async def read(self, limit: int) -> bytes:
        """Return what is there, at least one byte, waiting for it; nothing at the end."""

    async def write(self, data: bytes) -> None:
        """Send all of it."""

    async def close(self) -> None:
        """Close it."""


class Dialer(Protocol):
    """Opens streams from somewhere else."""

    @property
    def where(self) -> str:
        """From where, for people."""

    async def dial(self, host: str, port: int) -> Stream:
        """Connect to a TCP port; raises Unreachable, HostKeyError or AuthError, and then nothing was sent."""

    async def dial_path(self, path: str) -> Stream:
        """Connect to a unix socket, as ``dial`` does."""

    async def close(self) -> None:
        """Close everything."""
