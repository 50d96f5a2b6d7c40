"""The environment that sbatch would send with a job, after ``--export``, ``--get-user-env`` and ``--propagate``.

Where nothing says ``--export``, the caller's rule decides: ``submit`` is sbatch's own (everything of the submitter's),
``login`` sends nothing of it and lets the node run the user's login shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from slurm_rest.errors import SpecError

from .dialect import dialect_of

__all__ = ["Process", "Submitter", "render_export"]

# Makes the node run the user's login shell and merge its environment; variables that are sent win.
_LOGIN = "SLURM_GET_USER_ENV"
_SLURMS_OWN = re.compile(r"SLURM_|SPANK_|_SLURM_SPANK")
_SECRET = re.compile(r"SLURM_JWT|SLURM_REST_.*")
_LIMIT = "SLURM_RLIMIT_"
_GROUP = re.compile("_(?:PACK|HET)_GROUP_[0-9]+$")
_PLAIN_LAUNCHERS = ("OMPI_MCA_plm_slurm_args", "PRTE_MCA_plm_slurm_args")
_BOOTSTRAPS = {
    "HYDRA_BOOTSTRAP": "HYDRA_LAUNCHER_EXTRA_ARGS",
    "I_MPI_HYDRA_BOOTSTRAP": "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
}
_EXTERNAL = "--external-launcher"
# sbatch puts these into its environment only where they are not there yet.
_NOT_REPLACED = ("SLURM_CONTAINER", "SLURM_CONTAINER_ID", "SLURM_CONTAINER_TYPE", "SLURM_EXPORT_ENV")


@dataclass(frozen=True, slots=True)
class Submitter:
    """What a job takes from the process that submits it. ``limits`` are soft limits by name, as in SLURM_RLIMIT_*."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    directory: str = ""
    host: str = ""
    umask: int | None = None
    nice: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


class Process:
    """Sbatch's own process: what one component of a job leaves in its environment, the next ones find there.

    ``rule`` decides where nothing says ``--export``. ``emptied`` says that some component has ``--export-file``.
    """

    def __init__(self, submitter: Submitter, *, rule: str, release: str, emptied: bool) -> None:
        self.submitter = submitter
        self.rule = rule
        self.release = release
        # sbatch looks at how MPI launchers start when it has read all components.
        self.bootstraps = {} if emptied else submitter.environ
        self.shared: dict[str, str] = {}
        self.limits: dict[str, str] = {}

    @cached_property
    def given(self) -> dict[str, str]:
        """What of the submitter's environment may go along; most jobs need none of it, and os.environ is slow."""
        return {name: value for name, value in self.submitter.environ.items() if not _SECRET.fullmatch(name)}

    def share(self, variables: Mapping[str, str], export: str | None, *, file: bool) -> None:
        """Add what sbatch derives from a component's options and puts into its own environment."""
        for name, value in variables.items():
            if not name.startswith("SLURM_CONTAINER"):
                self.shared[name] = value
            self.shared.setdefault(name, value)
        if export is not None and export.upper() != "ALL" and not file:
            self.shared.setdefault("SLURM_EXPORT_ENV", export)

    def environment(
        self,
        values: Mapping[str, object],
        variables: Mapping[str, str],
        *,
        export_file: bytes | None,
        env: Mapping[str, str],
        first: bool,
    ) -> list[str]:
        """Return the ``K=V`` list of a component. ``env`` goes on top of everything and is never filtered.

        ``variables`` are what sbatch derives and sends whatever ``--export`` says. Only the ``first`` component is
        told about MPI launchers.
        """
        file = None if export_file is None else _read_export_file(export_file)
        own = self._own(values, emptied=file is not None) if self.rule == "submit" else {}
        if str(values.get("export") or "ALL").upper() not in ("ALL", "NIL"):
            # Taken from sbatch's environment at last, where those of earlier components still stand.
            own |= {name: value for name, value in self.limits.items() if name in own}
        kept = self._kept(values.get("export"), own, file)
        if values.get("get_user_env") not in (None, False):
            kept[_LOGIN] = "1"
        launchers = _launchers(self.bootstraps, kept) if first else {}
        whole = {**kept, **own, **_unless_given(variables, self.submitter.environ), **launchers, **env}
        return [f"{name}={value}" for name, value in whole.items()]

    def _kept(self, export: object, own: Mapping[str, str], file: Mapping[str, str] | None) -> dict[str, str]:
        """Return what ``--export`` leaves."""
        if file is None:
            self.limits |= {name: value for name, value in own.items() if name.startswith(_LIMIT)}
            if export is None and self.rule == "login":
                return {_LOGIN: "1", **self.shared}
            process = {**self.given, **self.limits, **self.shared, **own}
            process |= {name: self.given[name] for name in _NOT_REPLACED if name in self.given and name in self.shared}
        else:
            # sbatch empties its environment before it reads the file, what it has put there as well.
            process = dict(own)
            if export is None and dialect_of(self.release).export_file_needs_export:
                file = {}
        return _exported(process, "ALL" if export is None else str(export), file)

    def _own(self, values: Mapping[str, object], *, emptied: bool) -> dict[str, str]:
        """Return what sbatch says about itself and its limits."""
        submitter = self.submitter
        own = {"SLURM_SUBMIT_DIR": submitter.directory, "SLURM_SUBMIT_HOST": submitter.host}
        if submitter.umask is not None and (emptied or "SLURM_UMASK" not in self.given):
            own["SLURM_UMASK"] = f"{submitter.umask:04o}"
        if submitter.nice is not None:
            own["SLURM_PRIO_PROCESS"] = str(submitter.nice)
        asked = values.get("propagate")
        if emptied or values.get("get_user_env") not in (None, False):
            return own
        for name, limit in submitter.limits.items():
            if asked is None:
                own[f"{_LIMIT}{name}"] = str(limit)
            elif isinstance(asked, tuple) and name in asked:
                # The letter tells that the user asked for it.
                own[f"{_LIMIT}{name}"] = f"U{limit}"
        return own


def _unless_given(variables: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Leave out what sbatch does not replace: how memory is bound, where the submitter's environment says so."""
    if not any(name.startswith("SLURM_MEM_BIND") for name in variables):
        # Nearly always; and each look into os.environ encodes the name anew.
        return dict(variables)
    unset = {"SLURM_MEM_BIND_VERBOSE", "SLURM_MEM_BIND_SORT"} & given.keys()
    unset |= {"SLURM_MEM_BIND"} if "SBATCH_MEM_BIND" in given else set()
    if not unset:
        return dict(variables)
    # Those of a het job's components as well.
    return {name: value for name, value in variables.items() if _GROUP.sub("", name) not in unset}


def _launchers(given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """Return what sbatch tells the MPI launchers, whatever ``--export`` says; what is sent already stays.

    Whether a launcher starts through Slurm, sbatch takes from its own environment, even where that is not sent.
    """
    told = dict.fromkeys(_PLAIN_LAUNCHERS, _EXTERNAL)
    for name, more in _BOOTSTRAPS.items():
        if given.get(name, "slurm") == "slurm":
            told.update({name: "slurm", more: _EXTERNAL})
    return {name: value for name, value in told.items() if name not in kept}


def _exported(process: Mapping[str, str], export: str, file: Mapping[str, str] | None) -> dict[str, str]:
    """Apply ``--export`` to sbatch's environment, and to what was read from a file in its place."""
    word = export.upper()
    if word == "ALL":
        return {**(file or {}), **process}
    slurms = {name: value for name, value in process.items() if _SLURMS_OWN.match(name)}
    if file is None:
        slurms.setdefault("SLURM_EXPORT_ENV", export)
    if word in ("NONE", "NIL"):
        return {**slurms, **({_LOGIN: "1"} if word == "NONE" else {})}
    kept = dict(file or {})
    for item in split_export(export):
        name, equals, value = item.partition("=")
        if equals:
            kept[name] = value
        elif name.upper() == "ALL":
            kept.update(process)
        elif name in process:
            kept[name] = process[name]
    return {**kept, **slurms, _LOGIN: "1"}


def split_export(text: str) -> list[str]:
    """Split at commas outside of quotes. Quotes around a whole item go, those around a value alone stay."""
    items, item, quotes = [], "", ""
    for character in f"{text},":
        if character in "'\"" and quotes in ("", character, "both"):
            quotes = "" if quotes else character
        elif character == "," and not quotes:
            items.append(item[1:-1] if len(item) > 1 and item[0] in "'\"" and item[-1] == item[0] else item)
            item = ""
            continue
        item += character
    return [one for one in [*items, item.removesuffix(",")] if one]


def _read_export_file(raw: bytes) -> dict[str, str]:
    """Read NUL-separated ``K=V``."""
    found = {}
    for item in raw.decode("utf-8", "surrogateescape").split("\0"):
        name, equals, value = item.partition("=")
        if item and not equals:
            hint = "It takes NAME=VALUE, each ended by a NUL character, as env -0 prints them."
            message = f"--export-file: an entry without =: {name[:40]!r}"
            raise SpecError(message, field="export_file", kind="value", hint=hint)
        if item:
            found[name] = value
    return found


def render_export(base: str, env: Mapping[str, str]) -> str:
    """Return an ``--export`` that adds ``env`` to ``base``; SpecError for a value that no quoting can hold."""
    items: Sequence[str] = [base] if base else []
    for name, value in env.items():
        quote = next((one for one in ("", "'", '"') if not _needs(value, one)), None)
        if quote is None:
            message = f"The value of {name} has both kinds of quotes, which --export cannot hold"
            raise SpecError(message, field="env", hint="Pass it with --export-file.")
        items = [*items, f"{name}={quote}{value}{quote}"]
    return ",".join(items)


def _needs(value: str, quote: str) -> bool:
    return any(character in value for character in ",'\"") if not quote else quote in value
