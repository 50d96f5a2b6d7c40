"""The accounting database as every new cluster finds it: made once for each root, then copied.

Slurm 22.05 takes three seconds to write down two QOS and four users, because its messages wait for each other. They
are the same in every cluster except for the cluster's own name, which ``cluster/start`` puts in (``adopt``).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from cluster.errors import ClusterError, DiskFullError
from cluster.root import HERE, SPACE, build_lock, clean_env, disk_full, search_path
from cluster.state import State, choose_ports, locked

# A name that no cluster can have (see check_name), and the one that cluster/start looks for.
_PLACEHOLDER = "_primed"
# The layer over the root is memory; only the folder of the data outlives the namespaces.
_SCRIPT = """
mount -t tmpfs tmpfs /mnt
mkdir -p /mnt/up/usr/local/sbin /mnt/up/var/lib/cluster /mnt/work /mnt/root
cp "$2/start" /mnt/up/usr/local/sbin/cluster-start
mount -t overlay overlay -o "lowerdir=$1,upperdir=/mnt/up,workdir=/mnt/work" /mnt/root
mount --bind "$3" /mnt/root/var/lib/cluster
mkdir -p /mnt/root/shared /mnt/root/etc/cluster
exec "$2/enter" /mnt/root /usr/local/sbin/cluster-start prime
"""
_SECONDS = 120


def prime_path(root: Path) -> Path:
    """Return where the database for a root belongs; the name changes with the script that makes it."""
    return root.parent / f"{root.name}.accounting-{hashlib.sha256((HERE / 'start').read_bytes()).hexdigest()[:12]}"


def ensure_prime(root: Path) -> Path:
    """Return the database for a root, making it first if there is none (some seconds)."""
    prime = prime_path(root)
    if not prime.is_dir():
        with build_lock(root.parent / f".{root.name}.accounting.lock"):
            if not prime.is_dir():
                _make(root, prime)
    return prime


def _make(root: Path, prime: Path) -> None:
    # The lock is held: whatever lies there now is left over from a process that was killed.
    for stale in root.parent.glob(f".priming-{root.name}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    building = root.parent / f".priming-{root.name}-{os.getpid()}"
    log = root.parent / f"{root.name}.accounting.log"
    print(f"preparing the accounting database of {root.name} (once, some seconds)", flush=True)
    try:
        building.mkdir()
        # Held to the end, since no state file says that these ports are taken.
        with locked(), log.open("wb") as output:
            environment = State(_PLACEHOLDER, "", str(root), choose_ports(1)).environment()
            argv = [*SPACE, "--uts", "sh", "-ec", _SCRIPT, "sh", str(root), str(HERE), str(building)]
            subprocess.run(
                argv,
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=clean_env(environment),
                timeout=_SECONDS,
            )
        (building / "sparse").rename(prime)
    except (OSError, subprocess.SubprocessError) as error:
        raise _explain(root, log, error) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _explain(root: Path, log: Path, error: Exception) -> ClusterError:
    text = log.read_text(errors="replace").strip() if log.exists() else ""
    if disk_full(root.parent, text, error):
        return DiskFullError(f"preparing the accounting database of {root.name}", "0.3 GB")
    last = (text.splitlines() or ["no output"])[-1]
    return ClusterError(f"the accounting database of {root.name} could not be prepared ({last})", f"read {log}")


def lay_down(prime: Path, data: Path) -> None:
    """Give a cluster that has no database its copy; ``primed`` says that it has yet to get the cluster's name."""
    if (data / "database").exists():
        return
    data.mkdir(exist_ok=True)
    fresh = data / "database.new"
    shutil.rmtree(fresh, ignore_errors=True)
    # Nearly all of it is holes: 6 MB of 120, which matters most when the disk is busy.
    command = ["cp", "-a", "--sparse=always", str(prime), str(fresh)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={"PATH": search_path(), "LC_ALL": "C.UTF-8"}
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["cp failed"])[-1]
        if disk_full(data, done.stderr):
            raise DiskFullError(f"the database was copied to {data}")
        raise ClusterError(f"the database could not be copied ({last})", f"see that {data} can be written")
    (data / "primed").touch()
    (data / "registered").unlink(missing_ok=True)
    fresh.rename(data / "database")
