"""What each transport can do: one table, also for releases that are not in it, and as the documentation has it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from slurm_rest.sbatch.changes import CHANGEABLE
from slurm_rest.transport.capabilities import (
    COMMAND_CAPABILITIES,
    REST_CAPABILITIES,
    Capabilities,
    command_capabilities,
    rest_capabilities,
)

DOCUMENT = (Path(__file__).parents[2] / "docs/transports.md").read_text()
SHOWN = [field.name for field in fields(Capabilities) if field.name != "accounting"]


def cells(able: Capabilities) -> str:
    return " | ".join("yes" if getattr(able, name) else "no" for name in SHOWN)


@pytest.mark.parametrize("place", REST_CAPABILITIES)
def test_the_documentation_has_every_version(place: tuple[str, str]) -> None:
    assert f"| `rest` | {place[0]} | {place[1]} | {cells(rest_capabilities(*place))} |\n" in DOCUMENT


@pytest.mark.parametrize("release", COMMAND_CAPABILITIES)
def test_the_documentation_has_every_release(release: str) -> None:
    assert f"| `ssh`, `cli` | {release} | - | {cells(command_capabilities(release))} |\n" in DOCUMENT


def test_the_documentation_has_every_option_that_can_be_changed() -> None:
    assert ", ".join(f"`{name}`" for name in CHANGEABLE) in " ".join(DOCUMENT.split())


def test_what_is_not_known_yet_is_not_promised() -> None:
    nothing = rest_capabilities("", "")
    assert nothing == Capabilities(
        generated_api=True,
        diag=True,
        requeue=False,
        pending_tasks=False,
        expanded_paths=True,
        exactly_once=True,
        accounting_paths=False,
    )
    assert not rest_capabilities("24.11", "").requeue
    assert rest_capabilities("25.05", "v0.0.42") == replace(nothing, accounting_paths=True)
    assert rest_capabilities("26.11", "v0.0.45").requeue
    assert rest_capabilities("27.05", "v0.0.47") == nothing
    least = Capabilities(exactly_once=True, accounting_paths=False)
    assert command_capabilities("") == command_capabilities("21.08") == command_capabilities("23.11") == least
    assert command_capabilities("25.11") == command_capabilities("27.05") == Capabilities(exactly_once=True)
