"""Sockets to slurmrestd: how a request leaves, how an answer comes, and all that can go wrong in between."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from slurm_rest.transport.rest.sockets import _connected, _Socket, sockets
from tests.support.waiting import until_true

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LIMITS = httpx.Limits(max_connections=4, max_keepalive_connections=4)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@asynccontextmanager
async def served(
    handler: Handler, path: str = "", timeout: float | httpx.Timeout = 30
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server that lets ``handler`` answer each connection."""
    ended: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.append(writer)
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    if path:
        server = await asyncio.start_unix_server(handle, path)
        url = "http://localhost"
    else:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with httpx.AsyncClient(transport=sockets(path, LIMITS), base_url=url, timeout=timeout) as client:
        yield client
    server.close()
    for writer in ended:
        writer.transport.abort()


async def request_of(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, rest = head.lower().partition(b"content-length: ")
    return head + await reader.readexactly(int(rest.split(b"\r\n")[0])) if rest else head


async def test_head_and_body_leave_in_one_packet() -> None:
    packets: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            packets.append(await reader.read(1 << 16))
            writer.write(OK)

    async with served(answer) as client:
        for body in (b"one", b"two"):
            assert (await client.post("/", content=body)).text == "ok"
    assert [packet.partition(b"\r\n\r\n")[2] for packet in packets] == [b"one", b"two"]


async def test_a_unix_socket(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(OK)

    async with served(answer, str(tmp_path / "socket")) as client:
        assert (await client.get("/")).text == "ok"


async def test_large_bodies_and_answers_pass_whole() -> None:
    body = bytes(range(256)) * (1 << 15)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        content = (await request_of(reader)).partition(b"\r\n\r\n")[2]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
        await writer.drain()
        await reader.read()

    async with served(echo) as client:
        assert (await client.post("/", content=body)).content == body


async def test_an_answer_that_nobody_takes_waits_at_the_server() -> None:
    sent = 0
    held = asyncio.Event()

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await request_of(reader)
        writer.transport.set_write_buffer_limits(0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 28))
        for _ in range(1 << 8):
            writer.write(bytes(1 << 20))
            if not held.is_set():
                asyncio.get_running_loop().call_later(0.2, held.set)
            await writer.drain()
            sent += 1

    async with served(pour) as client, client.stream("GET", "/") as response:
        assert response.status_code == 200
        await held.wait()
        before = sent
        assert before < 64, "the kernel's buffers and ours hold this much"
        pieces = response.aiter_raw()
        received = 0
        while received < 1 << 27:
            received += len(await pieces.__anext__())
        assert sent > before


@pytest.mark.parametrize(
    ("method", "error"), [("GET", httpx.ReadTimeout), ("POST", httpx.WriteTimeout)], ids=["read", "write"]
)
async def test_a_server_that_does_nothing_is_given_up(method: str, error: type[Exception]) -> None:
    async def sleep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # asyncio's sockets have it
        await asyncio.Event().wait()

    async with served(sleep, timeout=httpx.Timeout(20, read=0.3, write=0.3)) as client:
        with pytest.raises(error):
            await client.request(method, "/", content=bytes(1 << 25) if method == "POST" else b"")


async def test_an_answer_before_the_end_of_the_request_is_read() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.write_eof()
        await reader.read()

    async with served(refuse) as client:
        assert (await client.post("/", content=bytes(1 << 23))).status_code == 413


async def test_a_reset_connection_is_an_error_and_the_next_one_is_new() -> None:
    number = 0

    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal number
        number += 1
        await request_of(reader)
        if number == 1:
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.write(OK)

    async with served(reset) as client:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await client.get("/")
        assert (await client.get("/")).text == "ok"


async def test_an_idle_connection_that_the_server_closed_is_not_used() -> None:
    closed: list[bool] = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(OK)
        await writer.drain()
        writer.close()
        closed.append(True)

    async with served(once) as client:
        for number in range(1, 4):
            assert (await client.post("/", content=b"x")).text == "ok"
            await until_true(lambda number=number: len(closed) == number)  # type: ignore[misc]  # bound here


async def test_a_cancelled_request_closes_its_connection() -> None:
    ended = asyncio.Event()
    heard = asyncio.Event()

    async def never(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await request_of(reader)
        heard.set()
        await reader.read()
        ended.set()

    async with served(never) as client:
        asking = asyncio.create_task(client.post("/", content=b"x"))
        await heard.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await ended.wait()


async def test_a_connection_that_comes_as_it_is_given_up_is_closed() -> None:
    may_come, closed = asyncio.Event(), asyncio.Event()

    class Transport(asyncio.Transport):
        def abort(self) -> None:
            closed.set()

    async def connecting() -> tuple[asyncio.Transport, _Socket]:
        await may_come.wait()
        return Transport(), _Socket()

    task = asyncio.create_task(_connected(connecting(), 60))
    for _ in range(3):
        await asyncio.sleep(0)
    may_come.set()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_a_port_where_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        async with httpx.AsyncClient(transport=sockets("", LIMITS)) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{port}/")
