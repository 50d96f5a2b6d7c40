"""The development environment and the scripts: pinned, without hosts, and clear when something is missing."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.support import ROOT
from tests.support.sharing import SECONDS

SCRIPTS = ["demo", "test", "check", "bench", "faults", "cluster", "codegen", "compose-check", "differential"]
Demo = Callable[[str], subprocess.CompletedProcess[str]]
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.]+)(?:; .+)?")


def test_the_longest_file_is_begun_first(tmp_path: Path) -> None:
    """Which would come last by the number of its tests."""
    assert [file for file in SECONDS if not (ROOT / file).exists()] == []
    for file, count in {"tests/short/test_many.py": 9, "tests/packaging/test_wheel.py": 1}.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("".join(f"def test_{number}(): pass\n" for number in range(count)))
    options = ["-p", "tests.support.sharing", "-n", "1", "--dist", "loadfile", "-v", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    begun = re.findall(r"PASSED (tests/\S+?)::", done.stdout)
    assert (len(begun), begun[0]) == (10, "tests/packaging/test_wheel.py")


def pins() -> dict[str, str]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    found = [PIN.fullmatch(line) for line in lines]
    assert [line for line, match in zip(lines, found, strict=True) if match is None] == []
    return {normal(match["name"]): match["version"] for match in found if match}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_installed_package_is_pinned() -> None:
    installed = {normal(dist.metadata["Name"]): dist.version for dist in importlib.metadata.distributions()}
    del installed["slurm-rest-client"]
    installed.pop("setuptools", None)  # comes with the environments of Python before 3.12, and nothing uses it
    wanted = pins()
    assert {name: version for name, version in installed.items() if wanted.get(name) != version} == {}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_explains_itself(script: str) -> None:
    done = run(f"scripts/{script}", "--help")
    assert done.returncode == 0
    assert f"scripts/{script}" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("script", ["demo", "check", "bench"])
def test_an_unknown_word_is_a_usage_error(script: str) -> None:
    done = run(f"scripts/{script}", "--no-such-option")
    assert done.returncode == 2
    assert "--no-such-option" in done.stderr.splitlines()[0]


def test_what_is_missing_is_said_in_one_line() -> None:
    done = run("scripts/test", "--unit", "--python", "3.9")
    assert done.returncode == 1
    assert done.stderr == "scripts/test: Python 3.9 is not supported: choose 3.10, 3.11, 3.12 or 3.13\n"


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """Return a function that runs the demo as nobody's root, with this Python, and with such an answer of docker's."""
    (tmp_path / "scripts/lib").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "scripts/demo", tmp_path / "scripts/demo")
    library = (
        f". {shlex.quote(str(ROOT / 'scripts/lib/env.sh'))}\nneed_env() {{ python={shlex.quote(sys.executable)}; }}\n"
    )
    (tmp_path / "scripts/lib/env.sh").write_text(library)

    def run_demo(docker: str) -> subprocess.CompletedProcess[str]:
        for name, text in {"id": '[ "$1" = -u ] && echo 1000 || echo me', "docker": docker}.items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / "bin" / name).chmod(0o755)
        path = f"{tmp_path}/bin:{os.environ['PATH']}"
        # One that took it for root would find no place for a real cluster.
        env = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path), "SLURM_REST_CACHE": "/dev/null/none"}
        command = ["bash", str(tmp_path / "scripts/demo")]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=500)

    return run_demo


def test_with_neither_root_nor_docker_the_demo_is_a_simulation_and_says_so(demo: Demo) -> None:
    done = demo("exit 1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "This is a simulation: there is no Slurm here. Jobs are processes of this machine,",
        "run as me, and nodes are pretended.",
    ]
    assert "That was a simulation. To have one for longer:" in lines
    assert "Job 13 failed, on purpose. What Slurm says:" in lines


def test_with_docker_the_demo_names_it_instead(demo: Demo) -> None:
    done = demo("echo Server Version: 27")
    assert (done.returncode, done.stdout) == (1, "")
    assert "docker compose up --wait" in done.stderr
