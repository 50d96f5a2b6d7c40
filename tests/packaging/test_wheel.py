"""What is shipped: the wheel's contents, and that it works where there is nothing but its base dependencies."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.packaging.support import ROOT, build, install

PACKAGES = {"slurm_rest", "flyteplugins"}
# What reaches users must not bring in a compiler, a test tool or an extra.
DEPENDENCIES = {"httpx", "sniffio", "orjson", "pydantic", "pyjwt", "click", "rich", "tomli"}

EXPORTERS = ("prometheus_client", "opentelemetry-sdk")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built: tuple[Path, Path]) -> Path:
    return built[1]


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and its base dependencies only."""
    return install(wheel, tmp_path_factory.mktemp("bare"))


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SLURM_"))}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_has_these_top_level_names_and_no_others(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert len(tops) == len(PACKAGES) + 1


def test_the_wheel_has_types_and_licence_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "slurm_rest/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    parts = {part for name in names for part in name.split("/")[:-1]}
    assert "flyteplugins/slurm_rest/py.typed" in names
    # Other plugins live in this namespace, too.
    assert "flyteplugins/__init__.py" not in names
    assert not parts & {"tests", "cluster", "codegen", "openapi", "connector", "__pycache__"}


def test_the_metadata(wheel: Path) -> None:
    fields = metadata(wheel)
    assert fields["Name"] == "slurm-rest-client"
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == ">=3.10"
    base = [text for text in fields.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert {text.split(">")[0].split("<")[0].strip() for text in base} == DEPENDENCIES


def test_what_the_connector_needs_is_an_extra_and_it_is_found(wheel: Path) -> None:
    fields = metadata(wheel)
    extras = {"flyte", "connector", "ssh"}
    assert extras <= set(fields.get_all("Provides-Extra", []))
    needed = [text for text in fields.get_all("Requires-Dist", []) if "extra == 'flyte'" in text]
    assert sorted(text.split(">")[0].split("<")[0] for text in needed) == ["asyncssh", "flyte[connector]"]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        points = archive.read(name).decode()
    assert "[flyte.connectors]\nslurm_rest = flyteplugins.slurm_rest.connector:SlurmConnector" in points


def test_the_sdist_has_what_its_tests_need_and_no_environment(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/slurm_rest/py.typed", "tests/conftest.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".cache", ".git/"))]


def test_every_module_loads_with_the_base_dependencies_alone(bare: Path, tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, slurm_rest
for module in pkgutil.walk_packages(slurm_rest.__path__, "slurm_rest."):
    # These two are for those who have pytest and the extra `testing`.
    if not module.name.endswith((".__main__", "testing.plugin", "testing.wire")):
        importlib.import_module(module.name)
for name in slurm_rest.__all__:
    getattr(slurm_rest, name)
print(slurm_rest.__file__)
"""
    done = run(bare, "-W", "error", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(bare.parent.parent)


def test_the_command_runs(bare: Path, tmp_path: Path) -> None:
    done = run(bare.parent / "slurm-rest", "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "submit" in done.stdout


# It is as long as all of them, on a machine that does other things as well.
@pytest.mark.timeout(1800)
def test_the_unit_tests_pass_against_the_wheel(wheel: Path, tmp_path: Path) -> None:
    python = install(
        wheel,
        tmp_path / "env",
        "pytest",
        "pytest-asyncio",
        "pytest-timeout",
        "respx",
        "hypothesis",
        "cryptography",
        "uvicorn",
        *EXPORTERS,
    )
    where = run(python, "-c", "import slurm_rest; print(slurm_rest.__file__)", cwd=ROOT)
    assert Path(where.stdout.strip()).is_relative_to(tmp_path), where.stderr
    options = ["-q", "-p", "no:cacheprovider", "-m", "not cluster"]
    done = run(python, "-m", "pytest", *options, "tests/unit", cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
