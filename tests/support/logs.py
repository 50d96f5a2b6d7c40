"""What a test's own code has logged."""

from __future__ import annotations

import logging
import threading

import pytest

__all__ = ["logged", "records"]


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return what slurm_rest's loggers were told by this thread.

    Threads and loops that an earlier test has left to the garbage collector may log at any time, too.
    """
    here = threading.get_ident()
    return [one for one in caplog.records if one.name.partition(".")[0] == "slurm_rest" and one.thread == here]


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the messages of those."""
    return [one.getMessage() for one in records(caplog)]
