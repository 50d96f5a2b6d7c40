"""Registers the connector for both task types. Flyte's connector service loads this by its entry point.

Both types are registered here, with override, and nothing is raised: so they are served from here whichever package is
loaded first, flyteplugins-slurm or this one.
"""

from __future__ import annotations

import os

from flyte import system_logger
from flyte.connectors import ConnectorRegistry

from .checking import tell_faults
from .launching import show_audit
from .metadata import SlurmJobMetadata
from .service import Known, SlurmConnector, SlurmScriptConnector

__all__ = ["SlurmConnector", "SlurmJobMetadata", "SlurmScriptConnector"]


def _register() -> None:
    show_audit()
    tell_faults(os.environ)
    known = Known()
    for connector in (SlurmConnector(known), SlurmScriptConnector(known)):
        ConnectorRegistry.register(connector, override=True)
    system_logger.info("Tasks of the types slurm and slurm_script are served by flyteplugins.slurm_rest")


_register()
