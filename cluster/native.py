"""A running native cluster: start it, find it again, talk to it, hold its daemons, end it.

Any process may do any of this at any time: all that is known lies in the cluster's folder (``cluster/state.py``).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cluster.errors import ClusterError, DiskFullError
from cluster.prime import ensure_prime, lay_down, prime_path
from cluster.root import DEFAULT_RELEASE, HERE, disk_full, ensure_root, require_machine
from cluster.service import SERVICES, Service
from cluster.space import Process, close_space, enter_command, open_space, read_holder, wait_until
from cluster.state import State, check_name, choose_ports, clusters_dir, forget, load, load_all, locked
from cluster.token import sign

USERS = ("alice", "bob", "svc")
_START_SECONDS = 240.0
_UNUSED_SECONDS = 14 * 86400


class Cluster:
    """One running cluster."""

    def __init__(self, state: State) -> None:
        self.state = state

    @classmethod
    def find(cls, name: str) -> Cluster:
        """Return the running cluster of that name."""
        state = load(name)
        if state is None or not state.running():
            raise ClusterError(f"no cluster {name} is running", f"start it: scripts/cluster up --name {name}")
        return cls(state)

    @property
    def name(self) -> str:
        """The name by which it was started."""
        return self.state.name

    @property
    def release(self) -> str:
        """The Slurm release, for example 24.11."""
        return self.state.release

    @property
    def folder(self) -> Path:
        """The folder that holds all of it."""
        return self.state.folder

    @property
    def home(self) -> Path:
        """What the cluster sees as /home."""
        return self.folder / "home"

    @property
    def shared(self) -> Path:
        """What the cluster sees as /shared, writable by everybody there."""
        return self.folder / "shared"

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the compute nodes."""
        return self.state.nodes

    @property
    def url(self) -> str:
        """The address of slurmrestd."""
        return f"http://127.0.0.1:{self.state.ports.slurmrestd}"

    @property
    def ssh_port(self) -> int:
        """The loopback port of sshd."""
        return self.state.ports.sshd

    @property
    def ssh_key(self) -> Path:
        """The private key that lets any user of the cluster in."""
        return self.folder / "keys/id_ed25519"

    @property
    def known_hosts(self) -> Path:
        """The file that names the host key of sshd."""
        return self.folder / "keys/known_hosts"

    @property
    def jwt_key(self) -> Path:
        """The file with the key that signs tokens."""
        return self.folder / "keys/jwt.key"

    @property
    def token_key(self) -> bytes:
        """The key that signs tokens."""
        return self.jwt_key.read_bytes()

    def token(self, user: str = "alice", *, lifespan: int = 3600) -> str:
        """Return a new token for a user, valid for so many seconds (fewer than 0: already expired)."""
        return sign(self.token_key, user, lifespan)

    def exec(
        self,
        argv: Sequence[str],
        *,
        user: str = "root",
        env: Mapping[str, str] | None = None,
        input: str | None = None,  # noqa: A002 - the word that subprocess uses
        timeout: float = 180,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside, in the user's home folder."""
        return subprocess.run(
            self.command(argv, user=user, env=env),
            check=check,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            input=input,
            timeout=timeout,
        )

    def command(self, argv: Sequence[str], *, user: str = "root", env: Mapping[str, str] | None = None) -> list[str]:
        """Return the command by which this machine runs argv inside."""
        if self.state.holder is None:
            raise ClusterError(f"cluster {self.name} is not running", f"scripts/cluster up --name {self.name}")
        return enter_command(self.state.holder, argv, user, env or {})

    def service(self, name: str) -> Service:
        """Return the handle of one daemon: database, munge, slurmdbd, slurmctld, slurmrestd, sshd, n1, n2, ..."""
        if name not in self.services():
            raise ClusterError(
                f"cluster {self.name} has no service {name}", f"choose one of {', '.join(self.services())}"
            )
        return Service(self.state, name)

    def services(self) -> tuple[str, ...]:
        """Return the names of all its daemons."""
        return (*SERVICES, *self.nodes)

    @contextlib.contextmanager
    def frozen(self, *names: str) -> Iterator[None]:
        """Hold daemons still (SIGSTOP) for the duration of a block."""
        with self._held(names, Service.freeze, Service.thaw):
            yield

    @contextlib.contextmanager
    def stopped(self, *names: str) -> Iterator[None]:
        """End daemons for the duration of a block; afterwards they run and answer again."""
        with self._held(names, Service.stop, Service.start):
            yield

    @contextlib.contextmanager
    def _held(
        self, names: Sequence[str], hold: Callable[[Service], None], release: Callable[[Service], None]
    ) -> Iterator[None]:
        services = [self.service(name) for name in names]
        with contextlib.ExitStack() as stack:
            for service in services:
                stack.callback(release, service)
                hold(service)
            yield

    def revive(self) -> None:
        """Start the daemons that have ended, and let those go on that are frozen."""
        for service in map(self.service, self.services()):
            status = service.status()
            if status != "running":
                print(f"{service.name} of cluster {self.name} is {status}: starting it again", flush=True)
                service.thaw()
                service.start()

    def logs(self, service: str) -> str:
        """Return what a daemon has logged so far (also "cluster", the start itself)."""
        path = self.log_path(service)
        return path.read_text(errors="replace") if path.exists() else ""

    def log_path(self, service: str) -> Path:
        """Return the file that a daemon logs to."""
        return self.folder / "logs" / f"{service}.log"

    def down(self) -> None:
        """End it and remove all of it."""
        down(self.name)


def up(
    name: str,
    release: str | None = None,
    nodes: int | None = None,
    conf: Sequence[str] | None = None,
    owner: Process | None = None,
) -> tuple[Cluster, bool]:
    """Start a cluster; return it and whether it had to be started. None keeps what it was, or takes the default.

    One whose processes are gone (a kill, a reboot) starts again with its database, its jobs and its homes; where only
    some daemons are gone, these do.
    """
    require_machine()
    check_name(name)
    before = load(name)
    root = provide(release or (before.release if before else DEFAULT_RELEASE))
    _prune(root)
    with locked(name):
        before = load(name)
        if before and before.running():
            _require_same(before, release, nodes, conf)
            _finish(before, _START_SECONDS, {})
            cluster = Cluster(before)
            cluster.revive()
            return cluster, False
        try:
            state = _prepare(name, root, before, release, nodes, conf, owner)
            return Cluster(_start(state, root) if before is None else _start_again(state, root)), True
        except BaseException:
            # Also when the user interrupts: nothing is left of a start that failed, but what had been there before.
            _end(clusters_dir() / name)
            if before is None:
                forget(name)
            raise


def provide(release: str) -> Path:
    """Return the root of a release, making it and its database first where they are missing."""
    root = ensure_root(release)
    ensure_prime(root)
    return root


def _start_again(state: State, root: Path) -> State:
    try:
        return _start(state, root)
    except DiskFullError:
        raise
    except ClusterError:
        # A kill may have cut the database's files off. A cluster for tests that runs is worth more than its past.
        print(f"cluster {state.name} does not start with its old data: starting without", flush=True)
        _end(state.folder)
        shutil.rmtree(state.folder / "data", ignore_errors=True)
        return _start(state, root)


def _end(folder: Path) -> None:
    """End what was started, even if it was interrupted before pid 1 had written down who it is."""
    wait_until(lambda: (folder / "holder").exists(), 2)
    if holder := read_holder(folder):
        close_space(holder)


def _prune(root: Path) -> None:
    """Note that a root and its database are in use, and remove what nothing has used for two weeks."""
    os.utime(root)
    os.utime(prime_path(root))
    used = {state.root for state in load_all()}
    for other in root.parent.glob("[0-9]*-*"):
        with contextlib.suppress(FileNotFoundError):  # another start removes it as well
            if str(other) in used or other.stat().st_mtime > time.time() - _UNUSED_SECONDS:
                continue
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink()


def _require_same(state: State, release: str | None, nodes: int | None, conf: Sequence[str] | None) -> None:
    asked = (release or state.release, nodes or len(state.nodes), tuple(conf if conf is not None else state.conf))
    if asked != (state.release, len(state.nodes), state.conf):
        settings = f", {', '.join(state.conf)}" if state.conf else ""
        raise ClusterError(
            f"cluster {state.name} already runs with Slurm {state.release} and {len(state.nodes)} nodes{settings}",
            f"end it first (scripts/cluster down {state.name}) or choose another --name",
        )


def _prepare(
    name: str,
    root: Path,
    before: State | None,
    release: str | None,
    nodes: int | None,
    conf: Sequence[str] | None,
    owner: Process | None,
) -> State:
    folder = clusters_dir() / name
    if before and before.root != str(root):
        # Another root has other numbers for its users, another release cannot read the old state; homes stay.
        shutil.rmtree(folder / "data", ignore_errors=True)
        shutil.rmtree(folder / "upper", ignore_errors=True)
    # The overlay refuses a work folder that a killed one left behind in some kernels; it holds nothing of worth.
    shutil.rmtree(folder / "work", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    count = nodes or (len(before.nodes) if before else 2)
    kept = tuple(conf) if conf is not None else (before.conf if before else ())
    chosen = release or (before.release if before else DEFAULT_RELEASE)
    with locked():
        ports = choose_ports(count, before.ports if before else None)
        state = State(name=name, release=chosen, root=str(root), ports=ports, conf=kept, owner=owner, folder=folder)
        state.save()
    return state


def _start(state: State, root: Path) -> State:
    upper = state.folder / "upper"
    for target, source in {
        "usr/local/sbin/cluster-start": HERE / "start",
        "etc/resolv.conf": Path("/etc/resolv.conf"),
    }.items():
        (upper / target).parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(source, upper / target)
    lay_down(prime_path(root), state.folder / "data")
    (state.folder / "data/run/up").unlink(missing_ok=True)
    written = {path: path.stat().st_size for path in _logs(state)}
    state = replace(state, holder=open_space(state.folder, root, state.environment()))
    _finish(state, _START_SECONDS, written)
    return state


def _logs(state: State) -> list[Path]:
    return sorted(state.folder.glob("logs/*.log"))


def _finish(state: State, timeout: float, written: Mapping[Path, int]) -> None:
    """Wait until the start script says that everything answers, or has given up."""
    mark = state.folder / "data/run/up"
    wait_until(lambda: mark.exists() or not state.running(), timeout)
    if not mark.exists():
        raise _explain(state, written)


def _explain(state: State, written: Mapping[Path, int]) -> ClusterError:
    """Say in one line why a cluster did not start, and keep what its logs have beyond what was written before."""
    news = {path.name: path.read_bytes()[written.get(path, 0) :].decode(errors="replace") for path in _logs(state)}
    text = "".join(f"== {name}\n{lines}\n" for name, lines in news.items())
    if disk_full(state.folder, text):
        return DiskFullError(f"cluster {state.name} started")
    saved = clusters_dir() / f"{state.name}.failed.log"
    saved.write_text(text)
    last = (news.get("cluster.log", "").strip().splitlines() or ["no output"])[-1]
    return ClusterError(f"cluster {state.name} did not start ({last})", f"read {saved}")


def down(name: str) -> bool:
    """End a cluster and remove its folder; return whether there was one."""
    require_machine()
    with locked(check_name(name)):
        folder = clusters_dir() / name
        if not folder.is_dir():
            forget(name)
            return False
        # Asked of pid 1's own file: a damaged state file must not leave a cluster running without a folder.
        if holder := read_holder(folder):
            close_space(holder)
        forget(name)
        (clusters_dir() / f"{name}.failed.log").unlink(missing_ok=True)
        return True


def end_orphans() -> list[str]:
    """End the clusters of test sessions that are gone; return their names."""
    orphans = [state.name for state in load_all() if state.owner and not state.owner.alive()]
    return [name for name in orphans if down(name)]
