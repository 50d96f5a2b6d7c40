"""The namespaces of one cluster: everything in it hangs on one process, the first of a PID namespace.

Killing that process ends every daemon and every job at once, and with the last of them the private mounts go too.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError
from cluster.root import HERE, search_path

# Folders of the cluster that are seen inside it; the machine reads and writes them directly.
BINDS = {
    "keys": "etc/cluster",
    "data": "var/lib/cluster",
    "logs": "var/log/cluster",
    "home": "home",
    "shared": "shared",
}
_UNSHARE = "unshare --mount --pid --ipc --uts --fork --propagation private"
_ENTER = ("--mount", "--pid", "--ipc", "--uts")


@dataclass(frozen=True)
class Process:
    """A process that cannot be mistaken for a later one with the same number: its start time belongs to it."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """Return the live process with this number, None when there is none or it is a zombie."""
        fields = _stat(pid)
        return None if fields is None or fields[0] in "ZX" else cls(pid, int(fields[19]))

    def alive(self) -> bool:
        """Return whether this very process still runs."""
        return Process.of(self.pid) == self

    def frozen(self) -> bool:
        """Return whether it is stopped by SIGSTOP."""
        fields = _stat(self.pid)
        return fields is not None and fields[0] == "T"

    def send(self, number: signal.Signals) -> None:
        """Send a signal unless the process has gone."""
        if self.alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def wait_gone(self, timeout: float) -> bool:
        """Return whether it has ended within the timeout."""
        return wait_until(lambda: not self.alive(), timeout)


def _stat(pid: int) -> list[str] | None:
    """Return /proc/PID/stat from the state letter on; the name before it may hold spaces and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = 0.01) -> bool:
    """Poll a condition until it holds (True) or the time is over (False)."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(interval)
    return True


def open_space(folder: Path, root: Path, env: Mapping[str, str]) -> Process:
    """Start pid 1 of a cluster: the root as the lower layer of an overlay, the cluster's own folders bound over it."""
    holder = folder / "holder"
    holder.unlink(missing_ok=True)
    for name in ("mnt", "upper", "work", *BINDS):
        (folder / name).mkdir(exist_ok=True)
    lines = ['mount -t overlay overlay -o "lowerdir=$1,upperdir=upper,workdir=work" mnt']
    lines += [f"mkdir -p mnt/{inside}; mount --bind {name} mnt/{inside}" for name, inside in BINDS.items()]
    # /proc is still the machine's here, so this is the number by which the machine knows pid 1 of the cluster.
    lines += [
        "read -r pid rest </proc/self/stat",
        'cut -d" " -f1,22 "/proc/$pid/stat" >holder.new',
        "mv holder.new holder",
    ]
    lines += ['exec "$0" "$PWD/mnt" /usr/local/sbin/cluster-start all']
    script = "; ".join(lines)
    # An orphan from the start: no parent of ours has to stay to collect it.
    command = f'{_UNSHARE} sh -ec {shlex.quote(script)} "$0" "$1" </dev/null >logs/cluster.log 2>&1 &'
    subprocess.run(
        ["setsid", "sh", "-c", command, str(HERE / "enter"), str(root)],
        check=True,
        cwd=folder,
        env={"PATH": search_path(), "HOME": "/root", **env},
    )
    if not wait_until(holder.exists, 60):
        last = ((folder / "logs/cluster.log").read_text(errors="replace").strip().splitlines() or ["no output"])[-1]
        raise ClusterError(
            f"the namespaces of the cluster could not be made ({last})",
            "set SLURM_REST_CACHE to a folder on ext4, xfs, btrfs or tmpfs, and check that mounting is allowed here",
        )
    found = read_holder(folder)
    if found is None:
        raise ClusterError("the cluster ended as soon as it was started", f"read {folder}/logs/cluster.log")
    return found


def read_holder(folder: Path) -> Process | None:
    """Return pid 1 of a cluster, alive or not, as it has written it down itself."""
    try:
        pid, started = (folder / "holder").read_text().split()
        return Process(int(pid), int(started))
    except (OSError, ValueError):
        return None


def close_space(holder: Process, timeout: float = 60) -> None:
    """End a cluster: the kernel kills all that hangs on pid 1 before pid 1 itself is gone."""
    holder.send(signal.SIGKILL)
    if not holder.wait_gone(timeout):
        raise ClusterError(f"process {holder.pid} does not end", "look at it with ps; it may hang in the kernel")


def enter_command(holder: Process, argv: Sequence[str], user: str, env: Mapping[str, str]) -> list[str]:
    """Return the command that runs argv inside, in the user's home and with a user's usual environment."""
    home = "/root" if user == "root" else f"/home/{user}"
    words = {"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8"}
    words["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    words.update(env)
    become = [] if user == "root" else ["runuser", "-u", user, "--"]
    move = ["sh", "-c", 'cd "$HOME" 2>/dev/null || cd /; exec "$@"', "sh"]
    clean = ["env", "-i", *(f"{key}={value}" for key, value in words.items())]
    return ["nsenter", "--target", str(holder.pid), *_ENTER, "--", *clean, *become, *move, *argv]


def members(holder: Process) -> Iterator[tuple[int, int, Process]]:
    """Yield (pid inside, parent's pid on the machine, process) of everything that runs in the cluster's namespace."""
    try:
        space = os.readlink(f"/proc/{holder.pid}/ns/pid")
    except OSError:
        return
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{entry}/ns/pid") != space:
                continue
            status = Path(f"/proc/{entry}/status").read_text(errors="replace")
        except OSError:
            continue
        words = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        if found := Process.of(int(entry)):
            yield int(words["NSpid"].split()[-1]), int(words["PPid"]), found
