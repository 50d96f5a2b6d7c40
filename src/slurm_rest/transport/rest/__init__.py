"""Slurm over slurmrestd. The only place that knows httpx."""

from .connection import Connection
from .transport import RestTransport

__all__ = ["Connection", "RestTransport"]
