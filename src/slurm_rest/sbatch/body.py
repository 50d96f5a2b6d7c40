"""JobSpec to the JSON body of ``job/submit``, with everything that sbatch derives from its options."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from slurm_rest.errors import SpecError

from .derive import derive
from .derived import Derived, Place
from .environment import Submitter, job_environment
from .leaks import refuse_leaks
from .lexer import directive_lines
from .limits import refuse_cores, refuse_inexpressible
from .script import check_script
from .spec import JobSpec

__all__ = ["Setting", "submit_body"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything about a submission that the spec itself does not say.

    ``directory`` is the job's directory where the spec has none, ``base`` what a relative ``chdir`` starts from, where
    the current directory is one of the cluster's; ``rule`` decides the environment where nothing says
    ``--export``; ``release`` is the sbatch to imitate; ``command`` becomes the job's Command in Slurm; ``cluster`` is
    the one that slurmrestd serves. ``commands`` says that sbatch itself gets the options, and the body only tells
    environment and directory.
    """

    directory: str
    rule: str = "login"
    version: str = ""
    release: str = "24.11"
    submitter: Submitter = field(default_factory=Submitter)
    now: datetime = field(default_factory=datetime.now)
    command: str = ""
    cluster: str = ""
    read_file: Callable[[str], bytes] | None = None
    commands: bool = False
    base: str = ""


def submit_body(spec: JobSpec, setting: Setting) -> dict[str, object]:
    """Return the body for ``spec``: ``job`` for one component, ``jobs`` for several.

    Raises SpecError for what sbatch would refuse, and UnsupportedVersion for what the API version cannot say.
    """
    script = check_script(spec.script)
    parts = [spec, *spec.components]
    if setting.commands:
        refuse_leaks(parts)
    for part in parts:
        _check_cluster(part, setting.cluster)
    made: list[tuple[Derived, str]] = []
    for part in parts:
        values = part.options()
        refuse_inexpressible(values, setting.version, setting.release, commands=setting.commands)
        directory = _directory(values, setting)
        one = derive(values, Place(directory, setting.now, setting.release, setting.read_file))
        refuse_cores(values, one.fields, setting.version)
        made.append((one, directory))
    variables = _variables([one for one, _ in made])
    shared: dict[str, str] = {}
    limits: dict[str, str] = {}
    jobs = []
    for number, (part, (one, directory)) in enumerate(zip(parts, made, strict=True)):
        _share(shared, one, part)
        # Only the first component's environment has them, those of all components.
        jobs.append(_job(part, one, directory, {} if number else variables, shared, limits, setting, number))
    if any(part.bbf is not None for part in parts):
        script = _with_burst_buffer(script, parts, setting)
    return {"script": script, "job": jobs[0]} if len(jobs) == 1 else {"script": script, "jobs": jobs}


def _share(shared: dict[str, str], made: Derived, part: JobSpec) -> None:
    """Put into sbatch's own environment what it puts there; later components find it."""
    for name, value in made.shared.items():
        if not name.startswith("SLURM_CONTAINER"):
            shared[name] = value
        shared.setdefault(name, value)
    if part.export is not None and part.export.upper() != "ALL" and part.export_file is None:
        shared.setdefault("SLURM_EXPORT_ENV", part.export)


def _check_cluster(spec: JobSpec, cluster: str) -> None:
    """Refuse ``--clusters`` that does not name the one behind this slurmrestd: REST would ignore it."""
    asked = spec.clusters or spec.cluster
    if asked is None or not cluster:
        return
    names = [name.strip() for name in asked.split(",")]
    if cluster not in names and "all" not in names:
        hint = "Use a client of that cluster."
        raise SpecError(
            f"This slurmrestd serves cluster {cluster}, not {asked}", field="clusters", kind="value", hint=hint
        )


def _directory(values: dict[str, object], setting: Setting) -> str:
    directory = str(values.get("chdir", ""))
    if "chdir" in values and not directory.startswith("/"):
        base = setting.base or (setting.submitter.directory if setting.rule == "submit" else "")
        # Joined, not normalised: sbatch keeps ".." too.
        directory = f"{base}/{directory}" if base else directory
    directory = directory or setting.directory
    if not directory.startswith("/"):
        hint = "A relative one would be taken as is, and the job runs elsewhere."
        raise SpecError(f"The job's directory {directory!r} is not absolute", field="chdir", hint=hint, kind="value")
    return directory


def _variables(parts: list[Derived]) -> dict[str, str]:
    """Return sbatch's variables; those of a het job carry the number of their component, in two spellings."""
    if len(parts) == 1:
        return parts[0].variables
    return {
        f"{name}_{group}_GROUP_{number}": value
        for number, part in enumerate(parts)
        for name, value in {**part.variables, **part.het_only}.items()
        for group in ("PACK", "HET")
    }


def _job(
    part: JobSpec,
    made: Derived,
    directory: str,
    variables: dict[str, str],
    shared: dict[str, str],
    limits: dict[str, str],
    setting: Setting,
    number: int,
) -> dict[str, object]:
    job = dict(made.fields)
    job.setdefault("name", "sbatch")
    job["current_working_directory"] = directory
    values = part.options()
    export_file = values.get("export_file")
    job["environment"] = job_environment(
        values,
        variables if setting.rule == "submit" else {"SLURM_SUBMIT_DIR": directory, **variables},
        shared,
        setting.submitter,
        rule=setting.rule,
        release=setting.release,
        export_file=None if export_file is None else _read(str(export_file), "export_file", setting),
        env=part.env,
        component=number,
        limits=limits,
    )
    if part.args or setting.command:
        job["argv"] = [setting.command or str(job["name"]), *part.args]
    return job


def _read(path: str, name: str, setting: Setting) -> bytes:
    if setting.read_file is None:
        raise SpecError(f"--{name.replace('_', '-')} names a file, which cannot be read here", field=name, kind="value")
    try:
        return setting.read_file(path)
    except OSError as error:
        message = f"--{name.replace('_', '-')}: cannot read {path!r}: {error.strerror}"
        raise SpecError(message, field=name, kind="value") from None


def _with_burst_buffer(script: str, parts: list[JobSpec], setting: Setting) -> str:
    hint = "Put the file's lines into the script."
    if any(part.bbf != parts[0].bbf for part in parts):
        raise SpecError("--bbf of one component alone", field="bbf", kind="inexpressible", hint=hint)
    raw = _read(os.fspath(str(parts[0].bbf)), "bbf", setting)
    first, newline, rest = script.partition("\n")
    text = raw.decode("utf-8", "surrogateescape")
    made = f"{first}{newline}{text}{'' if text.endswith(chr(10)) else newline}{rest}"
    # sbatch reads the later components from the new script, but no further than the old one was long.
    if len(parts) > 1 and _directives(script) != _directives(_cut(made, script)):
        message = "--bbf with further components takes the last directives away from them"
        raise SpecError(message, field="bbf", kind="conflict", hint=hint)
    return made


def _directives(script: str) -> list[str]:
    return [line for _, line in directive_lines(script)]


def _cut(text: str, other: str) -> str:
    """Return as many bytes of a text as another one has."""
    size = len(other.encode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape")[:size].decode("utf-8", "surrogateescape")
