"""Puts options together from their sources: script, then environment, then command line.

The last one given wins, with sbatch's exceptions: flags of ``--signal`` and ``--mem-bind`` add up, ``--mail-type``
does on 24.11, and options that write the same slot replace each other. Which source an option came from stays known,
even when another one has taken its slot: sbatch judges conflicts by that (``conflicts.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

from slurm_rest.errors import SpecError

from .binding import MAIL_NAMES
from .dialect import dialect_of
from .getopt import Given, Options
from .kinds import whole
from .option import NONE, OPTIONAL, Option, Reader
from .values import switch_count, switch_wait

__all__ = ["Layer", "apply_environment", "apply_given", "is_on", "is_verbose", "put", "read_value"]

# As C's strtol reads one.
_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
# The largest int itself stands for something else.
_LARGEST_INT = 2**31 - 2
_MemBind = tuple[frozenset[str], str, str]
_Switches = tuple[int, timedelta | None]


@dataclass(slots=True)
class Layer:
    """The options of one component: canonical values by name, and whether each option came from the environment.

    ``sources`` has all options that were given, ``values`` those that still count.
    """

    values: dict[str, object] = field(default_factory=dict)
    sources: dict[str, bool] = field(default_factory=dict)

    def given(self, name: str) -> bool:
        """Return whether script, command line or keywords had the option last."""
        return self.sources.get(name) is False

    def from_environment(self, name: str) -> bool:
        """Return whether a variable had the option last."""
        return self.sources.get(name) is True

    def drop(self, *names: str) -> None:
        """Forget options."""
        for name in names:
            self.values.pop(name, None)
            self.sources.pop(name, None)

    def next_component(self, rows: Iterable[Option]) -> Layer:
        """Return what carries over into the next component of a het job."""
        kept = {row.name for row in rows if row.kept}
        return Layer(
            {name: value for name, value in self.values.items() if name in kept},
            {name: source for name, source in self.sources.items() if name in kept},
        )


def read_value(row: Option, value: object, line: int = 0) -> object:
    """Return the canonical value, or SpecError that names option, word and line."""
    try:
        return row.read(value)
    except ValueError as error:
        where = f"Line {line}: " if line else ""
        shown = value if isinstance(value, str) else repr(value)
        message = f"{where}Invalid --{row.long} specification {shown!r}: it {error}"
        raise SpecError(message, field=row.name, kind="value", line=line or None) from None


def apply_given(layer: Layer, given: Sequence[Given], options: Options, *, in_script: bool) -> None:
    """Apply options in the order in which they were given."""
    for one in given:
        row = one.option
        if row.inert and (in_script or row.command_line_only):
            continue
        # An empty optional value is none, as in --nice=.
        bare = one.value is None or (not one.value and row.takes_in(options.release) is OPTIONAL)
        put(layer, row, row.bare if bare else read_value(row, one.value, one.line), options, environment=False)


def put(layer: Layer, row: Option, value: object, options: Options, *, environment: bool) -> None:
    """Set one option; others of its slot go, and what adds up adds up."""
    values, own = layer.values, row.name
    before = values.get(own)
    for name in row.clears:
        values.pop(name, None)
    if row.slot:
        for other in options.slots[row.slot]:
            if other != own:
                values.pop(other, None)
    add = _ADDING.get(own)
    values[own] = value if add is None or before is None else add(before, value, options.release)
    layer.sources[own] = environment


def _add_mail(before: object, value: object, release: str) -> object:
    if not dialect_of(release).adds_mail:
        return value
    both = {*cast("tuple[str, ...]", before), *cast("tuple[str, ...]", value)}
    return tuple(word for word in MAIL_NAMES if word in both)


def _add_signal(before: object, value: object, release: str) -> object:
    old_flags, _, _ = cast("tuple[str, int, int]", before)
    flags, number, seconds = cast("tuple[str, int, int]", value)
    return "".join(flag for flag in "RB" if flag in old_flags + flags), number, seconds


_OPPOSITE = {"verbose": "quiet", "quiet": "verbose", "sort": "nosort", "nosort": "sort"}


def _add_mem_bind(before: object, value: object, release: str) -> object:
    old_flags, old_kind, _ = cast("_MemBind", before)
    flags, kind, numbers = cast("_MemBind", value)
    kept = frozenset(flag for flag in old_flags if _OPPOSITE.get(flag) not in flags)
    return kept | flags, kind or old_kind, numbers


def _add_switches(before: object, value: object, release: str) -> object:
    count, wait = cast("_Switches", value)
    old_count, old_wait = cast("_Switches", before)
    return count or old_count, old_wait if wait is None else wait


def _add_invalid_dep(before: object, value: object, release: str) -> object:
    return value if before == value else (True, False)


_ADDING: dict[str, Callable[[object, object, str], object]] = {
    "mail_type": _add_mail,
    "signal": _add_signal,
    "mem_bind": _add_mem_bind,
    "switches": _add_switches,
    "kill_on_invalid_dep": _add_invalid_dep,
}


def apply_environment(layer: Layer, environ: Mapping[str, str], options: Options) -> None:
    """Apply sbatch's input variables, ``SBATCH_TIMELIMIT`` and the like."""
    for variable, row in options.variables:
        if variable in environ:
            _apply_variable(layer, row, environ[variable], variable, options)
    _refuse_variables(environ)
    switches = options.by_name["switches"]
    if "SBATCH_REQ_SWITCH" in environ:
        count = _read_variable(switches, environ["SBATCH_REQ_SWITCH"], "SBATCH_REQ_SWITCH", switch_count)
        put(layer, switches, (count, None), options, environment=True)
    if "SBATCH_WAIT4SWITCH" in environ:
        put(layer, switches, (0, switch_wait(environ["SBATCH_WAIT4SWITCH"])), options, environment=True)


def _refuse_variables(environ: Mapping[str, str]) -> None:
    """Raise for variables that change nothing about the job, but with which sbatch does not run."""
    if "SBATCH_POWER" in environ:
        message = "SBATCH_POWER is set, for an option --power that sbatch 24.11 and 26.05 do not have; they refuse it"
        raise SpecError(message, kind="usage", hint="Unset SBATCH_POWER.")
    if not 0 <= _debug(environ) <= _LARGEST_INT:
        message = f"SBATCH_DEBUG={environ['SBATCH_DEBUG'][:100]}: it takes a whole number from 0 to {_LARGEST_INT}"
        raise SpecError(message, field="verbose", kind="value", hint="Unset SBATCH_DEBUG, or set it to 1.")


def is_verbose(environ: Mapping[str, str]) -> bool:
    """Return whether SBATCH_DEBUG does what ``--verbose`` does."""
    return _debug(environ) > 0


def _debug(environ: Mapping[str, str]) -> int:
    number = _NUMBER.fullmatch(environ.get("SBATCH_DEBUG", ""))
    return whole(number[1]) if number else 0


def _read_variable(row: Option, text: str, variable: str, read: Reader | None = None) -> object:
    try:
        return row.read(text) if read is None else read(text)
    except ValueError as error:
        raise SpecError(f"{variable}={text}: it {error}", field=row.name, kind="value") from None


def _apply_variable(layer: Layer, row: Option, text: str, variable: str, options: Options) -> None:
    if row.inert:
        return
    takes = row.takes_in(options.release)
    if takes is NONE and not is_on(text):
        # Off takes back what the script said.
        layer.drop(row.name, *(options.slots[row.slot] if row.slot else ()))
        return
    bare = takes is NONE or (takes is OPTIONAL and not text)
    value = row.bare if bare else _read_variable(row, text, variable)
    put(layer, row, value, options, environment=True)


def is_on(text: str) -> bool:
    """Return whether a variable of that value turns an option without value on."""
    digits = text.lstrip(" \t\n\v\f\r")
    digits = digits[1:] if digits[:1] in ("+", "-") else digits
    return text.lower() in ("", "yes") or (digits.isascii() and digits.isdigit() and int(digits[:40]) != 0)
