"""What sbatch makes of the same words from one release to the next: the one table that says so.

Which options and variables a release has stands with each option. Observed on 24.11.5 and 26.05.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["DIALECTS", "Dialect", "dialect_of", "known_release"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one release reads. Each field names what it does and the other does not.

    ``adds_mail``: another ``--mail-type`` adds to the one before. ``keeps_hinted_counts``: counts beside the hint of a
    variable stay, which a hint that is given takes back. ``first_gpus_only``: of a list in ``--gpus-per-task``, and of
    several types in ``--tres-per-task``, the first counts. ``lowers_tres``: ``cpu`` is looked for in the latter
    whatever its case. ``takes_variables_apart``: ``SBATCH_TRES_PER_TASK`` beside a variable for one of its parts is
    refused. ``sorts_memory``: ``--mem-bind=sort``.

    ``exclusive_allocation``: ``--exclusive=allocation``. ``hint_yields_to_places``: also sockets and cores that are
    given make a hint mean nothing. ``overlooks_tres_variable``: a variable for each task that is not about GPUs goes
    with tasks for each GPU. ``export_file_needs_export``: ``--export-file`` is read only beside ``--export``.
    ``one_word_for_gpus``: ``--gpus-per-node`` and ``--gres=gpu`` exclude each other. ``checks_segment``: segments have
    to fit the nodes. ``counts_cpus_with_units``: ``cpu=1k`` in ``--tres-per-task`` is 1024 of them, not 1.
    """

    adds_mail: bool = False
    keeps_hinted_counts: bool = False
    first_gpus_only: bool = False
    lowers_tres: bool = False
    takes_variables_apart: bool = False
    sorts_memory: bool = False
    exclusive_allocation: bool = False
    hint_yields_to_places: bool = False
    overlooks_tres_variable: bool = False
    export_file_needs_export: bool = False
    one_word_for_gpus: bool = False
    checks_segment: bool = False
    counts_cpus_with_units: bool = False


# The oldest first.
DIALECTS: dict[str, Dialect] = {
    "24.11": Dialect(
        adds_mail=True,
        keeps_hinted_counts=True,
        first_gpus_only=True,
        lowers_tres=True,
        takes_variables_apart=True,
        sorts_memory=True,
    ),
    "26.05": Dialect(
        exclusive_allocation=True,
        hint_yields_to_places=True,
        overlooks_tres_variable=True,
        export_file_needs_export=True,
        one_word_for_gpus=True,
        checks_segment=True,
        counts_cpus_with_units=True,
    ),
}


@lru_cache(maxsize=64)
def known_release(release: str) -> str:
    """Return the release of the table that one counts as: itself, the one before it, or the oldest."""
    return next((since for since in reversed(DIALECTS) if since <= release), next(iter(DIALECTS)))


def dialect_of(release: str) -> Dialect:
    """Return how a release reads."""
    return DIALECTS[known_release(release)]
