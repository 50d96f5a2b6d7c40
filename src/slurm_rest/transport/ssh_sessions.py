"""What goes on in an SSH connection: what the host says at login, a program and what it prints, the start of SFTP."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from .shell import MAX_OUTPUT, Ending, Wrapped, too_much

if TYPE_CHECKING:
    import asyncssh

__all__ = ["Heard", "Sessions", "start_sftp", "talk"]

_CHUNK = 1 << 16


class Sessions:
    """How many commands have a session of the connection, or are about to open one.

    sshd refuses more than it takes (MaxSessions): then one of these has to end first.
    """

    def __init__(self) -> None:
        self._count = 0
        self._ended = asyncio.Event()

    @property
    def any_open(self) -> bool:
        """True while commands have sessions, or open some."""
        return self._count > 0

    def begin(self) -> None:
        """Count one that opens a session."""
        self._count += 1

    def refused(self) -> asyncio.Event | None:
        """Count one less, that got none; return what is set when another one ends, None where there is no other."""
        self._count -= 1
        if self._count:
            return self._ended
        self._tell()
        return None

    def end(self) -> None:
        """Count one less, whose session is closed."""
        self._count -= 1
        self._tell()

    def _tell(self) -> None:
        ended, self._ended = self._ended, asyncio.Event()
        ended.set()


async def talk(process: asyncssh.SSHClientProcess[bytes], program: Wrapped) -> tuple[bytes, bytes]:
    """Feed the program and read both streams to their ends, or until it has said all on both."""
    import asyncssh

    said = 0
    both = asyncio.Event()

    async def feed() -> None:
        with contextlib.suppress(asyncssh.Error, OSError):
            process.stdin.write(program.stdin)
            await process.stdin.drain()
            process.stdin.write_eof()

    async def read(stream: asyncssh.SSHReader[bytes], found: bytearray) -> None:
        nonlocal said
        ending = Ending(program.mark)
        is_over = False
        with contextlib.suppress(asyncssh.Error, OSError):
            while chunk := await stream.read(_CHUNK):
                found += chunk
                if len(found) > MAX_OUTPUT:
                    raise too_much()
                if not is_over and ending.has_come(found):
                    is_over = True
                    said += 1
                    if said == 2:
                        both.set()

    output, errors = bytearray(), bytearray()
    work = asyncio.gather(feed(), read(process.stdout, output), read(process.stderr, errors))
    work.add_done_callback(lambda _: both.set())
    try:
        await both.wait()
        if work.done():
            work.result()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    return bytes(output), bytes(errors)


@dataclass
class Heard:
    """What came from a host before it let anybody in.

    ``said`` are its banners: in them stands why a host that took the key hangs up all the same, PAM's words about an
    account that has expired, those of /etc/nologin during maintenance.
    """

    said: list[str] = field(default_factory=list)
    connection: asyncssh.SSHClientConnection | None = None

    @property
    def no_more_than_a_greeting(self) -> bool:
        """True where an SSH server answered, and showed no host key."""
        there = self.connection
        return bool(there and there.get_extra_info("server_version") and there.get_server_host_key() is None)

    def listener(self) -> type[asyncssh.SSHClient]:
        """Return what writes it down."""
        import asyncssh

        heard = self

        class Listener(asyncssh.SSHClient):
            def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
                heard.connection = conn

            def auth_banner_received(self, msg: str, lang: str) -> None:
                heard.said.append(msg)

        return Listener


async def start_sftp(connection: asyncssh.SSHClientConnection) -> asyncssh.SFTPClient:
    """Start an SFTP client; where that fails its session is closed, too: sshd counts ten, and commands need them."""
    import asyncssh

    opening = _Opening(connection)
    try:
        # asyncssh (2.24) leaves the session open when no SFTP server talks in it.
        return await asyncssh.SSHClientConnection.start_sftp_client(
            cast("asyncssh.SSHClientConnection", opening), path_encoding=None
        )
    except BaseException:
        if opening.writer is not None:
            opening.writer.channel.abort()
        raise


class _Opening:
    """A connection that keeps in mind the session which is opened through it."""

    def __init__(self, connection: asyncssh.SSHClientConnection) -> None:
        self._connection = connection
        self.writer: asyncssh.SSHWriter[bytes] | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    async def open_session(self, **options: object) -> object:
        opened = await self._connection.open_session(**options)
        self.writer = opened[0]
        return opened
