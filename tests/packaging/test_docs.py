"""README.md and docs/ against the code: every setting, and every name that a user of the package meets."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import slurm_rest
from slurm_rest import Job, JobChange, JobInfo, JobState, SlurmClient, testing
from slurm_rest.cli.app import app
from tests.packaging.support import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)
_VARIABLE = re.compile(r"(?<!\w)SLURM_REST_[A-Z_]*[A-Z]\b")
# Development alone: checking no host keys, which no page should offer.
_UNTOLD = {"SLURM_REST_SSH_INSECURE"}


def words_of_the_code() -> set[str]:
    places = [*(ROOT / "src/slurm_rest").rglob("*.py"), *(ROOT / "scripts").rglob("*"), *(ROOT / "cluster").glob("*")]
    files = [place for place in places if place.is_file() and "__pycache__" not in place.parts]
    return {name for file in files for name in _VARIABLE.findall(file.read_text(errors="replace"))}


def documented_in_tables() -> Iterator[str]:
    """Yield the variables in the first cells of tables; ``_SSH_PORT`` after a whole name stands for all of its own."""
    for line in TEXT.splitlines():
        words = re.findall(r"`([A-Z_]+)`", line.split("|")[1]) if line.startswith("| `SLURM_") else []
        yield from (word if word.startswith("SLURM_") else f"SLURM_REST{word}" for word in words)


def test_every_variable_of_the_code_is_documented() -> None:
    documented = set(documented_in_tables()) | set(_VARIABLE.findall(TEXT))
    assert words_of_the_code() - documented - _UNTOLD == set()


def test_every_documented_variable_is_one_of_the_code() -> None:
    documented = set(documented_in_tables()) | set(_VARIABLE.findall(TEXT))
    assert documented - words_of_the_code() == {"SLURM_JWT"}


@pytest.mark.parametrize(
    "names",
    [
        slurm_rest.__all__,
        testing.__all__,
        *(
            [name for name in dir(one) if not name.startswith("_")]
            for one in (SlurmClient, Job, JobInfo, JobState, JobChange)
        ),
    ],
    ids=["slurm_rest", "testing", "SlurmClient", "Job", "JobInfo", "JobState", "JobChange"],
)
def test_every_public_name_stands_in_a_page(names: list[str]) -> None:
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", TEXT)] == []


def test_every_command_stands_in_a_page() -> None:
    assert [name for name in app.commands if not re.search(rf"slurm-rest (-\S+ )*{name}\b", TEXT)] == []


def test_links_between_pages_lead_somewhere() -> None:
    """To a page that is there, and to a heading in it."""
    broken = []
    for page in PAGES:
        for target, _, heading in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", page.read_text()):
            other = (page.parent / target).resolve() if target else page
            anchors = headings(other.read_text()) if other.suffix == ".md" and other.is_file() else set()
            if not other.exists() or (heading and heading not in anchors):
                broken.append(f"{page.name}: {target}#{heading}")
    assert broken == []


def headings(text: str) -> set[str]:
    """Return the anchors that a page's headings become: small letters, without punctuation, ``-`` for spaces."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
