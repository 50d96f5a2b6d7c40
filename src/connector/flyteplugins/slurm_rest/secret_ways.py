"""How the secrets of a task (its ``secrets=``) reach its job: by reference, as the deployment says. Pure.

A rule names where a secret lies on the cluster: in a file that the job's user may read, or in a variable that Slurm's
side gives every job; its value passes neither the connector nor Slurm's records then. Or it names where the connector
has it, in a file or a variable of its own: then it goes into a file on the cluster that the job's user alone may read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slurm_rest.errors import ConfigError

__all__ = [
    "SecretDelivery",
    "SecretRule",
    "SecretSource",
    "UndeliverableSecret",
    "WantedSecret",
    "deliver_secrets",
    "read_secret_rules",
]

_SECRETS = "FLYTE_SLURM_SECRETS"
_REMEDY = (
    f"{_SECRETS} on the connector says where secrets lie on the cluster, KEY=file:/path or KEY=env:NAME, or where the"
    " connector has them, KEY=connector-file:/path or KEY=connector-env:NAME."
)
_FILES, _VARIABLES = ("file", "connector-file"), ("env", "connector-env")
# A key becomes part of a path.
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACES = re.compile(r"\{(user|group|key)\}")


class UndeliverableSecret(ConfigError):
    """A task wants a secret that its job could not have."""


@dataclass(frozen=True, slots=True)
class WantedSecret:
    """A secret of a task, and the variable in which it expects it; ``as_file`` where it wants a file."""

    key: str
    group: str = ""
    variable: str = ""
    as_file: bool = False

    @property
    def name(self) -> str:
        """Its name, with its group."""
        return f"{self.group}/{self.key}" if self.group else self.key


@dataclass(frozen=True, slots=True)
class SecretRule:
    """Where secrets are. ``pattern`` is a key, ``GROUP/KEY`` or ``*``; ``place`` a path, or the name of a variable."""

    pattern: str
    way: str
    place: str


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where the connector has the value of a secret, and the variable in which a task expects it."""

    name: str
    variable: str
    way: str
    place: str


@dataclass(frozen=True, slots=True)
class SecretDelivery:
    """The lines of a shell that export a job's secrets; ``sources`` are those that its file has to have by then."""

    lines: tuple[str, ...] = ()
    sources: tuple[SecretSource, ...] = ()


def read_secret_rules(text: str) -> tuple[SecretRule, ...]:
    """Read ``NAME=file:/path`` and ``NAME=env:VARIABLE`` entries; raises ConfigError for others.

    They stand one a line or separated by ``;``. A path may have ``{user}``, ``{group}`` and ``{key}``. With
    ``connector-`` before them file and variable are the connector's own.
    """
    found = []
    for entry in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        pattern, equals, way = (part.strip() for part in entry.partition("="))
        kind, _, place = way.partition(":")
        left = _PLACES.sub("", place)
        is_path = place.startswith("/") and place.isprintable() and not set("{}") & set(left)
        is_variable = bool(_VARIABLE.fullmatch(place)) and pattern != "*"
        good = {**dict.fromkeys(_FILES, is_path), **dict.fromkeys(_VARIABLES, is_variable)}
        if not (pattern and equals and good.get(kind)):
            hint = (
                "It takes NAME=file:/path with {user}, {group}, {key}, or NAME=env:VARIABLE, and the same with"
                " connector- before file and env; * is any file's NAME."
            )
            raise ConfigError(f"{_SECRETS} has {entry!r}", hint=hint)
        found.append(SecretRule(pattern, kind, place))
    return tuple(found)


def deliver_secrets(
    wanted: Sequence[WantedSecret],
    rules: Sequence[SecretRule],
    user: str,
    taken: Collection[str],
    file: str = "",
) -> SecretDelivery:
    """Return how each secret reaches its variable, or ends the job with a word on the one that is not there.

    ``taken`` are variables that the job has already; ``file`` is where what the connector sends is going to be. Raises
    ConfigError (UndeliverableSecret).
    """
    lines: list[str] = []
    sources: list[SecretSource] = []
    seen = set(taken)
    for secret in wanted:
        if secret.variable in seen:
            what = f"The secret {secret.name!r} wants the variable {secret.variable}, which the job has already"
            raise UndeliverableSecret(what, hint="Give it another one with as_env_var.")
        rule = _rule(secret, rules)
        if rule.way == "env":
            lines += _from_variable(secret, rule.place)
        elif rule.way == "file":
            lines += _from_file(secret, _path(secret, rule, user))
        else:
            place = rule.place if rule.way == "connector-env" else _path(secret, rule, user)
            sources.append(SecretSource(secret.name, secret.variable, rule.way, place))
        seen.add(secret.variable)
    if sources:
        problem = _problem(f"flyte: the secrets of this job cannot be read on this node from {file}")
        quoted = shlex.quote(file)
        lines += [f"[ -r {quoted} ] || {problem}", f". {quoted}"]
    return SecretDelivery(tuple(lines), tuple(sources))


def _rule(secret: WantedSecret, rules: Sequence[SecretRule]) -> SecretRule:
    name = secret.name
    if not _WORD.fullmatch(secret.key) or (secret.group and not _WORD.fullmatch(secret.group)):
        raise UndeliverableSecret(f"{name!r} is no name of a secret", hint="It has letters, digits, and _ . - in it.")
    if secret.as_file:
        hint = "Ask for a variable: flyte.Secret(key, as_env_var=NAME)."
        raise UndeliverableSecret(f"The secret {name!r} is wanted as a file in /etc/flyte/secrets", hint=hint)
    if not _VARIABLE.fullmatch(secret.variable):
        what = f"The secret {name!r} is wanted in {secret.variable!r}, which is no variable"
        raise UndeliverableSecret(what, hint="Name one with as_env_var.")
    # The most particular one counts; a bare key is that of any group.
    for pattern in (name, secret.key, "*"):
        for rule in rules:
            if rule.pattern == pattern:
                return rule
    raise UndeliverableSecret(f"The secret {name!r} cannot be given to a Slurm job", hint=_REMEDY)


def _path(secret: WantedSecret, rule: SecretRule, user: str) -> str:
    if "{group}" in rule.place and not secret.group:
        what = f"The secret {secret.name!r} has no group, and its file is named by one ({rule.place})"
        raise UndeliverableSecret(what, hint="Give it a group, or change the rule.")
    values = {"user": user, "group": secret.group, "key": secret.key}
    return _PLACES.sub(lambda place: values[place[1]], rule.place)


def _from_variable(secret: WantedSecret, name: str) -> list[str]:
    problem = _problem(f"flyte: the secret {secret.name} is not in the job's environment ({name})")
    value = "" if secret.variable == name else f'="${name}"'
    return [f'[ -n "${{{name}+x}}" ] || {problem}', f"export {secret.variable}{value}"]


def _from_file(secret: WantedSecret, path: str) -> list[str]:
    problem = _problem(f"flyte: the secret {secret.name} cannot be read on this node from {path}")
    # The assignment is a command of its own: export would hide that cat failed.
    return [f"{secret.variable}=$(cat -- {shlex.quote(path)}) || {problem}", f"export {secret.variable}"]


def _problem(text: str) -> str:
    return f"{{ printf '%s\\n' {shlex.quote(text)} >&2; exit 1; }}"
