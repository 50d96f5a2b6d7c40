"""JobSpec: a job as its submitter describes it, before any API version is chosen."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slurm_rest.errors import SpecError

from .grammar import unsendable
from .options import OPTIONS

__all__ = ["JobSpec"]

_READERS = {option.name: option for option in OPTIONS}
# Slurm answers error 2012 to more, in bytes (22.05, 24.11 and 26.05).
_TEXT_LIMIT = 1024


@dataclass(frozen=True)
class JobSpec:
    """A job to submit. Fields are sbatch's long options with ``_`` for ``-``; None leaves an option unset.

    ``script`` is the text of the batch script, ``args`` its arguments, ``env`` variables on top of the job's
    environment. Sizes are MiB or text ("4G"), times minutes, text ("2:00:00") or timedelta.

    Raises SpecError for a field that does not exist (naming the nearest), a value of the wrong type or form, and
    options that exclude each other.
    """

    script: str = field(default="", repr=False)
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    name: str | None = None
    account: str | None = None
    partition: str | Sequence[str] | None = None
    qos: str | None = None
    time: str | int | timedelta | None = None
    time_min: str | int | timedelta | None = None
    nodes: int | str | None = None
    ntasks: int | None = None
    ntasks_per_node: int | None = None
    cpus_per_task: int | None = None
    mem: str | int | None = None
    mem_per_cpu: str | int | None = None
    gpus: int | str | None = None
    gpus_per_node: int | str | None = None
    gres: str | Sequence[str] | None = None
    constraint: str | None = None
    licenses: str | Sequence[str] | None = None
    nodelist: str | Sequence[str] | None = None
    exclude: str | Sequence[str] | None = None
    exclusive: bool | str | None = None
    array: str | None = None
    dependency: str | None = None
    begin: datetime | int | None = None
    deadline: datetime | int | None = None
    hold: bool | None = None
    requeue: bool | None = None
    chdir: str | os.PathLike[str] | None = None
    output: str | os.PathLike[str] | None = None
    error: str | os.PathLike[str] | None = None
    input: str | os.PathLike[str] | None = None
    open_mode: str | None = None
    comment: str | None = None
    mail_type: str | Sequence[str] | None = None
    mail_user: str | None = None
    nice: int | None = None
    priority: int | None = None
    reservation: str | Sequence[str] | None = None
    wckey: str | None = None

    if not TYPE_CHECKING:
        # Type checkers see the dataclass's own signature; at run time a misspelt field gets an error that helps.
        def __init__(self, script: str = "", **options: object) -> None:
            known = {item.name: item for item in fields(type(self))}
            options = _canonical(options, known)
            for name, item in known.items():
                default = item.default_factory() if callable(item.default_factory) else item.default
                object.__setattr__(self, name, _kept(options.get(name), default))
            object.__setattr__(self, "script", script)
            _check(self)

    def replace(self, **options: object) -> JobSpec:
        """Return a copy in which ``options`` win; None puts an option back to unset."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return type(self)(**(values | _canonical(options, values)))

    def values(self) -> dict[str, object]:
        """Return the options that are set, each as the JSON value that its row in the table makes of it."""
        return {
            option.name: option.read(getattr(self, option.name))
            for option in OPTIONS
            if getattr(self, option.name) is not None
        }


def _kept(value: object, default: object) -> object:
    """Return a copy that nobody else can change or use up between the check and the submission."""
    if value is None:
        return default
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return value


# Keywords that mean a field of another name: sbatch says --job-name, everybody else says name.
_ALIASES = {"job_name": "name"}


def _canonical(options: Mapping[str, object], known: Iterable[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for given, value in options.items():
        name = _ALIASES.get(given, given)
        if name not in known:
            raise _unknown(given, known)
        if name in found:
            raise SpecError(f"{given} and {name} are the same option", field=name, hint="Give only one of them.")
        found[name] = value
    return found


def _unknown(name: str, known: Iterable[str]) -> SpecError:
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    hint = f"Did you mean {near[0]!r}?" if near else "Options are sbatch's long ones with _ for -."
    return SpecError(f"A job has no option {name!r}", field=name, hint=hint)


def _check(spec: JobSpec) -> None:
    for option in OPTIONS:
        value = getattr(spec, option.name)
        if value is None:
            continue
        try:
            option.read(value)
        except ValueError as error:
            raise SpecError(f"{option.name}={_short(value)}: {option.flag} {error}", field=option.name) from None
    _check_lengths(spec)
    _check_process(spec)
    if spec.mem is not None and spec.mem_per_cpu is not None:
        raise SpecError("mem and mem_per_cpu exclude each other", field="mem", hint="Give only one of them.")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _check_lengths(spec: JobSpec) -> None:
    for name in ("name", "comment"):
        value = getattr(spec, name)
        size = len(value.encode("utf-8", "surrogateescape")) if value else 0
        if size > _TEXT_LIMIT:
            hint = f"Slurm takes at most {_TEXT_LIMIT}."
            raise SpecError(f"{name} has {size} bytes", field=name, hint=hint)


def _check_process(spec: JobSpec) -> None:
    if not isinstance(spec.script, str):
        hint = 'Pass its text; read a file with read_script("job.sh").text.'
        raise SpecError(f"script is a {type(spec.script).__name__}, not text", field="script", hint=hint)
    if not isinstance(spec.args, tuple) or not all(_is_text(item) for item in spec.args):
        raise SpecError("args takes a list of texts", field="args", hint='For instance args=["--epochs", "3"].')
    if not isinstance(spec.env, Mapping):
        raise SpecError("env takes a mapping of names to values", field="env", hint='For instance env={"A": "1"}.')
    for name, value in spec.env.items():
        # The value stays out of the message: environments carry secrets.
        if not _is_text(name) or not name or "=" in name:
            shown = name.partition("=")[0] if isinstance(name, str) else name
            raise SpecError(f"env: {shown!r} cannot be the name of a variable", field="env")
        if not _is_text(value):
            raise SpecError(f"env: the value of {name} is not text", field="env", hint="Convert it with str().")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not unsendable(value)
