"""What each transport can do with each Slurm: the one table that says so. Nothing else compares versions.

Observed on 22.05, 24.11 and 26.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["COMMAND_CAPABILITIES", "REST_CAPABILITIES", "Capabilities", "command_capabilities", "rest_capabilities"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a transport can do; ask before, instead of failing after.

    ``generated_api``: there is a slurmrestd, so ``client.api`` works. ``diag``: slurmctld's counters can be read.
    ``requeue``: ended and running jobs can be sent back to the queue. ``pending_tasks``: array tasks that have not
    started can be held, released and changed one by one; otherwise only with their array. ``expanded_paths``: the
    controller's records have the output's path with its patterns replaced. ``exactly_once``: a submission whose
    answer was lost is looked for by its key. ``accounting_paths``: accounting's records have the output's path, and how
    often a job was restarted. ``accounting``: jobs that left the controller are known.
    """

    generated_api: bool = False
    diag: bool = False
    requeue: bool = True
    pending_tasks: bool = True
    expanded_paths: bool = True
    exactly_once: bool = False
    accounting_paths: bool = True
    accounting: bool = True


_REST = Capabilities(generated_api=True, diag=True, requeue=False, pending_tasks=False, exactly_once=True)
_COMMANDS = Capabilities(exactly_once=True)

REST_CAPABILITIES: Mapping[tuple[str, str], Capabilities] = {
    ("24.11", "v0.0.40"): replace(_REST, accounting_paths=False),
    ("24.11", "v0.0.41"): _REST,
    ("24.11", "v0.0.42"): _REST,
    ("26.05", "v0.0.42"): _REST,
    ("26.05", "v0.0.43"): _REST,
    ("26.05", "v0.0.44"): _REST,
    ("26.05", "v0.0.45"): replace(_REST, requeue=True),
}
COMMAND_CAPABILITIES: Mapping[str, Capabilities] = {
    "22.05": replace(_COMMANDS, accounting_paths=False),
    "24.11": _COMMANDS,
    "26.05": _COMMANDS,
}


def rest_capabilities(release: str, version: str) -> Capabilities:
    """Return what slurmrestd of ``release`` (``24.11``) can do in an API version.

    For a release that is not in the table, what the version can do in all that are; with neither known, the least.
    """
    found = REST_CAPABILITIES.get((release, version))
    return found or _least([row for (_, served), row in REST_CAPABILITIES.items() if version in ("", served)])


def command_capabilities(release: str) -> Capabilities:
    """Return what the commands of ``release`` can do; one that is not in the table counts as the one before it."""
    known = [row for since, row in COMMAND_CAPABILITIES.items() if since <= release]
    return known[-1] if known else _least([*COMMAND_CAPABILITIES.values()])


def _least(rows: list[Capabilities]) -> Capabilities:
    rows = rows or [*REST_CAPABILITIES.values()]
    names = Capabilities.__dataclass_fields__
    return Capabilities(**{name: all(getattr(row, name) for row in rows) for name in names})
