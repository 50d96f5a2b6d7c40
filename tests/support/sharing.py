"""Shares the files of tests out to several processes, the longest first: none is left with a long one in the end.

Without it pytest-xdist begins with the files that have the most tests, and those that wait for daemons have few.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

# What was measured on two cores. A file that is not here is short; a wrong number costs time, and nothing else.
SECONDS: Mapping[str, float] = {}
_A_TEST = 0.02


def seconds_of(file: str, tests: int) -> float:
    """Return how long a file may take."""
    return SECONDS.get(file, tests * _A_TEST)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Return a scheduler for ``--dist loadfile``, and leave the other ways alone."""
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # it tells no types

    class LongestFirst(LoadFileScheduling):  # type: ignore[misc]  # for the same reason
        """Gives whoever is free the longest file that is left."""

        def _assign_work_unit(self, node: object) -> None:
            longest = max(self.workqueue, key=lambda file: seconds_of(file, len(self.workqueue[file])))
            self.workqueue.move_to_end(longest, last=False)
            super()._assign_work_unit(node)

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None
