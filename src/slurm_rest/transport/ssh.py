"""Runs Slurm's commands on a login node over SSH: one connection, kept, checked, and made again when it broke.

asyncssh, which only this module and its neighbours know, is loaded when a connection is first needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError, Timeout, Unreachable
from slurm_rest.jitter import spread
from slurm_rest.metrics import Metrics
from slurm_rest.within import within

from .command_line import CommandTransport
from .loops import check_loop
from .once import RECOVERY_TIMEOUT
from .shell import Wrapped
from .ssh_failures import hung_up, no_way, reason, translated
from .ssh_sessions import Heard, Sessions, start_sftp, talk
from .streams import Stream

if TYPE_CHECKING:
    import asyncssh

    _Opens = Callable[
        [asyncssh.SSHClientConnection], Awaitable[tuple[asyncssh.SSHReader[bytes], asyncssh.SSHWriter[bytes]]]
    ]

__all__ = ["SshRunner", "ssh_transport"]

log = logging.getLogger("slurm_rest")

# sshd takes 10 sessions on a connection unless told otherwise (MaxSessions).
_CHANNELS = 8
_CONNECT_SECONDS = 10.0
_LOGIN_SECONDS = 30.0
# A peer that is silent for three of these is dead.
_KEEPALIVE_SECONDS = 10
_KEEPALIVE_COUNT = 3
_CLOSE_SECONDS = 2.0
_BRIEF = 0.1
_HUNG_UP_PAUSES = (0.3, 1.0, 3.0)


class SshRunner:
    """One connection to one login node, bound to the event loop that first uses it."""

    name = "ssh"

    def __init__(self, settings: Settings) -> None:
        if not settings.ssh_host:
            hint = "Set SLURM_REST_SSH_HOST, or pass ssh_host=."
            raise ConfigError("No SSH host is configured", hint=hint)
        if importlib.util.find_spec("asyncssh") is None:
            hint = "Install it: pip install 'slurm-rest-client[ssh]'"
            raise ConfigError("SSH needs asyncssh, which is not installed", hint=hint)
        self._settings = settings
        self._host = settings.ssh_host.removeprefix("[").removesuffix("]")
        self.where = _address(self._host, settings.ssh_port, settings.ssh_user)
        self.user = settings.ssh_user or ""
        self._slots = asyncio.Semaphore(_CHANNELS)
        self._connecting = asyncio.Lock()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._jumps: list[asyncssh.SSHClientConnection] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sessions = Sessions()
        # Where sshd takes fewer sessions than are wanted, files go over another connection.
        self._crowded = False
        self._beside: SshRunner | None = None

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        """Run the line in a channel of its own and return what it printed, also when the connection broke."""
        async with self._slots:
            process = await self._open(line)
            try:
                return await within(timeout, talk(process, program))
            except TimeoutError:
                message = f"{self.where} gave no answer within {timeout:g} s"
                raise Timeout(message, hint="The host or its slurmctld is busy or stuck.") from None
            finally:
                process.close()
                # The host counts a session until both sides have closed it.
                try:
                    with contextlib.suppress(TimeoutError):
                        await within(_CLOSE_SECONDS, process.wait_closed())
                finally:
                    self._sessions.end()

    async def _open(self, line: str) -> asyncssh.SSHClientProcess[bytes]:
        """Open a channel; over a new connection where the old one is dead, which did nothing for us yet.

        The line alone has no effect: what it is to do comes on its standard input.
        """
        import asyncssh

        pauses = iter((0.05, 0.2, 0.8))
        while True:
            connection = await self._connected()
            self._sessions.begin()
            try:
                return await within(_LOGIN_SECONDS, connection.create_process(line, encoding=None, request_pty=False))
            except (asyncssh.Error, OSError, asyncio.TimeoutError) as error:
                other, busy = self._sessions.refused(), _is_busy(error, connection)
                if busy and other is not None:
                    await other.wait()
                    continue
                pause = next(pauses, None)
                if pause is None:
                    hint = "Does the sshd there allow fewer than 8 sessions on a connection (MaxSessions)?"
                    message = f"{self.where} opens no session: {reason(error)}"
                    raise Unreachable(message, hint=hint if busy else "Try it with: ssh HOST true") from error
                if busy and pause > _BRIEF:
                    # What is open there is no command's: files, which have a connection of their own from now on.
                    self._crowded = True
                if not busy or self._crowded:
                    await self._drop(connection)
            except BaseException:
                self._sessions.end()
                raise
            await asyncio.sleep(pause)

    async def open_sftp(self) -> asyncssh.SFTPClient:
        """Start an SFTP session on the connection, over a new one where the old one is dead. Paths are bytes there."""
        import asyncssh

        if self._crowded:
            self._beside = self._beside or SshRunner(self._settings)
            return await self._beside.open_sftp()
        for last in (False, True):
            connection = await self._connected()
            try:
                return await within(_LOGIN_SECONDS, start_sftp(connection))
            except (asyncssh.Error, OSError, asyncio.TimeoutError) as error:
                if self._sessions.any_open and _is_busy(error, connection):
                    self._crowded = True
                    return await self.open_sftp()
                lost = not isinstance(error, (asyncssh.ChannelOpenError, asyncssh.SFTPError))
                if lost or connection.is_closed():
                    await self._drop(connection)
                if last or not lost:
                    hint = "Does the sshd there offer SFTP (Subsystem sftp)? Try it with: sftp HOST"
                    if not isinstance(error, asyncssh.ChannelOpenError):
                        hint = (
                            "Is there a forced command, or does a profile (.bashrc) print, ask, or start a shell in a"
                        )
                        hint += " login without a terminal? Try it with: sftp HOST"
                    raise Unreachable(f"{self.where} opens no SFTP session: {reason(error)}", hint=hint) from error
        raise AssertionError("not reached")

    # --- the way to slurmrestd ------------------------------------------------------------------------------

    async def dial(self, host: str, port: int) -> Stream:
        """Connect to a TCP port as seen from there; raises Unreachable, HostKeyError or AuthError."""
        return await self._dial(f"{host}:{port}", lambda there: there.open_connection(host, port, encoding=None))

    async def dial_path(self, path: str) -> Stream:
        """Connect to a unix socket there, as ``dial`` does."""
        return await self._dial(path, lambda there: there.open_unix_connection(path, encoding=None))

    async def _dial(self, target: str, opens: _Opens) -> Stream:
        import asyncssh

        for last in (False, True):
            connection = await self._connected()
            try:
                return _Channel(*await within(_CONNECT_SECONDS, opens(connection)))
            except asyncssh.ChannelOpenError as error:
                if connection.is_closed() and not last:
                    continue
                raise no_way(target, self.where, error) from error
            except (asyncssh.Error, OSError, asyncio.TimeoutError) as error:
                await self._drop(connection)
                if last:
                    hint = "Try it with: ssh -W HOST:PORT SSH_HOST"
                    raise Unreachable(f"{self.where} opens no way to {target}: {reason(error)}", hint=hint) from error
        raise AssertionError("not reached")

    # --- the connection -------------------------------------------------------------------------------------

    async def _connected(self) -> asyncssh.SSHClientConnection:
        if self._connection is not None:
            check_loop(self._loop)
        async with self._connecting:
            if self._connection is not None and self._connection.is_closed():
                await self._drop(self._connection)
            if self._connection is None:
                self._connection = await self._connect_again()
                self._loop = asyncio.get_running_loop()
            return self._connection

    async def _connect_again(self) -> asyncssh.SSHClientConnection:
        """Connect, and again when the host hung up: sshd drops some where many log in at once (MaxStartups)."""
        for pause in _HUNG_UP_PAUSES:
            try:
                return await self._connect()
            except Unreachable as error:  # noqa: PERF203  # beside a connection a try costs nothing
                if not isinstance(error.__cause__, hung_up()):
                    raise
                log.info("%s; trying again", error.message)
                await asyncio.sleep(pause * spread(0.5, 1.5))
        return await self._connect()

    async def _drop(self, connection: asyncssh.SSHClientConnection) -> None:
        if self._connection is connection:
            log.info("The connection to %s is lost", self.where)
            self._connection = None
            jumps, self._jumps = self._jumps, []
            for one in (connection, *reversed(jumps)):
                one.abort()

    async def _connect(self) -> asyncssh.SSHClientConnection:
        """Connect, through the jump hosts one after the other; each proves its host key."""
        settings = self._settings
        options = _options(settings)
        tunnel: asyncssh.SSHClientConnection | None = None
        jumps: list[asyncssh.SSHClientConnection] = []
        hops = [_parse_hop(hop) for hop in (settings.ssh_proxy_jump or "").split(",") if hop.strip()]
        try:
            for host, port, user in [*hops, (self._host, settings.ssh_port, settings.ssh_user)]:
                tunnel = await _connect_one(host, port, user, tunnel, options)
                jumps.append(tunnel)
        except BaseException:
            for one in reversed(jumps):
                one.abort()
            raise
        log.info("Connected to %s", self.where)
        self._jumps = jumps[:-1]
        return jumps[-1]

    async def close(self) -> None:
        """Close the connection."""
        if self._beside is not None:
            await self._beside.close()
        connection, self._connection = self._connection, None
        jumps, self._jumps = self._jumps, []
        for one in ([connection] if connection else []) + jumps[::-1]:
            # One whose loop is gone cannot end in order.
            with contextlib.suppress(Exception):
                check_loop(self._loop)
                one.close()
                await within(_CONNECT_SECONDS, one.wait_closed())


class _Channel:
    """A Stream through SSH."""

    def __init__(self, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
        self._reader, self._writer = reader, writer

    @property
    def ended(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    async def read(self, limit: int) -> bytes:
        with _as_os_error():
            return await self._reader.read(limit)

    async def write(self, data: bytes) -> None:
        with _as_os_error():
            self._writer.write(data)
            await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(Exception):
            await within(_CLOSE_SECONDS, self._writer.wait_closed())


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    import asyncssh

    try:
        yield
    except asyncssh.Error as error:
        raise ConnectionError(reason(error)) from error


def _is_busy(error: BaseException, connection: asyncssh.SSHClientConnection) -> bool:
    """Return whether sshd lives and takes no more sessions on this connection."""
    import asyncssh

    return isinstance(error, asyncssh.ChannelOpenError) and not connection.is_closed()


async def _connect_one(
    host: str,
    port: int | None,
    user: str | None,
    tunnel: asyncssh.SSHClientConnection | None,
    options: Mapping[str, object],
) -> asyncssh.SSHClientConnection:
    import asyncssh

    given: dict[str, object] = {"port": port, "username": user, "tunnel": tunnel}
    heard = Heard()
    given = {**options, **{name: item for name, item in given.items() if item}, "client_factory": heard.listener()}
    with translated(_address(host, port, user), heard.said):
        try:
            return await asyncssh.connect(host, **given)
        except hung_up():
            if not heard.no_more_than_a_greeting:
                raise
            # sshd hangs up without a word where it has no key of the types that the known hosts have. Whatever it has
            # instead is to be shown, and to be refused.
            return await asyncssh.connect(host, **given, server_host_key_algs="default")


def _options(settings: Settings) -> dict[str, object]:
    """Return what all connections share. Known hosts are always named, so that no SSH configuration turns them off."""
    options: dict[str, object] = {
        "known_hosts": None if settings.ssh_insecure else _known_hosts(settings.ssh_known_hosts),
        "connect_timeout": _CONNECT_SECONDS,
        "login_timeout": _LOGIN_SECONDS,
        "keepalive_interval": _KEEPALIVE_SECONDS,
        "keepalive_count_max": _KEEPALIVE_COUNT,
        # Nobody is there to be asked.
        "password_auth": False,
        "kbdint_auth": False,
    }
    key = settings.ssh_key or settings.ssh_key_file
    if key is not None:
        options["client_keys"] = [_read_key(key)]
    return options


def _known_hosts(chosen: Path | None) -> asyncssh.SSHKnownHosts:
    import asyncssh

    files = _known_hosts_files(chosen)
    try:
        return asyncssh.read_known_hosts(files) if files else asyncssh.import_known_hosts("")
    except ValueError as error:  # bytes that are no text as well
        hint = "It has one key a line, as ssh-keyscan prints them."
        raise ConfigError(f"Cannot read the known hosts in {' and '.join(files)}: {error}", hint=hint) from error


def _known_hosts_files(chosen: Path | None) -> list[str]:
    if chosen is not None:
        if not chosen.is_file():
            hint = "Write the host's key there: ssh-keyscan HOST, compared with what its owner says."
            if " " in str(chosen):
                hint = "It takes the path of a known_hosts file, not what stands in one."
            problem = f"{chosen}, where known hosts should be, is no file"
            raise ConfigError(problem if chosen.exists() else f"There is no file of known hosts {chosen}", hint=hint)
        return [str(chosen)]
    files = (Path("~/.ssh/known_hosts").expanduser(), Path("/etc/ssh/ssh_known_hosts"))
    return [str(path) for path in files if path.is_file()]


def _read_key(key: str | Path) -> asyncssh.SSHKey:
    import asyncssh

    name = f"The SSH key {key}" if isinstance(key, Path) else "The given SSH key"
    try:
        return asyncssh.read_private_key(key) if isinstance(key, Path) else asyncssh.import_private_key(key)
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError, UnicodeDecodeError) as error:
        if isinstance(error, asyncssh.KeyEncryptionError) or "assphrase" in str(error):
            hint = "Load it into an agent (ssh-add), or give one without."
            raise ConfigError(f"{name} has a passphrase", hint=hint) from None
        hint = "It begins with -----BEGIN ... PRIVATE KEY-----"
        hint += "." if isinstance(key, Path) else ": the text of a key, not the path of its file."
        raise ConfigError(f"{name} is no private key", hint=hint) from None
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}", hint="Check SLURM_REST_SSH_KEY_FILE.") from None


_HOP = re.compile(r"(?:(?P<user>.*)@)?(?:\[(?P<v6>[^]]+)\]|(?P<host>[^-:/@[][^:/@[]*))(?::(?P<port>[0-9]{1,5}))?")


def _parse_hop(text: str) -> tuple[str, int | None, str | None]:
    found = _HOP.fullmatch(text.strip())
    if found is None or not 0 < int(found["port"] or 22) < 65536:
        hint = "Write [USER@]HOST[:PORT], an IPv6 address in brackets (SLURM_REST_SSH_PROXY_JUMP)."
        raise ConfigError(f"{text!r} is not a jump host", hint=hint)
    return found["v6"] or found["host"], int(found["port"]) if found["port"] else None, found["user"]


def _address(host: str, port: int | None, user: str | None) -> str:
    shown = f"[{host}]" if ":" in host and port else host
    return f"{f'{user}@' if user else ''}{shown}{f':{port}' if port else ''}"


def ssh_transport(
    settings: Settings, metrics: Metrics | None = None, recovery_timeout: float = RECOVERY_TIMEOUT
) -> CommandTransport:
    """Return the transport over the commands of the configured login node."""
    return CommandTransport(SshRunner(settings), metrics, recovery_timeout)
