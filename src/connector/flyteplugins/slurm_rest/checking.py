"""Whether the deployment's variables can work: told in the log when the connector starts, and refused at each create.

It is not ended for them: the same service may serve other connectors, and jobs that are under way go on being followed
as long as it is known how to reach them.
"""

from __future__ import annotations

import contextlib
import difflib
import logging
import os
from collections.abc import Iterator, Mapping

from slurm_rest.config import load_settings
from slurm_rest.errors import ConfigError

from .naming import CLUSTERS, cluster_names, cluster_prefix, find_cluster
from .settings import CLUSTER_VARIABLES, PREFIX, SHARED_VARIABLES, Deployment

__all__ = ["check", "faults", "tell_faults", "under_way"]

log = logging.getLogger("flyteplugins.slurm_rest")

# Of this process's own environment and profile file the client is to see nothing.
_NOTHING = {"XDG_CONFIG_HOME": os.devnull}
_NEAR = 0.85


def check(environ: Mapping[str, str], cluster: str) -> Deployment:
    """Return what the variables say for the cluster that a task asks for; raises ConfigError for what cannot work."""
    deployment = Deployment.read(environ, cluster)
    for fault in (*_unknown(environ), *_faults_of(deployment)):
        raise fault
    return deployment


def under_way(environ: Mapping[str, str], cluster: str) -> Deployment:
    """Return what the variables say for a job that is made already: one that is wrong in form counts as not set.

    A mistyped link must not let the platform give up all tasks that run. Raises ConfigError for a variable about the
    way to the cluster.
    """
    try:
        return Deployment.read(environ, cluster)
    except ConfigError:
        prefix = cluster_prefix(find_cluster(environ, cluster))
    beside = {PREFIX + name for name in SHARED_VARIABLES} | {f"{prefix}SECRETS"}
    kept = {name: value for name, value in environ.items() if name not in beside}
    for name in sorted(beside & environ.keys()):
        with contextlib.suppress(ConfigError):
            Deployment.read({**kept, name: environ[name]}, cluster)
            kept[name] = environ[name]
    return Deployment.read(kept, cluster)


def faults(environ: Mapping[str, str]) -> list[ConfigError]:
    """Return what is wrong with the variables, of all clusters."""
    try:
        names = cluster_names(environ)
        # Empty for the cluster without a name, if there is one.
        clusters = dict.fromkeys((find_cluster(environ, ""), *names))
    except ConfigError as error:
        return [error]
    return [*_unknown(environ), *(fault for cluster in clusters for fault in _faults_in(environ, cluster))]


def tell_faults(environ: Mapping[str, str]) -> None:
    """Write a line for each fault into the log."""
    for fault in faults(environ):
        log.error("Tasks will be refused: %s", fault)


def _faults_in(environ: Mapping[str, str], cluster: str) -> list[ConfigError]:
    try:
        return list(_faults_of(Deployment.read(environ, cluster)))
    except ConfigError as error:
        return [error]


def _faults_of(deployment: Deployment) -> Iterator[ConfigError]:
    prefix = deployment.prefix
    yield from _misread(f"{prefix}REST_URL", "url", deployment.rest_url)
    yield from _misread(f"{prefix}REST_API_VERSION", "api_version", deployment.rest_api_version)
    key = deployment.ssh_private_key
    if key and "-----BEGIN" not in key:
        hint = "It takes the key's text, not the path of its file."
        yield ConfigError(f"{prefix}SSH_PRIVATE_KEY is no private key", hint=hint)
    files = (
        ("REST_TOKEN_FILE", deployment.rest_token_file),
        ("REST_JWT_KEY_FILE", deployment.rest_jwt_key_file),
        ("REST_CA_FILE", deployment.rest_ca_file),
        ("KNOWN_HOSTS", deployment.known_hosts),
        ("RUN_AS_MAP", deployment.users.map_file),
    )
    for name, path in files:
        if path and (trouble := _unreadable(path)):
            hint = f"Correct the path, or let uid {os.geteuid()}, as which the connector runs, read the file."
            yield ConfigError(f"{prefix}{name}: {path} cannot be read: {trouble}", hint=hint)


def _misread(name: str, argument: str, value: str) -> Iterator[ConfigError]:
    """Find what the client would not take, which knows the setting by another name."""
    try:
        load_settings({argument: value}, _NOTHING)
    except ConfigError as error:
        yield ConfigError(f"{name}: {error.message}", hint=error.hint)


def _unreadable(path: str) -> str:
    """Return why a file cannot be read, empty if it can."""
    try:
        with open(path, "rb"):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def _unknown(environ: Mapping[str, str]) -> Iterator[ConfigError]:
    """Find variables that are none of ours and look as if they were meant to be. Others may be anybody's."""
    prefixes = sorted((cluster_prefix(name) for name in cluster_names(environ)), key=len, reverse=True)
    for name in environ:
        if not name.startswith(PREFIX) or name == CLUSTERS or not environ[name].strip():
            continue
        own = next((one for one in prefixes if name.startswith(one)), PREFIX)
        known = CLUSTER_VARIABLES if own != PREFIX else (*CLUSTER_VARIABLES, *SHARED_VARIABLES, "CLUSTERS")
        rest = name[len(own) :]
        if rest not in known and (hint := _meant(rest, own, known)):
            yield ConfigError(f"{name} is no setting of the connector", hint=hint)


def _meant(rest: str, own: str, known: tuple[str, ...]) -> str:
    """Return what was meant by a variable, empty where nothing tells."""
    if rest in SHARED_VARIABLES:
        return f"It holds for all clusters: write {PREFIX}{rest}."
    for one in CLUSTER_VARIABLES:
        # Kubernetes itself sets variables that end in _HOST and _PORT.
        if one.startswith("REST_") and rest.endswith(f"_{one}") and own == PREFIX:
            name = rest.removesuffix(f"_{one}").lower().replace("_", "-")
            return f"Add {name} to {CLUSTERS}, if that is a cluster; otherwise write {PREFIX}{one}."
    near = difflib.get_close_matches(rest, known, 1, _NEAR)
    near += [one for one in known if one.startswith(rest) or one.endswith(f"_{rest}")]
    return f"Did you mean {own}{near[0]}? If it is something else's, give it another name." if near and rest else ""
