"""Lets httpx speak over streams that somebody else opens, TLS included."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import anyio
import httpcore
import httpx
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute, TLSStream

from slurm_rest.transport.streams import Dialer, Stream

from .sockets import PooledTransport

__all__ = ["through"]


def through(dialer: Dialer, path: str, tls: ssl.SSLContext, limits: httpx.Limits) -> httpx.AsyncBaseTransport:
    """Return what sends httpx's requests through ``dialer``: to the URL's host and port, or to the socket ``path``."""
    return PooledTransport(_Backend(dialer, path), tls, limits)


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, dialer: Dialer, path: str) -> None:
        self._dialer, self._path = dialer, path

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # httpcore's
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        opened = await (self._dialer.dial_path(self._path) if self._path else self._dialer.dial(host, port))
        return _NetworkStream(_Bytes(opened), lambda: opened.ended)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Bytes(ByteStream):
    """A stream as anyio, which knows TLS, wants it."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def receive(self, max_bytes: int = 65536) -> bytes:
        try:
            data = await self._stream.read(max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        try:
            await self._stream.write(item)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        raise NotImplementedError("HTTP has no use for it")

    async def aclose(self) -> None:
        await self._stream.close()


class _NetworkStream(httpcore.AsyncNetworkStream):
    """A stream as httpcore wants it."""

    def __init__(self, stream: ByteStream, ended: Callable[[], bool]) -> None:
        self._stream, self._ended = stream, ended

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  # httpcore's
        with _renamed({TimeoutError: httpcore.ReadTimeout, anyio.BrokenResourceError: httpcore.ReadError}):
            with anyio.fail_after(timeout):
                try:
                    return await self._stream.receive(max_bytes)
                except anyio.EndOfStream:
                    return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  # httpcore's
        with _renamed({TimeoutError: httpcore.WriteTimeout, anyio.BrokenResourceError: httpcore.WriteError}):
            with anyio.fail_after(timeout):
                if buffer:
                    await self._stream.send(buffer)

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # httpcore's
    ) -> httpcore.AsyncNetworkStream:
        errors = {
            TimeoutError: httpcore.ConnectTimeout,
            anyio.BrokenResourceError: httpcore.ConnectError,
            anyio.EndOfStream: httpcore.ConnectError,
            ssl.SSLError: httpcore.ConnectError,
        }
        with _renamed(errors), anyio.fail_after(timeout):
            try:
                wrapped = await TLSStream.wrap(
                    self._stream, ssl_context=ssl_context, hostname=server_hostname, standard_compatible=False
                )
            except BaseException:
                await self.aclose()
                raise
        return _NetworkStream(wrapped, self._ended)

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":
            # Asked of an idle connection: readable then means that it was closed.
            return self._ended()
        return self._stream.extra(TLSAttribute.ssl_object, None) if info == "ssl_object" else None  # noqa: S610  # not Django's


@contextmanager
def _renamed(names: Mapping[type[Exception], type[Exception]]) -> Iterator[None]:
    try:
        yield
    except tuple(names) as error:
        raise next(name for kind, name in names.items() if isinstance(error, kind))(str(error)) from error
