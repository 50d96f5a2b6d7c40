"""What the steps of ``derive`` read and write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from slurm_rest.errors import SpecError

from .dialect import Dialect, dialect_of

__all__ = ["Derived", "Place", "read_named"]

Reader = Callable[[str], bytes]


def read_named(option: str, path: str, read_file: Reader | None) -> bytes:
    """Return the file that an option names, or raise SpecError."""
    name = option.replace("-", "_")
    hint = "A relative name starts in the directory that the job is submitted from."
    if read_file is None:
        raise SpecError(
            f"--{option} names a file, which cannot be read here: {path}", field=name, kind="value", hint=hint
        )
    try:
        return read_file(path)
    except OSError as error:
        message = f"--{option}: cannot read {path!r}: {error.strerror}"
        raise SpecError(message, field=name, kind="value", hint=hint) from None


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a job is submitted: the directory that relative names start from, and naive local time."""

    directory: str
    now: datetime
    release: str = "24.11"
    read_file: Reader | None = None

    @property
    def dialect(self) -> Dialect:
        """How that release reads."""
        return dialect_of(self.release)


@dataclass(slots=True)
class Derived:
    """Fields of the REST job description, and variables that sbatch adds to the job's environment.

    ``variables`` carry the number of their component in a het job, ``shared`` do not.
    """

    fields: dict[str, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
