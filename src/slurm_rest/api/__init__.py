"""Every operation of slurmrestd, typed, for all API versions as one surface.

    slurm.api.get_jobs(update_time=0).jobs         # /slurm/<version>/jobs/
    slurm.api.db.get_accounts().accounts           # /slurmdb/<version>/accounts/
    slurm.api.util.post_hostlist({"hostnames": ["n1", "n2"]}).hostlist

Methods are called as the document calls the operation, without service and version. Bodies are the models of the
families ``jobs``, ``cluster``, ``accounting`` and ``diagnostics``, or plain mappings; a family is loaded when first
used. What the negotiated version lacks is refused before anything is sent.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from slurm_rest.api._versions import API_VERSIONS
from slurm_rest.api.values import INFINITE, Infinite, NoVal, NoValFloat

if TYPE_CHECKING:
    from slurm_rest.api import accounting, cluster, common, diagnostics, jobs, words
    from slurm_rest.api._client import AsyncSlurmApi, SlurmApi
    from slurm_rest.api.base import ApiCaller, ApiRequest, Operation, QueryParam, known_in

__all__ = [
    "API_VERSIONS",
    "INFINITE",
    "ApiCaller",
    "ApiRequest",
    "AsyncSlurmApi",
    "Infinite",
    "NoVal",
    "NoValFloat",
    "Operation",
    "QueryParam",
    "SlurmApi",
    "accounting",
    "cluster",
    "common",
    "diagnostics",
    "jobs",
    "known_in",
    "words",
]

_MODULES = frozenset({"accounting", "cluster", "common", "diagnostics", "jobs", "words"})
# What a family needs none of is loaded only when it is asked for.
_HOMES = {
    "ApiCaller": "base",
    "ApiRequest": "base",
    "AsyncSlurmApi": "_client",
    "Operation": "base",
    "QueryParam": "base",
    "SlurmApi": "_client",
    "known_in": "base",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
