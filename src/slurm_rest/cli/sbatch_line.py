"""sbatch's way to read a command line, where click's differs, and its options as click parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import click

from slurm_rest.sbatch import grammar
from slurm_rest.sbatch.options import OPTIONS, Option

__all__ = ["SbatchCommand", "sbatch_options"]

# Options whose value may be left out, and what that means. A value is given by "=" only: `--nice 5` is a script "5".
_BARE = {"exclusive": "exclusive", "nice": "100"}
_TIMES = frozenset({"begin", "deadline"})
_METAVARS = {
    "exclusive": "[=user|mcs|topo]",
    "nice": "[=N]",
    "name": "NAME",
    "mem": "SIZE",
    "mem_per_cpu": "SIZE",
    "chdir": "DIR",
    "priority": "N",
    "nodes": "N[-M]",
    "comment": "TEXT",
    **dict.fromkeys(_TIMES, "TIME"),
}
_METAVAR_OF_GRAMMAR: Mapping[Callable[[object], object], str] = {
    grammar.count: "N",
    grammar.minutes: "TIME",
    grammar.path: "FILE",
    grammar.gpus: "[TYPE:]N",
    grammar.word_list: "NODES",
}


class SbatchCommand(click.Command):
    """A command whose options end at the first word that is none, and whose long options may be abbreviated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Bring the words into click's form and parse them."""
        return super().parse_args(ctx, normalised(args, self.get_params(ctx)))


def normalised(words: Sequence[str], params: Iterable[click.Parameter]) -> list[str]:
    """Return the words with long options in full and with the values that sbatch lets one leave out.

    Everything from the script's name on is left as it is.
    """
    takes_value = {name: _takes_value(param) for param in params for name in (*param.opts, *param.secondary_opts)}
    bare = {f"--{name}": value for name, value in _BARE.items()}
    rest, done = list(words), []
    while rest and rest[0] not in ("-", "--") and rest[0].startswith("-"):
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            name = _full_name(name, takes_value)
            if name in bare and not equals:
                equals, value = "=", bare[name]
            done.append(name + equals + value)
            needs_value = takes_value.get(name, False) and not equals
        else:
            done.append(word)
            needs_value = _ends_open(word, takes_value)
        if needs_value and rest:
            done.append(rest.pop(0))
    return [*done, *rest]


def _takes_value(param: click.Parameter) -> bool:
    return isinstance(param, click.Option) and not param.is_flag


def _full_name(name: str, known: Iterable[str]) -> str:
    """Return the one option that starts like this, as getopt_long does; otherwise the name itself."""
    listed = list(known)
    found = [option for option in listed if option.startswith(name)]
    return found[0] if name not in listed and len(found) == 1 and len(name) > 2 else name


def _ends_open(word: str, takes_value: Mapping[str, bool]) -> bool:
    """Return whether a group of short options (``-Hn``) ends in one whose value is the next word."""
    for place, letter in enumerate(word[1:], 1):
        if takes_value.get(f"-{letter}", False):
            return place == len(word) - 1
    return False


class _Value(click.ParamType):  # type: ignore[type-arg]  # generic in click's newer releases only
    """A value in sbatch's grammar for this option."""

    name = "value"

    def __init__(self, option: Option) -> None:
        self._option = option

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Return a value that JobSpec takes, or fail with the forms that are taken."""
        text = str(value)
        try:
            given = _moment(text) if self._option.name in _TIMES else text
            self._option.read(given)
        except ValueError as error:
            self.fail(f"{text!r}: it {error}", param, ctx)
        return given


def _moment(text: str) -> object:
    if re.fullmatch(r"[0-9]{1,18}", text):
        return int(text)
    # Python 3.10 reads no "Z".
    iso = re.sub(r"[zZ]$", "+00:00", text)
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("takes Unix seconds, or a date and time with a zone such as 2026-01-31T08:00+01:00")
    return moment


def sbatch_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command sbatch's options, one for each row of the table that JobSpec is checked by."""
    for option in reversed(OPTIONS):
        function = _decorator(option)(function)
    return function


def _decorator(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    names = [*([f"-{option.short}"] if option.short else []), option.flag]
    text = f"{option.help[:1].upper()}{option.help[1:]}."
    if option.read is not grammar.switch:
        metavar = _METAVARS.get(option.name) or _METAVAR_OF_GRAMMAR.get(option.read)
        metavar = metavar or option.name.upper().rpartition("_")[2]
        return click.option(option.name, *names, metavar=metavar, type=_Value(option), help=text)
    if option.name == "requeue":
        return click.option(
            option.name, "--requeue/--no-requeue", default=None, help="The job may be requeued, or not."
        )
    return click.option(option.name, *names, is_flag=True, default=None, help=text)
