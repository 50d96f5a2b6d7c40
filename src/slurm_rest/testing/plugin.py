"""Fixtures for pytest; load them in a conftest.py with ``pytest_plugins = "slurm_rest.testing.plugin"``.

Not an entry point: that would import this package in every pytest run of everybody who has it installed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from slurm_rest import SlurmClient

from .cluster import FakeCluster
from .server import FakeSlurm

__all__ = ["fake_slurm", "fake_slurm_client", "fake_slurm_cluster"]


@pytest.fixture
def fake_slurm_cluster() -> FakeCluster:
    """Return the cluster of ``fake_slurm``; override this fixture for another release or other settings."""
    return FakeCluster("26.05")


@pytest.fixture
def fake_slurm(fake_slurm_cluster: FakeCluster) -> Iterator[FakeSlurm]:
    """Return a running fake slurmrestd with ``url``, ``token``, ``env``, ``faults``, ``client()`` and its cluster."""
    with FakeSlurm(cluster=fake_slurm_cluster) as slurm:
        yield slurm


@pytest.fixture
def fake_slurm_client(fake_slurm: FakeSlurm) -> Iterator[SlurmClient]:
    """Return a blocking client of ``fake_slurm``."""
    with fake_slurm.client() as client:
        yield client
