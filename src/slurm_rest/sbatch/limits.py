"""What REST, or one of its versions, cannot express: a table, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slurm_rest.errors import SpecError, UnsupportedVersion

from .options import ROW_OF

__all__ = ["refuse_cores", "refuse_inexpressible", "version_table"]

Test = Callable[[object], bool]


def _rank(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.lstrip("v").split("."))


@dataclass(frozen=True, slots=True)
class _Limit:
    """An option, or some of its values, that only versions from ``first`` to ``last`` know (both included)."""

    name: str
    first: str = "v0.0.40"
    last: str = ""
    holds: Test = bool
    what: str = ""

    def knows(self, version: str) -> bool:
        """Return whether a version can express it; a newer one than this release knows can what the newest could."""
        return _rank(self.first) <= _rank(version) and (not self.last or _rank(version) <= _rank(self.last))

    @property
    def versions(self) -> str:
        """The versions that can, in words."""
        if self.first == self.last:
            return self.first
        return f"{self.first} to {self.last}" if self.last else f"{self.first} and later"


def _has(*words: str) -> Test:
    return lambda value: any(word in str(value) for word in words)


# slurmrestd drops an unknown field with a warning, and makes the job without what it was about.
_LIMITS = (
    _Limit("container_type", "v0.0.45"),
    _Limit("mem_update", "v0.0.45"),
    _Limit("consolidate_segments", "v0.0.44"),
    _Limit("spread_segments", "v0.0.44"),
    _Limit("requeue", "v0.0.44", holds=_has("expedite"), what="--requeue=expedite"),
    _Limit("oom_kill_step", "v0.0.42", holds=lambda value: value is not None),
    _Limit("segment", "v0.0.41", holds=lambda value: value is not None),
    _Limit("stepmgr", "v0.0.41"),
    _Limit("exclusive", "v0.0.41", holds=_has("topo"), what="--exclusive=topo"),
    # v0.0.40 takes the field and does nothing with it.
    _Limit("distribution", "v0.0.41"),
    # It ends slurmrestd 24.11.5.
    _Limit("distribution", "v0.0.42", holds=_has("pack"), what="--distribution=pack or nopack"),
    _Limit("resv_ports", "v0.0.41", "v0.0.41", holds=lambda value: value is not None),
    _Limit("gres_flags", "v0.0.40", "v0.0.40", holds=_has("sharing"), what="--gres-flags=*-per-sharing"),
    _Limit("mem_bind", "v0.0.40", "v0.0.43", holds=lambda value: "sort" in _flags(value), what="--mem-bind=sort"),
)
# The field cores_per_socket is missing in between.
_CORES_KNOWN = (_Limit("cores_per_socket", "v0.0.40", "v0.0.40"), _Limit("cores_per_socket", "v0.0.45"))
# What makes no job with a script, over any transport.
_NO_JOB = {
    "autocomplete": "prints the options that begin with a word, and submits nothing",
    "external": "is a job without a script",
    "test_only": "submits nothing; see slurm-rest convert",
}
_NEVER_OVER_REST = {
    "external": "is a job without a script, which REST does not take",
    "test_only": "submits nothing, and REST cannot ask when a job would start; see slurm-rest convert",
    "gid": "is for root, and REST does not take it",
    "uid": "is for root; use a token of that user instead",
}


def version_table() -> list[tuple[str, str]]:
    """Return what only some API versions can express, and which ones, for the documentation."""
    found = [(limit.what or f"--{ROW_OF[limit.name].long}", limit.versions) for limit in _LIMITS]
    cores = "--cores-per-socket, the C of --extra-node-info=S:C, --hint=memory_bound"
    return sorted([*found, (cores, " or ".join(limit.versions for limit in _CORES_KNOWN))])


def _flags(value: object) -> frozenset[str]:
    return value[0] if isinstance(value, tuple) and isinstance(value[0], frozenset) else frozenset()


def refuse_inexpressible(values: Mapping[str, object], version: str, release: str, *, commands: bool = False) -> None:
    """Raise for options that the release does not have, that REST never takes, or that this version does not know.

    With ``commands`` the job goes to sbatch itself, which takes what REST does not.
    """
    never = _NO_JOB if commands else {**_NO_JOB, **_NEVER_OVER_REST}
    for name, value in values.items():
        row = ROW_OF[name]
        if not row.exists_in(release):
            hint = f"Slurm {row.since} has it."
            raise SpecError(f"sbatch {release} has no option --{row.long}", field=name, hint=hint, kind="usage")
        if name in never and value not in (None, False):
            raise SpecError(f"--{row.long} {never[name]}", field=name, kind="inexpressible")
    _refuse_values(values, release)
    if not commands:
        _refuse_over_rest(values)
    if not version:
        return
    for limit in _LIMITS:
        value = values.get(limit.name)
        # Not "in": 0 is a value, and equals False.
        if value is not None and value is not False and limit.holds(value) and not limit.knows(version):
            raise _unsupported(limit.what or f"--{ROW_OF[limit.name].long}", version, limit.versions)


def _refuse_values(values: Mapping[str, object], release: str) -> None:
    """Raise for single values that the release does not take."""
    if values.get("exclusive") == "allocation" and release < "26.05":
        message = f"sbatch {release} has no --exclusive=allocation"
        raise SpecError(message, field="exclusive", hint="Slurm 26.05 has it.", kind="value")
    if release >= "26.05" and _flags(values.get("mem_bind")) & {"sort", "nosort"}:
        message = f"sbatch {release} has no --mem-bind=sort"
        raise SpecError(message, field="mem_bind", hint="Slurm 24.11 has it.", kind="value")


def _refuse_over_rest(values: Mapping[str, object]) -> None:
    """Raise for single values that slurmrestd drops, or cannot check as sbatch does."""
    if "resv_ports" in values and values.get("stepmgr") is not True:
        hint = "Give --stepmgr as well; whether the cluster has it for all jobs cannot be seen from here."
        raise SpecError("--resv-ports needs --stepmgr", field="resv_ports", kind="conflict", hint=hint)
    if values.get("core_spec") == 0:
        raise SpecError("--core-spec=0 cannot be said over REST", field="core_spec", kind="inexpressible")


def refuse_cores(values: Mapping[str, object], fields: Mapping[str, object], version: str) -> None:
    """Raise for the cores of a socket, whichever option asks for them, where the version has no field for it."""
    if "cores_per_socket" in fields and version and not any(limit.knows(version) for limit in _CORES_KNOWN):
        name = next(one for one in ("cores_per_socket", "extra_node_info", "hint") if one in values)
        versions = " or ".join(limit.versions for limit in _CORES_KNOWN)
        raise _unsupported(f"the cores of a socket (--{ROW_OF[name].long})", version, versions)


def _unsupported(what: str, version: str, versions: str) -> UnsupportedVersion:
    message = f"API version {version} cannot express {what}"
    return UnsupportedVersion(message, version=version, supported=(versions,), hint=f"This can: {versions}.")
