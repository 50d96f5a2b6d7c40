"""The cache version of a script task: flyte's own rule hashes a function, and a script has none."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from flyte import Cache

if TYPE_CHECKING:
    from flyte._cache.cache import VersionParameters

__all__ = ["ScriptPolicy", "with_script"]

# How the job is reached, and by what secrets, decides nothing about its result.
_NOT_SHAPING = ("connection", "secrets")


class ScriptPolicy:
    """A CachePolicy: the version of a script, its configuration and its declared outputs."""

    def __init__(self, script: str, config: Mapping[str, object], outputs: Mapping[str, str]) -> None:
        shaping = {key: value for key, value in config.items() if key not in _NOT_SHAPING}
        whole = {"script": script, "config": shaping, "outputs": dict(outputs)}
        self._text = json.dumps(whole, sort_keys=True, default=str)

    def get_version(self, salt: str, params: VersionParameters[..., object]) -> str:
        """Return the version; ``params`` are about a function, of which there is none."""
        return hashlib.sha256(f"{salt}{self._text}".encode()).hexdigest()


def with_script(cache: Cache, policy: ScriptPolicy) -> Cache:
    """Return the cache of a task with ``policy`` in place of the one for functions; the author's own ones stay."""
    from flyte._cache.policy_function_body import FunctionBodyPolicy

    if cache.behavior != "auto" or cache.version_override is not None:
        return cache
    given = cache.policies if isinstance(cache.policies, list) else []
    own = [one for one in given if not isinstance(one, (FunctionBodyPolicy, ScriptPolicy))]
    return dataclasses.replace(cache, policies=[policy, *own])
