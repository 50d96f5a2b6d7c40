"""The environment that sbatch would send with a job: ``--export``, ``--export-file``, ``--get-user-env``, ``--propagate``.

Where nothing says ``--export``, the caller's rule decides: ``submit`` is sbatch's own (everything of the submitter's),
``login`` sends nothing of it and lets the node run the user's login shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slurm_rest.errors import SpecError

__all__ = ["Submitter", "job_environment"]

# Makes the node run the user's login shell and merge its environment; variables that are sent win.
_LOGIN = "SLURM_GET_USER_ENV"
_SLURMS_OWN = re.compile(r"SLURM_|SPANK_|_SLURM_SPANK")
_SECRET = re.compile(r"SLURM_JWT|SLURM_REST_.*")
_LIMIT = "SLURM_RLIMIT_"
# What sbatch tells the MPI launchers, whatever --export says.
_LAUNCHERS = {
    "OMPI_MCA_plm_slurm_args": "--external-launcher",
    "PRTE_MCA_plm_slurm_args": "--external-launcher",
    "HYDRA_BOOTSTRAP": "slurm",
    "HYDRA_LAUNCHER_EXTRA_ARGS": "--external-launcher",
    "I_MPI_HYDRA_BOOTSTRAP": "slurm",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "--external-launcher",
}


@dataclass(frozen=True, slots=True)
class Submitter:
    """What a job takes from the process that submits it. ``limits`` are soft limits by name, as in SLURM_RLIMIT_*."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    directory: str = ""
    host: str = ""
    umask: int | None = None
    nice: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


def job_environment(
    values: Mapping[str, object],
    derived: Mapping[str, str],
    submitter: Submitter,
    *,
    rule: str,
    export_file: bytes | None = None,
    env: Mapping[str, str] | None = None,
    component: int = 0,
) -> list[str]:
    """Return the ``K=V`` list of the job. ``env`` goes on top of everything and is never filtered.

    Only the first ``component`` of a het job is told about MPI launchers.
    """
    own = {**derived, **_own(values, submitter)} if rule == "submit" else dict(derived)
    export = values.get("export")
    base: Mapping[str, str] = submitter.environ
    if export_file is not None:
        base = _read_export_file(export_file)
    if export is None and rule == "login" and export_file is None:
        kept = {_LOGIN: "1"}
    else:
        kept = _exported(base, str(export) if export is not None else "ALL")
    if values.get("get_user_env") not in (None, False):
        kept[_LOGIN] = "1"
        own = {name: value for name, value in own.items() if not name.startswith(_LIMIT)}
    if "SLURM_UMASK" in kept:
        own.pop("SLURM_UMASK", None)
    whole = {**kept, **own, **({} if component else _LAUNCHERS), **(env or {})}
    return [f"{name}={value}" for name, value in whole.items()]


def _own(values: Mapping[str, object], submitter: Submitter) -> dict[str, str]:
    own = {"SLURM_SUBMIT_DIR": submitter.directory, "SLURM_SUBMIT_HOST": submitter.host}
    if submitter.umask is not None:
        own["SLURM_UMASK"] = f"{submitter.umask:04o}"
    if submitter.nice is not None:
        own["SLURM_PRIO_PROCESS"] = str(submitter.nice)
    asked = values.get("propagate")
    for name, limit in submitter.limits.items():
        if asked is None:
            own[f"{_LIMIT}{name}"] = str(limit)
        elif isinstance(asked, tuple) and name in asked:
            # The letter tells that the user asked for it.
            own[f"{_LIMIT}{name}"] = f"U{limit}"
    return own


def _exported(base: Mapping[str, str], export: str) -> dict[str, str]:
    """Apply ``--export`` to the submitter's environment."""
    word = export.upper()
    visible = {name: value for name, value in base.items() if not _SECRET.fullmatch(name)}
    if word == "ALL":
        return visible
    kept = {name: value for name, value in visible.items() if _SLURMS_OWN.match(name)}
    if word == "NIL":
        return {**kept, "SLURM_EXPORT_ENV": export}
    if word == "NONE":
        return {**kept, "SLURM_EXPORT_ENV": export, _LOGIN: "1"}
    named: dict[str, str] = {}
    for item in split_export(export):
        name, equals, value = item.partition("=")
        if not equals and name.upper() == "ALL":
            kept = {**visible, **kept}
        elif equals:
            named[name] = value
        elif name in visible:
            named[name] = visible[name]
    everything = any(item.upper() == "ALL" for item in split_export(export))
    login = {} if everything else {_LOGIN: "1"}
    return {**kept, **named, "SLURM_EXPORT_ENV": export, **login}


def split_export(text: str) -> list[str]:
    """Split at commas outside of quotes; quotes group and are dropped."""
    items, item, quote = [], "", ""
    for character in text:
        if quote:
            if character == quote:
                quote = ""
            else:
                item += character
        elif character in "'\"":
            quote = character
        elif character == ",":
            items.append(item)
            item = ""
        else:
            item += character
    return [one for one in [*items, item] if one]


def _read_export_file(raw: bytes) -> dict[str, str]:
    """Read NUL-separated ``K=V``."""
    found = {}
    for item in raw.decode("utf-8", "surrogateescape").split("\0"):
        name, equals, value = item.partition("=")
        if item and not equals:
            raise SpecError(f"--export-file: an entry without =: {name[:40]!r}", field="export_file", kind="value")
        if item:
            found[name] = value
    return found


def render_export(base: str, env: Mapping[str, str]) -> str:
    """Return an ``--export`` that adds ``env`` to ``base``; SpecError for a value that no quoting can hold."""
    items: Sequence[str] = [base] if base else []
    for name, value in env.items():
        quote = next((one for one in ("", "'", '"') if not _needs(value, one)), None)
        if quote is None:
            raise SpecError(f"The value of {name} has both kinds of quotes, which --export cannot hold", field="env")
        items = [*items, f"{name}={quote}{value}{quote}"]
    return ",".join(items)


def _needs(value: str, quote: str) -> bool:
    return any(character in value for character in ",'\"") if not quote else quote in value
