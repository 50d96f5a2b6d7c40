"""JobSpec to the JSON body of ``job/submit``, with everything that sbatch derives from its options."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from slurm_rest.errors import SpecError

from .derive import derive
from .derived import Derived, Place, read_named
from .environment import Process, Submitter
from .leaks import refuse_leaks
from .limits import refuse_inexpressible, refuse_lacking, refuse_told
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
    options = [part.options() for part in parts]
    made = [_derive(part, values, setting) for part, values in zip(parts, options, strict=True)]
    if not setting.commands:
        refuse_told(made)
        refuse_lacking([(values, one.fields) for values, one in zip(options, made, strict=True)], setting.version)
    emptied = any(part.export_file is not None for part in parts)
    process = Process(setting.submitter, rule=setting.rule, release=setting.release, emptied=emptied)
    jobs = []
    for number, (part, values, one) in enumerate(zip(parts, options, made, strict=True)):
        process.share(one.shared, part.export, file=part.export_file is not None)
        # Only the first component's environment has them, those of all components.
        variables = {} if number else _variables(made)
        jobs.append(_job(part, values, one, variables, process, setting, first=not number))
    script = _with_burst_buffer(script, parts, setting)
    return {"script": script, "job": jobs[0]} if len(jobs) == 1 else {"script": script, "jobs": jobs}


def _derive(part: JobSpec, values: dict[str, object], setting: Setting) -> Derived:
    """Return what sbatch makes of one component."""
    _check_cluster(part, setting.cluster)
    refuse_inexpressible(values, setting.release, commands=setting.commands)
    place = Place(_directory(values, setting), setting.now, setting.release, setting.read_file)
    made = derive(values, place)
    made.fields["current_working_directory"] = place.directory
    return made


def _check_cluster(spec: JobSpec, cluster: str) -> None:
    """Refuse ``--clusters`` that does not name the one behind this slurmrestd: REST would ignore it."""
    asked = spec.clusters or spec.cluster
    if asked is None or not cluster:
        return
    names = asked.split(",")
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
        for name, value in part.variables.items()
        for group in ("PACK", "HET")
    }


def _job(
    part: JobSpec,
    values: dict[str, object],
    made: Derived,
    variables: dict[str, str],
    process: Process,
    setting: Setting,
    *,
    first: bool,
) -> dict[str, object]:
    job = dict(made.fields)
    job.setdefault("name", "sbatch")
    if setting.rule != "submit":
        variables = {"SLURM_SUBMIT_DIR": str(job["current_working_directory"]), **variables}
    file = values.get("export_file")
    read = None if file is None else read_named("export-file", str(file), setting.read_file)
    job["environment"] = process.environment(values, variables, export_file=read, env=part.env, first=first)
    if part.args or setting.command:
        job["argv"] = [setting.command or str(job["name"]), *part.args]
    return job


def _with_burst_buffer(script: str, parts: list[JobSpec], setting: Setting) -> str:
    """Return the script with what ``--bbf`` names behind its first line."""
    files = [part.bbf for part in parts if part.bbf is not None]
    if not files:
        return script
    if len(parts) > 1:
        # It frees the script before it has sent it (24.11, 26.05): what the job gets is a matter of chance.
        message = "--bbf in a heterogeneous job: sbatch itself loses the script of one"
        hint = "Put the file's lines into the script, behind the first one."
        raise SpecError(message, field="bbf", kind="inexpressible", hint=hint)
    text = read_named("bbf", os.fspath(files[0]), setting.read_file).decode("utf-8", "surrogateescape")
    first, newline, rest = script.partition("\n")
    return f"{first}{newline}{text}{'' if text.endswith(chr(10)) else newline}{rest}"
