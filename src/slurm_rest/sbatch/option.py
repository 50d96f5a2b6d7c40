"""What a row of the option table says."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

from .kinds import Kind

__all__ = ["NONE", "OPTIONAL", "REQUIRED", "Option", "Reader", "Takes"]


class Takes(enum.Enum):
    """Whether an option takes a value. An optional one is only taken glued: ``--nice=5``, ``-koff``."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


# No field of Slurm holds more, and Python shows no number of more than 4300 digits.
_LARGEST = 2**64
NONE, OPTIONAL, REQUIRED = Takes.NONE, Takes.OPTIONAL, Takes.REQUIRED


@dataclass(frozen=True, slots=True)
class Option:
    """One option of sbatch.

    ``long`` and ``short`` are its names, ``name`` its keyword and JobSpec field (``long`` with ``_``, but ``name`` for
    ``--job-name``). ``kind`` is its grammar. ``put`` is the REST field that the value becomes by itself, empty where
    ``derive`` makes several of it or none. ``slot`` groups options that write the same thing: the last one given wins;
    ``clears`` are options that it overwrites without being overwritten by them. ``kept`` tells whether it carries over
    to the next component of a het job. ``variables`` are the environment variables that sbatch reads it from (from
    release ``variables_since`` on), least important first. ``since`` is the first Slurm release that has it.
    """

    long: str
    kind: Kind
    put: str = ""
    short: str = ""
    takes: Takes = REQUIRED
    kept: bool = True
    variables: tuple[str, ...] = ()
    slot: str = ""
    clears: tuple[str, ...] = ()
    since: str = ""
    takes_by_release: tuple[tuple[str, Takes], ...] = ()
    variables_since: str = ""
    bare: object = True
    command_line_only: bool = False
    inert: bool = False
    help: str = field(default="", compare=False)
    keyword: str = ""

    @property
    def name(self) -> str:
        """The keyword of ``submit`` and the field of JobSpec."""
        return self.keyword or self.long.replace("-", "_")

    @property
    def flag(self) -> str:
        """Its long name as it is written: ``--ntasks-per-node``."""
        return f"--{self.long}"

    def takes_in(self, release: str) -> Takes:
        """Return whether it takes a value in that Slurm release."""
        return dict(self.takes_by_release).get(release, self.takes)

    def exists_in(self, release: str) -> bool:
        """Return whether that Slurm release has it."""
        return not self.since or release >= self.since

    def read(self, value: object) -> object:
        """Return the canonical value for text or a Python value; ValueError with the forms that it takes."""
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise ValueError("takes no number that large")
        return self.kind.read(value)

    def show(self, value: object) -> str:
        """Return the text that sbatch reads back as ``value``."""
        return self.kind.show(value)


Reader = Callable[[object], object]
