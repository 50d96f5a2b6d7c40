"""What is known of each cluster: one folder with a state file, from which any later process can find and end it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from cluster.errors import ClusterError
from cluster.root import cache_dir
from cluster.space import Process, read_holder

# Below the range that the kernel hands out for outgoing connections, so that only servers compete for them, and above
# the ports that distributed tasks on the nodes take: 20000 and the id of their job.
_FIRST_PORT, _LAST_PORT = 24000, 31999
_HOST = "login"
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Ports:
    """The loopback ports of one cluster."""

    slurmctld: int
    slurmdbd: int
    slurmrestd: int
    sshd: int
    nodes: tuple[int, ...]

    def all(self) -> tuple[int, ...]:
        """Return every port."""
        return (self.slurmctld, self.slurmdbd, self.slurmrestd, self.sshd, *self.nodes)


@dataclass(frozen=True)
class State:
    """One cluster as its state file holds it."""

    name: str
    release: str
    root: str
    ports: Ports
    conf: tuple[str, ...] = ()
    holder: Process | None = None
    # The test session that made it, if one did: whoever finds the session dead ends the cluster.
    owner: Process | None = None
    folder: Path = field(default_factory=Path)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of the compute nodes."""
        return tuple(f"n{number}" for number in range(1, len(self.ports.nodes) + 1))

    def running(self) -> bool:
        """Return whether the process on which the cluster hangs is alive."""
        return self.holder is not None and self.holder.alive()

    def environment(self) -> dict[str, str]:
        """Return what cluster/start needs to know."""
        ports = self.ports
        return {
            "CLUSTER_NAME": re.sub(r"[^a-z0-9_]", "_", self.name.lower()),
            "CLUSTER_NODES": str(len(ports.nodes)),
            "CLUSTER_CONF": "\n".join(self.conf),
            "CTLD_HOST": _HOST,
            "CTLD_ADDR": _LOOPBACK,
            "CTLD_PORT": str(ports.slurmctld),
            "DBD_HOST": _HOST,
            "DBD_ADDR": _LOOPBACK,
            "DBD_PORT": str(ports.slurmdbd),
            "DB_HOST": "localhost",
            "REST_ADDR": _LOOPBACK,
            "REST_PORT": str(ports.slurmrestd),
            "SSH_ADDR": _LOOPBACK,
            "SSH_PORT": str(ports.sshd),
            "NODE_PORTS": " ".join(map(str, ports.nodes)),
        }

    def save(self) -> None:
        """Write the state file in one step, so that no reader sees half of it."""
        content = asdict(self)
        # Kept elsewhere: pid 1 writes its own file, so that a start which is killed half-way is still found.
        del content["folder"], content["holder"]
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps(content, indent=1))
        fresh.replace(self.folder / "state.json")


def clusters_dir() -> Path:
    """Return the folder that holds one folder a cluster."""
    return cache_dir() / "clusters"


def check_name(name: str) -> str:
    """Return the name if it can be a folder and a Slurm cluster."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise ClusterError(f"{name!r} is no name for a cluster", "use letters, digits, - and _ (at most 40)")
    return name


def load(name: str) -> State | None:
    """Return the state of one cluster, None when there is none (or its folder was left half made)."""
    folder = clusters_dir() / check_name(name)
    try:
        content = json.loads((folder / "state.json").read_text())
        ports = Ports(**{**content["ports"], "nodes": tuple(content["ports"]["nodes"])})
        owner = Process(**content["owner"]) if content["owner"] else None
        conf = tuple(content["conf"])
        found = {"ports": ports, "conf": conf, "owner": owner, "holder": read_holder(folder), "folder": folder}
        return State(**{**content, **found})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load_all() -> list[State]:
    """Return every cluster of this cache, by name."""
    folder = clusters_dir()
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    return [state for name in names if (state := load(name))]


@contextlib.contextmanager
def locked(name: str = "") -> Iterator[None]:
    """Hold the lock of one cluster, or (no name) of all port numbers."""
    path = clusters_dir() / f".{name or 'ports'}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _lock(path)
    except OSError as error:
        problem = f"cannot use {path.parent} ({error.strerror})"
        raise ClusterError(problem, "set SLURM_REST_CACHE to another folder") from error
    with lock:
        yield


def _lock(path: Path) -> TextIO:
    """Lock a file that whoever holds it may remove: what was locked must still be what lies there."""
    while True:
        lock = path.open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                return lock
        lock.close()


def forget(name: str) -> None:
    """Remove all that is kept of a cluster, its lock last; call it under that lock."""
    folder = clusters_dir() / name
    try:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
    except OSError as error:
        raise ClusterError(f"{folder} cannot be removed ({error.strerror})", "see what still uses it") from error
    (clusters_dir() / f".{name}.lock").unlink(missing_ok=True)


def choose_ports(nodes: int, wanted: Ports | None = None) -> Ports:
    """Return free ports, those from before where they still are; call it locked and save before unlocking."""
    if wanted and len(wanted.nodes) == nodes and all(_free(port) for port in wanted.all()):
        return wanted
    taken = {port for state in load_all() for port in state.ports.all()}
    # Different starting points keep clusters of different caches from racing for the same numbers.
    start = _FIRST_PORT + (os.getpid() * 97) % (_LAST_PORT - _FIRST_PORT - 2000)
    found: list[int] = []
    for port in range(start, _LAST_PORT):
        if port not in taken and _free(port):
            found.append(port)
        if len(found) == nodes + 4:
            return Ports(found[0], found[1], found[2], found[3], tuple(found[4:]))
    raise ClusterError("no free ports on loopback", "end some of the servers on this machine")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
        except OSError:
            return False
        return True
