"""A TCP proxy that knows nothing of what passes: it holds either direction, and cuts connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

__all__ = ["TcpProxy", "tcp_proxy_to"]

_CHUNK = 1 << 16


class _Link:
    """One connection through the proxy; after ``left`` more chunks of answers it is cut, None: never."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.near: asyncio.StreamWriter | None = None
        self.far: asyncio.StreamWriter | None = None

    def abort(self) -> None:
        for writer in (self.near, self.far):
            if writer is not None:
                writer.transport.abort()


class TcpProxy:
    """What clients send passes while ``requests`` is set, what they get while ``answers`` is.

    ``held`` is set as soon as something is kept back. ``spoil`` has a connection cut after some more chunks of answers;
    ``spoiled`` counts those that were. The next ``refuse`` connections are taken and broken at once.
    """

    def __init__(self, port: int) -> None:
        self._upstream = port
        self.port = 0
        self.requests, self.answers, self.held = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.spoiled = 0
        self.refuse = 0
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests.set()
        self.answers.set()

    def cut(self) -> None:
        """Break all connections, on both sides; what is held back is lost."""
        for link in [*self._links]:
            link.abort()

    def strand(self) -> None:
        """Break the clients' side only: what is held back of theirs is delivered once ``requests`` is set."""
        for link in self._links:
            if link.near is not None:
                link.near.transport.abort()

    def spoil(self, client_port: int, chunks: int) -> None:
        """Cut the connection that comes from this port after so many more chunks of answers."""
        for link in self._links:
            if link.near is not None and link.near.get_extra_info("peername")[1] == client_port:
                link.left = chunks

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection."""
        if self.refuse:
            self.refuse -= 1
            writer.transport.abort()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Break what is left."""
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link()
        link.near = writer
        self._links.add(link)
        try:
            with contextlib.suppress(OSError):
                answers, link.far = await asyncio.open_connection("127.0.0.1", self._upstream)
                await asyncio.gather(
                    self._pass(reader, link.far, self.requests), self._pass(answers, writer, self.answers, link)
                )
        finally:
            link.abort()
            self._links.discard(link)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: asyncio.Event, link: _Link | None = None
    ) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(_CHUNK):
                if not gate.is_set():
                    self.held.set()
                await gate.wait()
                # Without a chunk left, this one is not passed on either.
                if link is not None and link.left == 0:
                    self.spoiled += 1
                    link.abort()
                    return
                writer.write(chunk)
                await writer.drain()
                if link is not None and link.left is not None:
                    link.left -= 1
        if gate.is_set():
            writer.transport.abort()


@contextlib.asynccontextmanager
async def tcp_proxy_to(port: int) -> AsyncIterator[TcpProxy]:
    """Run a proxy in front of a port of this host for the duration of a block."""
    proxy = TcpProxy(port)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
