"""What an error of a submission promises."""

from __future__ import annotations

from slurm_rest.errors import SlurmError

__all__ = ["promises_no_job"]


def promises_no_job(error: SlurmError) -> bool:
    """Return whether a failed submission says that there is no job and none will come, so that it may be repeated."""
    return error.hint.startswith("No job was submitted.")
