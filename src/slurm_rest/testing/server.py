"""A running fake slurmrestd: for tests in a thread of their process, and as ``python -m slurm_rest.testing.server``.

It listens on this machine alone, wants a token, and runs the scripts of jobs as whoever started it.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import secrets
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

from slurm_rest import AsyncSlurmClient, ConfigError, SlurmClient

from .app import FakeSlurmrestd
from .cluster import FakeCluster
from .faults import Faults
from .jobs import FakeJob
from .shapes import RELEASES
from .tokens import Tokens

if TYPE_CHECKING:
    import uvicorn
    from typing_extensions import Self

__all__ = ["FakeSlurm", "main"]

T = TypeVar("T")


class _Options(TypedDict):
    token: str
    user: str
    transport: Literal["rest"]
    workdir: str
    path_map: dict[str, str]
    environ: dict[str, str]


# What a busy machine may need; longer than a cluster takes to end its processes.
_STOP_SECONDS = 90.0
_SETTINGS = ("SLURM_REST_", "SLURM_JWT")


class FakeSlurm:
    """A fake cluster behind a fake slurmrestd that listens on ``url``; use it as ``with``, or call start and stop.

    ``release`` is 24.11 or 26.05; further arguments are those of FakeCluster. ``user`` is whom ``token`` is for: one of
    the cluster's users. Without a ``key`` (HS256) one is made up. ``faults`` may be changed while it runs.
    """

    def __init__(
        self,
        release: str = "26.05",
        *,
        user: str = "alice",
        host: str = "127.0.0.1",
        port: int = 0,
        key: bytes | None = None,
        token: str | None = None,
        cluster: FakeCluster | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.cluster = cluster or FakeCluster(release)
        self.user = user
        if self.cluster.owner(user) is None:
            self.cluster.users[user] = os.getuid()
        self.faults = faults or Faults()
        self._tokens = Tokens(self.cluster, key=key or secrets.token_bytes(32), token=token, user=user)
        self._fixed = token
        self.app = FakeSlurmrestd(self.cluster, self._tokens, self.faults)
        self._address = (host, port)
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        """Return the address, never a token."""
        return f"<FakeSlurm {self.cluster.release} {self.url if self._socket else 'stopped'}>"

    @property
    def url(self) -> str:
        """Where it listens."""
        if self._socket is None:
            raise RuntimeError("The fake slurmrestd is not started: use it as `with`, or call start()")
        host, port = self._socket.getsockname()[:2]
        return f"http://{host}:{port}"

    @property
    def token(self) -> str:
        """A token for ``user`` that is good for a day."""
        return self._fixed or self._tokens.sign()

    def token_for(self, user: str | None = None, lifespan: int = 86400) -> str:
        """Return a token for any user; with a negative ``lifespan`` it has expired."""
        return self.token if user is None else self._tokens.sign(user, lifespan)

    def home(self, user: str | None = None) -> Path:
        """The home of a user, where jobs run by default and leave their output."""
        return self.cluster.runner.home(user or self.user)

    @property
    def env(self) -> dict[str, str]:
        """The settings of a client of this server, as environment variables."""
        return {
            "SLURM_REST_URL": self.url,
            "SLURM_JWT": self.token,
            "SLURM_REST_USER": self.user,
            "SLURM_REST_WORKDIR": str(self.home()),
            "SLURM_REST_PATH_MAP": str(self.home()),
            "SLURM_REST_TRANSPORT": "rest",
        }

    def client(self, user: str | None = None) -> SlurmClient:
        """Return a client of this server, which the caller closes. It finds the output of jobs, too.

        It sees neither SLURM_REST_* variables nor a profile file, so that a developer's own cluster is left alone.
        """
        return SlurmClient(self.url, **self._options(user))

    def async_client(self, user: str | None = None) -> AsyncSlurmClient:
        """Return a client with coroutines, as ``client`` does."""
        return AsyncSlurmClient(self.url, **self._options(user))

    def _options(self, user: str | None) -> _Options:
        home = str(self.home(user))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
        return {
            "token": self.token_for(user),
            "user": user or self.user,
            "transport": "rest",
            "workdir": home,
            "path_map": {home: home},
            "environ": {**kept, "XDG_CONFIG_HOME": os.devnull},
        }

    # --- the cluster, from outside of its thread ------------------------------------------------------------

    def call(self, what: Callable[[], T]) -> T:
        """Call something in the server's thread, where the cluster may be changed, and return what it returns."""

        async def run() -> T:
            return what()

        if self._loop is None:
            raise RuntimeError("The fake slurmrestd is not started")
        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(_STOP_SECONDS)

    def advance(self, seconds: float) -> None:
        """Move the cluster's clock on: time limits, delays and MinJobAge pass."""
        self.call(lambda: self.cluster.advance(seconds))

    def purge(self) -> None:
        """Let the controller forget all jobs that are over; accounting keeps them."""
        self.call(self.cluster.purge)

    def jobs(self, job_id: int) -> list[FakeJob]:
        """Return what the cluster knows of a job: itself, an array's tasks, or a het job's components."""
        return self.call(lambda: self.cluster.find(job_id))

    # --- running --------------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Listen, in a thread of its own. ConfigError without the extra ``testing``, OSError for a port in use."""
        try:
            import uvicorn
        except ImportError:
            hint = "Install it: pip install 'slurm-rest-client[testing]'"
            raise ConfigError("The fake slurmrestd needs uvicorn, which is not installed", hint=hint) from None

        from .wire import WireProtocol

        self._socket = socket.create_server(self._address)
        # Inherited by every connection. asyncio leaves it out for a socket whose protocol is not named, and then each
        # answer waits 40 ms for the client's acknowledgement of its head.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            self.app,
            http=WireProtocol,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            # slurmrestd has no idle time-out; 20 KB of URL are accepted.
            timeout_keep_alive=3600,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=1 << 20,
        )
        self._server = uvicorn.Server(config)
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="fake slurmrestd", daemon=True)
        self._thread.start()
        ready.wait(_STOP_SECONDS)
        return self

    def _run(self, ready: threading.Event) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            ready.set()
            if self._server is not None:
                await self._server.serve(sockets=[self._socket] if self._socket else None)
            await self.cluster.close()

        asyncio.run(serve())

    def stop(self) -> None:
        """End the server and every job's processes, and remove its files unless they have a root of their own."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)
        if self._socket is not None:
            self._socket.close()
        self._server = self._thread = self._socket = self._loop = None

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()


def main(argv: Sequence[str] | None = None) -> int:
    """Run a server until it is told to end, and print the settings of its clients."""
    options = _parser().parse_args(argv)
    try:
        key = Path(options.key_file).read_bytes() if options.key_file else None
    except OSError as error:
        return _complain(f"cannot read {options.key_file}: {error.strerror}")
    cluster = FakeCluster(options.release, nodes=options.nodes, root=options.root, min_job_age=options.min_job_age)
    # Not an Event: a signal that comes while its lock is held would wait for that for ever.
    ended: SimpleQueue[int] = SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.put(number))
    slurm = FakeSlurm(
        user=options.user, host=options.host, port=options.port, key=key, token=options.token, cluster=cluster
    )
    try:
        slurm.start()
    except ConfigError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"cannot listen on {options.host}:{options.port}: {error.strerror}")
    try:
        lines = [f"export {name}={shlex.quote(value)}" for name, value in slurm.env.items()]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        sys.stderr.write(f"a simulation of Slurm {RELEASES[options.release]} at {slurm.url}; jobs run as this user\n")
        ended.get()
    finally:
        slurm.stop()
    return 0


def _complain(text: str) -> int:
    sys.stderr.write(f"slurm_rest.testing.server: {text}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m slurm_rest.testing.server",
        description="A simulated slurmrestd that runs the scripts of jobs as processes of this machine, as you. It"
        " prints the settings of its clients, then serves until ^C.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: this machine alone)")
    parser.add_argument("--port", type=int, default=0, help="0 (default): any that is free")
    parser.add_argument("--release", choices=sorted(RELEASES), default="26.05", help="whose habits (default: 26.05)")
    parser.add_argument("--user", default=getpass.getuser(), help="whom the token is for (default: you)")
    parser.add_argument("--token", help="take this token, for --user, as it is")
    parser.add_argument("--key-file", metavar="FILE", help="take tokens signed with this key (HS256)")
    parser.add_argument("--root", metavar="DIR", help="homes and spool (default: a temporary folder)")
    parser.add_argument("--nodes", type=int, default=2, help="nodes with 8 CPUs (default: 2)")
    parser.add_argument("--min-job-age", type=float, default=300, metavar="S", help="MinJobAge (default: 300)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
