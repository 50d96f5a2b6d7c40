"""How typed inputs reach a script, and how a script's outputs are named and read back."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from enum import Enum

from flyte.io import Dir, File

from .options import check_variable, is_text, shown

__all__ = [
    "NO_TREE",
    "check_variables",
    "input_variable",
    "input_variables",
    "output_variable",
    "output_variables",
    "upload_command_variable",
    "upload_url_variable",
]

NO_TREE = "declare a File and let the script pack the directory with tar, or use output_upload='connector' or 'job'"
# Of a file on Linux, in bytes.
_LONGEST_NAME = 255
# What the platform and the connector write beside the outputs themselves.
_TAKEN = re.compile(r"(inputs|outputs|error)\.pb|report\.html|slurm-[0-9]+[-_.].*", re.DOTALL)
_OTHER = re.compile(r"[^A-Za-z0-9_]")


def input_variable(name: str) -> str:
    """Return the variable that carries an input to a script."""
    return f"FLYTE_INPUT_{_OTHER.sub('_', name).upper()}"


def output_variable(name: str) -> str:
    """Return the variable that tells a script where an output goes."""
    return f"FLYTE_OUTPUT_{_OTHER.sub('_', name).upper()}"


def upload_url_variable(name: str) -> str:
    """Return the variable with the URL to which an output is uploaded, where it is uploaded so."""
    return f"{output_variable(name)}_URL"


def upload_command_variable(name: str) -> str:
    """Return the variable with the command that uploads an output."""
    return f"{output_variable(name)}_UPLOAD"


def output_variables(name: str, upload: str) -> list[str]:
    """Return all variables that an output has."""
    more = [upload_url_variable(name), upload_command_variable(name)] if upload == "presigned" else []
    return [output_variable(name), *more]


def check_variables(
    inputs: Iterable[str], outputs: Iterable[str], env: Iterable[str] = (), upload: str = "connector"
) -> None:
    """Raise ValueError when two names become the same variable, or an output's name is no name of a file."""
    taken: dict[str, str] = {name: f"The variable {name!r} of env" for name in env}
    inputs, outputs = list(inputs), list(outputs)
    for name in (*inputs, *outputs):
        if not isinstance(name, str) or not name or not is_text(name):
            raise ValueError(f"The name of an input or output is {shown(name)}: it takes a text")
    named = [("input", name, input_variable(name)) for name in inputs]
    named += [("output", name, variable) for name in outputs for variable in output_variables(name, upload)]
    for what, name, variable in named:
        if variable in taken:
            raise ValueError(f"{taken[variable]} and the {what} {name!r} would both be {variable}: rename one")
        taken[variable] = f"The {what} {name!r}"
        if what == "output" and not _names_a_file(name):
            raise ValueError(f"The output {shown(name)} cannot be the name of a file and of an object: rename it")
        if what == "output" and _TAKEN.fullmatch(name):
            raise ValueError(f"The output {name!r} has the name of what stands beside the outputs: rename it")


def _names_a_file(name: str) -> bool:
    # In a URI # and ? have a meaning, and flyte's storage takes them for that.
    is_plain = name.isprintable() and set("/#?").isdisjoint(name) and name not in ("", ".", "..")
    return is_plain and len(name.encode()) <= _LONGEST_NAME


def input_variables(inputs: Mapping[str, object]) -> dict[str, str]:
    """Return a script's inputs as variables: texts and numbers as they are, moments in ISO form, the rest as JSON.

    None leaves its variable unset; File and Dir are their URI. Raises ValueError for what has no such form, is too long
    for a variable, or would be the same one as another input.
    """
    check_variables(inputs, ())
    found: dict[str, str] = {}
    for name, value in inputs.items():
        text = _text(name, value)
        if text is not None:
            check_variable(f"The input {name!r}", input_variable(name), text)
            found[input_variable(name)] = text
    return found


def _text(name: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        # nan and inf, as C, awk and Python read them; JSON has no words for these.
        return str(value)
    if isinstance(value, (list, tuple, set, frozenset, Mapping)) or _is_structure(value):
        return json.dumps(_plain(name, value), ensure_ascii=False)
    plain = _plain(name, value)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _is_structure(value: object) -> bool:
    return (dataclasses.is_dataclass(value) or hasattr(value, "model_dump")) and not isinstance(value, (File, Dir))


def _plain(name: str, value: object) -> object:
    """Return a value as JSON has it."""
    if value is None or (isinstance(value, (str, bool, int, float)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        # Flyte carries a member by its name; one inside a structure came as text.
        return value.name
    if isinstance(value, (date, timedelta)):
        return value.total_seconds() if isinstance(value, timedelta) else value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(name, item) for item in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(name, item) for item in value]
    if isinstance(value, (File, Dir)):
        return str(value.path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(name, getattr(value, item.name)) for item in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise ValueError(
        f"The input {name!r} is a {type(value).__name__}, which cannot be passed to a script: it takes texts, numbers,"
        " times, lists, mappings, dataclasses, files and directories"
    )
