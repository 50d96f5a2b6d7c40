"""What a test's own code has logged."""

from __future__ import annotations

import threading

import pytest

__all__ = ["logged"]


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the messages of slurm_rest's loggers from this thread.

    Threads and loops that an earlier test has left to the garbage collector may log at any time, too.
    """
    here = threading.get_ident()
    ours = (one for one in caplog.records if one.name.partition(".")[0] == "slurm_rest" and one.thread == here)
    return [one.getMessage() for one in ours]
