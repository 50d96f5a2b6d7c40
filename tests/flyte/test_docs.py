"""docs/flyte.md and docs/flyte-deployment.md against the code: every variable, and what each state is to Flyte."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from flyteplugins.slurm_rest import states
from flyteplugins.slurm_rest.naming import CLUSTERS, cluster_prefix
from flyteplugins.slurm_rest.settings import CLUSTER_VARIABLES, Deployment
from flyteplugins.slurm_rest.states import phase_of
from slurm_rest.states import JobState
from tests.packaging.support import ROOT

USE = (ROOT / "docs/flyte.md").read_text()
WHOLE = USE + (ROOT / "docs/flyte-deployment.md").read_text()
_VARIABLE = re.compile(r"FLYTE_SLURM_[A-Z_]+[A-Z]")


class Asked(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: str = "") -> str:  # type: ignore[override]  # as it is called here
        """Remember the name."""
        self.names.add(name)
        return default


def read_by_the_code() -> set[str]:
    """Return what a deployment reads, and what texts of the code name."""
    environ = Asked()
    Deployment.read(environ)
    named: set[str] = set()
    for path in (ROOT / "src/connector").rglob("*.py"):
        # Examples of names with a cluster's in them are no variables of their own.
        named |= {one for one in _VARIABLE.findall(path.read_text()) if not one.startswith("FLYTE_SLURM_GPU_EAST")}
    return environ.names | named


def documented_in_tables(text: str) -> Iterator[str]:
    """Yield the variables in the first cells of tables; ``_PORT`` after a whole name stands for FLYTE_SLURM_PORT."""
    for line in text.splitlines():
        words = re.findall(r"`([A-Z_]+)`", line.split("|")[1]) if line.startswith("| `FLYTE_SLURM_") else []
        yield from (word if word.startswith("FLYTE") else f"FLYTE_SLURM{word}" for word in words)


def test_every_variable_of_the_code_stands_in_a_table() -> None:
    assert read_by_the_code() - set(documented_in_tables(WHOLE)) == set()


def test_every_variable_of_the_docs_is_read() -> None:
    """Also those with a cluster's name in them, of the clusters that an example has."""
    known = read_by_the_code()
    clusters = {name for line in re.findall(rf"{CLUSTERS}[=:] *\"?([a-z,-]+)", WHOLE) for name in line.split(",")}
    assert clusters
    known |= {cluster_prefix(name) + variable for name in clusters for variable in CLUSTER_VARIABLES}
    written = set(_VARIABLE.findall(WHOLE)) | set(documented_in_tables(WHOLE))
    assert written - known == set()


def rows() -> list[str]:
    """Return the rows that the table of states has to have, made of the code's own."""
    found = []
    for row in (*states._LIVE, *states._OVER):
        what = [f"`{flag}`" for flag in row.flags]
        if row.reasons:
            what.append("a reason that begins with " + ", ".join(f"`{one}`" for one in row.reasons))
        found.append(f"| {row.base.value} | {', '.join(what)} | {row.phase.value} |".replace("|  |", "| |"))
    return found


def test_the_table_of_states_is_the_one_of_the_code() -> None:
    section = USE.split("## States\n")[1].split("\n## ")[0]
    written = [line for line in section.splitlines() if re.match(r"\| [A-Z_]+ \|", line)]
    assert written == rows()


@pytest.mark.parametrize(
    ("words", "phase"),
    [("COMPLETED COMPLETING", "RUNNING"), ("NODE_FAIL REQUEUED", "QUEUED"), ("SOMETHING_NEW", "QUEUED")],
)
def test_what_the_docs_say_beside_the_table(words: str, phase: str) -> None:
    assert phase_of(JobState.parse(words.split())).value == phase
    assert phase_of(JobState.parse("CANCELLED"), cancelled_by_us=True).value == "ABORTED"
