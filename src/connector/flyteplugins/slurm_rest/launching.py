"""Whose a job is: the configured user's, or the launching user's by a rule of the deployment; and the audit of it.

The rule is the deployment's alone. What it reads, a label say, is as trustworthy as who may set it: the platform, or
whoever starts a run.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from slurm_rest.errors import ConfigError

if TYPE_CHECKING:
    from .template import Execution

__all__ = ["RefusedUser", "UserPolicy", "audit", "read_users", "show_audit"]

_log = logging.getLogger("flyteplugins.slurm_rest.audit")

_RUN_AS, _MAP, _ALLOW = "FLYTE_SLURM_RUN_AS", "FLYTE_SLURM_RUN_AS_MAP", "FLYTE_SLURM_RUN_AS_ALLOW"
_NAMED = ("label", "annotation", "env")
_PLAIN = ("identity", "service-account")
# Slurm takes a number for a user as well: "0" would be root.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]{0,63}")
# Slurm's own user has this name nearly everywhere; slurmrestd tells it to nobody.
_POWERFUL = frozenset({"root", "slurm"})
_LONGEST_SHOWN = 200


class RefusedUser(ConfigError):
    """A task must not run as the user that it was launched by, or nothing says who that is."""


@dataclass(frozen=True, slots=True)
class UserPolicy:
    """How the user of a job is found. Without a ``source`` all jobs are the configured user's.

    ``source`` is ``label``, ``annotation`` or ``env`` with a ``name``, or ``identity`` or ``service-account``.
    ``users`` maps what stands there to users of the cluster, ``map_file`` is a file with such a map, read each time;
    without both it is the user's name itself. Of ``allowed`` users, where it has any, a task's is one.
    """

    source: str = ""
    name: str = ""
    users: tuple[tuple[str, str], ...] = ()
    map_file: str = ""
    allowed: frozenset[str] = frozenset()

    @property
    def is_on(self) -> bool:
        """True when jobs belong to whom the task was launched by."""
        return bool(self.source)

    async def user_of(self, execution: Execution) -> tuple[str, str]:
        """Return the cluster's user for an execution, and what it was found by; raises ConfigError (RefusedUser)."""
        found = self._named(execution)
        if not found:
            what = f"{self.source} {self.name!r}" if self.name else self.source
            hint = f"Let the platform set it, or change {_RUN_AS} on the connector."
            raise RefusedUser(f"Nothing says which user launched the task: its execution has no {what}", hint=hint)
        user = await self._mapped(found)
        self.check(user)
        return user, found

    def check(self, user: str) -> None:
        """Raise RefusedUser for whom no task may run as."""
        shown = repr(user[:_LONGEST_SHOWN])
        if not _USER.fullmatch(user):
            hint = f"Map what the platform has to users of the cluster: {_MAP}."
            raise RefusedUser(f"{shown} is no name of a user", hint=hint)
        if user not in self.allowed and (self.allowed or user in _POWERFUL):
            raise RefusedUser(f"No task may run as {user}", hint=f"{_ALLOW} on the connector names who may.")

    def check_not_own(self, user: str, own: str) -> None:
        """Raise RefusedUser for the user of the token that may act for others: that is root or SlurmUser."""
        if user == own and user not in self.allowed:
            what = f"No task may run as {user}, whose token acts for all users"
            raise RefusedUser(what, hint=f"{_ALLOW} on the connector names who may.")

    def _named(self, execution: Execution) -> str:
        if self.source == "identity":
            return execution.identity
        if self.source == "service-account":
            return execution.service_account
        values = {"label": execution.labels, "annotation": execution.annotations, "env": execution.environment}
        return values[self.source].get(self.name, "")

    async def _mapped(self, found: str) -> str:
        if self.map_file:
            users = dict(await asyncio.to_thread(_read_file, self.map_file))
        elif self.users:
            users = dict(self.users)
        else:
            return found
        if found not in users:
            shown = repr(found[:_LONGEST_SHOWN])
            raise RefusedUser(f"{shown} is no user of the cluster that is known here", hint=f"Add it to {_MAP}.")
        return users[found]


def read_users(run_as: str, users: str, allowed: str) -> UserPolicy:
    """Read ``FLYTE_SLURM_RUN_AS``, ``_RUN_AS_MAP`` and ``_RUN_AS_ALLOW``; raises ConfigError for a wrong form."""
    if not run_as:
        if users or allowed:
            raise ConfigError(f"{_MAP} and {_ALLOW} do nothing by themselves", hint=f"Set {_RUN_AS}.")
        return UserPolicy()
    source, colon, name = (part.strip() for part in run_as.partition(":"))
    if not ((source in _NAMED and name) or (source in _PLAIN and not colon)):
        hint = f"It takes {', '.join(f'{one}:NAME' for one in _NAMED)}, {' or '.join(_PLAIN)}."
        raise ConfigError(f"{_RUN_AS} is {run_as!r}", hint=hint)
    is_file = users.startswith("/") and "=" not in users
    return UserPolicy(
        source,
        name,
        users=() if is_file else _read_pairs(users, _MAP),
        map_file=users if is_file else "",
        allowed=frozenset(filter(None, (one.strip() for one in re.split(r"[,;\s]", allowed)))),
    )


def _read_file(path: str) -> tuple[tuple[str, str], ...]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(f"The map of users {path} cannot be read: {reason}", hint=f"Check {_MAP}.") from None
    # A file without an entry is a map, too: nobody is in it.
    return _read_pairs(text, path)


def _read_pairs(text: str, where: str) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for entry in filter(None, (part.strip() for line in lines for part in re.split("[;,]", line))):
        name, equals, user = (part.strip() for part in entry.rpartition("="))
        if not (name and equals and _USER.fullmatch(user)):
            hint = "It takes NAME=USER entries, one a line or separated by , or ;"
            raise ConfigError(f"{where} has {entry!r}", hint=hint)
        if found.setdefault(name, user) != user:
            raise ConfigError(f"{where} has {name!r} twice", hint="Keep one.")
    return tuple(found.items())


def audit(event: Literal["submitted", "found", "refused"], execution: Execution, **facts: object) -> None:
    """Write one line on a submission, as JSON: names from outside can forge no line."""
    attempt: Mapping[str, object] = {
        "org": execution.org,
        "project": execution.project,
        "domain": execution.domain,
        "run": execution.run,
        "action": execution.action,
        "attempt": execution.attempt,
    }
    known = {name: value for name, value in {**facts, **attempt}.items() if value not in ("", None)}
    _log.info("%s", json.dumps({"event": event, **known}, default=str))


def show_audit() -> None:
    """Have the audit seen where nobody set logging up for it: flyte's service shows warnings alone."""
    if _log.level == logging.NOTSET:
        _log.setLevel(logging.INFO)
    if not _log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        _log.addHandler(handler)
