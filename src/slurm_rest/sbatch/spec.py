"""JobSpec: a job as its submitter describes it, before any API version is chosen."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from slurm_rest.errors import SpecError

from .conflicts import check_conflicts
from .getopt import Options
from .kinds import unsendable
from .layers import Layer, put
from .options import OPTIONS, ROW_OF

__all__ = ["JobSpec", "canonical_keywords", "read_keyword"]

# Slurm answers error 2012 to more, in bytes (22.05, 24.11 and 26.05).
_TEXT_LIMIT = 1024
# What a spec made of keywords is checked against: the newest release has every option.
_NEWEST = "26.05"


@dataclass(frozen=True, repr=False)
class JobSpec:
    """A job to submit. Fields are sbatch's long options with ``_`` for ``-``; None leaves an option unset.

    ``script`` is the text of the batch script, ``args`` its arguments, ``env`` variables on top of the job's
    environment, ``components`` the further components of a het job. Options take Python values or sbatch's text:
    sizes are MiB or "4G", times minutes, "2:00:00" or timedelta; afterwards a field holds the canonical value.

    The directives in ``script`` are text to a JobSpec: ``JobSpec.from_script`` reads them into options.

    Raises SpecError for a field that does not exist (naming the nearest), a value of the wrong type or form, and
    options that exclude each other.
    """

    script: str = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    components: Sequence[JobSpec] = ()
    name: str | None = None
    account: str | None = None
    acctg_freq: str | int | None = None
    array: str | None = None
    autocomplete: str | None = None
    batch: str | None = None
    bb: str | None = None
    bbf: str | os.PathLike[str] | None = None
    begin: str | int | datetime | None = None
    chdir: str | os.PathLike[str] | None = None
    cluster: str | None = None
    cluster_constraint: str | None = None
    clusters: str | None = None
    comment: str | None = None
    consolidate_segments: bool | None = None
    constraint: str | None = None
    container: str | None = None
    container_id: str | None = None
    container_type: str | None = None
    context: str | None = None
    contiguous: bool | None = None
    core_spec: int | None = None
    cores_per_socket: int | None = None
    cpu_freq: str | int | None = None
    cpus_per_gpu: int | None = None
    cpus_per_task: int | None = None
    deadline: str | int | datetime | None = None
    delay_boot: str | int | timedelta | None = None
    dependency: str | None = None
    distribution: str | None = None
    error: str | os.PathLike[str] | None = None
    exclude: str | Sequence[str] | None = None
    exclusive: bool | str | None = None
    export: str | None = None
    export_file: str | os.PathLike[str] | None = None
    external: bool | None = None
    extra: str | None = None
    extra_node_info: str | None = None
    get_user_env: bool | str | None = None
    gid: str | None = None
    gpu_bind: str | None = None
    gpu_freq: str | None = None
    gpus: int | str | None = None
    gpus_per_node: int | str | None = None
    gpus_per_socket: int | str | None = None
    gpus_per_task: int | str | None = None
    gres: str | Sequence[str] | None = None
    gres_flags: str | Sequence[str] | None = None
    hint: str | Sequence[str] | None = None
    hold: bool | None = None
    ignore_pbs: bool | None = None
    input: str | os.PathLike[str] | None = None
    kill_on_invalid_dep: bool | str | None = None
    licenses: str | Sequence[str] | None = None
    mail_type: str | Sequence[str] | None = None
    mail_user: str | None = None
    mcs_label: str | None = None
    mem: str | int | None = None
    mem_bind: str | Sequence[str] | tuple[frozenset[str], str, str] | None = None
    mem_per_cpu: str | int | None = None
    mem_per_gpu: str | int | None = None
    mem_update: str | None = None
    mincpus: int | None = None
    network: str | None = None
    nice: int | None = None
    no_kill: bool | str | None = None
    no_requeue: bool | None = None
    nodefile: str | os.PathLike[str] | None = None
    nodelist: str | Sequence[str] | None = None
    nodes: int | str | None = None
    ntasks: int | None = None
    ntasks_per_core: int | None = None
    ntasks_per_gpu: int | None = None
    ntasks_per_node: int | None = None
    ntasks_per_socket: int | None = None
    ntasks_per_tres: int | None = None
    oom_kill_step: int | None = None
    open_mode: str | None = None
    output: str | os.PathLike[str] | None = None
    overcommit: bool | None = None
    oversubscribe: bool | None = None
    partition: str | Sequence[str] | None = None
    prefer: str | None = None
    priority: int | str | None = None
    profile: str | Sequence[str] | None = None
    propagate: bool | str | Sequence[str] | None = None
    qos: str | None = None
    reboot: bool | None = None
    requeue: bool | str | None = None
    reservation: str | Sequence[str] | None = None
    resources: str | None = None
    resv_ports: int | None = None
    segment: int | None = None
    signal: str | int | tuple[str, int, int] | None = None
    sockets_per_node: int | None = None
    spread_job: bool | None = None
    spread_segments: bool | None = None
    stepmgr: bool | None = None
    switches: str | int | tuple[int, int | None] | None = None
    tasks_per_node: int | None = None
    test_only: bool | None = None
    thread_spec: int | None = None
    threads_per_core: int | None = None
    time: str | int | timedelta | None = None
    time_min: str | int | timedelta | None = None
    tmp: str | int | None = None
    tres_bind: str | None = None
    tres_per_task: str | None = None
    uid: str | None = None
    use_min_nodes: bool | None = None
    wait: bool | None = None
    wait_all_nodes: int | None = None
    wckey: str | None = None

    if not TYPE_CHECKING:
        # Type checkers see the dataclass's own signature; at run time a misspelt field gets an error that helps.
        def __init__(self, script: str = "", **options: object) -> None:
            options = _canonical(options)
            values = {name: value for name, value in options.items() if name not in _REST and value is not None}
            layer = Layer({name: read_keyword(name, value) for name, value in values.items() if name in ROW_OF})
            layer.sources = dict.fromkeys(layer.values, False)
            _check_slots(layer.values)
            check_conflicts(layer, "24.11")
            _fill(self, script, layer.values, **{name: options[name] for name in _REST if name in options})

    @classmethod
    def of(
        cls,
        script: object,
        values: Mapping[str, object],
        *,
        args: object = (),
        env: object = None,
        components: object = (),
    ) -> JobSpec:
        """Return a spec of options that are read and checked already (as ``options`` returns them)."""
        spec = object.__new__(cls)
        _fill(spec, script, values, args=args, env=env, components=components)
        return spec

    def replace(self, **options: object) -> JobSpec:
        """Return a copy in which ``options`` win, as on a command line; None puts an option back to unset."""
        plain = _canonical(options)
        rows = Options(OPTIONS, _NEWEST)
        layer = Layer(self.options())
        for name, value in plain.items():
            row = ROW_OF.get(name)
            if row is None or value is None:
                layer.values.pop(name, None)
            else:
                put(layer, row, read_keyword(name, value), rows, environment=False)
        layer.sources = dict.fromkeys(layer.values, False)
        check_conflicts(layer, "24.11")
        script, args, env, components = (plain.get(name, getattr(self, name)) for name in ("script", *_REST))
        return type(self).of(script, layer.values, args=args, env=env, components=components)

    @classmethod
    def from_script(
        cls,
        script: str | os.PathLike[str],
        *,
        words: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        release: str = "24.11",
        **options: object,
    ) -> JobSpec:
        """Read a batch script as sbatch reads it: its directives, then ``SBATCH_*`` variables, then options.

        ``script`` is a path, or text that starts with ``#!``; ``words`` are options as on sbatch's command line
        (without the script), ``options`` the same as keywords, both winning over directives. ``environ`` is where
        the variables are looked up, none by default; ``release`` the sbatch to imitate, 24.11 or 26.05.
        """
        from .reader import read_job  # it builds specs itself

        return read_job(script, words=words, environ=environ or {}, release=release, keywords=options).spec

    @classmethod
    def from_body(cls, body: Mapping[str, object], api_version: str = "") -> JobSpec:
        """Read the JSON body of ``job/submit`` back, as ``slurm-rest convert`` prints it.

        Several specs give the same body; this is their normal form, which gives it too: what sbatch derives is taken
        back, paths are absolute, moments Unix seconds, hints the counts that they mean. ``api_version`` tells which
        release's rules the body follows: 26.05 from v0.0.43 on, else 24.11. SpecError for what no options give.
        """
        from .unbody import read_body  # it builds specs itself

        return read_body(body, api_version)

    def to_script(self) -> str:
        """Return the script with these options as its directives: a file that sbatch takes."""
        from .render import to_script

        return to_script(self)

    def to_argv(self) -> list[str]:
        """Return these options as words of an sbatch command line, without ``sbatch`` and the script."""
        from .render import to_argv

        return to_argv(self)

    def __repr__(self) -> str:
        """Show what is set; of the script only its length, of variables only their names: values may be secret."""
        shown = [f"<script of {len(self.script)} characters>"] if self.script else []
        shown += [f"{name}={value!r}" for name, value in self.options().items()]
        shown += [f"args={list(self.args)!r}"] if self.args else []
        shown += [f"env=<{', '.join(self.env)}>"] if self.env else []
        shown += [f"components={list(self.components)!r}"] if self.components else []
        return f"JobSpec({', '.join(shown)})"

    def options(self) -> dict[str, object]:
        """Return the options that are set, as canonical values."""
        own = self.__dict__
        return {name: value for name in _NAMES if (value := own[name]) is not None}


_NAMES = tuple(row.name for row in OPTIONS if not row.inert)
_UNSET = dict.fromkeys(_NAMES)
_REST = ("args", "env", "components")
_KNOWN = dict.fromkeys(("script", *_REST, *_NAMES))


def _fill(
    spec: JobSpec,
    script: object,
    values: Mapping[str, object],
    *,
    args: object = None,
    env: object = None,
    components: object = None,
) -> None:
    """Set all fields of a new spec, to copies that nobody else can change, and check what is no option."""
    own = spec.__dict__
    own["script"] = script
    own["args"] = _frozen(args)
    own["env"] = dict(env) if isinstance(env, Mapping) else {} if env is None else env
    own["components"] = _frozen(components)
    own.update(_UNSET)
    own.update(values)
    _check_lengths(spec)
    _check_process(spec)


def _frozen(value: object) -> object:
    if type(value) is tuple:
        return value
    if value is None:
        return ()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return tuple(cast("Iterable[object]", value))
    return value


# Keywords that mean a field of another name: sbatch says --job-name, everybody else says name.
_ALIASES = {"job_name": "name"}


def _canonical(options: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for given, value in options.items():
        name = _ALIASES.get(given, given)
        if name not in _KNOWN:
            raise _unknown(given)
        if name in found:
            raise SpecError(f"{given} and {name} are the same option", field=name, hint="Give only one of them.")
        found[name] = value
    return found


def canonical_keywords(options: Mapping[str, object]) -> dict[str, object]:
    """Return keywords under the names of JobSpec's fields, or SpecError for one that does not exist."""
    return _canonical(options)


def _unknown(name: str) -> SpecError:
    if name == "wrap":
        hint = 'Pass the commands as the script: "#!/bin/sh\\nhostname\\n"'
        return SpecError("A job has no option 'wrap'", field=name, hint=hint, kind="usage")
    near = difflib.get_close_matches(name, _KNOWN, 1, 0.6)
    hint = f"Did you mean {near[0]!r}?" if near else "Options are sbatch's long ones with _ for -."
    return SpecError(f"A job has no option {name!r}", field=name, hint=hint, kind="usage")


# sbatch reads --priority=high as 0, for no priority. A script means what it means to sbatch; a keyword has to be right.
_READ_AS_ZERO = {"nice": re.compile("[+-]?[0-9]+"), "priority": re.compile("[0-9]+|(?i:TOP)")}


def read_keyword(name: str, value: object) -> object:
    """Return the canonical value of a keyword, or SpecError that names it."""
    row = ROW_OF[name]
    try:
        number = _READ_AS_ZERO.get(name)
        if number is not None and isinstance(value, str) and not number.fullmatch(value):
            raise ValueError("takes a number, of which this text has none or more")
        return row.read(value)
    except ValueError as error:
        raise SpecError(f"{name}={_short(value)}: --{row.long} {error}", field=name, kind="value") from None


def _check_slots(values: Mapping[str, object]) -> None:
    """Refuse options that write the same thing: in a script the last one would count, but keywords have no order."""
    taken: dict[str, str] = {}
    for name in values:
        slot = ROW_OF[name].slot
        if slot and slot in taken:
            first, second = (f"--{ROW_OF[one].long}" for one in (taken[slot], name))
            hint = "Give only one of them."
            raise SpecError(f"{first} and {second} say the same thing", field=name, kind="conflict", hint=hint)
        if slot:
            taken[slot] = name


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python shows no number of more than 4300 digits
        return "..."
    return text if len(text) <= 100 else f"{text[:100]}..."


def _check_lengths(spec: JobSpec) -> None:
    for name in ("name", "comment"):
        value = getattr(spec, name)
        size = len(value.encode("utf-8", "surrogateescape")) if value else 0
        if size > _TEXT_LIMIT:
            hint = f"Slurm takes at most {_TEXT_LIMIT}."
            raise SpecError(f"{name} has {size} bytes", field=name, hint=hint, kind="value")


def _check_process(spec: JobSpec) -> None:
    if not isinstance(spec.script, str):
        hint = 'Pass its text; read a file with read_script("job.sh").text.'
        raise SpecError(f"script is of type {type(spec.script).__name__}, not text", field="script", hint=hint)
    if not isinstance(spec.args, tuple) or not all(_is_text(item) for item in spec.args):
        raise SpecError("args takes a list of texts", field="args", hint='For instance args=["--epochs", "3"].')
    parts = spec.components
    if not isinstance(parts, tuple) or not all(isinstance(item, JobSpec) and not item.components for item in parts):
        hint = "For instance components=[JobSpec(ntasks=1)]."
        raise SpecError("components takes a list of JobSpec without components", field="components", hint=hint)
    if not isinstance(spec.env, Mapping):
        raise SpecError("env takes a mapping of names to values", field="env", hint='For instance env={"A": "1"}.')
    for name, value in spec.env.items():
        # The value stays out of the message: environments carry secrets.
        if not _is_text(name) or not name or "=" in name:
            shown = name.partition("=")[0] if isinstance(name, str) else name
            hint = "A name is text without = and NUL."
            raise SpecError(f"env: {shown!r} cannot be the name of a variable", field="env", hint=hint)
        if not _is_text(value):
            raise SpecError(f"env: the value of {name} is not text", field="env", hint="Convert it with str().")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not unsendable(value)
