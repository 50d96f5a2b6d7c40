"""JobSpec back to what sbatch reads: directives in a script, and words of a command line."""

from __future__ import annotations

from collections.abc import Iterator

from slurm_rest.errors import SpecError

from .environment import render_export
from .lexer import quote_word, strip_directives
from .option import NONE, REQUIRED, Option
from .options import OPTIONS
from .spec import JobSpec

__all__ = ["to_argv", "to_script"]


# What overwrites others comes before them.
_ORDER = tuple(sorted(OPTIONS, key=lambda row: not row.clears))


def to_argv(spec: JobSpec) -> list[str]:
    """Return one word for each option; further components of a het job follow behind ``:``."""
    words: list[str] = []
    for number, part in enumerate([spec, *spec.components]):
        words += [":"] if number else []
        words += [word for row, value in _given(part) for word in _words(row, value)]
    return words


def to_script(spec: JobSpec) -> str:
    """Return the script with its directives replaced by this spec's, and ``env`` as ``--export``."""
    if spec.args:
        raise SpecError("A script cannot hold its own arguments", field="args", hint="Give them behind its name.")
    lines: list[str] = []
    for number, part in enumerate([spec, *spec.components]):
        lines += ["#SBATCH hetjob"] if number else []
        lines += [f"#SBATCH {_directive(word)}" for row, value in _given(part) for word in _words(row, value)]
    return strip_directives(spec.script, lines)


def _given(part: JobSpec) -> Iterator[tuple[Option, object]]:
    values = part.options()
    if part.env:
        values["export"] = render_export(str(values.get("export", "ALL")), part.env)
    for row in _ORDER:
        # False only takes back what another layer said; by itself it is the default.
        if row.name in values and (values[row.name] is not False or row.name == "kill_on_invalid_dep"):
            yield row, values[row.name]
        elif row.name == "requeue" and values.get("requeue") is False:
            yield next(row for row in OPTIONS if row.name == "no_requeue"), True


def _words(row: Option, value: object) -> list[str]:
    """Return one word, or two where only giving an option twice says so."""
    values = value if isinstance(value, tuple) and value == (True, False) else (value,)
    return [_word(row, one) for one in values]


def _word(row: Option, value: object) -> str:
    if row.takes is NONE and not row.takes_by_release:
        return f"--{row.long}"
    text = row.show(value)
    bare = (value is True and row.takes is not REQUIRED) or (row.takes is NONE and not text)
    return f"--{row.long}" if bare else f"--{row.long}={text}"


def _directive(word: str) -> str:
    name, equals, value = word.partition("=")
    return f"{name}={quote_word(value)}" if equals else name
