"""``#PBS`` and ``#BSUB`` lines, which sbatch also reads, and which win over ``#SBATCH`` ones.

They count in the whole script until more than 100 lines have passed that do not begin with ``#``; ``#PBS`` lines only
where there is no ``#BSUB`` line.
"""

from __future__ import annotations

from collections.abc import Iterator

from slurm_rest.errors import SpecError

from .getopt import Given, Options
from .lexer import split_words

__all__ = ["foreign_options"]

_PLAIN_LINES = 100


def foreign_options(script: str, options: Options) -> list[Given]:
    """Return what the lines ask for, as options of sbatch."""
    for magic, reader in (("#BSUB", _bsub), ("#PBS", _pbs)):
        lines = list(_lines(script, magic))
        if lines:
            return [_given(name, value, line, options) for line, rest in lines for name, value in reader(rest, line)]
    return []


def _lines(script: str, magic: str) -> Iterator[tuple[int, str]]:
    plain = 0
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith(magic):
            yield number, line[len(magic) :]
        elif not line.startswith("#"):
            plain += 1
            if plain > _PLAIN_LINES:
                return


def _given(name: str, value: str | None, line: int, options: Options) -> Given:
    return Given(options.long(name, line), value, line)


Pairs = Iterator[tuple[str, str | None]]


def _letters(rest: str, line: int, bare: str) -> Iterator[tuple[str, str]]:
    """Return each ``-x value``; letters in ``bare`` take none."""
    words = [word.text for word in split_words(rest, line)]
    while words:
        word = words.pop(0)
        if not word.startswith("-") or len(word) < 2:
            raise _unknown(word, line)
        letter, glued = word[1], word[2:]
        if letter in bare:
            yield letter, ""
        elif glued:
            yield letter, glued
        elif words:
            yield letter, words.pop(0)
        else:
            raise SpecError(f"Line {line}: -{letter} needs a value", kind="usage", line=line)


def _unknown(word: str, line: int) -> SpecError:
    return SpecError(f"Line {line}: sbatch does not know {word} here", kind="usage", line=line)


_PBS = {
    "a": "begin", "A": "account", "d": "chdir", "e": "error", "J": "array", "M": "mail-user", "N": "job-name",
    "o": "output", "p": "nice", "q": "partition", "t": "array", "w": "chdir",
}  # fmt: skip
_PBS_IGNORED = "cCIjkrSuVz"
_PBS_MAIL = {"a": "FAIL", "b": "BEGIN", "e": "END"}


def _pbs(rest: str, line: int) -> Pairs:
    for letter, value in _letters(rest, line, "hIVz"):
        if letter in _PBS:
            yield _PBS[letter], value
        elif letter == "h":
            yield "hold", None
        elif letter == "m":
            yield "mail-type", ",".join(_PBS_MAIL[one] for one in value if one in _PBS_MAIL) or "NONE"
        elif letter == "v":
            yield "export", value
        elif letter == "W":
            yield from _pbs_attributes(value)
        elif letter == "l":
            yield from _pbs_resources(value, line)
        elif letter not in _PBS_IGNORED:
            raise _unknown(f"-{letter}", line)


def _pbs_attributes(value: str) -> Pairs:
    name, _, rest = value.partition("=")
    if name == "depend":
        yield "dependency", rest
    elif name == "umask":
        # sbatch sets the umask of the job by this variable.
        yield "export", f"ALL,SLURM_UMASK={rest}"


_RESOURCE_OF = {
    "walltime": "time", "cput": "time", "mem": "mem", "pmem": "mem-per-cpu", "file": "tmp", "ncpus": "mincpus",
    "mpiprocs": "ntasks-per-node", "nice": "nice", "naccelerators": "gpus-per-node", "host": "nodelist",
    "proc": "constraint",
}  # fmt: skip


def _pbs_resources(value: str, line: int) -> Pairs:
    for item in value.split(","):
        name, _, rest = item.partition("=")
        if name in ("nodes", "select"):
            yield from _pbs_nodes(rest)
        elif name in _RESOURCE_OF:
            yield _RESOURCE_OF[name], _pbs_size(name, rest)


def _pbs_size(name: str, text: str) -> str:
    return text.rstrip("bB") if name in ("mem", "pmem", "file") and text[-1:] in "bB" else text


def _pbs_nodes(text: str) -> Pairs:
    """``N:ppn=P:gpus=G``: N nodes, N times P tasks, G GPUs a node."""
    count, *parts = text.split(":")
    if count.isdigit():
        yield "nodes", count
    elif count:
        yield "nodelist", count
    for part in parts:
        name, _, value = part.partition("=")
        if name in ("ppn", "mpiprocs") and value.isdigit():
            yield "ntasks", str(int(count) * int(value) if count.isdigit() else int(value))
        elif name in ("gpus", "ngpus"):
            yield "gpus-per-node", value
        elif name == "ncpus":
            yield "mincpus", value
        elif name == "mem":
            yield "mem", _pbs_size("mem", value)


_BSUB = {
    "e": "error", "J": "job-name", "o": "output", "m": "nodelist", "q": "partition", "W": "time", "M": "mem-per-cpu",
}  # fmt: skip


def _bsub(rest: str, line: int) -> Pairs:
    words = rest.split()
    if words[:1] == ["-cwd"]:
        yield "chdir", words[1] if len(words) > 1 else ""
        return
    for letter, value in _letters(rest, line, "x"):
        if letter == "x":
            yield "exclusive", None
        elif letter == "n":
            # MIN,MAX: sbatch takes the greater.
            yield "ntasks", value.split(",")[-1]
        elif letter == "m":
            yield "nodelist", value.replace(" ", ",")
        elif letter == "M":
            yield "mem-per-cpu", value if value[-1:].isalpha() else f"{value}K"
        elif letter in _BSUB:
            yield _BSUB[letter], value
        else:
            raise _unknown(f"-{letter}", line)
