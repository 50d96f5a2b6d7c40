"""Settings: arguments win over the environment, the environment over the profile file."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, cast
from urllib.parse import urlsplit

from .auth import NoToken, TokenProvider
from .errors import ConfigError
from .pathmap import PathMap
from .token_settings import TOKEN_SOURCES, TokenArgument, make_provider, read_path

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Settings", "SshOptions", "TokenArgument", "load_settings", "misspelt"]

TransportName = Literal["auto", "rest", "ssh", "cli"]
EnvironmentRule = Literal["login", "submit"]

_VARIABLES: Mapping[str, str] = {
    "url": "SLURM_REST_URL",
    "api_version": "SLURM_REST_API_VERSION",
    "user": "SLURM_REST_USER",
    "token_file": "SLURM_REST_TOKEN_FILE",
    "token_command": "SLURM_REST_TOKEN_COMMAND",
    "jwt_key_file": "SLURM_REST_JWT_KEY_FILE",
    "jwt_key_id": "SLURM_REST_JWT_KEY_ID",
    "token_ssh": "SLURM_REST_TOKEN_SSH",
    "ca_file": "SLURM_REST_CA_FILE",
    "transport": "SLURM_REST_TRANSPORT",
    "environment": "SLURM_REST_ENVIRONMENT",
    "workdir": "SLURM_REST_WORKDIR",
    "path_map": "SLURM_REST_PATH_MAP",
    "exit_records": "SLURM_REST_EXIT_RECORDS",
    "ssh_host": "SLURM_REST_SSH_HOST",
    "ssh_port": "SLURM_REST_SSH_PORT",
    "ssh_user": "SLURM_REST_SSH_USER",
    "ssh_key_file": "SLURM_REST_SSH_KEY_FILE",
    "ssh_known_hosts": "SLURM_REST_SSH_KNOWN_HOSTS",
    "ssh_proxy_jump": "SLURM_REST_SSH_PROXY_JUMP",
    "ssh_tunnel": "SLURM_REST_SSH_TUNNEL",
}
# Variables that are read elsewhere, or by jobs.
_OTHERS = ("SLURM_REST_CLUSTER", "SLURM_REST_SSH_INSECURE", "SLURM_REST_DEBUG", "SLURM_REST_RECORDER")
_ALIKE = 0.85
_ARGUMENTS = frozenset([*_VARIABLES, "token", "cluster", "ssh_key"])


class SshOptions(TypedDict, total=False):
    """The arguments of a client that are about SSH."""

    ssh_host: str | None
    ssh_port: int | None
    ssh_user: str | None
    ssh_key: str | None
    ssh_key_file: str | os.PathLike[str] | None
    ssh_known_hosts: str | os.PathLike[str] | None
    ssh_proxy_jump: str | None
    ssh_tunnel: bool | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a client needs to know, normalised once.

    ``cluster`` is the profile's name, empty without one. ``user`` is the X-SLURM-USER-NAME to act as, None for the
    token's own user. ``ssh_key`` is a private key's text; without it and ``ssh_key_file``, the agent's and the user's
    own keys serve. ``ssh_tunnel`` means that the URL is as seen from the SSH host. ``ssh_insecure`` turns host key
    verification off, for development: only the environment can say so. ``path_map`` says which directories of the
    cluster are at hand here. ``exit_records`` is the cluster's directory where jobs leave how they ended, None for not.
    """

    url: str = ""
    api_version: str | None = None
    user: str | None = None
    token: TokenProvider = field(default_factory=NoToken)
    ca_file: Path | None = None
    transport: TransportName = "auto"
    environment: EnvironmentRule = "login"
    workdir: str | None = None
    path_map: PathMap = field(default_factory=PathMap)
    exit_records: str | None = None
    cluster: str = ""
    ssh_host: str = ""
    ssh_port: int | None = None
    ssh_user: str | None = None
    ssh_key: str | None = field(default=None, repr=False)
    ssh_key_file: Path | None = None
    ssh_known_hosts: Path | None = None
    ssh_proxy_jump: str | None = None
    ssh_tunnel: bool = False
    ssh_insecure: bool = False
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def ways(self) -> tuple[TransportName, ...]:
        """Return the transports to use, the best first: the one that is asked for, or all that are configured.

        REST where there is a URL, SSH where there is a host, cli where sbatch and squeue are on PATH. With nothing at
        all it is REST, which then says what is missing.
        """
        if self.transport != "auto":
            return (self.transport,)
        found: list[TransportName] = ["rest"] if self.url else []
        found += ["ssh"] if self.ssh_host else []
        path = self.environ.get("PATH", "")
        found += ["cli"] if all(shutil.which(name, path=path) for name in ("sbatch", "squeue")) else []
        return tuple(found) or ("rest",)

    @staticmethod
    def for_user(path: str, user: str, variable: str) -> str:
        """Return a directory with the user's name in the place of ``{user}``; ConfigError where it is not known."""
        if "{user}" in path and not user:
            raise ConfigError(f"{variable} needs the user's name", hint="Set SLURM_REST_USER.")
        if other := re.search(r"\{(?!user\})[A-Za-z_]+\}", path):
            raise ConfigError(f"{variable} has {other[0]}", hint="{user} alone is replaced, by the user's name.")
        return path.replace("{user}", user)

    def require_url(self) -> Self:
        """Return these settings, or raise ConfigError when they name no slurmrestd."""
        if not self.url:
            hint = "Set SLURM_REST_URL, for instance http://slurm.example:6820, or pass url=."
            if self.transport == "auto":
                hint += " Without slurmrestd a login node will do: SLURM_REST_SSH_HOST."
            raise ConfigError("No slurmrestd is configured", hint=hint)
        return self


def load_settings(arguments: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Combine arguments, environment and profile.

    A profile's token is for the profile's URL: with another one it counts only when the profile is named
    (``cluster``, SLURM_REST_CLUSTER).

    ``arguments`` has the names of the Settings fields plus ``token`` as text or provider and ``cluster`` for the
    profile to use; None values count as not given.
    """
    environ = os.environ if environ is None else environ
    for name in arguments or ():
        if name not in _ARGUMENTS:
            near = get_close_matches(name, _ARGUMENTS, 1)
            meant = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"A client has no argument {name!r}{meant}")
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    cluster = str(given.pop("cluster", None) or environ.get("SLURM_REST_CLUSTER", ""))
    named = bool(cluster)
    profile, cluster = _read_profile(environ, cluster)
    elsewhere = given.get("url") or environ.get("SLURM_REST_URL")
    if elsewhere and not named and elsewhere != profile.get("url"):
        # An address from elsewhere must not be sent the token of a cluster that nobody named.
        profile = {name: value for name, value in profile.items() if name not in TOKEN_SOURCES}
    variables = {name: environ[key] for name, key in _VARIABLES.items() if environ.get(key)}
    values: dict[str, object] = {**profile, **variables, **given}
    url = _check_url(str(values.get("url", "")))
    return Settings(
        url=url,
        api_version=_version(values.get("api_version")),
        user=_user(values, "user"),
        token=make_provider(given, variables, profile, environ),
        ca_file=read_path(values["ca_file"]) if values.get("ca_file") else None,
        transport=cast("TransportName", _choice(values, "transport", ("auto", "rest", "ssh", "cli"))),
        environment=cast("EnvironmentRule", _choice(values, "environment", ("login", "submit"))),
        workdir=_optional(values.get("workdir")),
        path_map=PathMap.read(values.get("path_map")),
        exit_records=_directory(values.get("exit_records")),
        cluster=cluster,
        ssh_host=_host(values.get("ssh_host")),
        ssh_port=_port(values.get("ssh_port")),
        ssh_user=_user(values, "ssh_user"),
        ssh_key=_optional(given.get("ssh_key")),
        ssh_key_file=read_path(values["ssh_key_file"]) if values.get("ssh_key_file") else None,
        ssh_known_hosts=read_path(values["ssh_known_hosts"]) if values.get("ssh_known_hosts") else None,
        ssh_proxy_jump=_optional(values.get("ssh_proxy_jump")),
        ssh_tunnel=_switch(values.get("ssh_tunnel")),
        ssh_insecure=environ.get("SLURM_REST_SSH_INSECURE") == "1",
        environ=environ,
    )


def _host(value: object) -> str:
    host = str(value or "")
    if host and (not host.isprintable() or set(host) & set(" @/,") or host.startswith("-")):
        hint = "Give user and port by settings of their own."
        raise ConfigError(f"{host!r} is not the name of an SSH host", hint=hint)
    return host


def _user(values: Mapping[str, object], name: str) -> str | None:
    user = _optional(values.get(name))
    if user is not None and not user.isprintable():
        raise ConfigError(f"{name} is {user!r}, which is no user's name", hint=f"Look at {_VARIABLES[name]}.")
    return user


def _port(value: object) -> int | None:
    if value in (None, ""):
        return None
    text = str(value)
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 65536):
        raise ConfigError(f"{text!r} is not a port", hint="It is a number from 1 to 65535 (SLURM_REST_SSH_PORT).")
    return int(text)


def _switch(value: object) -> bool:
    word = str("" if value is None else value).lower()
    if word not in ("", "0", "1", "false", "true"):
        hint = "It takes 1, and SLURM_REST_URL is then as seen from the SSH host; 0 or nothing turns it off."
        raise ConfigError(f"ssh_tunnel is {value!r}", hint=hint)
    return word in ("1", "true")


def _optional(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _directory(value: object) -> str | None:
    if value in (None, ""):
        return None
    path = str(value)
    if not path.startswith("/") or "\0" in path or "\n" in path:
        hint = "Name a directory that all nodes see, for instance /home/{user}/.slurm-rest (SLURM_REST_EXIT_RECORDS)."
        raise ConfigError(f"exit_records is {path!r}, no absolute path", hint=hint)
    return path


def _choice(values: Mapping[str, object], name: str, allowed: tuple[str, ...]) -> str:
    value = str(values.get(name) or allowed[0])
    if value not in allowed:
        raise ConfigError(f"{name} is {value!r}", hint=f"It takes {', '.join(allowed)} ({_VARIABLES[name]}).")
    return value


def _version(value: object) -> str | None:
    if value in (None, ""):
        return None
    version = str(value)
    version = version if version.startswith("v") else f"v{version}"
    if not re.fullmatch(r"v[0-9]{1,4}(?:\.[0-9]{1,4}){2}", version):
        raise ConfigError(f"{value!r} is no API version", hint="Write it as v0.0.42, or leave it out to negotiate.")
    return version


def _check_url(url: str) -> str:
    if not url:
        return ""
    hint = "Write http://HOST:PORT, https://HOST:PORT or unix:/path/of/socket."
    if url.startswith("unix:"):
        path = url.removeprefix("unix:").removeprefix("//")
        if not path.startswith("/"):
            raise ConfigError(f"{url!r} names no absolute socket path", hint=hint)
        return f"unix:{path}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise ConfigError(f"{_without_password(url)!r} is not the URL of a slurmrestd", hint=hint)
    if parts.username or parts.query or parts.fragment:
        hint = "Give the token by SLURM_JWT or token=, not in the URL."
        raise ConfigError("The URL must not carry a user, a query or a fragment", hint=hint)
    return url.rstrip("/")


def _without_password(url: str) -> str:
    return url.rpartition("@")[2] if "@" in url else url


def _read_profile(environ: Mapping[str, str], cluster: str) -> tuple[Mapping[str, object], str]:
    """Return the chosen cluster's table of the profile file and its name; without a file, nothing."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    path = Path(base, "slurm-rest", "config.toml")
    if not _is_file(path):
        if cluster:
            import json  # only for mistakes

            key = cluster if re.fullmatch(r"[A-Za-z0-9_-]+", cluster) else json.dumps(cluster)
            hint = f'Create it; two lines are enough: [clusters.{key}] and, below it, url = "http://HOST:6820".'
            raise ConfigError(f"Cluster {cluster!r} is asked for, but there is no {path}", hint=hint)
        return {}, ""
    document = _parse_toml(path)
    clusters = document.get("clusters", {})
    if not isinstance(clusters, dict) or not all(isinstance(table, dict) for table in clusters.values()):
        raise ConfigError(f"{path}: clusters must be tables", hint='Write [clusters.NAME] with url = "http://...".')
    stray = next((key for key in document if key in {*_VARIABLES, "token"}), None)
    if stray is not None:
        raise ConfigError(f"{path}: {stray!r} stands outside a cluster", hint="Write [clusters.NAME] above it.")
    name = cluster or str(document.get("default", "")) or (next(iter(clusters)) if len(clusters) == 1 else "")
    if not name:
        if clusters and not environ.get("SLURM_REST_URL"):
            hint = f"Set SLURM_REST_CLUSTER, or default = NAME in the file: {', '.join(clusters)}."
            raise ConfigError(f"{path} has several clusters and none is chosen", hint=hint)
        return {}, ""
    if name not in clusters:
        raise ConfigError(f"{path} has no cluster {name!r}", hint=f"It has: {', '.join(clusters) or 'none'}.")
    table = clusters[name]
    unknown = sorted(set(table) - {*_VARIABLES, "token"})
    if unknown:
        near = get_close_matches(unknown[0], [*_VARIABLES, "token"], 1)
        hint = f"Did you mean {near[0]}? Keys: {_keys()}." if near else f"Keys: {_keys()}."
        raise ConfigError(f"{path}: cluster {name!r} has an unknown key {unknown[0]!r}", hint=hint)
    return table, name


def _is_file(path: Path) -> bool:
    # A service may have the home directory of a user whose files it cannot see.
    try:
        return path.is_file()
    except OSError:
        return False


def misspelt(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that are no settings but nearly have the name of one, with that name."""
    known = {*_VARIABLES.values(), *_OTHERS}
    ours = sorted(name for name in environ if name.startswith("SLURM_REST_") and name not in known)
    near = {name: get_close_matches(name, _VARIABLES.values(), 1, _ALIKE) for name in ours}
    return {name: names[0] for name, names in near.items() if names}


def _keys() -> str:
    return ", ".join(sorted([*_VARIABLES, "token"]))


def _parse_toml(path: Path) -> Mapping[str, object]:
    if sys.version_info >= (3, 11):
        import tomllib  # only where a profile exists
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}", hint="Mend the file, or move it away.") from None
