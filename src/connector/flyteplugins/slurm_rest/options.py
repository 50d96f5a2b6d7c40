"""Which of sbatch's and srun's options a task may set, and what they are called in a JobSpec. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from slurm_rest.sbatch import JobSpec
from slurm_rest.sbatch.options import ROW_OF

__all__ = ["FIELD_OPTIONS", "check_env", "check_modules", "check_srun_args", "job_options", "whole_number"]

# The fields of the configuration that are options of sbatch, and the JobSpec fields that they fill.
FIELD_OPTIONS: Mapping[str, str] = {
    "partition": "partition",
    "nodes": "nodes",
    "ntasks": "ntasks",
    "cpus_per_task": "cpus_per_task",
    "gres": "gres",
    "gpus_per_node": "gpus_per_node",
    "mem": "mem",
    "time_limit": "time",
    "account": "account",
    "qos": "qos",
    "reservation": "reservation",
    "constraint": "constraint",
}
# What the connector sets itself, and what would take the job out of its sight or make it somebody else's.
# fmt: off
_RESERVED = frozenset(
    (
        "job-name", "output", "error", "input", "open-mode", "chdir", "wrap", "uid", "gid", "comment",
        "container", "container-id", "container-type", "cluster", "clusters", "test-only", "wait",
        "export-file",
    )
)
# fmt: on
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONG = {row.long: name for name, row in ROW_OF.items()}
# Options of srun about how the step is placed and bound. None of them writes a file, runs another command, or chooses
# another job or user.
# fmt: off
_SRUN = frozenset(
    (
        "accel-bind", "container-env", "container-mount-home", "container-mounts", "container-name",
        "container-readonly", "container-remap-root", "container-workdir", "container-writable", "core-spec",
        "cores-per-socket", "cpu-bind", "cpu-freq", "cpus-per-gpu", "cpus-per-task", "disable-status",
        "distribution", "exact", "exclusive", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
        "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "interactive", "kill-on-bad-exit",
        "label", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu", "mpi", "network", "no-container-mount-home",
        "no-container-remap-root", "no-kill", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
        "ntasks-per-socket", "overcommit", "overlap", "preserve-env", "profile", "propagate", "quiet",
        "resv-ports", "signal", "slurmd-debug", "sockets-per-node", "switches", "threads-per-core", "time",
        "tres-bind", "tres-per-task", "unbuffered", "verbose", "wait",
    )
)
# fmt: on


def whole_number(value: object) -> object:
    """Return an int for a float without a fraction: a protobuf Struct has no other numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def job_options(fields: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a job as JobSpec fields; ``extra`` has sbatch's long names and wins.

    Raises ValueError (SpecError) for an option that does not exist, abbreviated names included, one that is reserved,
    and a value of the wrong form.
    """
    first: dict[str, object] = {
        FIELD_OPTIONS[name]: whole_number(value) for name, value in fields.items() if value is not None
    }
    winning: dict[str, object] = {}
    for given, value in extra.items():
        name = _field_of(str(given))
        if name:
            # In JSON, and in flyteplugins-slurm, a flag without a value is True or null.
            winning[name] = True if value is None else whole_number(value)
    spec = JobSpec(**first)  # type: ignore[arg-type]  # checked there, with words for each option
    return spec.replace(**winning).options()


def _field_of(given: str) -> str:
    """Return the JobSpec field of an option, empty for one that does nothing for a job."""
    if not _NAME.fullmatch(given):
        raise ValueError(f"Invalid sbatch option name {given!r}: write it as sbatch's long option without the dashes")
    if given in _RESERVED:
        raise ValueError(
            f"The sbatch option {given!r} is set by the connector. Reserved: {', '.join(sorted(_RESERVED))}"
        )
    if given not in _LONG:
        near = difflib.get_close_matches(given, list(_LONG), 1)
        advice = f"did you mean {near[0]!r}?" if near else "write long options in full"
        raise ValueError(f"sbatch has no option {given!r}: {advice}")
    return "" if ROW_OF[_LONG[given]].inert else _LONG[given]


def check_srun_args(args: Iterable[str]) -> None:
    """Refuse what is no option of srun's from the list of those that do no harm; raises ValueError.

    An option and its value are one word, ``--mpi=pmix``: then no word can be taken for a command.
    """
    for word in args:
        name, _, value = str(word).removeprefix("--").partition("=")
        if not str(word).startswith("--") or name not in _SRUN:
            raise ValueError(
                f"srun_args may not have {str(word)!r}: it takes whole long options in the form --name=value, from"
                f" {', '.join(sorted(_SRUN))}"
            )
        if "\n" in value or "\0" in value:
            raise ValueError(f"srun_args: the value of --{name} has a line end")


def check_modules(modules: Iterable[str]) -> None:
    """Refuse what is no name of an environment module; raises ValueError."""
    for name in modules:
        if not isinstance(name, str) or not name or name.startswith("-") or any(char.isspace() for char in name):
            raise ValueError(f"A module name may not be empty, start with a dash or contain white space: {name!r}")


def check_env(env: Mapping[str, object]) -> None:
    """Refuse names that no shell could use; raises ValueError. Values are not shown: they may be secret."""
    for name in env:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise ValueError(f"Invalid environment variable name: {name!r}")
