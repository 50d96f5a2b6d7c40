"""Where a job's output goes: Slurm's filename patterns, and what each release's records leave of them.

Pure. Everything about a release was compared with the files that real jobs made on 22.05, 24.11 and 26.05.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .models import JobInfo
from .sbatch import JobSpec
from .sbatch.hostlist import expand_hostlist

__all__ = ["NO_TASK", "Facts", "OutputFile", "Stream", "expand_pattern", "output_file"]

Stream = Literal["stdout", "stderr"]

DEVNULL = "/dev/null"
_DEFAULT, _DEFAULT_ARRAY = "slurm-%j.out", "slurm-%A_%a.out"
_STANDARD: Mapping[Stream, str] = {"stdout": "standard_output", "stderr": "standard_error"}
# What no path can contain marks the part that only the compute node knows.
_HOLE = "\0"
# Slurm's NO_VAL, which it prints as the task id of a job that is no array task.
NO_TASK = 0xFFFFFFFE
_MAX_WIDTH = 10
_UNKNOWN = "(null)"


@dataclass(frozen=True, slots=True)
class _Rules:
    """How a release expands. Rules hold from ``since`` until the next row.

    ``letters`` are the wildcards that it knows. ``strict``: digits without a wildcard behind them stay as they are, and
    a single ``%`` at the end goes; before, all but the last digit went. ``exact``: what its records call expanded
    is the file's name. ``left`` are the wildcards that it leaves in records that claim to be expanded, empty for all.
    ``own_name``: ``%N`` is the host's own name, which need not be the node's.
    """

    since: tuple[int, ...]
    letters: str
    left: str
    strict: bool = False
    exact: bool = False
    own_name: bool = True


# 23.02 to 24.05 and 25.05 to 25.11 were not tried; each goes by the tried release before it.
_RULES = (
    _Rules((0,), letters="aAJjnNstux", left="aAJjnNstux"),
    _Rules((24, 11), letters="aAbJjnNstux", left="JnNst"),
    _Rules((26, 5), letters="aAbJjnNstux", left="", strict=True, exact=True, own_name=False),
)


def _rules(release: str) -> _Rules:
    """Return the row of a release; the newest where it is not known."""
    numbers = tuple(int(part) for part in release.split(".")[:2] if part.isdecimal())
    known = [rules for rules in _RULES if not numbers or rules.since <= numbers]
    return known[-1] if known else _RULES[0]


@dataclass(frozen=True, slots=True)
class Facts:
    """What patterns are about. ``node`` is the first node of the job, empty while it has none."""

    job_id: int
    array_job_id: int | None = None
    task_id: int | None = None
    user: str = ""
    name: str = ""
    node: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file on the cluster. ``search`` is set where a part of its name may differ: the names that it can have."""

    path: str
    search: re.Pattern[str] | None = None

    @property
    def is_nothing(self) -> bool:
        """True for a job that throws its output away."""
        return self.path == DEVNULL


def expand_pattern(template: str, facts: Facts, release: str) -> str | None:
    """Return the path that sbatch's ``--output`` or ``--error`` means in a release, None while the node is not known.

    The numbers in ``%4j`` fill up with zeros, to 10 digits at most. A backslash anywhere turns all patterns off.
    """
    found = _expand(template, facts, _rules(release))
    return _with_node(found, facts)


def _with_node(found: str, facts: Facts) -> str | None:
    if _HOLE in found and not facts.node:
        return None
    path = found.replace(_HOLE, facts.node)
    return path if path.startswith("/") else posixpath.join(facts.directory, path)


def _expand(template: str, facts: Facts, rules: _Rules) -> str:
    if template == "none":
        return DEVNULL
    if "\\" in template:
        return template.replace("\\", "") if rules.strict else re.sub(r"\\(.?)", r"\1", template, flags=re.DOTALL)
    return _strict(template, facts, rules) if rules.strict else _lenient(template, facts, rules)


def _strict(template: str, facts: Facts, rules: _Rules) -> str:
    def replace(found: re.Match[str]) -> str:
        digits, letter = found[1], found[2]
        if letter == "%" and not digits:
            return "%"
        if letter and letter in rules.letters:
            return _value(letter, digits, facts)
        return found[0] if digits or letter else ""

    return re.sub(r"%([0-9]*)(.?)", replace, template, flags=re.DOTALL)


def _lenient(template: str, facts: Facts, rules: _Rules) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        digits, letter = found[1], found[2]
        if letter:
            return _value(letter, digits, facts)
        return digits[-1] if digits else "%"

    return re.sub(rf"%%|%([0-9]*)([{rules.letters}]?)", replace, template)


def _finish(settled: str, facts: Facts, rules: _Rules) -> str:
    """Expand what a release left over in a path that it calls expanded. Nothing tells which ``%`` was one of two."""
    if "\\" in settled:
        return settled.replace("\\", "")
    settled = settled.replace(_UNKNOWN, _HOLE)
    if rules.left == rules.letters:
        return _lenient(settled, facts, rules)
    return re.sub(rf"%([0-9]*)([{rules.left}])", lambda found: _value(found[2], found[1], facts), settled)


def _value(letter: str, digits: str, facts: Facts) -> str:
    task = NO_TASK if facts.task_id is None else facts.task_id
    texts = {"u": facts.user, "x": facts.name, "N": _HOLE, "s": "batch"}
    if letter in texts:
        return texts[letter]
    array = facts.array_job_id if facts.task_id is not None and facts.array_job_id else facts.job_id
    numbers = {"j": facts.job_id, "J": facts.job_id, "A": array, "a": task, "b": task % 10}
    # A batch script runs on one node as one task: %n and %t are 0.
    return f"{numbers.get(letter, 0):0{min(int(digits or 0), _MAX_WIDTH)}d}"


def output_file(
    record: JobInfo, stream: Stream = "stdout", *, release: str = "", spec: JobSpec | None = None
) -> OutputFile | None:
    """Return the file of a job or array task, None where nothing tells which it is, or not yet.

    ``spec`` is what was submitted, if that is known: records of 22.05's accounting and of v0.0.40's have no paths,
    and those of 24.11 and before are wrong for rare names. The file itself may not exist yet.
    """
    rules, facts = _rules(release), _facts(record)
    if record.state.is_pending and record.array_job_id and not record.restart_count:
        # A task that waits has no number of its own yet, and its array's record knows no task.
        return None
    found = _find(record, stream, facts, rules, spec)
    if found is None and stream == "stderr":
        found = _find(record, "stdout", facts, rules, spec)
    path = None if found is None else _with_node(found, facts)
    if found is None or path is None:
        return None
    return OutputFile(path, _search(found) if rules.own_name else None)


def _find(record: JobInfo, stream: Stream, facts: Facts, rules: _Rules, spec: JobSpec | None) -> str | None:
    told, sure = _from_record(record, stream, facts, rules)
    if spec is None or (told is not None and sure):
        return told
    given = spec.output if stream == "stdout" else spec.error
    if given is None and stream == "stderr":
        return None
    template = (_DEFAULT_ARRAY if facts.task_id is not None else _DEFAULT) if given is None else os.fspath(given)
    return _expand(template, facts, rules)


def _from_record(record: JobInfo, stream: Stream, facts: Facts, rules: _Rules) -> tuple[str | None, bool]:
    """Return what the record says, and whether that is certain."""
    raw = record.raw
    expanded = raw.get(f"{stream}_expanded")
    template: object = None
    if record.source == "accounting":
        template = raw.get(stream)
    elif expanded is not None:
        template = raw.get(_STANDARD[stream])
    settled = getattr(record, stream)
    if rules.exact and settled:
        # The node's name is not known to those that have no node yet, and never to v0.0.42's accounting.
        return settled.replace(_UNKNOWN, _HOLE), True
    if isinstance(template, str) and template:
        return _expand(template, facts, rules), True
    if not settled:
        return None, False
    return _finish(settled, facts, rules), not re.search(r"[%\\]|\(null\)", settled)


def _facts(record: JobInfo) -> Facts:
    host = record.raw.get("batch_host")
    return Facts(
        job_id=record.id,
        array_job_id=record.array_job_id,
        task_id=record.array_task_id,
        user=record.user,
        name=record.name,
        node=host if isinstance(host, str) and host else _first(record.nodes),
        directory=record.working_directory or "/",
    )


def _first(nodes: str) -> str:
    try:
        return expand_hostlist(nodes)[0]
    except ValueError:
        return ""


def _search(found: str) -> re.Pattern[str] | None:
    directory, _, name = found.rpartition("/")
    if _HOLE not in name or _HOLE in directory:
        return None
    return re.compile("[^/]+".join(re.escape(part) for part in name.split(_HOLE)), re.DOTALL)
