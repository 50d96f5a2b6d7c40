"""Which of sbatch's and srun's options a task may set, and what they are called in a JobSpec. Pure."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from slurm_rest.sbatch import JobSpec
from slurm_rest.sbatch.options import ROW_OF

# fmt: off
__all__ = [
    "FIELD_OPTIONS", "check_carried", "check_env", "check_host_files", "check_mapping", "check_modules",
    "check_srun_args", "check_texts", "check_variable", "env_text", "is_text", "job_options", "json_value", "shown",
    "srun_words", "whole_count", "whole_number", "whole_port",
]
# fmt: on

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
        "job-name", "output", "error", "chdir", "wrap", "uid", "gid", "container", "container-id", "container-type",
        "cluster", "clusters", "test-only", "wait", "export-file", "bbf", "nodefile",
    )
)
# fmt: on
# Options with which sbatch reads a file of the host where it runs: here that is the connector's, with its keys.
_LOCAL_FILES = ("bbf", "export_file", "nodefile")
_HOSTS = ("nodelist", "exclude")
# Options that make a job another user's.
_OTHERS = ("uid", "gid")
_NAME = re.compile(r"[a-z][a-z0-9-]*")
# Linux starts no program with a longer NAME=VALUE (MAX_ARG_STRLEN, its end included).
_LONGEST = 128 * 1024 - 1
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHORT = re.compile(r"-(?P<letter>[A-Za-z])(?P<number>[0-9]*)")
_LONG = {row.long: name for name, row in ROW_OF.items()}
# Larger whole numbers change on their way through a protobuf Struct, which has floats alone.
_MOST_WHOLE = 2**53
_LONGEST_SHOWN = 200
# Options of srun about how the step is placed and bound. None of them writes a file, runs another command, or chooses
# another job or user.
# fmt: off
_SRUN = frozenset(
    (
        "accel-bind", "acctg-freq", "container-entrypoint", "container-entrypoint-log", "container-env",
        "container-mount-home", "container-mounts", "container-name", "container-readonly", "container-remap-root",
        "container-workdir", "container-writable",
        "core-spec", "cores-per-socket", "cpu-bind", "cpu-freq", "cpus-per-gpu", "cpus-per-task", "disable-status",
        "distribution", "exact", "exclusive", "export", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
        "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "interactive", "kill-on-bad-exit",
        "label", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu", "mpi", "network", "no-container-entrypoint",
        "no-container-mount-home", "no-container-remap-root", "no-kill", "ntasks-per-core", "ntasks-per-gpu",
        "ntasks-per-node", "ntasks-per-socket", "overcommit", "overlap", "preserve-env", "profile", "propagate",
        "quiet", "resv-ports", "signal", "slurmd-debug", "sockets-per-node", "switches", "threads-per-core", "time",
        "tres-bind", "tres-per-task", "unbuffered", "verbose", "wait",
    )
)
# Those of them without a value, or with one that need not be there.
_SRUN_FLAGS = frozenset(
    (
        "container-entrypoint", "container-entrypoint-log", "container-mount-home", "container-readonly",
        "container-remap-root", "container-writable", "disable-status", "exact", "exclusive", "interactive",
        "kill-on-bad-exit", "label",
        "no-container-entrypoint", "no-container-mount-home", "no-container-remap-root", "no-kill", "overcommit",
        "overlap", "preserve-env", "propagate", "quiet", "resv-ports", "unbuffered", "verbose",
    )
)
# Their short forms, which flyteplugins-slurm hands on as they are.
_SRUN_SHORT = {
    "E": "preserve-env", "G": "gpus", "K": "kill-on-bad-exit", "O": "overcommit", "Q": "quiet", "S": "core-spec",
    "W": "wait", "X": "disable-status", "c": "cpus-per-task", "k": "no-kill", "l": "label", "m": "distribution",
    "t": "time", "u": "unbuffered", "v": "verbose",
}
# fmt: on


def shown(value: object) -> str:
    """Return a value as an error shows it: what fills a page hides the error."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def is_text(value: object) -> bool:
    """Tell whether a value is a text that flyte can carry: half of a character is none."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def whole_number(value: object) -> object:
    """Return an int for a float without a fraction: a protobuf Struct has no other numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def whole_count(value: object) -> int:
    """Return a number from 0 on, 0 for none; raises ValueError for anything else."""
    number = whole_number(value or 0)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{shown(value)} is no number from 0 on")
    return number


def whole_port(value: object) -> int | None:
    """Return the number of a port, also of its text, None for none; raises ValueError for anything else."""
    number = whole_number(value)
    if number in (None, "", 0):
        return None
    if isinstance(number, bool) or not str(number).isdecimal() or not 0 < int(str(number)) < 65536:
        raise ValueError(f"port is {shown(value)}: it is a number from 1 to 65535")
    return int(str(number))


def job_options(fields: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a job as JobSpec fields; ``extra`` has sbatch's long names and wins.

    Raises ValueError (SpecError) for an option that does not exist, abbreviated names included, one that is reserved,
    and a value of the wrong form.
    """
    first: dict[str, object] = {
        # A field of a newer flyteplugins-slurm has an option's name, too.
        FIELD_OPTIONS.get(name) or _field_of(name.replace("_", "-")): whole_number(value)
        for name, value in fields.items()
        if value is not None
    }
    first.pop("", None)
    winning: dict[str, object] = {}
    for given, value in extra.items():
        name = _field_of(str(given))
        if name:
            # In JSON, and in flyteplugins-slurm, a flag without a value is True or null.
            winning[name] = _bare(name) if value is None or value is True else whole_number(value)
    spec = JobSpec(**first)  # type: ignore[arg-type]  # checked there, with words for each option
    return spec.replace(**winning).options()


def _bare(name: str) -> object:
    """Return what an option without a value means: of some it is a number, as 100 is for --nice."""
    value = ROW_OF[name].bare
    return value if isinstance(value, int) else True


def _field_of(given: str) -> str:
    """Return the JobSpec field of an option, empty for one that does nothing for a job."""
    if not _NAME.fullmatch(given):
        meant = given.strip("- ").lower().replace("_", "-")
        advice = f"did you mean {meant!r}?" if meant in _LONG else "write it as sbatch's long option without the dashes"
        raise ValueError(f"Invalid sbatch option name {shown(given)}: {advice}")
    if given in _RESERVED:
        raise ValueError(
            f"The sbatch option {given!r} is set by the connector. Reserved: {', '.join(sorted(_RESERVED))}"
        )
    if given not in _LONG:
        near = difflib.get_close_matches(given, list(_LONG), 1)
        advice = f"did you mean {near[0]!r}?" if near else "write long options in full"
        raise ValueError(f"sbatch has no option {shown(given)}: {advice}")
    return "" if ROW_OF[_LONG[given]].inert else _LONG[given]


def json_value(value: object) -> object:
    """Return the value of an option as JSON and a protobuf Struct can hold it: a time as sbatch writes it."""
    if isinstance(value, timedelta):
        days, rest = divmod(math.ceil(value.total_seconds()), 86400)
        return f"{days}-{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    if isinstance(value, datetime):
        # sbatch reads a time without a zone as the cluster's own.
        return int(value.timestamp()) if value.tzinfo else value.isoformat(timespec="seconds")
    if hasattr(value, "__fspath__"):
        return str(value)
    if isinstance(value, (set, frozenset)):
        # In another process they would come in another order, and make another version of a cache.
        return sorted(value, key=str)
    if isinstance(value, int) and abs(value) > _MOST_WHOLE:
        return str(value)
    return [*value] if isinstance(value, tuple) else value


def check_carried(fields: Mapping[str, object], extra: Mapping[str, object]) -> None:
    """Refuse values of options that do not reach the connector as they are, by the options' names.

    Raises ValueError (SpecError).
    """
    for name, value in {**fields, **extra}.items():
        plain = json_value(value)
        for item in plain if isinstance(plain, list) else [plain]:
            if isinstance(item, str) and not is_text(item):
                raise ValueError(f"{name} is {shown(value)}, which is not UTF-8 text: flyte carries no other")
            if item is not None and not isinstance(item, (str, int, float)):
                raise ValueError(f"{name} is of type {type(value).__name__}: it takes a text, a number or a list")
    # A tuple with a meaning comes as a list.
    job_options(*({name: json_value(value) for name, value in one.items()} for one in (fields, extra)))


def check_texts(name: str, value: object) -> None:
    """Refuse what is no list of texts: one text alone would be taken letter by letter; raises ValueError."""
    # What can be read once would be empty afterwards, and a set has no order.
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        advice = f", such as [{shown(value)}]" if isinstance(value, str) else ""
        raise ValueError(f"{name} is {shown(value)}: it takes a list{advice}")
    for item in value:
        if not is_text(item) or not item or not set("\n\0").isdisjoint(item):
            raise ValueError(f"{name} has {shown(item)}: it takes texts of one line")


def check_mapping(name: str, value: object) -> None:
    """Refuse what has no names and values; raises ValueError. What it is stays unsaid: it may be secret."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is a {type(value).__name__}: it takes a mapping, such as {{'NAME': 'value'}}")


def srun_words(args: Iterable[str]) -> list[str]:
    """Return srun's words with long names, each value in one word with its option: ``--mpi=pmix`` for ``--mpi pmix``.

    Only behind an option that always has a value, so that no word can be taken for a command. ``-c4`` and
    ``-c 4`` are ``--cpus-per-task=4``; the short form of an option that is not in the list stays as it is.
    """
    found: list[str] = []
    for word in map(_long_word, args):
        before = found[-1] if found else ""
        takes = before.removeprefix("--") in _SRUN - _SRUN_FLAGS and before.startswith("--")
        if takes and not word.startswith("-"):
            found[-1] = f"{before}={word}"
        else:
            found.append(word)
    return found


def _long_word(word: str) -> str:
    found = _SHORT.fullmatch(word)
    name = _SRUN_SHORT.get(found["letter"], "") if found else ""
    if not found or not name:
        return word
    return f"--{name}={found['number']}" if found["number"] else f"--{name}"


def check_srun_args(args: Iterable[str], name: str = "srun_args") -> None:
    """Refuse what is no option of srun's from the list of those that do no harm; raises ValueError.

    ``name`` is what the words are called where the task is defined.
    """
    check_texts(name, args)
    for word in srun_words(args):
        option = word.removeprefix("--").partition("=")[0]
        if not word.startswith("--") or option not in _SRUN:
            raise ValueError(
                f"{name} may not have {shown(word)}: it takes options in full, in the form --name=value, from"
                f" {', '.join(sorted(_SRUN))}"
            )


def check_host_files(spec: JobSpec) -> None:
    """Refuse what a script's directives must not ask for on a connector; raises ValueError."""
    options = spec.options()
    for name in (*_LOCAL_FILES, *_OTHERS):
        if options.get(name) is not None:
            what = "makes the job another user's" if name in _OTHERS else "reads a file of the connector's host"
            raise ValueError(f"The script has --{name.replace('_', '-')}, which {what}: remove it")
    for name in _HOSTS:
        if "/" in str(options.get(name) or ""):
            raise ValueError(f"--{name} names a file, which would be one of the connector's host: write names of nodes")


def check_modules(modules: Iterable[str]) -> None:
    """Refuse what is no name of an environment module; raises ValueError."""
    check_texts("modules", modules)
    for name in modules:
        if name.startswith("-") or any(char.isspace() for char in name):
            raise ValueError(f"A module name may not be empty, start with a dash or contain white space: {shown(name)}")


def check_env(env: Mapping[str, object], what: str = "env") -> None:
    """Refuse names that no shell could use, and values that no variable holds; raises ValueError.

    Values are not shown: they may be secret.
    """
    check_mapping(what, env)
    for name, value in env.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise ValueError(f"Invalid environment variable name: {shown(name)}")
        if not isinstance(value, (str, int, float)):
            raise ValueError(f"{what}: the value of {name} is a {type(value).__name__}; it takes texts and numbers")
        check_variable(f"The variable {shown(name)} of {what}", name, env_text(value))


def env_text(value: object) -> str:
    """Return a variable's value as text: of a number without a fraction, which JSON may have made a float, no more."""
    return str(whole_number(value))


def check_variable(what: str, name: str, text: str) -> None:
    """Refuse a value that no program could be started with; raises ValueError."""
    if "\0" in text:
        raise ValueError(f"{what} has a NUL character, which no variable can hold: pass it as a File")
    if not is_text(text):
        raise ValueError(f"{what} is not UTF-8 text, and flyte carries no other: pass it as a File")
    size = len(f"{name}={text}".encode())
    if size > _LONGEST:
        raise ValueError(
            f"{what} has {size:,} bytes, and no program starts with a variable of more than {_LONGEST:,}: pass it as a"
            " File"
        )
