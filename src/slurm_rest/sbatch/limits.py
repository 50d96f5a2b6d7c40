"""What REST, or one of its versions, cannot express: a table, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurm_rest.errors import SpecError, UnsupportedVersion

from .derived import Derived
from .dialect import dialect_of
from .options import ROW_OF

__all__ = ["FIRST_RELEASE", "VERSIONS", "refuse_inexpressible", "refuse_lacking", "refuse_told", "version_table"]

Values = Mapping[str, object]
Test = Callable[[object], bool]

# Those of slurm_rest.api, which stands above this.
VERSIONS = ("v0.0.40", "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45")
# The first of the releases known here that serves each.
FIRST_RELEASE = {version: "24.11" if place < 3 else "26.05" for place, version in enumerate(VERSIONS)}


def _from(first: str, last: str = VERSIONS[-1]) -> tuple[str, ...]:
    return VERSIONS[VERSIONS.index(first) : VERSIONS.index(last) + 1]


@dataclass(frozen=True, slots=True)
class _Limit:
    """An option, or some of its values, that only some ``versions`` know. ``what`` is how it is called."""

    name: str
    versions: tuple[str, ...]
    holds: Test = bool
    what: str = ""

    def knows(self, version: str) -> bool:
        """Return whether a version can express it; one that this release does not know can what the newest could."""
        return (version if version in VERSIONS else VERSIONS[-1]) in self.versions

    def in_words(self) -> str:
        """Return the versions: ``v0.0.41 to v0.0.43``, ``v0.0.44 and later``."""
        first, last = self.versions[0], self.versions[-1]
        if len(self.versions) != len(_from(first, last)):
            return " or ".join(f"{one} and later" if one == VERSIONS[-1] else one for one in self.versions)
        if last == VERSIONS[-1]:
            return f"{first} and later"
        return first if first == last else f"{first} to {last}"


def _has(*words: str) -> Test:
    return lambda value: any(word in str(value) for word in words)


def _given(value: object) -> bool:
    return value is not None


def _sorts(value: object) -> bool:
    return "sort" in _flags(value)


# slurmrestd drops an unknown field with a warning, and makes the job without what it was about.
_LIMITS = (
    _Limit("container_type", _from("v0.0.45")),
    _Limit("mem_update", _from("v0.0.45")),
    _Limit("consolidate_segments", _from("v0.0.44")),
    _Limit("spread_segments", _from("v0.0.44")),
    _Limit("requeue", _from("v0.0.44"), _has("expedite"), "--requeue=expedite"),
    _Limit("oom_kill_step", _from("v0.0.42"), _given),
    _Limit("segment", _from("v0.0.41"), _given),
    _Limit("stepmgr", _from("v0.0.41")),
    _Limit("exclusive", _from("v0.0.41"), _has("topo"), "--exclusive=topo"),
    # v0.0.40 takes the field and does nothing with it.
    _Limit("distribution", _from("v0.0.41")),
    # It ends slurmrestd 24.11.5.
    _Limit("distribution", _from("v0.0.42"), _has("pack"), "--distribution=pack or nopack"),
    _Limit("resv_ports", ("v0.0.41",), _given),
    _Limit("gres_flags", ("v0.0.40",), _has("sharing"), "--gres-flags=*-per-sharing"),
    _Limit("mem_bind", _from("v0.0.40", "v0.0.43"), _sorts, "--mem-bind=sort"),
)
# The field is missing in between; three options write it.
_CORES = ("v0.0.40", "v0.0.45")
_CORES_BY = (
    _Limit("cores_per_socket", _CORES),
    _Limit("extra_node_info", _CORES, what="--extra-node-info=S:C"),
    _Limit("hint", _CORES, what="--hint=memory_bound"),
)
_MOST_COMPONENTS = 128
# The only option of 24.11 that abbreviates one of 22.05, which therefore does not refuse it by itself.
_EXTRA_SINCE = "23.02"
# What makes no job with a script, over any transport, and what to do instead.
_NO_JOB = {
    "autocomplete": ("prints the options that begin with a word, and submits nothing", "See slurm-rest submit --help."),
    "external": ("is a job without a script", "Submit it with sbatch itself."),
    "test_only": ("submits nothing", "slurm-rest convert shows what would be sent."),
}
_NO_JOB_OVER_REST = {
    **_NO_JOB,
    "external": ("is a job without a script, which REST does not take", "Submit it with sbatch itself."),
    "test_only": (
        "submits nothing, and REST cannot ask when a job would start",
        "slurm-rest convert shows what would be sent.",
    ),
    "gid": ("is for root, and REST does not take it", "Use a token of a user with that group."),
    "uid": ("is for root, and REST does not take it", "Use a token of that user."),
}


def version_table() -> list[tuple[str, str]]:
    """Return what only some API versions can express, and which ones, for the documentation."""
    return sorted((_called(limit), limit.in_words()) for limit in (*_LIMITS, *_CORES_BY))


def _called(limit: _Limit) -> str:
    return limit.what or f"--{ROW_OF[limit.name].long}"


def _flags(value: object) -> frozenset[str]:
    return value[0] if isinstance(value, tuple) and isinstance(value[0], frozenset) else frozenset()


def refuse_inexpressible(values: Values, release: str, *, commands: bool = False) -> None:
    """Raise for options that the release does not have, or that REST takes in no version.

    With ``commands`` the job goes to sbatch itself, which takes what REST does not.
    """
    never = _NO_JOB if commands else _NO_JOB_OVER_REST
    for name, value in values.items():
        row = ROW_OF[name]
        if not row.exists_in(release):
            hint = f"Slurm {row.since} has it."
            raise SpecError(f"sbatch {release} has no option --{row.long}", field=name, hint=hint, kind="usage")
        if name in never and value not in (None, False):
            problem, hint = never[name]
            raise SpecError(f"--{row.long} {problem}", field=name, kind="inexpressible", hint=hint)
    _refuse_values(values, release)
    if not commands:
        _refuse_over_rest(values)


def _refuse_values(values: Values, release: str) -> None:
    """Raise for single values that the release does not take, or takes for another option."""
    if "extra" in values and release < _EXTRA_SINCE:
        message = f"sbatch {release} has no option --extra, and would take it for --extra-node-info"
        raise SpecError(message, field="extra", hint=f"Slurm {_EXTRA_SINCE} has it.", kind="usage")
    if values.get("exclusive") == "allocation" and not dialect_of(release).exclusive_allocation:
        message = f"sbatch {release} has no --exclusive=allocation"
        raise SpecError(message, field="exclusive", hint="Slurm 26.05 has it.", kind="value")
    if not dialect_of(release).sorts_memory and _flags(values.get("mem_bind")) & {"sort", "nosort"}:
        message = f"sbatch {release} has no --mem-bind=sort"
        raise SpecError(message, field="mem_bind", hint="Slurm 24.11 has it.", kind="value")


def _refuse_over_rest(values: Values) -> None:
    """Raise for single values that slurmrestd drops, or cannot check as sbatch does."""
    if "resv_ports" in values and values.get("stepmgr") is not True:
        hint = "Give --stepmgr as well; whether the cluster has it for all jobs cannot be seen from here."
        raise SpecError("--resv-ports needs --stepmgr", field="resv_ports", kind="conflict", hint=hint)
    if values.get("core_spec") == 0:
        hint = "slurmrestd takes 1 and more; over SSH it goes through."
        raise SpecError("--core-spec=0 cannot be said over REST", field="core_spec", kind="inexpressible", hint=hint)


def refuse_told(parts: Sequence[Derived]) -> None:
    """Raise for a het job that slurmrestd does not take, or of which it tells the job more than sbatch does.

    It takes 128 components, sbatch any number. Of a distribution it puts SLURM_DISTRIBUTION into the environment of the
    component, where sbatch says SLURM_DISTRIBUTION_HET_GROUP_0 and the like: in the script, srun would then take it for
    components that have no distribution (24.11, 26.05).
    """
    if len(parts) > _MOST_COMPONENTS:
        message = f"{len(parts)} components cannot be said over REST: it takes {_MOST_COMPONENTS} at most"
        raise SpecError(message, kind="inexpressible", hint="Submit it over SSH, or as several jobs.")
    if len(parts) > 1 and any("distribution" in part.fields for part in parts):
        message = (
            "--distribution in a heterogeneous job cannot be said over REST: srun would take it for all components"
        )
        hint = "Give it to srun in the script, or submit over SSH."
        raise SpecError(message, field="distribution", kind="inexpressible", hint=hint)


def refuse_lacking(parts: Sequence[tuple[Values, Values]], version: str) -> None:
    """Raise UnsupportedVersion where ``version`` cannot express something in the options or fields of a component.

    It names what is lacking and the versions that can express the whole job.
    """
    found = [limit for values, fields in parts for limit in _limits_of(values, fields)]
    lacking = [limit for limit in found if not limit.knows(version)] if version else []
    if not lacking:
        return
    supported = [one for one in VERSIONS if all(limit.knows(one) for limit in found)]
    if supported:
        hint = f"{'These' if len(supported) > 1 else 'This'} can: {', '.join(supported)}."
    else:
        each = dict.fromkeys(f"{_called(limit)} needs {limit.in_words()}" for limit in found)
        hint = f"No version can express all of it: {'; '.join(each)}."
    message = f"API version {version} cannot express {' and '.join(dict.fromkeys(map(_called, lacking)))}"
    raise UnsupportedVersion(message, version=version, supported=supported, hint=hint)


def _limits_of(values: Values, fields: Values) -> Iterator[_Limit]:
    for limit in _LIMITS:
        value = values.get(limit.name)
        # Not "in": 0 is a value, and equals False.
        if value is not None and value is not False and limit.holds(value):
            yield limit
    if "cores_per_socket" in fields:
        yield next(limit for limit in _CORES_BY if limit.name in values)
