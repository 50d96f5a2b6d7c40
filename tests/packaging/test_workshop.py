"""The development environment and the scripts: pinned, without hosts, and clear when something is missing."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.support import ROOT
from tests.support.sharing import SECONDS

SCRIPTS = ["demo", "test", "check", "bench", "faults", "cluster", "codegen", "compose-check", "differential"]
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
