"""Turns a JobSpec and the settings into a submission that is ready to send. Reads nothing but what it is given."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .config import Settings
from .errors import ConfigError, SpecError
from .keys import add_key, new_key
from .sbatch import JobSpec, check_script, submit_body
from .transport.base import PreparedJob

__all__ = ["Surroundings", "prepare"]

# Makes the node run the user's login shell and merge its environment (what sbatch sends for --export=NONE).
_LOGIN_ENVIRONMENT = "SLURM_GET_USER_ENV=1"
_SECRETS = re.compile(r"SLURM_JWT|SLURM_REST_.*")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a submission takes from the process that makes it, used only where the settings say ``submit``."""

    directory: str
    host: str
    umask: int

    @classmethod
    def here(cls) -> Surroundings:
        """Read them from this process."""
        umask = os.umask(0o077)
        os.umask(umask)
        return cls(os.getcwd(), os.uname().nodename, umask)


def prepare(
    spec: JobSpec, settings: Settings, *, user: str, command: str = "", here: Surroundings | None = None
) -> PreparedJob:
    """Build the body and the key of a submission.

    The job's directory is ``chdir``, else the workdir setting, else the current one under the ``submit`` rule. The
    environment is the job user's login environment, or under ``submit`` this process's. ``spec.env`` goes on top.
    """
    check_script(spec.script)
    key = new_key()
    body = submit_body(
        spec.replace(comment=_comment(spec.comment or "", key), chdir=None),
        directory=_directory(spec, settings, user, here),
        environment=_environment(settings, here),
        command=command,
    )
    return PreparedJob(body, key, user=user)


def _comment(text: str, key: str) -> str:
    try:
        return add_key(text, key)
    except ValueError as error:
        hint = "The rest holds the key that finds the job again when an answer is lost."
        raise SpecError(f"comment: {error}", field="comment", hint=hint) from None


def _directory(spec: JobSpec, settings: Settings, user: str, here: Surroundings | None) -> str:
    chosen = os.fspath(spec.chdir) if spec.chdir is not None else ""
    if here is not None:
        return os.path.join(here.directory, chosen) if chosen else _setting_directory(settings, user) or here.directory
    if chosen:
        return chosen
    directory = _setting_directory(settings, user)
    if not directory:
        raise ConfigError(
            "The job has no directory on the cluster",
            hint="Pass chdir=, or set SLURM_REST_WORKDIR (for instance /home/{user}), or on a host of the cluster"
            " SLURM_REST_ENVIRONMENT=submit.",
        )
    return directory


def _setting_directory(settings: Settings, user: str) -> str:
    """Return the workdir setting with ``{user}`` filled in, empty when there is none."""
    workdir = settings.workdir or ""
    if "{user}" in workdir and not user:
        raise ConfigError("SLURM_REST_WORKDIR needs the user's name", hint="Set SLURM_REST_USER.")
    return workdir.replace("{user}", user)


def _environment(settings: Settings, here: Surroundings | None) -> list[str]:
    if here is None:
        return [_LOGIN_ENVIRONMENT]
    own: Mapping[str, str] = {
        **{name: value for name, value in settings.environ.items() if not _SECRETS.fullmatch(name)},
        "SLURM_SUBMIT_DIR": here.directory,
        "SLURM_SUBMIT_HOST": here.host,
        "SLURM_UMASK": f"{here.umask:04o}",
    }
    return [f"{name}={value}" for name, value in own.items()]
