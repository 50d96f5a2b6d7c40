"""Sockets to slurmrestd for httpx, without TLS: head and body of a request leave in one packet.

httpx's own way, through anyio, costs a small request 0.1 ms more of CPU time, and slurmrestd is woken twice for it.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Coroutine, Iterable
from typing import TypeVar

import httpcore
import httpx

from slurm_rest.within import within

__all__ = ["PooledTransport", "sockets"]

T = TypeVar("T")
# What may lie in memory before it is sent, and before the reader takes it.
_MOST_UNSENT = 1 << 16
_MOST_UNREAD = 1 << 18


def sockets(path: str, limits: httpx.Limits) -> httpx.AsyncBaseTransport:
    """Return what sends httpx's requests to the URL's host and port, or to the unix socket ``path``."""
    # Never used, and httpcore would load the system's certificates (20 ms).
    return PooledTransport(_Sockets(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), limits, path=path)


class PooledTransport(httpx.AsyncHTTPTransport):
    """httpx's own transport over another pool: httpx itself cannot be told how to connect."""

    def __init__(
        self, backend: httpcore.AsyncNetworkBackend, tls: ssl.SSLContext, limits: httpx.Limits, *, path: str = ""
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            uds=path or None,
            network_backend=backend,
        )


class _Sockets(httpcore.AsyncNetworkBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await _connected(asyncio.get_running_loop().create_connection(_Socket, host, port), timeout)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await _connected(asyncio.get_running_loop().create_unix_connection(_Socket, path), timeout)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _connected(
    connecting: Coroutine[object, object, tuple[asyncio.Transport, _Socket]], seconds: float | None
) -> _Socket:
    task = asyncio.ensure_future(connecting)
    try:
        _, stream = await within(seconds, task)
    except asyncio.CancelledError:
        if not task.cancelled() and task.exception() is None:
            # It came in the very moment in which it was given up, and nobody else would close it.
            task.result()[0].abort()
        raise
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    return stream


class _Socket(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(self) -> None:
        self._unsent, self._unread = bytearray(), bytearray()
        self._ended, self._lost, self._paused, self._full = False, False, False, False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(f"{transport!r} is no stream")
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) > _MOST_UNREAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended, self._lost, self._full, self._error = True, True, False, exc
        self._wake()

    # What httpcore calls.

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Take it. It is sent when there is much, and else when the answer is wanted."""
        self._unsent += buffer
        if len(self._unsent) > _MOST_UNSENT:
            await self._flush(timeout)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return all that is there, waiting for it; nothing at the end.

        httpcore asks for 64 KB at a time, and one more turn of its loops costs more than to take what is beyond that.
        """
        if self._unsent or self._full:
            await self._flush(timeout)
        while not self._unread and not self._ended:
            await self._change(timeout, httpcore.ReadTimeout)
        if not self._unread and self._error is not None:
            raise httpcore.ReadError(str(self._error)) from self._error
        data = bytes(self._unread)
        self._unread.clear()
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def aclose(self) -> None:
        """Close it; what is not sent yet will not be."""
        self._unsent.clear()
        if not self._lost:
            self._transport.abort()

    def get_extra_info(self, info: str) -> object:
        """Return what httpcore asks of a connection: whether an idle one has something to read, such as its end."""
        if info == "is_readable":
            return self._ended or bool(self._unread) or _readable(self._transport.get_extra_info("socket"))
        return None

    async def _flush(self, seconds: float | None) -> None:
        # To a connection that ended nothing is sent; an answer may have come before that and says why.
        if not self._ended:
            self._transport.write(bytes(self._unsent))
        self._unsent.clear()
        while self._full:
            await self._change(seconds, httpcore.WriteTimeout)

    async def _change(self, seconds: float | None, late: type[Exception]) -> None:
        """Wait for anything to happen."""
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, _expire, waiter, late)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _expire(waiter: asyncio.Future[None], late: type[Exception]) -> None:
    if not waiter.done():
        waiter.set_exception(late("timed out"))


def _readable(sock: socket.socket) -> bool:
    # Asked of the system: the event loop may not have looked since the other side closed.
    poll = select.poll()
    poll.register(sock.fileno(), select.POLLIN)
    return bool(poll.poll(0))
