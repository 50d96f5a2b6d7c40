"""A TCP proxy between client and slurmrestd that spoils chosen submissions, each in one way.

It reads one HTTP request at a time, so it knows what it spoils. Nothing is ever forwarded twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import random
import re
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

__all__ = ["Fault", "FaultProxy", "proxy_to", "thirty_percent"]

_LENGTH = re.compile(rb"(?im)^content-length: *(\d+)")
_PAGE = b"<html>sorry</html>"
_HUGE = 80_000_000


class Fault(enum.Enum):
    """What becomes of one submission."""

    NONE = "forwarded, and answered"
    REFUSED = "the connection is cut before anything is forwarded"
    HALF = "half of it is forwarded, and both connections are cut"
    LOST = "forwarded, and the connection is cut before the answer"
    CUT = "forwarded, and the connection is cut in the middle of the answer"
    PAGE = "answered 503 by the proxy, not forwarded"
    LATE_PAGE = "forwarded, then answered 500 by the proxy"
    HUGE = "forwarded, then answered with 80 MB by the proxy"
    SILENT = "forwarded, and the answer is kept back until the client leaves"
    HELD = "kept until the client has left, and forwarded then"


def thirty_percent(seed: int) -> Callable[[int], Fault]:
    """Lose 30 % of the answers, most of them after the request was forwarded."""
    dice = random.Random(seed)  # no secret
    kinds = [Fault.LOST] * 14 + [Fault.CUT] * 8 + [Fault.LATE_PAGE] * 5 + [Fault.REFUSED, Fault.HALF, Fault.PAGE]
    return lambda _: dice.choice(kinds) if dice.random() < 0.3 else Fault.NONE


class FaultProxy:
    """``choose`` is asked for each submission, by its number from 0 up; ``posts`` are the bodies that came.

    With ``twice`` it writes every error answer twice on the connection, as 26.05 does, and leaves it to the client to
    close that; ``doubled`` counts them.
    """

    def __init__(
        self, upstream: str, choose: Callable[[int], Fault] = lambda _: Fault.NONE, *, twice: bool = False
    ) -> None:
        where = urlsplit(upstream)
        self._host, self._port = where.hostname or "127.0.0.1", where.port or 80
        self.choose = choose
        self.twice = twice
        self.posts: list[bytes] = []
        self.forwarded = 0
        self.doubled = 0
        self.url = ""
        self.seen = asyncio.Event()
        self.release = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client connection to its end."""
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    pass
        finally:
            # At once: what is unread must not look like an orderly end.
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _message(reader)
        fault = Fault.NONE
        if request.startswith(b"POST ") and b"/job/submit " in request:
            fault = self.choose(len(self.posts))
            self.posts.append(request.partition(b"\r\n\r\n")[2])
            self.seen.set()
        if await self._kept_away(fault, request, writer):
            return False
        if fault is Fault.HELD:
            await self.release.wait()
        answer = await self._forward(request, count=fault is not Fault.NONE)
        if fault is Fault.LATE_PAGE:
            return await _page(writer, b"500 Internal Server Error")
        if fault is Fault.HUGE:
            return await _huge(writer)
        if fault is Fault.SILENT:
            await reader.read(1)
        if fault in (Fault.LOST, Fault.SILENT, Fault.HELD):
            return False
        if self.twice and answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
            writer.write(answer * 2)
            await writer.drain()
            self.doubled += 1
            return True
        writer.write(answer if fault is Fault.NONE else answer[: len(answer) // 2])
        await writer.drain()
        return fault is Fault.NONE and b"connection: close" not in answer.partition(b"\r\n\r\n")[0].lower()

    async def _forward(self, request: bytes, *, count: bool) -> bytes:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        self.forwarded += count
        try:
            writer.write(request)
            await writer.drain()
            return await _message(reader)
        finally:
            writer.transport.abort()

    async def _kept_away(self, fault: Fault, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Return whether slurmrestd gets nothing of it that it could carry out."""
        if fault is Fault.HALF:
            await self._forward_half(request)
        elif fault is Fault.PAGE:
            await _page(writer, b"503 Service Unavailable")
        return fault in (Fault.REFUSED, Fault.HALF, Fault.PAGE)

    async def _forward_half(self, request: bytes) -> None:
        _, writer = await asyncio.open_connection(self._host, self._port)
        head, _, body = request.partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n" + body[: len(body) // 2])
        await writer.drain()
        # An orderly end, so that what was sent arrives.
        writer.close()
        await writer.wait_closed()


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    return head + (await reader.readexactly(int(found[1])) if found else b"")


async def _page(writer: asyncio.StreamWriter, status: bytes) -> bool:
    head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % (status, len(_PAGE)) + _PAGE)
    await writer.drain()
    return False


async def _huge(writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b" " * (1 << 20)
    for _ in range(_HUGE // len(piece) + 1):
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    writer.write(b"2\r\n{}\r\n0\r\n\r\n")
    await writer.drain()
    return True


@contextlib.asynccontextmanager
async def proxy_to(
    upstream: str, choose: Callable[[int], Fault] = lambda _: Fault.NONE, *, twice: bool = False
) -> AsyncIterator[FaultProxy]:
    """Run a proxy in front of ``upstream`` for the duration of a block."""
    proxy = FaultProxy(upstream, choose, twice=twice)
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(proxy.serve(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()
