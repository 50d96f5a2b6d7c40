"""What importing the package loads, and what that costs."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

import slurm_rest.api
from slurm_rest.api import base

FAMILIES = ("jobs", "cluster", "accounting", "diagnostics")


def python(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def loaded(code: str, *modules: str) -> set[str]:
    return set(python(f"import sys; {code}; print(*(sys.modules.keys() & {set(modules)!r}))").split())


def test_the_package_alone_loads_no_models_and_no_pydantic() -> None:
    heavy = {"pydantic", "pydantic_core", "httpx", *(f"slurm_rest.api.{one}" for one in FAMILIES)}
    assert loaded("import slurm_rest.api, slurm_rest.api._client", *heavy) == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_loads_no_other(family: str) -> None:
    modules = [f"slurm_rest.api.{one}" for one in FAMILIES]
    assert loaded(f"import slurm_rest.api; slurm_rest.api.{family}", *modules) == {f"slurm_rest.api.{family}"}


def test_an_answer_loads_only_its_family() -> None:
    code = "from slurm_rest.api._operations import SLURM; from slurm_rest.api.base import read_answer;"
    code += "read_answer(SLURM['get_nodes'], b'{}')"
    assert loaded(code, *(f"slurm_rest.api.{one}" for one in FAMILIES)) == {"slurm_rest.api.cluster"}


def test_what_is_exported_is_there() -> None:
    for name in slurm_rest.api.__all__:
        assert getattr(slurm_rest.api, name) is not None
    assert sorted(slurm_rest.api.__all__) == dir(slurm_rest.api)
    for module in (base, *(importlib.import_module(f"slurm_rest.api.{one}") for one in (*FAMILIES, "common", "words"))):
        for name in module.__all__:
            assert hasattr(module, name), name
    lazy: list[Any] = [slurm_rest.api, base]
    for module in lazy:
        with pytest.raises(AttributeError, match="nothing"):
            module.nothing  # noqa: B018 - the access is the test


def test_validators_are_built_when_first_used() -> None:
    code = "from slurm_rest.api.jobs import JobInfo, JobDescMsg;"
    code += "print(JobInfo.__pydantic_complete__, JobDescMsg.__pydantic_complete__)"
    assert python(code) == "False False"
