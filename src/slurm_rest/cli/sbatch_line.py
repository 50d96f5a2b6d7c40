"""sbatch's command line: read by sbatch's rules rather than click's, from the one table of options."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from slurm_rest.errors import SpecError
from slurm_rest.sbatch.getopt import Given, Options
from slurm_rest.sbatch.kinds import TEXT
from slurm_rest.sbatch.option import Option
from slurm_rest.sbatch.options import OPTIONS
from slurm_rest.sbatch.reader import split_command_line

from .failures import USAGE, Failed, in_front
from .sbatch_help import write_options
from .terminal import out

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from slurm_rest.sbatch import Script

__all__ = ["Line", "SbatchCommand", "script_of"]

_UNKNOWN = "sbatch has no option "
_NEWEST, _BEFORE = "26.05", "24.11"
_OURS = (
    Option("env", TEXT, help="variable for the job, NAME=VALUE; may be repeated"),
    Option("idempotency-key", TEXT, help="a text under which this job is submitted only once, however often asked"),
    Option("api-version", TEXT, help="API version to convert for, as in v0.0.42"),
)


@dataclass(slots=True)
class Line:
    """A command line as it was read. ``words`` are the script's name and its arguments."""

    given: list[Given] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    wrap: str | None = None
    api_version: str | None = None
    idempotency_key: str | None = None

    def has(self, name: str) -> bool:
        """Return whether a flag was given."""
        return self.count(name) > 0

    def count(self, name: str) -> int:
        """Return how often a flag was given."""
        return sum(one.option.name == name for one in self.given)


class SbatchCommand(click.Command):
    """A command that takes sbatch's options and leaves everything from the script's name on to the script."""

    def __init__(self, *args: object, own: Sequence[str] = (), **settings: object) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]  # click's own arguments
        self._own = tuple(row for row in _OURS if row.long in own)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words and hand them to the command as ``line``."""
        if ctx.resilient_parsing:
            return []
        line = _read(args, self._own, ctx)
        if line.has("help"):
            click.echo(ctx.get_help())
            ctx.exit()
        if line.has("usage"):
            click.echo(ctx.get_usage())
            ctx.exit()
        if line.has("version"):
            from slurm_rest import __version__

            out(f"slurm-rest {__version__}")
            ctx.exit()
        ctx.params["line"] = line
        return []

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options of the table that begin so, and files for everything else."""
        from click.shell_completion import CompletionItem  # only for a shell that completes

        if not incomplete.startswith("-"):
            return [CompletionItem(incomplete, type="file")]
        rows = (row for row in (*self._own, *OPTIONS) if f"--{row.long}".startswith(incomplete))
        return [CompletionItem(f"--{row.long}", help=row.help) for row in rows]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return sbatch's form of a command line."""
        return ["[OPTIONS]", "[SCRIPT [ARGS...]]"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the table, and our own, in groups."""
        write_options(formatter, (*self._own, *OPTIONS))


def _read(words: Sequence[str], own: Sequence[Option], context: click.Context) -> Line:
    """Read a line by the newest sbatch's table, or by that of the one before where only that one takes it."""
    try:
        return _read_by(words, own, _NEWEST)
    except SpecError as problem:
        with contextlib.suppress(SpecError):
            return _read_by(words, own, _BEFORE)
        hint = problem.hint
        if problem.message.startswith(_UNKNOWN):
            # Both know the same options, but sbatch need not be on this host.
            hint = hint.replace("sbatch --help", f"{context.command_path} --help")
            hint = in_front(problem.message.removeprefix(_UNKNOWN), context) or hint
        raise Failed(problem.message[:1].lower() + problem.message[1:], hint, status=USAGE) from None


def _read_by(words: Sequence[str], own: Sequence[Option], release: str) -> Line:
    return _sorted(*split_command_line(words, Options((*OPTIONS, *own), release)))


def _sorted(given: Sequence[Given], words: list[str]) -> Line:
    line = Line(words=words)
    for one in given:
        if one.option.name == "env":
            name, equals, value = (one.value or "").partition("=")
            if not name or not equals:
                # What was written stays out of the message: it may be a secret.
                raise Failed("--env takes NAME=VALUE", status=USAGE)
            line.env[name] = value
        elif one.option.name == "api_version":
            line.api_version = one.value
        elif one.option.name == "idempotency_key":
            line.idempotency_key = one.value
        elif one.option.name == "wrap":
            line.wrap = one.value
        else:
            line.given.append(one)
    if line.wrap is not None and words:
        raise Failed("a script cannot be given together with --wrap", status=USAGE)
    return line


def script_of(line: Line, standard_input: bytes) -> Script:
    """Return the script that a line means: ``--wrap``, a file, or what came on standard input."""
    from slurm_rest.sbatch.script import Script, check_script, read_script

    if line.wrap is not None:
        # The same text that sbatch makes.
        text = f"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{line.wrap}\n"
        return Script(check_script(text), "wrap")
    if line.words and line.words[0] != "-":
        import pathlib

        if not line.words[0]:
            raise Failed("the name of the script is empty", "Leave it out to read the script from standard input.")
        return read_script(pathlib.Path(line.words[0]))
    return Script(check_script(standard_input.decode("utf-8", "surrogateescape")), "sbatch")
