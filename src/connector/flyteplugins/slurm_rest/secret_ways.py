"""How the secrets of a task (its ``secrets=``) reach its job: by reference, as the deployment says. Pure.

A rule names where a secret lies on the cluster: in a file that the job's user may read, or in a variable that Slurm's
side gives every job. Its value passes neither the connector nor Slurm's records.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slurm_rest.errors import ConfigError

__all__ = ["SecretRule", "UndeliverableSecret", "WantedSecret", "read_secret_rules", "secret_lines"]

_SECRETS = "FLYTE_SLURM_SECRETS"
_REMEDY = f"{_SECRETS} on the connector says where secrets lie on the cluster: KEY=file:/path or KEY=env:NAME."
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


def read_secret_rules(text: str) -> tuple[SecretRule, ...]:
    """Read ``NAME=file:/path`` and ``NAME=env:VARIABLE`` entries; raises ConfigError for others.

    They stand one a line or separated by ``;``. A path may have ``{user}``, ``{group}`` and ``{key}``.
    """
    found = []
    for entry in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        pattern, equals, way = (part.strip() for part in entry.partition("="))
        kind, _, place = way.partition(":")
        left = _PLACES.sub("", place)
        good = {
            "file": place.startswith("/") and place.isprintable() and not set("{}") & set(left),
            "env": bool(_VARIABLE.fullmatch(place)) and pattern != "*",
        }
        if not (pattern and equals and good.get(kind)):
            hint = "It takes NAME=file:/path with {user}, {group}, {key}, or NAME=env:VARIABLE; * is any file's NAME."
            raise ConfigError(f"{_SECRETS} has {entry!r}", hint=hint)
        found.append(SecretRule(pattern, kind, place))
    return tuple(found)


def secret_lines(
    wanted: Sequence[WantedSecret], rules: Sequence[SecretRule], user: str, taken: Collection[str]
) -> tuple[str, ...]:
    """Return the lines of a shell that export each secret, or end the job with a word on the one that is not there.

    ``taken`` are variables that the job has already. Raises ConfigError (UndeliverableSecret).
    """
    lines: list[str] = []
    seen = set(taken)
    for secret in wanted:
        if secret.variable in seen:
            what = f"The secret {secret.name!r} wants the variable {secret.variable}, which the job has already"
            raise UndeliverableSecret(what, hint="Give it another one with as_env_var.")
        lines += _lines(secret, _rule(secret, rules), user)
        seen.add(secret.variable)
    return tuple(lines)


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


def _lines(secret: WantedSecret, rule: SecretRule, user: str) -> list[str]:
    variable = secret.variable
    if rule.way == "env":
        problem = _problem(f"flyte: the secret {secret.name} is not in the job's environment ({rule.place})")
        value = "" if variable == rule.place else f'="${rule.place}"'
        return [f'[ -n "${{{rule.place}+x}}" ] || {problem}', f"export {variable}{value}"]
    if "{group}" in rule.place and not secret.group:
        what = f"The secret {secret.name!r} has no group, and its file is named by one ({rule.place})"
        raise UndeliverableSecret(what, hint="Give it a group, or change the rule.")
    values = {"user": user, "group": secret.group, "key": secret.key}
    path = _PLACES.sub(lambda place: values[place[1]], rule.place)
    problem = _problem(f"flyte: the secret {secret.name} cannot be read on this node from {path}")
    # The assignment is a command of its own: export would hide that cat failed.
    return [f"{variable}=$(cat -- {shlex.quote(path)}) || {problem}", f"export {variable}"]


def _problem(text: str) -> str:
    return f"{{ printf '%s\\n' {shlex.quote(text)} >&2; exit 1; }}"
