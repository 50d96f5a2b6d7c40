"""Debian roots that hold one Slurm release each, built once into a cache folder outside the repository.

A root is a plain folder made by debootstrap plus ``cluster/install``. Which Debian carries which Slurm is a fact of
the distribution: 12 (bookworm) has 22.05, 13 (trixie) has 24.11, testing (forky) has 26.05 today. ``cluster/install``
refuses a root whose Slurm is another one, because testing moves.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from cluster.errors import ClusterError, DiskFullError

HERE = Path(__file__).resolve().parent
SUITES = {"22.05": "bookworm", "24.11": "trixie", "26.05": "forky"}
RELEASES = tuple(SUITES)
_WHOLE_SUITES = {"oldstable", "stable", "testing", "unstable", "sid", "bullseye", *SUITES.values()}
DEFAULT_RELEASE = "24.11"
# A finished root takes 0.6 to 0.9 GB; the packages lie beside it until the build ends.
BUILD_BYTES = 2_000_000_000
# Raised when the way a root is made changes without a change of cluster/install.
_RECIPE = 1
_TOOLS = ("setpriv", "unshare", "nsenter", "pivot_root", "mount", "mknod")
# What runs in it ends with whoever started it, and what it mounts with the last of it.
SPACE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--propagation", "private"),
)
_NO_NETWORK = re.compile(
    r"Temporary failure resolving|Could not resolve|Could not connect|Failed to fetch|Failed getting release file"
    r"|Network is unreachable|unable to resolve|Couldn't download",
)
_NO_SPACE = re.compile(
    r"No space left on device|write error|not enough free space"
    # MariaDB's words; 28 is ENOSPC.
    r"|(errno|errcode|error(?: number)?):? 28\b|out of disk space",
    re.IGNORECASE,
)
_FULL_BYTES = 1 << 20


def cache_dir() -> Path:
    """Return the folder that keeps roots and clusters; it is never inside the repository."""
    if own := os.environ.get("SLURM_REST_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "slurm-rest"


def require_machine() -> None:
    """Raise unless this machine can run a native cluster: root, and the tools of util-linux."""
    if os.geteuid() != 0:
        raise ClusterError("a native cluster needs root (it mounts and makes namespaces)", _or_compose("use sudo"))
    if missing := [tool for tool in _TOOLS if not shutil.which(tool, path=search_path())]:
        raise ClusterError(f"{' and '.join(missing)} missing", _or_compose("install util-linux and coreutils"))


def _or_compose(remedy: str) -> str:
    """Add the way that needs no root to a remedy, where Docker is at hand."""
    return (
        f"{remedy}, or use Docker: docker compose up --wait" if shutil.which("docker", path=search_path()) else remedy
    )


def search_path() -> str:
    """Return PATH with the folders of system tools, which sudo and cron may leave out."""
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def root_path(release: str) -> Path:
    """Return where the root of a release belongs; the name changes with the recipe, so a stale root is never used."""
    if release not in SUITES:
        raise ClusterError(f"no recipe for Slurm {release}", f"choose one of {', '.join(RELEASES)}")
    recipe = f"{_RECIPE} {SUITES[release]}\n".encode() + (HERE / "install").read_bytes()
    return cache_dir() / "roots" / f"{release}-{hashlib.sha256(recipe).hexdigest()[:12]}"


def ensure_root(release: str) -> Path:
    """Return the root of a release, building it first if this machine has none (one to two minutes)."""
    root = root_path(release)
    if root.is_dir():
        return root
    require_machine()
    _require_space(root.parent)
    with build_lock(root.parent / f".{release}.lock"):
        if not root.is_dir():
            _build(release, root)
    return root


@contextlib.contextmanager
def build_lock(path: Path) -> Iterator[None]:
    """Hold a file lock: the second builder of one thing waits for the first and then finds it."""
    try:
        lock = path.open("w")
    except OSError as error:
        problem = f"cannot use {path.parent} ({error.strerror})"
        raise ClusterError(problem, "set SLURM_REST_CACHE to another folder") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _require_space(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise ClusterError(
            f"cannot use {folder} ({error.strerror})", "set SLURM_REST_CACHE to another folder"
        ) from error
    if free < BUILD_BYTES:
        have, need = free / 1e9, BUILD_BYTES / 1e9
        raise ClusterError(
            f"{folder} has {have:.1f} GB free, a Debian root needs {need:.1f} GB to build",
            "free some space or set SLURM_REST_CACHE to another folder",
        )


def _build(release: str, root: Path) -> None:
    # The lock is held: whatever lies there now is left over from a build that was killed.
    for stale in root.parent.glob(f".building-{release}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    log = root.parent / f"{release}.log"
    building = root.parent / f".building-{release}-{os.getpid()}"
    print(f"building a Debian root for Slurm {release} in {root} (one to two minutes, log {log})", flush=True)
    try:
        with log.open("wb") as output:
            make_base(release, building, output)
            shutil.copy2(HERE / "install", building / "usr/local/sbin/cluster-install")
            inner = ["/usr/local/sbin/cluster-install", release]
            subprocess.run(_private(building, inner), check=True, stdout=output, stderr=output, env=clean_env())
        building.rename(root)
    except (OSError, subprocess.CalledProcessError) as error:
        raise _explain(release, log, error) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def make_base(release: str, folder: Path, output: IO[bytes] | None = None) -> None:
    """Make the minimal Debian of a release: the ground of a root, and of the image where none can be pulled."""
    debootstrap = _debootstrap()
    # Killed half-way outside, it would leave /proc mounted in the folder that is then removed.
    command = [*SPACE, debootstrap, "--variant=minbase", "--include=ca-certificates", *_expired_ok(debootstrap)]
    # An older debootstrap has no script for a newer suite; sid's fits all of these.
    command += [SUITES[release], str(folder), _mirror(), "sid"]
    subprocess.run(command, check=True, stdout=output, stderr=output, env=_proxied())
    _carry_over(folder)


def _explain(release: str, log: Path, error: Exception) -> ClusterError:
    """Say in one line why a root was not built; the log holds the rest."""
    text = log.read_text(errors="replace") if log.exists() else ""
    if disk_full(log.parent, text, error):
        return DiskFullError(f"building the root for Slurm {release}", f"{BUILD_BYTES / 1e9:.1f} GB")
    if moved := re.search(r"cluster-install: (.*)", text):
        return ClusterError(moved[1], "choose another release with --slurm")
    if _NO_NETWORK.search(text):
        return ClusterError(
            f"the Debian mirror did not answer while building the root for Slurm {release}",
            f"check the network, or set SLURM_REST_MIRROR to a mirror that this machine reaches (log: {log})",
        )
    return ClusterError(f"building the root for Slurm {release} failed", f"read {log}")


def disk_full(folder: Path, text: str, error: Exception | None = None) -> bool:
    """Return whether there is no space left: by the disk, by a failure, or by what its commands have printed.

    The disk itself is asked because a log that lies on it may have no word of it.
    """
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return True
    return bool(_NO_SPACE.search(text)) or shutil.disk_usage(folder).free < _FULL_BYTES


def _debootstrap() -> str:
    if found := shutil.which("debootstrap", path=search_path()):
        return found
    apt = shutil.which("apt-get", path=search_path())
    if not apt:
        raise ClusterError("debootstrap is missing and this is no Debian", _or_compose("install debootstrap"))
    print("debootstrap is missing: installing it with apt-get", flush=True)
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "debootstrap"]):
        done = subprocess.run([apt, "-q", *arguments], check=False, capture_output=True, text=True)
    found = shutil.which("debootstrap", path=search_path())
    if done.returncode or not found:
        last = (done.stderr.strip().splitlines() or ["apt-get failed"])[-1]
        raise ClusterError(f"debootstrap is missing and apt-get could not install it ({last})", "install debootstrap")
    return found


def _expired_ok(debootstrap: str) -> list[str]:
    """Accept what the machine's own apt accepts: a snapshot mirror serves Release files past their date."""
    if _apt_config("Acquire::Check-Valid-Until").get("Acquire::Check-Valid-Until", "true").lower() not in (
        "false",
        "no",
        "0",
    ):
        return []
    usage = subprocess.run([debootstrap, "--help"], check=False, capture_output=True, text=True).stdout
    return ["--no-check-valid-until"] if "--no-check-valid-until" in usage else []


def _mirror() -> str:
    """Return the machine's own Debian mirror, as its apt is configured."""
    if own := os.environ.get("SLURM_REST_MIRROR"):
        return own
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    try:
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listing = ""
    if found := find_mirror(listing):
        return found
    raise ClusterError("apt names no Debian mirror", "set SLURM_REST_MIRROR to the address of one")


def find_mirror(listing: str) -> str | None:
    """Return the first address that serves a whole Debian: others serve parts (security) or software of their own."""
    for line in listing.splitlines():
        uri, suite, component = (*line.split(), "", "", "")[:3]
        if component == "main" and suite in _WHOLE_SUITES and uri.startswith(("http", "file:")):
            return uri
    return None


def _apt_config(scope: str) -> dict[str, str]:
    try:
        done = subprocess.run(["apt-config", "dump", scope], check=False, capture_output=True, text=True)
    except OSError:
        return {}
    return dict(re.findall(r'^(\S+) "(.*)";$', done.stdout, re.MULTILINE))


def _carry_over(root: Path) -> None:
    """Give the root what the machine itself needs to reach its mirror: proxies, names, certificates, date checks."""
    wanted = re.compile(r"^Acquire::(https?::.*proxy.*|Check-Valid-Until|Check-Date)$", re.IGNORECASE)
    settings = {key: value for key, value in _apt_config("Acquire").items() if wanted.match(key)}
    lines = "".join(f'{key} "{value}";\n' for key, value in settings.items())
    (root / "etc/apt/apt.conf.d/00machine").write_text(lines)
    for name in ("resolv.conf", "hosts"):
        with contextlib.suppress(OSError):
            shutil.copyfile(f"/etc/{name}", root / "etc" / name)
    own = Path("/usr/local/share/ca-certificates")
    if own.is_dir() and any(own.rglob("*.crt")):
        shutil.copytree(own, root / "usr/local/share/ca-certificates", dirs_exist_ok=True)
        subprocess.run(_private(root, ["update-ca-certificates"]), check=True, capture_output=True, env=clean_env())


def _proxied() -> dict[str, str]:
    """Return the environment with apt's proxy for wget, which debootstrap downloads with."""
    env = {**os.environ, "PATH": search_path()}
    for key, value in _apt_config("Acquire").items():
        if found := re.fullmatch(r"Acquire::(https?)::Proxy", key, re.IGNORECASE):
            env.setdefault(f"{found[1].lower()}_proxy", value)
    return env


def clean_env(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command that must depend on nothing of the caller's."""
    return {"PATH": search_path(), "LC_ALL": "C.UTF-8", "HOME": "/root", **(extra or {})}


def _private(root: Path, argv: Sequence[str]) -> list[str]:
    """Return the command that runs argv inside root, in namespaces that end with it."""
    script = 'mount --bind "$1" "$1"; exec "$0" "$@"'
    return [*SPACE, "sh", "-ec", script, str(HERE / "enter"), str(root), *argv]


def run_in_root(
    root: Path,
    argv: Sequence[str],
    *,
    user: str = "root",
    env: Mapping[str, str] | None = None,
    input: str | None = None,  # noqa: A002 - the word that subprocess uses
) -> subprocess.CompletedProcess[str]:
    """Run one command inside a root without changing it: what it writes goes to memory and ends with it."""
    require_machine()
    # The overlay is made at /mnt of the private namespace, which no other process sees.
    script = (
        "mount -t tmpfs tmpfs /mnt; mkdir /mnt/up /mnt/work /mnt/root; lower=$1; shift; "
        'mount -t overlay overlay -o "lowerdir=$lower,upperdir=/mnt/up,workdir=/mnt/work" /mnt/root; '
        'exec "$0" /mnt/root "$@"'
    )
    inner = list(argv) if user == "root" else ["runuser", "-u", user, "--", *argv]
    command = [*SPACE, "sh", "-ec", script, str(HERE / "enter"), str(root), *inner]
    return subprocess.run(command, check=False, capture_output=True, text=True, input=input, env=clean_env(env))
