"""A network of one's own that can be cut and restored, as by pulling a cable: packets vanish, nothing is reset.

It is a network namespace whose loopback is the only way out. Code that runs on its thread lives in it; relays on the
outside take what arrives there on to ports of this host. Needs root.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["CutNetwork", "network_to"]

T = TypeVar("T")
_CLONE_NEWNET = 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_FORM = "16sh14x"  # struct ifreq: a name, and flags in a union of 24 bytes


class CutNetwork:
    """``run`` runs a coroutine inside, ``port`` is where a port of this host is found there.

    ``on_request`` is called outside with every piece that came from inside, before it is passed on.
    """

    on_request: Callable[[bytes], None] | None = None

    def __init__(self, ports: Sequence[int]) -> None:
        self._loop = asyncio.new_event_loop()
        self._control: socket.socket
        self._listeners: dict[int, socket.socket] = {}
        ready: Future[None] = Future()
        # A thread: another namespace is for it alone, and for the threads that it starts.
        self._thread = threading.Thread(target=self._live, args=(ports, ready), name="cut-network", daemon=True)
        self._thread.start()
        ready.result(timeout=120)

    def _live(self, ports: Sequence[int], ready: Future[None]) -> None:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.unshare(_CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "no network namespace: " + os.strerror(ctypes.get_errno()))
            self._control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.restore()
            self._listeners = {port: socket.create_server(("127.0.0.1", 0)) for port in ports}
            ready.set_result(None)
        except BaseException as error:
            ready.set_exception(error)
            return
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    @property
    def listeners(self) -> dict[int, socket.socket]:
        """By ports of this host: the sockets inside that stand for them."""
        return self._listeners

    def port(self, port: int) -> int:
        """Return the port inside that leads to a port of this host."""
        found: int = self._listeners[port].getsockname()[1]
        return found

    def run(self, work: Coroutine[object, object, T]) -> asyncio.Future[T]:
        """Start a coroutine inside; the result is awaited outside."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def cut(self) -> None:
        """Let every packet vanish from now on."""
        self._set(up=False)

    def restore(self) -> None:
        """Let packets pass again; what was sent meanwhile is sent again by TCP itself."""
        self._set(up=True)

    def _set(self, *, up: bool) -> None:
        name = b"lo"
        _, flags = struct.unpack(_FORM, fcntl.ioctl(self._control, _GET_FLAGS, struct.pack(_FORM, name, 0)))
        flags = flags | _UP if up else flags & ~_UP
        fcntl.ioctl(self._control, _SET_FLAGS, struct.pack(_FORM, name, flags))

    def close(self) -> None:
        """End the thread; the namespace goes with its last socket."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=120)
        for one in (self._control, *self._listeners.values()):
            one.close()


async def _relay(
    network: CutNetwork,
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    opened: list[asyncio.StreamWriter],
) -> None:
    opened.append(writer)
    answers, there = await asyncio.open_connection("127.0.0.1", port)
    opened.append(there)

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                if target is there and network.on_request is not None:
                    network.on_request(data)
                target.write(data)
                await target.drain()
            target.close()

    await asyncio.gather(carry(reader, there), carry(answers, writer))


@contextlib.asynccontextmanager
async def network_to(*ports: int) -> AsyncIterator[CutNetwork]:
    """Make a network that leads to ports of this host, for the duration of a block."""
    network = CutNetwork(ports)
    tasks: set[asyncio.Task[None]] = set()
    opened: list[asyncio.StreamWriter] = []

    def taker(port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(_relay(network, port, reader, writer, opened))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        return take

    servers = [await asyncio.start_server(taker(port), sock=one) for port, one in network.listeners.items()]
    try:
        yield network
    finally:
        network.restore()
        for server in servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in opened:
            writer.transport.abort()
        network.close()
