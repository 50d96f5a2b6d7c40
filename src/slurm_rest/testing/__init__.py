"""Slurm for tests, without Slurm: a fake cluster, a fake slurmrestd in front of it, and a fake transport.

``FakeSlurm`` is a server on this machine (needs the extra ``testing``), ``FakeSlurmrestd`` the ASGI application in it,
``FakeCluster`` the jobs and nodes behind that, ``Faults`` what goes wrong. docs/testing.md shows how they are used.
"""

from typing import TYPE_CHECKING

from .app import FakeSlurmrestd
from .cluster import FakeCluster
from .faults import Fault, Faults
from .jobs import FakeJob
from .tokens import Tokens
from .transport import FakeTransport

if TYPE_CHECKING:
    from .server import FakeSlurm

__all__ = ["FakeCluster", "FakeJob", "FakeSlurm", "FakeSlurmrestd", "FakeTransport", "Fault", "Faults", "Tokens"]


def __getattr__(name: str) -> object:
    # Not imported above: `python -m slurm_rest.testing.server` would have it twice.
    if name == "FakeSlurm":
        from .server import FakeSlurm

        return FakeSlurm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
