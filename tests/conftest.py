"""What all tests share: the clusters, and that nothing is skipped unseen where CI looks."""

from __future__ import annotations

import os
import re
import signal

import pytest
from hypothesis import settings

pytest_plugins = ["tests.support.cluster", "tests.support.sharing"]

# The settings of whoever runs the tests, after ``eval "$(scripts/cluster env)"`` for instance, are none of theirs.
# Those of scripts/cluster and scripts/faults are kept: where the roots lie and come from, how long a fault test lasts.
for _name in list(os.environ):
    if re.match(r"(SLURM|SBATCH|SQUEUE|SACCT|SCANCEL|SINFO|SCONTROL)_", _name) and _name not in (
        "SLURM_REST_CACHE",
        "SLURM_REST_MIRROR",
        "SLURM_REST_FAULT_SECONDS",
    ):
        del os.environ[_name]

# Where CI looks, examples are the same each time; elsewhere new ones are drawn. How long one takes says something of
# the machine alone.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# A shell starts its background commands with SIGINT ignored, and what they start inherits that: then no ^C of a test
# would reach the command it is meant for.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a CI run that skipped something: there, whatever a test needs is to be installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("Skipped tests count as failures in CI.")
