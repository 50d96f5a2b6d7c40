"""Puts options together from their sources: script, then environment, then command line.

The last one given wins, with sbatch's exceptions: flags of ``--signal`` and ``--mem-bind`` add up, ``--mail-type``
does on 24.11, and options that write the same slot replace each other. Conflicts are judged among what the script
and the command line say, and apart from that among what the environment says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from slurm_rest.errors import SpecError

from .getopt import Given, Options
from .option import NONE, Option
from .values import MAIL_NAMES

__all__ = ["Layer", "apply_environment", "apply_given", "check_conflicts", "put", "read_value"]

_ACCUMULATING_MAIL = "24.11"
_ON = frozenset({"", "yes"})


@dataclass(slots=True)
class Layer:
    """The options of one component: canonical values by name, and which of them came from the environment."""

    values: dict[str, object] = field(default_factory=dict)
    from_environment: set[str] = field(default_factory=set)

    def next_component(self, rows: Iterable[Option]) -> Layer:
        """Return what carries over into the next component of a het job."""
        kept = {row.name for row in rows if row.kept}
        values = {name: value for name, value in self.values.items() if name in kept}
        return Layer(values, self.from_environment & kept)


def read_value(row: Option, value: object, line: int = 0) -> object:
    """Return the canonical value, or SpecError that names option, word and line."""
    try:
        return row.read(value)
    except ValueError as error:
        where = f"Line {line}: " if line else ""
        shown = value if isinstance(value, str) else repr(value)
        message = f"{where}Invalid --{row.long} specification {shown!r}: it {error}".replace(": it must", ": it must")
        raise SpecError(message, field=row.name, kind="value", line=line or None) from None


def apply_given(layer: Layer, given: Sequence[Given], options: Options, *, in_script: bool) -> None:
    """Apply options in the order in which they were given."""
    for one in given:
        row = one.option
        if row.inert and (in_script or row.command_line_only):
            continue
        value = row.bare if one.value is None else read_value(row, one.value, one.line)
        if row.takes_in(options.release) is NONE and one.value is None:
            value = row.bare
        put(layer, row, value, options, environment=False)


def put(layer: Layer, row: Option, value: object, options: Options, *, environment: bool) -> None:
    """Set one option; others of its slot go, and what adds up adds up."""
    before = layer.values.get(row.name)
    if row.slot:
        for other in options.rows:
            if other.slot == row.slot and other is not row:
                layer.values.pop(other.name, None)
                layer.from_environment.discard(other.name)
    layer.values[row.name] = _added(row.name, before, value, options.release)
    if environment:
        layer.from_environment.add(row.name)
    else:
        layer.from_environment.discard(row.name)


def _added(name: str, before: object, value: object, release: str) -> object:
    if before is None or not isinstance(before, tuple) or not isinstance(value, tuple):
        return value
    if name == "mail_type" and release == _ACCUMULATING_MAIL:
        return tuple(word for word in MAIL_NAMES if word in (*before, *value)) if value else ()
    if name == "signal":
        return "".join(flag for flag in "RB" if flag in before[0] or flag in value[0]), *value[1:]
    if name == "mem_bind":
        flags = before[0] | value[0]
        return (flags, *value[1:]) if value[1] else (flags, *before[1:])
    return value


def apply_environment(layer: Layer, environ: Mapping[str, str], options: Options) -> None:
    """Apply sbatch's input variables, ``SBATCH_TIMELIMIT`` and the like."""
    for row in options.rows:
        for variable in row.variables:
            if variable in environ:
                _apply_variable(layer, row, environ[variable], variable, options)
    count = environ.get("SBATCH_REQ_SWITCH")
    wait = environ.get("SBATCH_WAIT4SWITCH")
    if count is not None:
        row = next(row for row in options.rows if row.name == "switches")
        text = count if wait is None else f"{count}@{wait}"
        put(layer, row, read_value(row, text), options, environment=True)


def _apply_variable(layer: Layer, row: Option, text: str, variable: str, options: Options) -> None:
    if row.inert:
        return
    if row.takes_in(options.release) is NONE:
        if _is_on(text):
            put(layer, row, row.bare, options, environment=True)
        return
    if not text and row.takes_in(options.release).value == "optional":
        put(layer, row, row.bare, options, environment=True)
        return
    try:
        put(layer, row, row.read(text), options, environment=True)
    except ValueError as error:
        raise SpecError(f"{variable}={text}: it {error}", field=row.name, kind="value") from None


def _is_on(text: str) -> bool:
    digits = text.lstrip("+-")
    return text.lower() in _ON or (digits.isdigit() and int(digits) != 0)


_MEMORY = ("mem", "mem_per_cpu", "mem_per_gpu")


def check_conflicts(layer: Layer, options: Options, given: set[str]) -> None:
    """Refuse what sbatch refuses as a combination. ``given`` are the names that script or command line gave."""
    _check_memory(layer)
    values = layer.values

    def both(first: str, second: str) -> bool:
        return first in values and second in values

    _refuse("exclusive" in given and "oversubscribe" in given, "exclusive", "oversubscribe")
    _refuse(both("bb", "bbf"), "bb", "bbf")
    _refuse("core_spec" in given and "thread_spec" in given, "core_spec", "thread_spec")
    per_task = str(values.get("tres_per_task", ""))
    cpu_in_tres = any(part.replace(":", "=").startswith("cpu=") for part in per_task.split(","))
    _refuse(cpu_in_tres and "cpus_per_task" in values, "tres_per_task", "cpus_per_task")
    _refuse(both("cpus_per_gpu", "cpus_per_task"), "cpus_per_gpu", "cpus_per_task")
    _refuse("cpus_per_gpu" in values and cpu_in_tres, "cpus_per_gpu", "tres_per_task")
    for other in ("gpus_per_task", "gpus_per_socket", "ntasks_per_node", "tres_per_task"):
        _refuse(both("ntasks_per_gpu", other), "ntasks_per_gpu", other)
    gres_gpu = any(part.removeprefix("gres/").startswith("gpu") for part in str(values.get("gres", "")).split(","))
    _refuse(options.release >= "26.05" and gres_gpu and "gpus_per_node" in values, "gpus_per_node", "gres")


def _check_memory(layer: Layer) -> None:
    """``--mem``, ``--mem-per-cpu`` and ``--mem-per-gpu`` exclude each other within one source; the later source wins."""
    present = [name for name in _MEMORY if name in layer.values]
    given = [name for name in present if name not in layer.from_environment]
    _refuse(len(given) > 1, *given[:2])
    _refuse(not given and len(present) > 1, *present[:2])
    for name in present if given else ():
        if name not in given:
            del layer.values[name]


def _refuse(wrong: bool, *names: str) -> None:
    if wrong:
        first, second = (f"--{name.replace('_', '-')}" for name in names)
        raise SpecError(
            f"{first} and {second} exclude each other", field=names[0], kind="conflict", hint="Give only one of them."
        )
