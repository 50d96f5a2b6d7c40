"""The one place that quotes words for a shell, and tells a command's own output from everything around it.

A program travels on standard input: the command line that the login shell sees is constant, so any shell will do (csh
and fish too), and nothing of a job shows in it. Half a program does nothing. After a connection that broke the end is
missing, and the shell waits for its closing brace. After a profile that read from standard input (``ssh`` in .bashrc
does) the beginning is missing; what is left could be lines of a job's script, so none runs unless the first line is
there, behind empty ones, which answer a profile's questions. Output counts between two lines with a random word: what a
profile, a banner or a wrapper prints outside of them is dropped.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from slurm_rest.errors import AnswerTooLarge, ProtocolError

__all__ = ["LINE", "MAX_OUTPUT", "Ending", "Finished", "Program", "Wrapped", "quote", "read_output", "too_much", "wrap"]

_FIRST = "# slurm-rest"
# What the login shell is asked to run, whatever the program. The shell reads no further than the line that it asks for.
_WHOLE = (
    'while read -r l; do case $l in "") ;;'
    f' "{_FIRST}") PATH="${{PATH:+$PATH:}}/usr/bin:/bin"; eval "$(cat)"; exit ;; *) exit 99 ;; esac; done'
)
LINE = f"exec /bin/sh -c '{_WHOLE}'"
_ANSWERS = "\n" * 4

_IN_THE_WAY = (
    "The login runs no command: its shell, a forced command, or a profile (.bashrc) that ends it, asks, or starts"
    " another shell. Try it with: echo true | ssh HOST sh"
)

# 50,000 jobs are 1.2 MB of states; a listing of all their records is 20 MB.
MAX_OUTPUT = 64 * 1024 * 1024

# A login's own defaults for Slurm's commands must not change what they do or print. SLURM_CONF finds the cluster and
# SLURM_JWT may be how the user logs in to it. Times are Unix seconds, so nobody's time zone matters. POSIXLY_CORRECT
# ends options at the first other word (scontrol show partition -o), SHELLOPTS hands set -eu on to a bash, and sbatch
# refuses to work in a directory that is gone.
_PRELUDE = r"""
set +eufvx; unset POSIXLY_CORRECT
[ -d "$PWD" ] || cd /
unset $(env | sed -nE '/^SLURM_(CONF|JWT)/d;s/^((SBATCH|SQUEUE|SACCT|SCANCEL|SCONTROL|SINFO|SLURM)_\w+)=.*/\1/p')
LC_ALL=C SLURM_TIME_FORMAT=%s; export LC_ALL SLURM_TIME_FORMAT
command -v squeue >/dev/null || [ ! -r /etc/profile ] || . /etc/profile >/dev/null 2>&1 </dev/null
""".strip()


@dataclass(frozen=True, slots=True)
class Program:
    """A shell program and the name of the command that it is about. A job's script and environment may be in it."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command printed, and its exit status; text keeps foreign bytes as surrogates.

    ``clock`` is the host's Unix time when it began, 0 where that is not known.
    """

    name: str
    stdout: str
    stderr: str
    status: int
    clock: int = 0


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What to feed the shell, and the word that marks the output."""

    stdin: bytes = field(repr=False)
    mark: str


def too_much() -> AnswerTooLarge:
    """Return the error about more output than MAX_OUTPUT."""
    hint = "Ask for less at once: fewer jobs, a shorter span of time, one user's or one partition's."
    return AnswerTooLarge(f"A command printed more than {MAX_OUTPUT >> 20} MiB; it was not read on", hint=hint)


def quote(words: Iterable[str]) -> str:
    """Return words as one line for a POSIX shell; NUL cannot be part of one."""
    return " ".join(shlex.quote(word) for word in words)


def wrap(program: Program) -> Wrapped:
    """Return the program as the shell's input, with the marks around its output."""
    mark = f"slurm-rest-{secrets.token_hex(8)}"
    text = (
        f"{_ANSWERS}{_FIRST}\n{{\n{_PRELUDE}\necho {mark} $(date +%s); echo {mark} >&2\n(\n{program.text}\n)\n"
        f"s=$?; printf '\\n%s %s\\n' {mark} $s; printf '\\n%s\\n' {mark} >&2; exit $s\n}}\n"
    )
    return Wrapped(text.encode("utf-8", "surrogateescape"), mark)


class Ending:
    """Tells from a stream of a program, as it comes, that the program has said all that it will.

    What a profile started in the background may keep the stream open long after that.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark.encode()
        # Never at the beginning of the stream: there the first of the two marks stands.
        self._last = re.compile(rb"\n%s(?: \d+)?\n" % re.escape(self._mark))
        self._from = 0
        self._begun = False

    def has_come(self, output: bytearray) -> bool:
        """Return whether the end is in what came so far; each call goes on where the one before left off."""
        if not self._begun:
            found = output.find(self._mark, self._from)
            self._begun = found >= 0
            self._from = found + len(self._mark) if self._begun else max(0, len(output) - len(self._mark))
        if not self._begun:
            return False
        if self._last.search(output, self._from):
            return True
        # As long as the longest last line, an exit status of three digits and all.
        self._from = max(self._from, len(output) - len(self._mark) - 6)
        return False


def read_output(program: Program, wrapped: Wrapped, stdout: bytes, stderr: bytes, where: str) -> Finished:
    """Return the command's own output; raises ProtocolError when its end, with the exit status, did not arrive."""
    mark = wrapped.mark.encode()
    before, begin, rest = stdout.partition(mark + b" ")
    clock, _, rest = rest.partition(b"\n")
    output, end, status = rest.rpartition(b"\n" + mark + b" ")
    # Half a number would be another one.
    if end and mark in status:
        hint = "A profile or a forced command sends them to standard output (2>&1); it must not without a terminal."
        raise ProtocolError(
            f"The login at {where} mixes output and errors, so {program.name} cannot be read", hint=hint
        )
    if not begin or not end or not (status.strip().isdigit() and status.endswith(b"\n")):
        said = _excerpt(stderr.replace(mark, b"") + b" " + (rest if begin else before))
        what = "broke off" if begin else "did not start"
        raise ProtocolError(
            f"{program.name} on {where} {what}{f': {said}' if said else ''}",
            hint=_IN_THE_WAY if not begin else "The connection or the login ended before the command did.",
        )
    errors = stderr.partition(mark + b"\n")[2].rpartition(b"\n" + mark)[0]
    began = int(clock) if clock.strip().isdigit() else 0
    return Finished(program.name, _text(output), _text(errors), int(status), began)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _excerpt(raw: bytes) -> str:
    return " ".join(raw.decode("utf-8", "replace").split())[-300:]
