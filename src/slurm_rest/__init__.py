"""A typed client for Slurm that speaks to slurmrestd first.

    from slurm_rest import SlurmClient

    slurm = SlurmClient("http://slurm:6820")        # token from SLURM_JWT
    job = slurm.submit("#!/bin/bash\\nsrun hostname\\n", name="hello", nodes=2)
    print(job.wait().state)

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .client import AsyncSlurmClient
    from .errors import (
        AccountingDown,
        AnswerTooLarge,
        ApiError,
        AuthError,
        CommandMissing,
        ConfigError,
        ControllerDown,
        FileMissing,
        FilesError,
        HostKeyError,
        JobNotFound,
        NoAccounting,
        OutcomeUnknown,
        PermissionDenied,
        ProtocolError,
        SlurmError,
        SpecError,
        SubmitRejected,
        SubmitUncertain,
        Timeout,
        TokenExpired,
        TokenMissing,
        TokenRejected,
        TokenSourceError,
        TransportError,
        UnknownUser,
        Unreachable,
        UnsupportedVersion,
        VersionNotServed,
        WaitTimeout,
    )
    from .job import AsyncJob
    from .models import (
        ActionResult,
        CancelResult,
        Diagnostics,
        ExitCode,
        FilesWay,
        JobInfo,
        JobUsage,
        Node,
        Partition,
        Ping,
        TransportHealth,
    )
    from .sbatch import JobSpec
    from .states import BaseState, JobState
    from .sync import Job, SlurmClient
    from .watching import JobChange

_HOMES = {
    "client": ("AsyncSlurmClient",),
    "errors": (
        "AccountingDown",
        "AnswerTooLarge",
        "ApiError",
        "AuthError",
        "CommandMissing",
        "ConfigError",
        "ControllerDown",
        "FileMissing",
        "FilesError",
        "HostKeyError",
        "JobNotFound",
        "NoAccounting",
        "OutcomeUnknown",
        "PermissionDenied",
        "ProtocolError",
        "SlurmError",
        "SpecError",
        "SubmitRejected",
        "SubmitUncertain",
        "Timeout",
        "TokenExpired",
        "TokenMissing",
        "TokenRejected",
        "TokenSourceError",
        "TransportError",
        "UnknownUser",
        "Unreachable",
        "UnsupportedVersion",
        "VersionNotServed",
        "WaitTimeout",
    ),
    "job": ("AsyncJob",),
    "models": (
        "ActionResult",
        "CancelResult",
        "Diagnostics",
        "ExitCode",
        "FilesWay",
        "JobInfo",
        "JobUsage",
        "Node",
        "Partition",
        "Ping",
        "TransportHealth",
    ),
    "sbatch": ("JobSpec",),
    "states": ("BaseState", "JobState"),
    "sync": ("Job", "SlurmClient"),
    "watching": ("JobChange",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AccountingDown",
    "ActionResult",
    "AnswerTooLarge",
    "ApiError",
    "AsyncJob",
    "AsyncSlurmClient",
    "AuthError",
    "BaseState",
    "CancelResult",
    "CommandMissing",
    "ConfigError",
    "ControllerDown",
    "Diagnostics",
    "ExitCode",
    "FileMissing",
    "FilesError",
    "FilesWay",
    "HostKeyError",
    "Job",
    "JobChange",
    "JobInfo",
    "JobNotFound",
    "JobSpec",
    "JobState",
    "JobUsage",
    "NoAccounting",
    "Node",
    "OutcomeUnknown",
    "Partition",
    "PermissionDenied",
    "Ping",
    "ProtocolError",
    "SlurmClient",
    "SlurmError",
    "SpecError",
    "SubmitRejected",
    "SubmitUncertain",
    "Timeout",
    "TokenExpired",
    "TokenMissing",
    "TokenRejected",
    "TokenSourceError",
    "TransportError",
    "TransportHealth",
    "UnknownUser",
    "Unreachable",
    "UnsupportedVersion",
    "VersionNotServed",
    "WaitTimeout",
    "__version__",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
