"""What a deployment of the connector sets, and how a task's own words on the connection are weighed against it.

Pure. A task reaches this module only as ``AskedConnection``, which has no field for what it may not say; where the
deployment has a way to Slurm, the credentials that go with it are used with that way and with no other.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from typing import Literal, cast

from slurm_rest.errors import ConfigError
from slurm_rest.pathmap import PathMap

from .launching import UserPolicy, read_users
from .naming import cluster_prefix, find_cluster
from .secret_ways import SecretRule, read_secret_rules

__all__ = [
    *("CLUSTER_VARIABLES", "PREFIX", "SHARED_VARIABLES"),
    *("AskedConnection", "ClusterAccess", "Deployment", "LinkTemplate", "SecretValues"),
    *("parse_size", "read_links"),
]

log = logging.getLogger("flyteplugins.slurm_rest")

Transport = Literal["auto", "rest", "ssh", "cli"]
_TRANSPORTS = ("auto", "rest", "ssh", "cli")
PREFIX = "FLYTE_SLURM_"
_UPLOAD_LIMIT = 100 * 1024 * 1024
_SIZE = re.compile(r"(?P<number>[0-9]+)\s*(?P<unit>[KMGT]I?B|B|)")
# A signature of S3's version 4 is good for a week at most.
_URL_LIFETIME = timedelta(days=7)
_PLACE = re.compile(r"\{([a-z_]+)\}")
_LINK_NAMES = (
    *("job_id", "job_name", "user", "cluster", "partition", "account", "qos", "node", "nodes"),
    *("start_ms", "end_ms", "stdout", "stderr"),
)
_SPAN = re.compile(r"(?P<number>[0-9]+)\s*(?P<unit>[smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_UNITS = {"": 1, "B": 1} | {
    f"{letter}{kind}": base**power
    for power, letter in enumerate("KMGT", 1)
    for kind, base in (("B", 1000), ("IB", 1024))
}


@dataclass(frozen=True, slots=True)
class AskedConnection:
    """The part of a connection that a task may ask for. Whether it gets it is up to the deployment."""

    host: str = ""
    port: int | None = None
    username: str = ""
    known_hosts: str = ""
    rest_url: str = ""
    rest_api_version: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class SecretValues:
    """The values of a task's secrets, as the platform hands them over with each call."""

    ssh_private_key: str = field(default="", repr=False)
    known_hosts_data: str = field(default="", repr=False)
    rest_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """One way to one cluster, decided. Equal ones share a client; no secret is ever shown.

    ``cluster`` is its name in ``FLYTE_SLURM_CLUSTERS``, if any. ``watched_as`` is who follows the jobs of all users,
    empty for the token's own, None where the jobs' user does.
    """

    transport: Transport = "auto"
    user: str = ""
    rest_url: str = ""
    rest_api_version: str = ""
    rest_token: str = field(default="", repr=False)
    rest_token_file: str = ""
    rest_jwt_key_file: str = ""
    rest_ca_file: str = ""
    host: str = ""
    port: int | None = None
    ssh_private_key: str = field(default="", repr=False)
    known_hosts: str = ""
    known_hosts_data: str = field(default="", repr=False)
    skip_host_key_verification: bool = False
    files: str = ""
    cluster: str = ""
    watched_as: str | None = None

    @property
    def has_rest(self) -> bool:
        """True when slurmrestd can be asked."""
        return bool(self.rest_url) and self.transport in ("auto", "rest")

    @property
    def has_ssh(self) -> bool:
        """True when the login node can be asked, for jobs or for files."""
        return bool(self.host)

    def without_secrets(self) -> ClusterAccess:
        """Return what is left without the secrets that a task may bring along."""
        return replace(self, rest_token="", ssh_private_key="", known_hosts_data="")

    @property
    def where(self) -> str:
        """The cluster, for people and for logs."""
        login = f"{self.user}@{self.host}" if self.user else self.host
        return self.rest_url or login or "this host"


@dataclass(frozen=True, slots=True)
class LinkTemplate:
    """A link of the site. ``url`` has placeholders in braces, ``names`` are theirs."""

    name: str
    url: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deployment:
    """The ``FLYTE_SLURM_*`` variables of the connector, read once and checked.

    With ``FLYTE_SLURM_CLUSTERS`` it is what holds for one of its clusters: ``cluster`` is its name, and its variables
    begin with ``prefix``. ``upload_max_bytes`` is None for no ceiling. ``working_dir`` may contain ``{user}``.
    """

    host: str = ""
    port: int | None = None
    username: str = ""
    ssh_private_key: str = field(default="", repr=False)
    known_hosts: str = ""
    skip_host_key_verification: bool = False
    working_dir: str = ""
    upload_max_bytes: int | None = _UPLOAD_LIMIT
    transport: Transport = "auto"
    rest_url: str = ""
    rest_token: str = field(default="", repr=False)
    rest_token_file: str = ""
    rest_jwt_key_file: str = ""
    rest_api_version: str = ""
    rest_ca_file: str = ""
    files: str = ""
    upload_url_ttl: timedelta = _URL_LIFETIME
    log_links: tuple[LinkTemplate, ...] = ()
    log_copies: bool = True
    job_files_ttl: timedelta | None = None
    cluster: str = ""
    prefix: str = PREFIX
    users: UserPolicy = field(default_factory=UserPolicy)
    secrets: tuple[SecretRule, ...] = ()

    @classmethod
    def read(cls, environ: Mapping[str, str], cluster: str = "") -> Deployment:
        """Read the variables, for the cluster of this name or for the one that serves tasks which name none.

        Raises ConfigError for a value that is wrong in form, and for a cluster that there is not. The same values make
        the same object: this is read at each call of the platform.
        """
        # Whether anything has changed os.environ's own dictionary tells in 2 us; to ask it for all variables takes 40.
        data = getattr(environ, "_data", None)
        if data is None:
            return cls._read(environ, cluster)
        kept = _READ.get(cluster)
        if kept is None or kept[0] != data:
            kept = _READ[cluster] = (dict(data), cls._read(environ, cluster))
        return kept[1]

    @classmethod
    def _read(cls, environ: Mapping[str, str], cluster: str) -> Deployment:
        cluster = find_cluster(environ, cluster)
        prefix = cluster_prefix(cluster)
        own = (environ.get(prefix + name, "") for name in CLUSTER_VARIABLES)
        shared = (environ.get(PREFIX + name, "") for name in SHARED_VARIABLES)
        return _parsed(cluster, (*own, *shared))

    @classmethod
    def parse(cls, given: Mapping[str, str], cluster: str = "") -> Deployment:
        """Return what the variables say, here without their prefix; raises ConfigError as ``read`` does."""
        prefix = cluster_prefix(cluster)
        transport = given["TRANSPORT"] or "auto"
        if transport not in _TRANSPORTS:
            raise ConfigError(f"{prefix}TRANSPORT is {transport!r}", hint=f"It takes {', '.join(_TRANSPORTS)}.")
        try:
            PathMap.read(given["FILES"])
        except ConfigError as error:
            hint = "Write CLUSTER=LOCAL,..., for instance /home=/mnt/home,/scratch."
            raise ConfigError(f"{prefix}FILES: {error.message}", hint=hint) from None
        found = cls(
            cluster=cluster,
            prefix=prefix,
            host=given["HOST"],
            port=_port(f"{prefix}PORT", given["PORT"]),
            username=given["USERNAME"],
            # A key ends with a line end, which strip took.
            ssh_private_key=f"{key}\n" if (key := given["SSH_PRIVATE_KEY"]) else "",
            known_hosts=given["KNOWN_HOSTS"],
            skip_host_key_verification=given["SKIP_HOST_KEY_VERIFICATION"].lower() in ("1", "true", "yes"),
            working_dir=given["WORKING_DIR"],
            upload_max_bytes=parse_size(given["CONNECTOR_UPLOAD_MAX_BYTES"]),
            transport=cast("Transport", transport),
            rest_url=given["REST_URL"],
            rest_token=given["REST_TOKEN"],
            rest_token_file=given["REST_TOKEN_FILE"],
            rest_jwt_key_file=given["REST_JWT_KEY_FILE"],
            rest_api_version=given["REST_API_VERSION"],
            rest_ca_file=given["REST_CA_FILE"],
            files=given["FILES"],
            log_links=read_links(given["LOG_LINKS"]),
            log_copies=given["LOG_COPIES"].lower() not in ("0", "false", "no"),
            job_files_ttl=_keeping(given["JOB_FILES_TTL"]),
            upload_url_ttl=_url_lifetime(given["UPLOAD_URL_TTL"]),
            users=read_users(given["RUN_AS"], given["RUN_AS_MAP"], given["RUN_AS_ALLOW"]),
            secrets=read_secret_rules(given["SECRETS"]),
        )
        found._check()
        return found

    def _check(self) -> None:
        if self.users.is_on:
            self._check_run_as()
        if self.rest_jwt_key_file and not (self.username or self.users.is_on):
            hint = f"Set {self.prefix}USERNAME: with the cluster's key a task could otherwise run as anybody."
            raise ConfigError(f"{self.prefix}REST_JWT_KEY_FILE needs the user whom jobs belong to", hint=hint)
        if not self.rest_url and self._holds_token:
            hint = f"Set {self.prefix}REST_URL: a token of the deployment goes nowhere else."
            raise ConfigError("There is a token for slurmrestd, but no address", hint=hint)
        if self.transport == "rest" and self.host and not self.rest_url:
            raise ConfigError(f"{self.prefix}TRANSPORT is rest", hint=f"Set {self.prefix}REST_URL.")
        if self.cluster:
            self._check_named()

    def _check_named(self) -> None:
        """A task chooses among named clusters and nothing else: no host and, with our key, no user."""
        if not (self.rest_url or self.host or self.transport == "cli"):
            hint = f"Set {self.prefix}REST_URL or {self.prefix}HOST."
            raise ConfigError(f"No way to the cluster {self.cluster!r} is configured", hint=hint)
        if self.ssh_private_key and not self.username:
            hint = f"Set {self.prefix}USERNAME."
            raise ConfigError(f"{self.prefix}SSH_PRIVATE_KEY needs the user whom it belongs to", hint=hint)

    def _check_run_as(self) -> None:
        """Refuse what would do things as somebody else than the launching user."""
        name = f"{self.prefix}RUN_AS"
        if not (self.rest_url and self._holds_token):
            hint = f"Set {self.prefix}REST_URL, and {self.prefix}REST_JWT_KEY_FILE or a token of root or SlurmUser."
            raise ConfigError(f"{name} needs slurmrestd and the right to act for others", hint=hint)
        if self.host or self.transport not in ("auto", "rest"):
            mounts = f"{self.prefix}FILES=/home/{{user}}=/mnt/home/{{user}}"
            hint = f"Unset {self.prefix}HOST; for files there are mounts: {mounts}."
            raise ConfigError(f"{name} works over slurmrestd alone: a login node would know one user", hint=hint)
        if any("{user}" not in path for pair in PathMap.read(self.files).pairs for path in pair):
            # The connector reads with its own rights: no link of one user's may lead it to another's files.
            hint = f"Write {self.prefix}FILES=/home/{{user}}=/mnt/home/{{user}}: a user's jobs reach that user's files."
            raise ConfigError(f"With {name} each directory of {self.prefix}FILES is one user's", hint=hint)

    def access(self, asked: AskedConnection, secrets: SecretValues | None = None, run_as: str = "") -> ClusterAccess:
        """Return the way to the cluster for a task: what the deployment sets, else what the task asks for.

        ``run_as`` is whom the deployment's rule found; it counts only where there is such a rule. Raises ConfigError
        when neither names a way.
        """
        secrets = secrets or SecretValues()
        if self.transport == "cli":
            return ClusterAccess(transport="cli", files=self.files, cluster=self.cluster)
        own_rest = bool(self.rest_url)
        user = (run_as if self.users.is_on else "") or self._user(asked)
        if self.rest_jwt_key_file and not user:
            # The key alone would sign for whoever this process is.
            raise ConfigError("Nothing says whose the job is", hint=f"Set {self.prefix}USERNAME for jobs made before.")
        access = ClusterAccess(
            transport=self.transport,
            user=user,
            rest_url=self.rest_url or ("" if self.host else asked.rest_url),
            rest_api_version=self.rest_api_version if own_rest else asked.rest_api_version,
            # A deployment's token needs its own address: one that a task chose never sees it.
            rest_token=self.rest_token if self._holds_token else secrets.rest_token,
            rest_token_file=self.rest_token_file if own_rest else "",
            rest_jwt_key_file=self.rest_jwt_key_file if own_rest else "",
            rest_ca_file=self.rest_ca_file if own_rest else "",
            files=self.files.replace("{user}", user) if self.users.is_on else self.files,
            cluster=self.cluster,
            watched_as=("root" if self.rest_jwt_key_file else "") if self.users.is_on else None,
            **self._ssh(asked, secrets),  # type: ignore[arg-type]  # the names and types of the fields
        )
        if not access.rest_url and not access.host:
            raise ConfigError(
                "No way to Slurm is configured",
                hint=f"Set {PREFIX}REST_URL or {PREFIX}HOST on the connector, or rest_url or host in the task's Slurm"
                " configuration.",
            )
        if not access.user and not access.has_rest:
            # Otherwise jobs would be those of whoever this process is.
            hint = f"Set {self.prefix}USERNAME on the connector, or username in the task's Slurm configuration."
            raise ConfigError(f"Nothing says as whom to log in to {access.host}", hint=hint)
        return access

    def _user(self, asked: AskedConnection) -> str:
        """Return whom jobs belong to; with a token of the deployment a task has no say in it."""
        return self.username or ("" if self._holds_token else asked.username)

    @property
    def _holds_token(self) -> bool:
        return bool(self.rest_token or self.rest_token_file or self.rest_jwt_key_file)

    def _ssh(self, asked: AskedConnection, secrets: SecretValues) -> dict[str, object]:
        """Return the SSH part. A deployment that only has slurmrestd does not lend its files to a task's own host."""
        host = self.host or ("" if self.rest_url else asked.host)
        if not host:
            return {}
        return {
            "host": host,
            "port": self.port or (None if self.host else asked.port),
            "ssh_private_key": self.ssh_private_key or secrets.ssh_private_key,
            "known_hosts": self.known_hosts or ("" if self.host else asked.known_hosts),
            "known_hosts_data": "" if self.known_hosts else secrets.known_hosts_data,
            "skip_host_key_verification": self.skip_host_key_verification,
        }


_READ: dict[str, tuple[Mapping[object, object], Deployment]] = {}
# Each named cluster has these of its own; nothing of one, least of all a credential, serves another.
CLUSTER_VARIABLES = (
    *("HOST", "PORT", "USERNAME", "SSH_PRIVATE_KEY", "KNOWN_HOSTS", "WORKING_DIR", "SKIP_HOST_KEY_VERIFICATION"),
    *("TRANSPORT", "FILES", "RUN_AS", "RUN_AS_MAP", "RUN_AS_ALLOW", "SECRETS"),
    *("REST_URL", "REST_TOKEN", "REST_TOKEN_FILE", "REST_JWT_KEY_FILE", "REST_API_VERSION", "REST_CA_FILE"),
)
SHARED_VARIABLES = ("CONNECTOR_UPLOAD_MAX_BYTES", "UPLOAD_URL_TTL", "LOG_LINKS", "LOG_COPIES", "JOB_FILES_TTL")


@lru_cache(maxsize=32)
def _parsed(cluster: str, values: tuple[str, ...]) -> Deployment:
    names = (*CLUSTER_VARIABLES, *SHARED_VARIABLES)
    return Deployment.parse({name: value.strip() for name, value in zip(names, values, strict=True)}, cluster)


def _port(name: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 65536):
        hint = "It is a number from 1 to 65535."
        if text.startswith("tcp://"):
            hint = "Kubernetes sets it where a Service is called flyte-slurm: give the pod enableServiceLinks: false."
        raise ConfigError(f"{name} is {text!r}", hint=hint)
    return int(text)


def read_links(text: str) -> tuple[LinkTemplate, ...]:
    """Read ``NAME=URL`` entries, one a line or separated by ``;``; raises ConfigError for one that cannot work."""
    found = []
    for entry in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        name, equals, url = (part.strip() for part in entry.partition("="))
        if not (name and equals and url.startswith(("http://", "https://"))):
            hint = "It takes NAME=https://... entries, one a line or separated by ; (%3B inside a URL)."
            raise ConfigError(f"{PREFIX}LOG_LINKS has {entry!r}", hint=hint)
        names = tuple(_PLACE.findall(url))
        if set("{}") & set(_PLACE.sub("", url)) or set(names) - set(_LINK_NAMES):
            hint = f"Placeholders are {', '.join(f'{{{one}}}' for one in _LINK_NAMES)}."
            raise ConfigError(f"{PREFIX}LOG_LINKS has {url!r}, with a placeholder that does not exist", hint=hint)
        found.append(LinkTemplate(name, url, names))
    return tuple(found)


def _span(name: str, text: str) -> timedelta:
    """Read ``90``, ``90s``, ``15m``, ``12h`` or ``7d``; raises ConfigError for anything else."""
    found = _SPAN.fullmatch(text)
    if found is None or not int(found["number"]):
        raise ConfigError(f"{PREFIX}{name} is {text!r}, which is no duration", hint="Write 3600, 90m, 12h or 7d.")
    return timedelta(seconds=int(found["number"]) * _SECONDS[found["unit"]])


def _keeping(text: str) -> timedelta | None:
    """Return how long files of jobs are kept, None for ever."""
    return None if text.lower() in ("", "0", "keep") else _span("JOB_FILES_TTL", text)


def _url_lifetime(text: str) -> timedelta:
    name = "UPLOAD_URL_TTL"
    found = _span(name, text) if text else _URL_LIFETIME
    if not timedelta(minutes=10) <= found <= _URL_LIFETIME:
        raise ConfigError(f"{PREFIX}{name} is {text!r}", hint="It takes 10m to 7d, which is the most that S3 signs.")
    return found


def parse_size(text: str) -> int | None:
    """Read ``500MB``, ``512MiB`` or a number of bytes; 0, ``unlimited`` and ``none`` are no limit, nothing is 100 MiB.

    Raises ConfigError for anything else: a typing error must not bring back the default.
    """
    if not text.strip():
        return _UPLOAD_LIMIT
    if text.strip().lower() in ("unlimited", "none"):
        return None
    found = _SIZE.fullmatch(text.strip().upper())
    if found is None:
        hint = "Write a number of bytes, or 500MB, 2GB, 512MiB; 0 for no limit."
        raise ConfigError(f"{PREFIX}CONNECTOR_UPLOAD_MAX_BYTES is {text!r}, which is no size", hint=hint)
    return int(found["number"]) * _UNITS[found["unit"]] or None
