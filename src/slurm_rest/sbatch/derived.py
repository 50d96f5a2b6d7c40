"""What the steps of ``derive`` read and write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["Derived", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a job is submitted: the directory that relative names start from, and naive local time."""

    directory: str
    now: datetime
    release: str = "24.11"
    read_file: Callable[[str], bytes] | None = None


@dataclass(slots=True)
class Derived:
    """Fields of the REST job description, and variables that sbatch adds to the job's environment.

    ``variables`` carry the number of their component in a het job, ``shared`` do not.
    """

    fields: dict[str, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
