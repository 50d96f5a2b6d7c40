"""Reads a script, the environment and a command line into a JobSpec, in sbatch's order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slurm_rest.errors import SpecError

from .conflicts import check_conflicts
from .dialect import DIALECTS, dialect_of, known_release
from .foreign import apply_foreign
from .getopt import SEPARATOR, Given, Options, parse_words
from .layers import Layer, apply_environment, apply_given, is_on, is_verbose, put, read_value
from .lexer import Word, read_directives
from .options import OPTIONS, ROW_OF
from .script import Script, read_script
from .spec import JobSpec, canonical_keywords, read_keyword

__all__ = ["ReadJob", "options_of", "read_job", "split_command_line"]

_TABLES = {release: Options(OPTIONS, release) for release in DIALECTS}
_MEANING_OF_HINT: dict[str, dict[str, object]] = {
    "multithread": {"ntasks_per_core": 65535},
    "nomultithread": {"threads_per_core": 1},
}
_FILES = ("input", "output", "error")
# What the names of all variables begin with that sbatch reads.
_READ = ("SBATCH_", "SLURM_")
# Those that this client reads may hold a token.
_OURS = ("SLURM_JWT", "SLURM_REST_")
_LARGEST_KEPT = 1 << 16
_NO_OPTIONS = frozenset({"args", "env", "components"})


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A spec, and the script file's path for the job's Command."""

    spec: JobSpec
    path: str = ""


def options_of(release: str) -> Options:
    """Return the option table of a Slurm release; see ``known_release``."""
    return _TABLES[known_release(release)]


def split_command_line(words: Sequence[str], table: Options) -> tuple[list[Given], list[str]]:
    """Return the options of a command line, and the words from the script's name on.

    A lone ``:`` begins the options of the next component of a het job; sbatch takes it out of the script's arguments
    as well.
    """
    _, script = parse_words([Word(word) for word in words if word != ":"], table)
    rest = [Word(word) for word in words]
    given: list[Given] = []
    while True:
        options, rest = parse_words(rest, table)
        given += options
        if not rest or rest[0].text != ":":
            break
        given.append(Given(SEPARATOR, None))
        rest = rest[1:]
    left = [word.text for word in rest if word.text != ":"]
    if left != [word.text for word in script]:
        hint = "Write the value in the same word: --comment=:"
        raise SpecError("A : between options begins another component and cannot be a value", kind="usage", hint=hint)
    return given, left


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
        more, rest = split_command_line(words, table)
        if rest:
            raise SpecError(f"{rest[0]!r} is not an option", hint="The script is given apart.", kind="usage")
        given = [*given, *more]
    plain = canonical_keywords(keywords) if keywords else {}
    reader = _Reader(script, environ, plain, table)
    segments = _segments(given)
    reader.look_through(segments)
    for directives, options in _parts(read_directives(script.text), segments):
        reader.component(directives, options)
    return ReadJob(reader.spec(), script.path)


def _segments(given: Sequence[Given]) -> list[list[Given]]:
    parts: list[list[Given]] = [[]]
    for one in given:
        if one.option is SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def _parts(
    script: Sequence[Sequence[Word]], command_line: list[list[Given]]
) -> list[tuple[Sequence[Word], list[Given]]]:
    """Pair the components of the script with those of the command line, whose last one counts for all that follow."""
    count = max(len(script), len(command_line))
    return [
        (script[at] if at < len(script) else [], command_line[min(at, len(command_line) - 1)]) for at in range(count)
    ]


class _Reader:
    """Reads one component after the other; what sbatch keeps between them is kept."""

    def __init__(
        self, script: Script, environ: Mapping[str, str], keywords: Mapping[str, object], table: Options
    ) -> None:
        self.script = script
        # No other is looked at, and reading all of os.environ takes longer than reading the script.
        self.environ = {
            name: environ[name] for name in environ if name.startswith(_READ) and not name.startswith(_OURS)
        }
        self.keywords = keywords
        self.table = table
        self.layers: list[Layer] = []
        self.env: dict[str, str] = {}
        self.first = Layer()
        self.ignore_pbs = False

    def look_through(self, segments: Sequence[Sequence[Given]]) -> None:
        """Read the whole command line once, as sbatch does to find the script.

        What is not reset between components stays from that: ``-n1 : --hold`` holds the first one too. It counts as
        little as a variable.
        """
        names = {one.option.name for part in segments for one in part}
        self.ignore_pbs = "ignore_pbs" in names
        if "quiet" in names and ("verbose" in names or is_verbose(self.environ)):
            hint = "Leave one of them out; SBATCH_DEBUG counts as --verbose."
            raise SpecError("--verbose and --quiet exclude each other", field="quiet", kind="conflict", hint=hint)
        if len(segments) > 1:
            passed = Layer()
            for part in segments:
                apply_given(passed, part, self.table, in_script=False)
            self.first = passed.next_component(self.table.rows)
            self.first.sources = dict.fromkeys(self.first.sources, True)

    def component(self, directives: Sequence[Word], given: Sequence[Given]) -> None:
        """Read the next component."""
        table = self.table
        layer = self.layers[-1].next_component(table.rows) if self.layers else self.first
        directory = layer.values.get("chdir")
        files = {name: layer.values.pop(name) for name in _FILES if self.layers and name in layer.values}
        if self.layers or layer.sources or len(self.script.text) > _LARGEST_KEPT:
            self.read_sources(layer, directives)
        else:
            values, sources, env = _read_sources(
                self.script.text, table.release, self.ignore_pbs, tuple(self.environ.items())
            )
            layer.values.update(values)
            layer.sources.update(sources)
            self.env.update(env)
        apply_given(layer, given, table, in_script=False)
        self._apply_keywords(layer)
        for name, path in files.items():
            if name not in layer.values:
                layer.values[name] = self._carried(name, str(path), directory, layer.values.get("chdir"))
        check_conflicts(layer, table.release)
        self._finish(layer)
        self.layers.append(layer)

    def read_sources(self, layer: Layer, directives: Sequence[Word]) -> None:
        """Read the script, and the environment that wins over it."""
        self._read_script(layer, directives)
        apply_environment(layer, self.environ, self.table)

    def _carried(self, name: str, path: str, before: object, now: object) -> str:
        """Return the file of the component before; a relative one stays in that component's directory."""
        if now == before or path.startswith("/") or path.lower() == "none":
            return path
        if str(before).startswith("/"):
            return f"{before}/{path}"
        message = f"Component {len(self.layers)} has another --chdir, but --{name}={path} stays in the directory before"
        hint = f"Give --{name} an absolute path."
        raise SpecError(message, field=name, kind="inexpressible", hint=hint)

    def _read_script(self, layer: Layer, directives: Sequence[Word]) -> None:
        if directives:
            found, rest = parse_words(directives, self.table)
            if rest:
                message = f"Line {rest[0].line}: Invalid directive found in batch script: {rest[0].text}"
                hint = "Options begin with - or --, and a value with blanks needs quotes."
                raise SpecError(message, kind="directive", line=rest[0].line, hint=hint)
            apply_given(layer, found, self.table, in_script=True)
        ignored = is_on(self.environ.get("SBATCH_IGNORE_PBS", "0")) or layer.values.get("ignore_pbs") is True
        if not ignored and not self.ignore_pbs:
            self.env.update(apply_foreign(layer, self.script.text, self.table))

    def _apply_keywords(self, layer: Layer) -> None:
        for name, value in self.keywords.items():
            row = ROW_OF.get(name)
            if row is None or name in _NO_OPTIONS:
                continue
            if value is None:
                layer.drop(name)
            else:
                put(layer, row, read_keyword(name, value), self.table, environment=False)

    def _finish(self, layer: Layer) -> None:
        """Apply what sbatch finds in its environment apart from options."""
        values, environ = layer.values, self.environ
        if values.get("distribution") == "plane" and environ.get("SLURM_DIST_PLANESIZE"):
            size = environ["SLURM_DIST_PLANESIZE"]
            values["distribution"] = read_value(ROW_OF["distribution"], f"plane={size}")
        path = environ.get("SLURM_HOSTFILE")
        if path is not None and "nodelist" not in values and "nodefile" not in values:
            values["nodelist"] = path if "/" in path else f"./{path}"
            _, comma, flag = str(values.get("distribution", "")).rpartition(",")
            values["distribution"] = f"arbitrary{comma}{flag}" if comma else "arbitrary"
        if "hint" in values:
            # sbatch says so to the job, and finds it again when it comes to the next component.
            environ["SLURM_HINT"] = str(values["hint"])
            self._keep_counts(layer)
        if "export_file" in values:
            # sbatch empties its environment, variables for later components as well, before it reads the file.
            environ.clear()
        if "SLURM_UMASK" in self.env and "SLURM_UMASK" in environ:
            # -W umask changes the umask of the process, which counts only where the variable is not set.
            self.env["SLURM_UMASK"] = environ["SLURM_UMASK"]
        for name in self.table.inert:
            values.pop(name, None)

    def _keep_counts(self, layer: Layer) -> None:
        """Say a variable's hint as what it means, where 24.11 leaves counts beside it that a given hint takes back."""
        values = layer.values
        meaning = _MEANING_OF_HINT.get(str(values["hint"]).lower())
        kept = "sockets_per_node" in values or "cores_per_socket" in values
        if meaning and kept and layer.from_environment("hint") and dialect_of(self.table.release).keeps_hinted_counts:
            self.env["SLURM_HINT"] = str(values.pop("hint"))
            values.update(meaning)

    def spec(self) -> JobSpec:
        """Return what was read."""
        own = self.keywords.get("env")
        # What is no mapping is refused as in any other spec.
        env = {**self.env, **own} if isinstance(own, Mapping) else own or self.env
        first, *others = [{"name": self.script.name, **layer.values} for layer in self.layers]
        components = tuple(JobSpec.of("", values, env=env) for values in others)
        args = self.keywords.get("args") or ()
        return JobSpec.of(self.script.text, first, args=args, env=env, components=components)


@lru_cache(maxsize=16)
def _read_sources(
    text: str, release: str, ignore_pbs: bool, environ: tuple[tuple[str, str], ...]
) -> tuple[Mapping[str, object], Mapping[str, bool], Mapping[str, str]]:
    """Return the options of a job's first component, their sources, and variables for the job.

    The same script is often submitted many times, with other keywords each time, so the last few are kept.
    """
    reader, layer = _Reader(Script(text, ""), dict(environ), {}, options_of(release)), Layer()
    reader.ignore_pbs = ignore_pbs
    reader.read_sources(layer, read_directives(text)[0])
    return layer.values, layer.sources, reader.env
