"""Shares the files of tests out to several processes, the longest first: none is left with a long one in the end.

Without it pytest-xdist begins with the files that have the most tests, and those that wait for daemons have few.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

# What was measured on two cores. A file that is not here is short; a wrong number costs time, and nothing else.
SECONDS: Mapping[str, float] = {
    "tests/cluster/test_native.py": 90,
    "tests/cluster/test_script.py": 30,
    "tests/contract/test_actions.py": 35,
    "tests/contract/test_command_once.py": 60,
    "tests/contract/test_fake_server.py": 25,
    "tests/contract/test_files.py": 35,
    "tests/contract/test_page.py": 20,
    "tests/contract/test_ssh.py": 35,
    "tests/contract/test_transports.py": 110,
    "tests/contract/test_tunnel.py": 20,
    "tests/differential/test_differential.py": 80,
    "tests/faults/test_daemons.py": 45,
    "tests/faults/test_day.py": 35,
    "tests/faults/test_network.py": 20,
    "tests/faults/test_storm.py": 35,
    "tests/faults/test_tokens.py": 20,
    "tests/flyte/test_clustered.py": 15,
    "tests/flyte/test_containers.py": 65,
    "tests/flyte/test_end_to_end.py": 55,
    "tests/flyte/test_events.py": 45,
    "tests/flyte/test_faults.py": 60,
    "tests/flyte/test_local.py": 30,
    "tests/flyte/test_official_runs.py": 40,
    "tests/flyte/test_outages.py": 95,
    "tests/flyte/test_replicas.py": 45,
    "tests/flyte/test_two_clusters.py": 15,
    "tests/flyte/test_users.py": 20,
    "tests/integration/test_api_live.py": 50,
    "tests/integration/test_bad_input.py": 15,
    "tests/integration/test_cli.py": 90,
    "tests/integration/test_cli_scripts.py": 80,
    "tests/integration/test_client.py": 35,
    "tests/integration/test_daemons_away.py": 100,
    "tests/integration/test_exactly_once.py": 320,
    "tests/integration/test_falling_back.py": 45,
    "tests/integration/test_following.py": 40,
    "tests/integration/test_groups.py": 10,
    "tests/integration/test_identity_live.py": 12,
    "tests/packaging/test_wheel.py": 170,
    "tests/unit/testing/test_jobs.py": 20,
}
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
