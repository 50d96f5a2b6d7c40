"""An image for the containers of tasks: the cluster's own Debian, and a Python with flyte in ``/opt/venv``. No network.

It is a folder, which apptainer and charliecloud take as it is, and a bundle for Slurm's own containers, which belongs
to one user, because nobody's mapping of ids but one's own is allowed.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile

from cluster.native import Cluster
from cluster.root import root_path
from tests.packaging.support import ROOT

from .node import lay_environment, link

__all__ = ["BUNDLE", "DATA", "IMAGE", "packed_tasks", "provide_image"]

# As the nodes see them.
BUNDLE = "/shared/image"
IMAGE = f"{BUNDLE}/rootfs"
DATA = "/shared/data"
_ENVIRONMENT = "/opt/venv"
_USER = 2001  # alice
_EMPTY = ("proc", "dev", "sys", "run/slurm", "tmp", "var/tmp", "home", "root", "data", "opt/flyte", "etc", "mnt")


def provide_image(cluster: Cluster) -> None:
    """Put the image into the cluster, once."""
    top = cluster.shared / "image"
    if (top / "config.json").exists():
        return
    root, source = top / "rootfs", root_path(cluster.release)
    for pattern in ("bin/*", "lib64/*", "lib/*-linux-gnu/*.so*"):
        for file in (source / "usr").glob(pattern):
            target = root / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.is_symlink():
                target.symlink_to(os.readlink(file))
            elif file.is_file():
                link(str(file), str(target))
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    for name in _EMPTY:
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "var/run").symlink_to("/run")
    for name in ("passwd", "group"):
        shutil.copy(source / "etc" / name, root / "etc" / name)
    (root / "etc/ssl/certs").mkdir(parents=True)
    shutil.copy(source / "etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs")
    # Slurm has its own folders mounted there, and crun, as the job's user, makes what is missing.
    os.chown(root / "var", _USER, _USER)
    (root / "etc/image").write_text("tasks\n")
    lay_environment(root / _ENVIRONMENT.lstrip("/"), _ENVIRONMENT)
    data = cluster.shared / "data"
    data.mkdir(exist_ok=True)
    data.chmod(0o777)
    (data / "note").write_text("from the node\n")
    (top / "config.json").write_text(json.dumps(_bundle()))


def packed_tasks() -> bytes:
    """Return the code of the tests' tasks, as an archive that the entrypoint unpacks."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        # Compiled modules are of no use there, and another process may be writing one.
        archive.add(ROOT / "tests/flyte/tasks", "tests/flyte/tasks", filter=_source)
    return packed.getvalue()


def _source(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if member.name.endswith("__pycache__") else member


def _bundle() -> dict[str, object]:
    ids = [{"containerID": _USER, "hostID": _USER, "size": 1}]
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "none", "source": "/dev", "options": ["rbind"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
        {"destination": "/data", "type": "none", "source": DATA, "options": ["rbind"]},
    ]
    process = {
        "user": {"uid": _USER, "gid": _USER},
        "args": ["/bin/false"],
        "cwd": "/",
        "env": ["PATH=/usr/bin:/bin"],
    }
    linux = {
        "uidMappings": ids,
        "gidMappings": ids,
        "namespaces": [{"type": name} for name in ("user", "mount", "pid")],
    }
    return {
        "ociVersion": "1.0.0",
        "process": process,
        "root": {"path": "rootfs", "readonly": True},
        "mounts": mounts,
        "linux": linux,
    }
