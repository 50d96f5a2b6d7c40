"""Finds the directives of a batch script and splits them into words, exactly as sbatch does (24.11 and 26.05).

A line counts that begins with ``#SBATCH`` (or ``#SLURM``) in its very first column, until the first line that is
neither blank nor a comment. The words of all lines form one list, so a value may stand on the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slurm_rest.errors import SpecError

__all__ = [
    "Word",
    "directive_lines",
    "quote_word",
    "read_directives",
    "split_words",
    "strip_directives",
]

_MAGIC = ("#SBATCH", "#SLURM")
_SEPARATOR = re.compile(r"(?:het|pack)job(?=\s|$)", re.ASCII | re.IGNORECASE)
_BLANKS = " \t\v\f\r"
_LARGEST_KEPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Word:
    """One word and the number of the line that it stands on; 0 for words of a command line."""

    text: str
    line: int = 0


def directive_lines(script: str) -> Iterator[tuple[int, str]]:
    """Return line numbers and what follows the magic word, for each line that sbatch would read."""
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith(_MAGIC):
            yield number, line[next(len(word) for word in _MAGIC if line.startswith(word)) :]
        elif line.strip(_BLANKS) and not line.lstrip(_BLANKS).startswith("#"):
            return


def read_directives(script: str) -> Sequence[Sequence[Word]]:
    """Return the words of each component of the job: one list, and one more for each ``#SBATCH hetjob`` line.

    The same script is often submitted many times, with other options each time, so the last few are kept.
    """
    return _kept_directives(script) if len(script) <= _LARGEST_KEPT else _directives(script)


@lru_cache(maxsize=16)
def _kept_directives(script: str) -> tuple[tuple[Word, ...], ...]:
    return tuple(map(tuple, _directives(script)))


def _directives(script: str) -> list[list[Word]]:
    components: list[list[Word]] = [[]]
    for number, rest in directive_lines(script):
        if _SEPARATOR.match(rest.lstrip(_BLANKS)):
            # sbatch ignores whatever else stands on such a line.
            components.append([])
        else:
            components[-1] += split_words(rest, number, separators=True)
    return components


def split_words(line: str, number: int = 0, *, separators: bool = False) -> list[Word]:
    """Split one line. Quotes group, a backslash takes the next character as it is, ``#`` starts a comment anywhere.

    An empty word ends the line, as it does for sbatch: after ``--comment ""`` the value is missing. So does, in
    directives, ``hetjob`` behind other words (``separators``).
    """
    words: list[Word] = []
    place = 0
    while place < len(line):
        if line[place] in _BLANKS:
            place += 1
            continue
        if line[place] == "#" or (separators and _SEPARATOR.match(line, place)):
            break
        if line[place] == ":":
            hint = "Put a backslash before it."
            raise _refused(f"a word begins with a colon: {line[place:].split()[0]}", number, hint)
        text, place = _one_word(line, place, number)
        if not text:
            break
        words.append(Word(text, number))
    return words


def _one_word(line: str, place: int, number: int) -> tuple[str, int]:
    """Return the word that starts at ``place``, and the place behind it."""
    text: list[str] = []
    quote = ""
    while place < len(line):
        character = line[place]
        if character == "\\":
            # A backslash at the very end stands for itself no more than for anything else.
            text.append(line[place + 1 : place + 2])
            place += 2
            continue
        if quote:
            if character == quote:
                quote = ""
            else:
                text.append(character)
        elif character in "'\"":
            quote = character
        elif character in _BLANKS or character == "#":
            break
        else:
            text.append(character)
        place += 1
    if quote:
        raise _refused(f"an unmatched {quote} in: {line.strip()}", number, f"Close it, or write \\{quote}.")
    return "".join(text), place


def _refused(problem: str, number: int, hint: str) -> SpecError:
    where = f"Line {number}: " if number else ""
    return SpecError(f"{where}{problem}", kind="directive", line=number or None, hint=hint)


def quote_word(text: str) -> str:
    """Return a word that ``split_words`` reads back as ``text``; SpecError for what no directive can hold."""
    if "\n" in text or text.endswith("\r"):
        hint = "Give it on the command line or as a keyword."
        raise SpecError(f"{text!r} contains a line break, which no directive can hold", kind="directive", hint=hint)
    special = set("\\'\"#") | set(_BLANKS)
    return "".join(f"\\{character}" if character in special else character for character in text)


def strip_directives(script: str, lines: Sequence[str] = ()) -> str:
    """Return the script without the lines that sbatch would read as directives, and ``lines`` in their place."""
    read = {number for number, _ in directive_lines(script)}
    first, *rest = [line for number, line in enumerate(script.split("\n"), 1) if number not in read]
    return "\n".join([first, *lines, *rest])
