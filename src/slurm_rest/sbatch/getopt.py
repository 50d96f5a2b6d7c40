"""GNU getopt_long's rules for words: clusters, glued values, abbreviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slurm_rest.errors import SpecError

from .kinds import TEXT
from .lexer import Word
from .option import NONE, REQUIRED, Option

__all__ = ["SEPARATOR", "Given", "Options", "parse_words"]

_ALL = "sbatch --help lists them."

# Stands for the ":" between the components of a het job on the command line.
SEPARATOR = Option(":", TEXT, takes=NONE, inert=True)


@dataclass(frozen=True, slots=True)
class Given:
    """An option as it was given; ``value`` is None where it was left out."""

    option: Option
    value: str | None
    line: int = 0


class Options:
    """The options of one sbatch release, found by long name, unambiguous prefix or letter."""

    def __init__(self, rows: Sequence[Option], release: str) -> None:
        self.release = release
        self.rows = tuple(row for row in rows if row.exists_in(release))
        self.by_name = {row.name: row for row in self.rows}
        self.slots: dict[str, tuple[str, ...]] = {}
        for row in self.rows:
            if row.slot:
                self.slots[row.slot] = (*self.slots.get(row.slot, ()), row.name)
        self.variables = tuple(
            (variable, row) for row in self.rows if release >= row.variables_since for variable in row.variables
        )
        self.inert = tuple(row.name for row in self.rows if row.inert)
        self._long = {row.long: row for row in self.rows}
        self._short = {row.short: row for row in self.rows if row.short}

    def short(self, letter: str, line: int) -> Option:
        """Return the option with that letter."""
        row = self._short.get(letter)
        if row is None:
            raise _refused(f"sbatch has no option -{letter}", line, _ALL)
        return row

    def long(self, name: str, line: int) -> Option:
        """Return the option of that name or with that unambiguous beginning; an exact name always wins."""
        if name in self._long:
            return self._long[name]
        matches = [long for long in self._long if name and long.startswith(name)]
        if len(matches) == 1:
            return self._long[matches[0]]
        if matches:
            raise _refused(
                f"--{name} is ambiguous", line, "It may be " + ", ".join(f"--{long}" for long in matches) + "."
            )
        raise _refused(f"sbatch has no option --{name}", line, self.nearest(name) or _ALL)

    def nearest(self, name: str) -> str:
        """Return a question about the option that was probably meant, empty when none is near."""
        import difflib  # only for mistakes

        near = difflib.get_close_matches(name.replace("_", "-"), self._long, 1, 0.6)
        return f"Did you mean --{near[0]}?" if near else ""


def parse_words(words: Sequence[Word], options: Options) -> tuple[list[Given], list[Word]]:
    """Return the options, and the words from the first one on that is no option (``--`` itself left out)."""
    given: list[Given] = []
    rest = list(words)
    while rest:
        word = rest[0]
        if word.text == "--":
            return given, rest[1:]
        if word.text == "-" or not word.text.startswith("-"):
            return given, rest
        rest.pop(0)
        given += _long(word, rest, options) if word.text.startswith("--") else _cluster(word, rest, options)
    return given, []


def _long(word: Word, rest: list[Word], options: Options) -> Iterator[Given]:
    name, equals, value = word.text[2:].partition("=")
    row = options.long(name, word.line)
    takes = row.takes_in(options.release)
    if equals:
        if takes is NONE:
            raise _refused(f"--{row.long} takes no value, but {value!r} was given", word.line)
        yield Given(row, value, word.line)
    elif takes is REQUIRED:
        yield Given(row, _next_value(f"--{row.long}", word, rest), word.line)
    else:
        yield Given(row, None, word.line)


def _cluster(word: Word, rest: list[Word], options: Options) -> Iterator[Given]:
    letters = word.text[1:]
    while letters:
        row = options.short(letters[0], word.line)
        letters, letter = letters[1:], letters[0]
        takes = row.takes_in(options.release)
        if takes is NONE:
            yield Given(row, None, word.line)
            continue
        if takes is REQUIRED:
            yield Given(row, letters or _next_value(f"-{letter}", word, rest), word.line)
        else:
            yield Given(row, letters or None, word.line)
        return


def _next_value(name: str, word: Word, rest: list[Word]) -> str:
    if not rest:
        raise _refused(f"{name} needs a value", word.line)
    return rest.pop(0).text


def _refused(problem: str, line: int, hint: str = "") -> SpecError:
    where = f"Line {line}: " if line else ""
    return SpecError(f"{where}{problem}", hint=hint, kind="usage", line=line or None)
