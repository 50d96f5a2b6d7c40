"""Reads a script, the environment and a command line into a JobSpec, in sbatch's order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slurm_rest.errors import SpecError

from .foreign import foreign_options
from .getopt import Given, Options, parse_words
from .layers import Layer, apply_environment, apply_given, check_conflicts, put
from .lexer import Word, read_directives
from .options import OPTIONS, ROW_OF
from .script import Script, read_script
from .spec import JobSpec, canonical_keywords, read_keyword

__all__ = ["ReadJob", "options_of", "read_job", "split_command_line"]

_TABLES = {release: Options(OPTIONS, release) for release in ("24.11", "26.05")}
_NO_SPEC = frozenset({"args", "env", "components"})


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A spec, and the script file's path for the job's Command."""

    spec: JobSpec
    path: str = ""


def options_of(release: str) -> Options:
    """Return the option table of a Slurm release: that of 26.05 from there on, that of 24.11 before."""
    return _TABLES["26.05" if release >= "26.05" else "24.11"]


def split_command_line(words: Sequence[str], release: str) -> tuple[list[Given], list[str]]:
    """Return the options of a command line, and the words from the script's name on."""
    given, rest = parse_words([Word(word) for word in words], options_of(release))
    return given, [word.text for word in rest]


def read_job(
    source: str | os.PathLike[str] | Script,
    *,
    words: Sequence[str] = (),
    given: Sequence[Given] = (),
    environ: Mapping[str, str],
    release: str,
    keywords: Mapping[str, object] | None = None,
) -> ReadJob:
    """Read everything about a job. Options on the command line count for every component of a het job."""
    script = source if isinstance(source, Script) else read_script(source)
    table = options_of(release)
    if words:
        more, rest = split_command_line(words, release)
        if rest:
            raise SpecError(f"{rest[0]!r} is not an option", hint="The script is given apart.", kind="usage")
        given = [*given, *more]
    plain = canonical_keywords(keywords or {})
    components = read_directives(script.text)
    layers: list[Layer] = []
    for directives in components:
        layer = layers[-1].next_component(table.rows) if layers else Layer()
        _apply_script(layer, directives, script, environ, given, table)
        layers.append(layer)
    # The variables and the command line count for each component; apply them after all of the script is read.
    specs = [_finish(layer, environ, given, plain, table) for layer in layers]
    spec = _assemble(script, specs, plain)
    return ReadJob(spec, script.path)


def _apply_script(
    layer: Layer,
    directives: Sequence[Word],
    script: Script,
    environ: Mapping[str, str],
    given: Sequence[Given],
    table: Options,
) -> None:
    found, rest = parse_words(directives, table)
    if rest:
        message = f"Line {rest[0].line}: Invalid directive found in batch script: {rest[0].text}"
        raise SpecError(message, kind="directive", line=rest[0].line)
    apply_given(layer, found, table, in_script=True)
    ignored = "SBATCH_IGNORE_PBS" in environ or layer.values.get("ignore_pbs") is True
    if not ignored and not any(one.option.name == "ignore_pbs" for one in given):
        apply_given(layer, foreign_options(script.text, table), table, in_script=True)


def _finish(
    layer: Layer,
    environ: Mapping[str, str],
    given: Sequence[Given],
    keywords: Mapping[str, object],
    table: Options,
) -> dict[str, object]:
    apply_environment(layer, environ, table)
    apply_given(layer, given, table, in_script=False)
    for name, value in keywords.items():
        row = ROW_OF.get(name)
        if row is None or name in _NO_SPEC:
            continue
        if value is None:
            layer.values.pop(name, None)
        else:
            put(layer, row, read_keyword(name, value), table, environment=False)
    check_conflicts(layer, table, {name for name in layer.values if name not in layer.from_environment})
    for row in table.rows:
        if row.inert:
            layer.values.pop(row.name, None)
    return layer.values


def _assemble(script: Script, parts: Sequence[Mapping[str, object]], keywords: Mapping[str, object]) -> JobSpec:
    first, *others = ({"name": script.name, **values} for values in parts)
    rest = {name: keywords[name] for name in ("args", "env") if keywords.get(name) is not None}
    env = {"env": rest["env"]} if "env" in rest else {}
    components = tuple(JobSpec("", **env, **values) for values in others)
    return JobSpec(script.text, components=components, **rest, **first)
