"""The job that runs a task: its name, key, options, environment and script. Pure."""

from __future__ import annotations

import hashlib
import math
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from slurm_rest import JobSpec
from slurm_rest.keys import name_mark

from .members import TASK
from .options import check_env, check_host_files, check_variable, job_options
from .runtimes import check_runtime, image_for
from .script import check_directives, native_script, read_directives, with_interpreter, wrapped_script
from .template import NATIVE, Execution, Task
from .values import NO_TREE, check_variables, input_variables, output_variable

__all__ = ["JobPlan", "OutputPlace", "attempt_words", "job_name", "make_plan"]

Upload = Literal["connector", "job", "presigned"]
_UPLOADS = ("connector", "job", "presigned")
# With these a script writes to a path of the cluster.
_LOCAL = ("connector", "presigned")
# Slurm holds no time of 68 years, and whoever says such a one wants none.
_NO_LIMIT = timedelta(days=3650)
_KINDS = ("file", "directory", "value")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """Where one output of a script ends up (``uri``), and where the script writes it: a path, or the same URI.

    ``type`` is that of a value, which is read from there.
    """

    uri: str
    kind: str
    upload: str
    written_to: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """Everything that a submission needs. ``key`` makes it safe to repeat, empty where nothing identifies it.

    ``directory`` has to be there for the output files; an array has one of each for a task, with Slurm's ``%a`` in its
    path. ``reads_files`` says that outputs are fetched from the cluster.
    """

    name: str
    spec: JobSpec
    key: str
    directory: str
    stdout: str
    stderr: str
    outputs: Mapping[str, OutputPlace] = field(default_factory=dict)

    @property
    def reads_files(self) -> bool:
        """True when the connector has to read what the job writes."""
        return any(place.upload == "connector" for place in self.outputs.values())


def attempt_words(execution: Execution, attempt: int) -> str:
    """Return what identifies an attempt, the same on every replica: the key of its job. Empty in a local run."""
    if not execution.is_known:
        return ""
    parts = (execution.org, execution.project, execution.domain, execution.run, execution.action, str(attempt))
    return f"flyte:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}"


def job_name(task: Task, execution: Execution, unique: str = "") -> str:
    """Return the name of an attempt's job, which also names its files; ``unique`` stands in where there is no run."""
    base = _safe(task.name.rsplit(".", 1)[-1], 40) or "task"
    if not execution.is_known:
        return f"flyte-{base}-local-{unique}"
    # By it the job is found also where its own script wrote another comment.
    mark = name_mark(attempt_words(execution, execution.attempt))
    return f"flyte-{base}-{_safe(execution.run, 40)}-{_safe(execution.action, 40)}-{execution.attempt}-{mark}"


def _safe(text: str, length: int) -> str:
    return _UNSAFE.sub("-", text)[:length].strip("-.")


def make_plan(
    task: Task,
    execution: Execution,
    *,
    directory: str,
    home: str,
    output_prefix: str,
    inputs: Mapping[str, object],
    unique: str = "",
    release: str = "",
    prelude: Sequence[str] = (),
) -> JobPlan:
    """Return the job for a task. ``directory`` is where its files go, ``home`` where a script runs.

    A script's directives are read as by the sbatch of ``release``, the cluster's. ``prelude`` are lines of a shell that
    come first.

    Raises ValueError (SpecError) for what cannot be run.
    """
    name = job_name(task, execution, unique)
    stdout, stderr = (posixpath.join(directory, f"{name}.{suffix}") for suffix in ("out", "err"))
    outputs = _output_places(task, output_prefix, posixpath.join(directory, f"{name}.outputs"))
    given, directives = job_options(task.fields, task.options), _directives(task, release)
    own = given.get("comment", directives.get("comment"))
    options = {
        **given,
        "name": name,
        "output": _literal(stdout),
        "error": _literal(stderr),
        # Beside what the task says, not in its place.
        "comment": " ".join(filter(None, (str(own or ""), _comment(task, execution)))),
    }
    said = {*options, *directives}
    if task.max_runtime is not None and "time" not in said:
        # Slurm counts in minutes over REST; the platform itself ends the attempt to the second.
        minutes = timedelta(minutes=math.ceil(task.max_runtime.total_seconds() / 60))
        options["time"] = minutes if minutes < _NO_LIMIT else "UNLIMITED"
    if task.interruptible and not {"requeue", "no_requeue"} & said:
        # A preempted job then starts anew by itself where the site requeues, within the same attempt.
        options["requeue"] = True
    env = _environment(task, execution, inputs, outputs)
    if task.kind == NATIVE:
        spec = _native(task, options, env, home, prelude)
    else:
        spec = _script(task, options, env, outputs, home, release, prelude)
    for part in (spec, *spec.components):
        check_host_files(part)
    if spec.array:
        # Each task has files of its own: in one file they would write over each other.
        stdout, stderr = (posixpath.join(directory, f"{name}-{TASK}.{suffix}") for suffix in ("out", "err"))
        named = {"output": f"{_literal(posixpath.join(directory, name))}-{TASK}.out"}
        named["error"] = f"{named['output'].removesuffix('.out')}.err"
        values = {**spec.options(), **named}
        spec = JobSpec.of(spec.script, values, args=spec.args, env=spec.env, components=spec.components)
    key = attempt_words(execution, execution.attempt)
    return JobPlan(name, spec, key, directory, stdout, stderr, outputs)


def _directives(task: Task, release: str) -> Mapping[str, object]:
    """Return the options that a task's script sets itself."""
    return {} if task.kind == NATIVE else read_directives(with_interpreter(task.script), release).options()


def _literal(path: str) -> str:
    """Return a path without meaning for Slurm's filename patterns; a user's directory may have a %."""
    return path.replace("%", "%%")


def _comment(task: Task, execution: Execution) -> str:
    named = {"run": execution.run, "action": execution.action, "task": task.name}
    words = [f"{name}={_safe(text, 200)}" for name, text in named.items() if text]
    words += [f"attempt={execution.attempt}"] if execution.is_known else []
    return " ".join(["flyte", *words])


def _environment(
    task: Task, execution: Execution, inputs: Mapping[str, object], outputs: Mapping[str, OutputPlace]
) -> dict[str, str]:
    check_env(task.env)
    env = {**task.variables, **execution.variables(), **task.env}
    for name, value in env.items():
        check_variable(f"The variable {name!r}", name, value)
    if task.kind == NATIVE:
        return env
    destinations = {output_variable(name): place.written_to for name, place in outputs.items()}
    return {**env, **input_variables(inputs), **destinations}


def _native(
    task: Task, options: Mapping[str, object], env: Mapping[str, str], home: str, prelude: Sequence[str]
) -> JobSpec:
    container = task.container
    check_runtime(container.runtime)
    if "array" in options:
        raise ValueError("A slurm task cannot be an array: each of its tasks would write the same outputs")
    if not container.image and container.runtime != "none":
        raise ValueError("The slurm task has no container image: set image= on its environment, or container_image")
    if container.runtime == "oci" and not container.image.startswith("/"):
        raise ValueError(
            f"The oci runtime takes the path of a bundle on the cluster, not {container.image!r}: container_image"
        )
    bundle = image_for(container)
    given = {**options, "container": bundle} if bundle else dict(options)
    script = native_script(container, task.command, task.modules, prelude, env)
    return JobSpec(script, env=env, chdir=home, **given)  # type: ignore[arg-type]  # read by job_options already


def _script(
    task: Task,
    options: Mapping[str, object],
    env: Mapping[str, str],
    outputs: Mapping[str, OutputPlace],
    home: str,
    release: str,
    prelude: Sequence[str],
) -> JobSpec:
    places = [place for place in outputs.values() if place.upload in _LOCAL]
    directories = {posixpath.dirname(place.written_to) for place in places}
    directories |= {place.written_to for place in places if place.kind == "directory"}
    text = with_interpreter(task.script)
    script = wrapped_script(text, modules=task.modules, directories=sorted(directories), prelude=prelude, said=env)
    read = read_directives(text, release, options)
    values = {"chdir": home, **read.options()}
    check_directives(values)
    return JobSpec.of(script, values, env={**read.env, **env}, components=read.components)


def _output_places(task: Task, prefix: str, local: str) -> dict[str, OutputPlace]:
    upload = task.output_upload
    if upload not in _UPLOADS:
        raise ValueError(f"output_upload must be one of {', '.join(_UPLOADS)}, not {upload!r}")
    check_variables((), task.outputs, task.env, upload)
    places = {}
    for name, kind in task.outputs.items():
        if kind not in _KINDS:
            raise ValueError(f"The output {name!r} has the unknown kind {kind!r}")
        if kind == "directory" and upload == "presigned":
            raise ValueError(f"The output {name!r} is a directory, and an upload URL is for one object: {NO_TREE}")
        described = task.output_types.get(name, "") if kind == "value" else ""
        if kind == "value" and not described:
            raise ValueError(f"The output {name!r} is a value, and the interface of the task does not say of what type")
        uri = f"{prefix.rstrip('/')}/{name}"
        path = posixpath.join(local, name) if upload in _LOCAL else uri
        places[name] = OutputPlace(uri, kind, upload, path, described)
    return places
