"""The development environment and the scripts: pinned, without hosts, and clear when something is missing."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess

import pytest

from tests.packaging.support import ROOT

SCRIPTS = ["demo", "test", "check", "bench", "faults", "cluster", "codegen", "compose-check", "differential"]
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.]+)(?:; .+)?")


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
