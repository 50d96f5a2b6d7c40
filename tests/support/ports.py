"""A port of this host on which nobody listens."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

__all__ = ["closed_port"]


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    """Hold a port for the duration of a block so that nobody else gets it; connections to it are refused."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
