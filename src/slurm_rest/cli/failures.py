"""Runs the commands and turns whatever they raise into one line, a hint and an exit status."""

from __future__ import annotations

import difflib
import errno
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from slurm_rest.errors import SlurmError, SpecError

from .terminal import INTERRUPTED, Unwritable, complain, make_robust, one_line, remark, silence_stdout

__all__ = ["FAILED", "USAGE", "Failed", "Interrupted", "ReaderLeft", "in_front", "muted_warnings", "run"]

FAILED, USAGE = 1, 2
# What click's own output, such as --help, raises when it cannot be written.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF})


class Failed(Exception):
    """What a command says when it failed without an error of the library. No message: all has been said."""

    def __init__(self, message: str = "", hint: str = "", *, status: int = FAILED) -> None:
        super().__init__(message)
        self.message, self.hint, self.status = message, hint, status


class ReaderLeft(Exception):
    """Whoever read stdout has what it wanted, as in ``slurm-rest jobs | head -1``."""


class Interrupted(Exception):
    """^C, and what it means for the jobs at hand."""

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    from .app import app

    make_robust()
    handler = _Warnings()
    logging.getLogger("slurm_rest").addHandler(handler)
    try:
        status = app.main(list(sys.argv[1:] if arguments is None else arguments), "slurm-rest", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except Exception as error:
        return _explain(error)
    finally:
        logging.getLogger("slurm_rest").removeHandler(handler)


def _explain(error: Exception) -> int:
    if os.environ.get("SLURM_REST_DEBUG") and not isinstance(error, (click.ClickException, Failed)):
        _show_traceback(error)
    if isinstance(error, ReaderLeft):
        silence_stdout()
        return FAILED
    if isinstance(error, Interrupted):
        complain(error.message, error.hint, kind="interrupted")
        return INTERRUPTED
    if isinstance(error, (Failed, SlurmError)):
        if error.message:
            complain(_message(error), in_options(error.hint))
        return error.status if isinstance(error, Failed) else _status(error)
    if isinstance(error, Unwritable) or (isinstance(error, OSError) and error.errno in _NO_ROOM):
        silence_stdout()
        complain(f"cannot write to standard output: {getattr(error, 'strerror', None) or error}")
        return FAILED
    if isinstance(error, click.ClickException):
        complain(*_usage(error))
        return error.exit_code
    complain(
        f"unexpected {type(error).__name__}: {error}; this is a bug in slurm-rest",
        "Set SLURM_REST_DEBUG=1 to see where it comes from, and report it.",
    )
    return FAILED


def _status(error: SlurmError) -> int:
    """Tell what is wrong with the command line from what is wrong with the script or with the job."""
    if not isinstance(error, SpecError) or error.line is not None:
        return FAILED
    return USAGE if error.field or error.kind not in ("", "script", "directive") else FAILED


def _message(error: Failed | SlurmError) -> str:
    """Return the message in words of the command line: the library calls an option by its keyword."""
    from slurm_rest.sbatch.options import ROW_OF

    row = ROW_OF.get(error.field) if isinstance(error, SpecError) else None
    if row is not None and re.match(rf"{row.name}[ :]", error.message):
        return f"{row.flag}{in_options(error.message[len(row.name) :])}"
    return in_options(error.message)


def _usage(error: click.ClickException) -> tuple[str, str]:
    """Return the message and the hint of an error in usage."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "slurm-rest"
    hint = f"See: {path} --help"
    if isinstance(error, click.NoSuchOption):
        return f"no such option: {error.option_name}", _near(error, context) or hint
    return error.format_message().rstrip(".").replace("is not a valid integer range", "is no whole number"), hint


def _near(error: click.NoSuchOption, context: click.Context | None) -> str:
    """Name the option that was meant, or say that it is one of those in front of the command."""
    if context is not None and (hint := in_front(error.option_name, context)):
        return hint
    near = difflib.get_close_matches(error.option_name, error.possibilities or (), 1)
    return f"Did you mean {near[0]}?" if near else ""


def in_front(option: str, context: click.Context) -> str:
    """Return where an option goes that belongs in front of the command, empty for any other."""
    if context.parent is None or all(option not in param.opts for param in context.parent.command.params):
        return ""
    path = context.command_path.split()
    return f"It goes in front of the command: {path[0]} {option} ... {' '.join(path[1:])}"


# What the library says to programs, and what it means for those who type. The forms of a value in its messages end
# with the Python ones.
_PHRASES = (
    (re.compile(r', ("[^"]+")(?: or a timedelta|, an aware datetime or Unix seconds)'), r" or \1"),
    (re.compile(r"takes True, False or expedite"), "takes no value, or expedite"),
    (re.compile(r"takes True or False"), "takes no value"),
    (re.compile(r'Pass the path of a script, or its text starting with "#!"\.'), "Name a script, or use --wrap."),
    (re.compile(r"\bidempotency_key\b"), "--idempotency-key"),
    (re.compile(r"job\.follow\(\) waits for it\."), "With -f it is waited for."),
    (re.compile(r", from job\.tasks\."), "."),
    (re.compile(r"Use a client of that cluster\."), "Say which in front: slurm-rest --cluster PROFILE, or --url."),
)


def in_options(text: str) -> str:
    """Write ``time=...`` as ``--time=...`` where the library speaks of its keywords, and no word of Python."""
    from slurm_rest.sbatch.options import OPTIONS

    flags = {option.name: option.flag for option in OPTIONS} | {"url": "--url"}
    # "Check account=, or ..." names the option alone, "time=..." a value with it.
    alone = r"(?<![\w-])([a-z_]+)=(?=[\s,;:)]|\.(?!\.)|$)"
    valued = r"(?<![\w-])([a-z_]+)(?==)"
    for pattern in (alone, valued):
        text = re.sub(pattern, lambda found: flags.get(found[1], found[0]), text)
    for phrase, words in _PHRASES:
        text = phrase.sub(words, text)
    return text


def _show_traceback(error: Exception) -> None:
    import traceback

    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    remark(*(one_line(line) if line.strip() else "" for line in lines))


class _Warnings(logging.Handler):
    """Shows the library's warnings as lines of this command, one that repeats only once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.muted = False
        self._shown: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not self.muted and text not in self._shown:
            self._shown.add(text)
            complain(text, kind="warning")


@contextmanager
def muted_warnings() -> Iterator[None]:
    """Leave the library's warnings to a display that shows them itself, or to nobody."""
    handlers = [handler for handler in logging.getLogger("slurm_rest").handlers if isinstance(handler, _Warnings)]
    for handler in handlers:
        handler.muted = True
    try:
        yield
    finally:
        for handler in handlers:
            handler.muted = False
