"""Real sockets on the loopback: what a client says of ports that are closed or speak something else."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slurm_rest import AsyncSlurmClient
from slurm_rest.config import load_settings
from slurm_rest.errors import AnswerTooLarge, ProtocolError, SlurmError, SubmitUncertain, Timeout, Unreachable
from slurm_rest.transport.rest import RestTransport, connection
from slurm_rest.transport.streams import Stream

from .captures import capture
from .wire import NEW, no_pauses

__all__ = ["no_pauses"]

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

PING = capture(NEW, "ping").raw
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
CUT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n" + PING
CHUNK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n"

pytestmark = pytest.mark.usefixtures("no_pauses")


@asynccontextmanager
async def listening(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on a free port of the loopback and yield it."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def says(answer: bytes, *, first: bool = False) -> Handler:
    """Answer each request with these bytes and close, or speak ``first`` as an SSH server does."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not first:
                await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            pass

    return handle


def slurm_at(
    url: str, timeout: float = 120, ca_file: Path | None = None, recovery_timeout: float = 60
) -> AsyncSlurmClient:
    return AsyncSlurmClient(
        url, token="tok", workdir="/tmp", timeout=timeout, ca_file=ca_file, recovery_timeout=recovery_timeout
    )


async def failure(url: str, timeout: float = 120, ca_file: Path | None = None) -> SlurmError:
    async with slurm_at(url, timeout, ca_file) as slurm:
        with pytest.raises(SlurmError) as caught:
            await slurm.states([1])
    assert "\n" not in str(caught.value)
    assert "tok" not in str(caught.value)
    return caught.value


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port where nothing listens; it is held, so that nobody else gets it meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


# --- no connection --------------------------------------------------------------------------------------------


async def test_a_closed_port() -> None:
    with closed_port() as port:
        error = await failure(f"http://127.0.0.1:{port}")
    assert type(error) is Unreachable
    assert "Nothing listens at http://127.0.0.1" in error.message


async def test_a_closed_port_for_a_submission_is_certain() -> None:
    with closed_port() as port:
        async with slurm_at(f"http://127.0.0.1:{port}") as slurm:
            with pytest.raises(Unreachable):
                await slurm.submit("#!/bin/sh\n")


async def test_a_host_that_does_not_exist() -> None:
    error = await failure("http://no-such-host.invalid:6820")
    assert type(error) is Unreachable
    assert "no-such-host.invalid" in error.message


async def test_a_socket_that_does_not_exist(tmp_path: Path) -> None:
    error = await failure(f"unix:{tmp_path}/none.sock")
    assert type(error) is Unreachable
    assert "There is no socket at unix:" in error.message


async def test_a_local_socket_serves(tmp_path: Path) -> None:
    server = await asyncio.start_unix_server(says(OK % len(PING) + PING), tmp_path / "s.sock")
    async with server, slurm_at(f"unix:{tmp_path}/s.sock") as slurm:
        assert await slurm.api_version() == "v0.0.45"


# --- something else -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", True),
        (b"220 mail.example ESMTP\r\n", True),
        (b"\x15\x03\x01\x00\x02\x02\x46", False),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello", False),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", False),
        (b"HTTP/9.9 banana\r\n\r\n", False),
        (b"", False),
        (b"", True),
    ],
)
async def test_a_port_that_speaks_something_else(answer: bytes, first: bool) -> None:
    async with listening(says(answer, first=first)) as port:
        error = await failure(f"http://127.0.0.1:{port}")
    assert type(error) is ProtocolError


@pytest.mark.parametrize("name", ["gzip", "deflate"])
async def test_an_answer_that_a_proxy_compressed(name: str) -> None:
    packed = gzip.compress(PING) if name == "gzip" else zlib.compress(PING)
    head = OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: %b\r\n\r\n" % name.encode())
    async with listening(says(head % len(packed) + packed)) as port, slurm_at(f"http://127.0.0.1:{port}") as slurm:
        assert await slurm.api_version() == "v0.0.45"


@pytest.mark.parametrize("answer", [CUT, CHUNK % (len(PING), PING), CHUNK % (9, PING[:9])])
async def test_an_answer_that_is_cut_off(answer: bytes) -> None:
    async with listening(says(answer)) as port:
        error = await failure(f"http://127.0.0.1:{port}")
    assert type(error) is ProtocolError


async def test_a_chunked_answer_that_is_half_of_the_json() -> None:
    half = PING[: len(PING) // 2]
    async with listening(says(CHUNK % (len(half), half) + b"0\r\n\r\n")) as port:
        error = await failure(f"http://127.0.0.1:{port}")
    assert type(error) is ProtocolError
    assert "not complete JSON" in error.message


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
async def test_80_mb_are_refused_and_not_asked_for_again(announced: bool) -> None:
    # Without its length it is read up to the limit; by how much more the server got rid of is up to buffers.
    piece, pieces, written, asked = b" " * 1_000_000, 80 if announced else 400, 0, 0
    head = OK % (len(piece) * pieces) if announced else CHUNK.partition(b"%x")[0]

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written, asked
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while b"/ping/" in await reader.readuntil(b"\r\n\r\n"):
                writer.write(OK % len(PING) + PING)
            asked += 1
            writer.write(head)
            for _ in range(pieces):
                writer.write(piece if announced else b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
                written += len(piece)
        writer.transport.abort()

    async with listening(pour) as port:
        tracemalloc.start()
        try:
            error = await failure(f"http://127.0.0.1:{port}")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert type(error) is AnswerTooLarge
    assert "more than 64 MiB" in error.message
    assert asked == 1
    # What is on its way in sockets and buffers counts too.
    assert written < (20_000_000 if announced else 200_000_000)
    assert peak < (20 if announced else 75) * 1_000_000


async def test_a_server_that_never_answers() -> None:
    release = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.close()

    async with listening(silent) as port:
        error = await failure(f"http://127.0.0.1:{port}", timeout=0.2)
        release.set()
    assert type(error) is Timeout
    assert "within 0.2 s" in error.message


async def test_at_first_contact_silence_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the version is known already, an answer may take its time: slurmctld behind it may be away."""
    monkeypatch.setattr(connection, "FIRST_TIMEOUT", 0.2)
    release = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.close()

    async with listening(silent) as port:
        error = await failure(f"http://127.0.0.1:{port}")
        settings = load_settings({"url": f"http://127.0.0.1:{port}", "token": "tok", "api_version": "v0.0.42"}, {})
        pinned = RestTransport(settings, read_timeout=0.6)
        with pytest.raises(Timeout, match=r"within 0\.6 s"):
            await pinned.states([1])
        await pinned.close()
        release.set()
    assert type(error) is Timeout
    assert "within 0.2 s (GET /slurm/v0.0.45/ping/)" in error.message


async def test_a_submission_that_is_cut_off_is_uncertain_and_sent_once() -> None:
    posts: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"POST"):
            posts.append(head)
        else:
            writer.write(OK % len(PING) + PING)
            await writer.drain()
        writer.close()

    async with listening(handle) as port, slurm_at(f"http://127.0.0.1:{port}", recovery_timeout=0) as slurm:
        with pytest.raises(SubmitUncertain, match="the job may exist"):
            await slurm.submit("#!/bin/sh\n")
    assert len(posts) == 1


# --- TLS ------------------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Return a file with a key and a certificate of its own for the loopback."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + built.public_bytes(serialization.Encoding.PEM))
    return file


def tls_server(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_https_against_plain_http() -> None:
    async with listening(says(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", first=True)) as port:
        error = await failure(f"https://127.0.0.1:{port}")
    assert type(error) is Unreachable
    assert "does not speak TLS" in error.message
    assert "http://" in error.hint


async def test_http_against_https(certificate: Path) -> None:
    async with listening(says(b""), tls_server(certificate)) as port:
        error = await failure(f"http://localhost:{port}")
    assert type(error) is ProtocolError
    assert "https" in error.hint


async def test_a_certificate_that_is_not_trusted_and_how_to_trust_it(certificate: Path) -> None:
    async with listening(says(OK % len(PING) + PING), tls_server(certificate)) as port:
        error = await failure(f"https://localhost:{port}")
        assert type(error) is Unreachable
        assert "is not trusted" in error.message
        assert "SLURM_REST_CA_FILE" in error.hint
        async with slurm_at(f"https://localhost:{port}", ca_file=certificate) as slurm:
            assert await slurm.api_version() == "v0.0.45"


async def test_a_server_that_wants_a_client_certificate(certificate: Path) -> None:
    context = tls_server(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
    async with listening(says(OK % len(PING) + PING), context) as port:
        error = await failure(f"https://localhost:{port}", ca_file=certificate)
    assert type(error) in (ProtocolError, Unreachable)


@pytest.mark.parametrize("content", [None, b"no certificate"])
async def test_a_ca_file_that_is_none(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    with closed_port() as port:
        error = await failure(f"https://127.0.0.1:{port}", ca_file=file)
    assert "Cannot read the CA file" in error.message


# --- through a dialer -----------------------------------------------------------------------------------------


class Direct:
    """A dialer without anything between, whatever host is asked for; it counts."""

    where = "here"

    def __init__(self, port: int = 0, path: str = "") -> None:
        self.port, self.path = port, path
        self.asked: list[object] = []
        self.closed = False

    async def dial(self, host: str, port: int) -> Stream:
        self.asked.append((host, port))
        return Plain(*await asyncio.open_connection("127.0.0.1", self.port))

    async def dial_path(self, path: str) -> Stream:
        self.asked.append(path)
        return Plain(*await asyncio.open_unix_connection(self.path))

    async def close(self) -> None:
        self.closed = True


class Plain:
    """A stream of asyncio's."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @property
    def ended(self) -> bool:
        return self._reader.at_eof()

    async def read(self, limit: int) -> bytes:
        return await self._reader.read(limit)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def dialled(url: str, dialer: Direct, **settings: object) -> AsyncIterator[RestTransport]:
    transport = RestTransport(load_settings({"url": url, "token": "tok", **settings}, {}), dialer=dialer)
    try:
        yield transport
    finally:
        await transport.close()
        assert dialer.closed


async def test_a_dialer_connects_to_the_urls_host_and_port() -> None:
    async with listening(says(OK % len(PING) + PING)) as port:
        dialer = Direct(port)
        async with dialled("http://slurm.internal:6820", dialer) as rest:
            # The server closes after each answer, which is no error.
            assert [await rest.api_version(), (await rest.target())[1]] == ["v0.0.45", "26.05"]
            assert (await rest.connection.get("slurm", "/ping/")).is_json
            assert rest.where == "http://slurm.internal:6820 through here"
    assert set(dialer.asked) == {("slurm.internal", 6820)}


async def test_a_dialer_connects_to_a_socket(tmp_path: Path) -> None:
    server = await asyncio.start_unix_server(says(OK % len(PING) + PING), tmp_path / "s.sock")
    dialer = Direct(path=str(tmp_path / "s.sock"))
    async with server, dialled("unix:/there.sock", dialer) as rest:
        assert await rest.api_version() == "v0.0.45"
    assert dialer.asked == ["/there.sock"]


async def test_tls_goes_through_a_dialer_and_the_name_is_verified(certificate: Path) -> None:
    async with listening(says(OK % len(PING) + PING), tls_server(certificate)) as port:
        async with dialled("https://localhost:1", Direct(port), ca_file=certificate) as rest:
            assert await rest.api_version() == "v0.0.45"
        async with dialled("https://other.internal:1", Direct(port), ca_file=certificate) as rest:
            with pytest.raises(Unreachable, match="is not trusted"):
                await rest.api_version()
        async with dialled("https://localhost:1", Direct(port)) as rest:
            with pytest.raises(Unreachable, match="is not trusted"):
                await rest.api_version()


async def test_an_answer_cut_off_behind_a_dialer() -> None:
    async with listening(says(CUT)) as port, dialled("http://h:1", Direct(port)) as rest:
        with pytest.raises(ProtocolError, match="broke the exchange off"):
            await rest.api_version()


# --- proxies --------------------------------------------------------------------------------------------------


async def test_a_proxy_is_for_hosts_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n"))
        await says(OK % len(PING) + PING)(reader, writer)

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with listening(proxy) as between, listening(says(OK % len(PING) + PING)) as port:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{between}")
        server = await asyncio.start_unix_server(says(OK % len(PING) + PING), tmp_path / "s.sock")
        async with server:
            for url in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"unix:{tmp_path}/s.sock"):
                async with slurm_at(url) as slurm:
                    assert await slurm.api_version() == "v0.0.45"
        async with dialled("http://slurm.internal:1", Direct(port)) as rest:
            assert await rest.api_version() == "v0.0.45"
        assert asked == []
        async with slurm_at("http://slurm.internal:6820") as slurm:
            assert await slurm.api_version() == "v0.0.45"
    assert asked[0].startswith(b"GET http://slurm.internal:6820/slurm/v0.0.45/ping/")
