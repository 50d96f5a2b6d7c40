"""Reads a batch script and refuses what sbatch would refuse; slurmrestd itself checks nothing of it."""

from __future__ import annotations

import codecs
import os
import shlex
from dataclasses import dataclass
from functools import lru_cache

from slurm_rest.errors import SpecError

from .kinds import unsendable

__all__ = ["MAX_SCRIPT_BYTES", "Script", "check_script", "read_script"]

# Slurm's default max_script_size: 4194304 bytes are taken, 4200000 answered with error 2012.
MAX_SCRIPT_BYTES = 4 * 1024 * 1024
_LARGEST_KEPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Script:
    """A checked batch script. ``name`` is what sbatch would call the job, ``path`` where it was read from."""

    text: str
    name: str
    path: str = ""


def read_script(source: str | os.PathLike[str]) -> Script:
    """Take text that starts with ``#!`` as the script itself, anything else as the path of one."""
    if isinstance(source, str) and (source.startswith("#!") or "\n" in source):
        return Script(check_script(source), "sbatch")
    hint = 'Pass the path of a script, or its text starting with "#!".'
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(path, str):
        raise SpecError(f"The script is of type {type(path).__name__}, not a path or text", field="script", hint=hint)
    if not path:
        raise SpecError("The script is empty", field="script", hint=hint)
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_SCRIPT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(f"Cannot read the script {path!r}: {reason}", hint=hint) from None
    text = check_script(raw.decode("utf-8", "surrogateescape"), path)
    return Script(text, os.path.basename(path), os.path.abspath(path))


# Longest first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
    (b"#\0!\0", "UTF-16LE"),
    (b"\0#\0!", "UTF-16BE"),
)


def _no_shell(text: str, path: str) -> SpecError:
    """Say why a script does not start with #!; sbatch says no more, whatever its encoding."""
    name = next((name for mark, name in _MARKS if text.startswith(mark.decode("utf-8", "surrogateescape"))), None)
    if name is not None:
        hint = f"Convert it: iconv -f {name} -t UTF-8 {shlex.quote(path or 'script.sh')} > new.sh"
        return SpecError(f"The script is {name} text, not UTF-8, so it does not start with #!", hint=hint)
    if text.startswith(codecs.BOM_UTF8.decode()):
        hint = f"Remove it: sed -i '1s/^\\xef\\xbb\\xbf//' {shlex.quote(path or 'script.sh')}"
        return SpecError("The script starts with a byte order mark, so it does not start with #!", hint=hint)
    hint = 'Its first line must name a shell, for instance "#!/bin/bash".'
    return SpecError("The script does not start with #!", hint=hint)


def check_script(text: str, path: str = "") -> str:
    """Return ``text`` if sbatch would take it, in the order of sbatch's own checks; ``path`` is for the advice."""
    if not isinstance(text, str):
        raise SpecError(
            f"The script is of type {type(text).__name__}, not text", hint='Read a file with read_script("job.sh").'
        )
    (_kept_check if len(text) <= _LARGEST_KEPT else _check)(text, path)
    return text


def _check(text: str, path: str) -> None:
    if not text:
        raise SpecError("The script is empty", hint='A batch script starts with a line such as "#!/bin/bash".')
    if not text.strip():
        raise SpecError("The script has only white space", hint='Its first line must name a shell: "#!/bin/bash".')
    if not text.startswith("#!"):
        raise _no_shell(text, path)
    if "\0" in text:
        raise SpecError("The script contains NUL characters", hint="Save it as plain UTF-8 text.")
    if "\r\n" in text:
        raise SpecError("The script has DOS line ends (CR LF)", hint='Convert it, for instance with "dos2unix".')
    if unsendable(text):
        raise SpecError(f"The script {unsendable(text)}", hint="Save it as plain UTF-8 text.")
    size = len(text.encode("utf-8", "surrogateescape"))
    if size > MAX_SCRIPT_BYTES:
        raise SpecError(
            f"The script is larger than {MAX_SCRIPT_BYTES} bytes", hint="Put the data into a file on the cluster."
        )


# Each submission looks twice, and the same script is often submitted many times. What raises is not kept.
_kept_check = lru_cache(maxsize=16)(_check)
