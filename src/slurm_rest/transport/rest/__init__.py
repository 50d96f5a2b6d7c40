"""Slurm over slurmrestd. The only place that knows httpx."""

from .connection import Connection
from .submitting import RECOVERY_TIMEOUT
from .transport import RestTransport

__all__ = ["RECOVERY_TIMEOUT", "Connection", "RestTransport"]
