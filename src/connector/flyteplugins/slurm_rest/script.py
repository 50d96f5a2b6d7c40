"""The batch scripts of jobs. Pure: no value of a job's environment is ever written into one."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from slurm_rest import JobSpec
from slurm_rest.errors import SpecError
from slurm_rest.sbatch.dialect import DIALECTS

from .options import check_modules, check_srun_args, srun_words
from .runtimes import Container, check_bundle, check_restarts, is_inside, step_words

if TYPE_CHECKING:
    from slurm_rest.sbatch.keywords import JobOptions

__all__ = [
    "check_directives",
    "native_script",
    "output_references",
    "read_directives",
    "with_interpreter",
    "wrapped_script",
]

# Enroot drops the PATH of an image and keeps VIRTUAL_ENV, from which the entrypoint is found again.
_PATH = 'export PATH="${VIRTUAL_ENV:+$VIRTUAL_ENV/bin:}$PATH"'
# One directory a process for the code bundle: jobs of one user must not unpack into each other's.
# The node's TMPDIR need not be there in a container.
_PRIVATE = (
    'work=${TMPDIR:-/tmp}; [ -w "$work" ] || work=/tmp; work=$(mktemp -d "$work/flyte.XXXXXXXX")'
    ' && trap \'cd /; rm -rf "$work"\' EXIT && cd "$work" || exit'
)
# What these run in is often read-only, or somebody else's, or one folder for all jobs.
_WITHOUT_PLACE = ("none", "charliecloud", "oci")
# Since 22.05 srun does not take over its job's --cpus-per-task, and where tasks are bound each has one CPU then.
_CPUS = '[ -z "${SLURM_CPUS_PER_TASK:-}" ] || export SRUN_CPUS_PER_TASK="${SRUN_CPUS_PER_TASK:-$SLURM_CPUS_PER_TASK}"'
# One process has the whole job: with several tasks' worth of CPUs none of them is to be taken from it.
_CPUS_OF_ONE = f'[ "${{SLURM_NTASKS:-1}}" != 1 ] || {{ {_CPUS}; }}'
# A job's --export says what comes into it from outside; its step needs whatever the task is told.
_ALL_VARIABLES = "export SLURM_EXPORT_ENV=ALL"
# What a process of a distributed task is told, in the terms of Flyte and of torch.distributed.
_RANKS = (
    "export FLYTE_CLUSTERED_WORKER=1 RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS"
    " NODE_RANK=$SLURM_NODEID NNODES=$SLURM_NNODES LOCAL_WORLD_SIZE=$(IFS=,; set -- $SLURM_GTIDS; echo $#)"
)
# What an image of charliecloud says of its environment; ch-run's own --set-env refuses an image that says nothing. What
# the job brings along counts for more, but for the PATH, which is the node's.
_CH_ENVIRONMENT = (
    "[ ! -r /ch/environment ] || while IFS= read -r line; do name=${line%%=*};"
    " [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || continue;"
    ' [ -n "${!name+set}" ] && [ $name != PATH ] || export "$line"; done </ch/environment'
)
# A port of its own for each job, so that two on one node do not meet.
_MASTER = (
    'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
    "export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))",
    "export JAX_COORDINATOR_ADDRESS=$MASTER_ADDR:$MASTER_PORT",
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Flyte knows by these that an attempt has begun before, in a job that was requeued as well: its checkpoint is then the
# attempt's own.
_RESTARTS = "export JOBSET_RESTART_ATTEMPT=${SLURM_RESTART_COUNT:-0} JOBSET_MAX_RESTARTS="
_AGAIN = """\
left=$JOBSET_MAX_RESTARTS
until %s; do
code=$?
[ "$left" -gt 0 ] || exit "$code"
echo "flyte: a process ended with exit code $code, all are started again" >&2
left=$((left - 1)) JOBSET_RESTART_ATTEMPT=$((JOBSET_RESTART_ATTEMPT + 1))
done"""
_KILL = "--kill-on-bad-exit"
_REFERENCE = re.compile(r"\$\{?(FLYTE_OUTPUT_[A-Za-z0-9_]+)\}?")
_NOT_OURS = {
    "clusters": "a task runs on the cluster that its connector follows",
    "test_only": "it makes no job",
    "uid": "whom a job belongs to is up to the connector",
    "gid": "whom a job belongs to is up to the connector",
}
# The descriptor on which a wrapped script reaches its interpreter.
_FD = 9


def output_references(script: str) -> set[str]:
    """Return the ``$FLYTE_OUTPUT_X`` and ``${FLYTE_OUTPUT_X}`` in a script; names made at run time are not seen."""
    return set(_REFERENCE.findall(script))


def read_directives(script: str, release: str = "", options: Mapping[str, object] | None = None) -> JobSpec:
    """Return a script as the sbatch of a release reads it; without a release, as the newest one that takes it does.

    ``options`` win over directives. Raises ValueError (SpecError) with sbatch's reason.
    """
    releases = [release] if release else [*reversed(DIALECTS)]
    given = cast("JobOptions", dict(options or {}))
    for one in releases[:-1]:
        with contextlib.suppress(SpecError):
            return JobSpec.from_script(script, release=one, **given)
    return JobSpec.from_script(script, release=releases[-1], **given)


def check_directives(said: Mapping[str, object]) -> None:
    """Refuse directives that no job of a task can have; raises ValueError."""
    for name, why in _NOT_OURS.items():
        if name in said:
            raise ValueError(f"The script has #SBATCH --{name.replace('_', '-')}: {why}")


def with_interpreter(script: str) -> str:
    """Return a script that names its interpreter: flyteplugins-slurm gives every one to bash."""
    # Windows' mark of UTF-8 stands before #!, and hides the directives from sbatch.
    script = script.removeprefix("\ufeff")
    if "\r\n" in script:
        # sbatch takes no such script, flyteplugins-slurm does.
        script = script.replace("\r\n", "\n")
    if "\n" not in script:
        # All of it would be one line, and a comment.
        script = script.replace("\r", "\n")
    if script.lstrip().startswith("#!"):
        # An empty line before it is the text's in Python, not the author's.
        return script.lstrip()
    return f"#!/bin/bash\n{script}"


def native_script(
    container: Container,
    command: Sequence[str],
    modules: Sequence[str] = (),
    prelude: Sequence[str] = (),
    said: Iterable[str] = (),
) -> str:
    """Return the script that runs a task's entrypoint, once or once for each process, under its container runtime.

    ``said`` are variables that the task sets itself, and no module changes.
    """
    if not command:
        raise ValueError("A task needs a command: its container has none")
    check_modules(modules)
    check_srun_args(container.srun_args)
    check_bundle(container)
    check_restarts(container.max_restarts, container.launcher)
    lines = ["#!/bin/sh" if is_inside(container) else "#!/bin/bash", "set -eu"]
    lines += [*_module_lines(modules, said), *prelude]
    if container.python_environment:
        # Only where the Python is on the node or inside the bundle; an image has its own.
        place = shlex.quote(container.python_environment.rstrip("/"))
        lines += [f"export VIRTUAL_ENV={place}", f'export PATH={place}/bin:"$PATH"']
    if is_inside(container):
        return "\n".join([*lines, *_steps(container, shlex.join(_placed(container, command))), ""])
    is_many = container.launcher == "srun"
    lines += [_CPUS if is_many else _CPUS_OF_ONE, _ALL_VARIABLES]
    lines += [*_MASTER, f"{_RESTARTS}{container.max_restarts}"] if is_many else []
    words = ["srun", *_step(container), *srun_words(container.srun_args), *step_words(container)]
    step = shlex.join([*words, *_inside(container, command)])
    return "\n".join([*lines, _AGAIN.replace("%s", step) if container.max_restarts else f"exec {step}", ""])


def _step(container: Container) -> list[str]:
    if container.launcher != "srun":
        # Without it an allocation of two nodes would start two entrypoints, which write the same outputs.
        return ["--nodes=1", "--ntasks=1"]
    # The others would wait for ever for one that has failed.
    is_said = any(word.startswith(_KILL) for word in container.srun_args)
    return [] if is_said else [f"{_KILL}=1"]


def _inside(container: Container, command: Sequence[str]) -> list[str]:
    """Return the command with what its shell does first: words go through untouched."""
    # A bundle need not have bash.
    shell = "sh" if container.runtime == "oci" else "bash"
    return [shell, "-c", "; ".join(_steps(container, '"$@"')), "--", *_placed(container, command)]


def _steps(container: Container, command: str) -> list[str]:
    steps = [_RANKS] if container.launcher == "srun" else []
    steps += [_CH_ENVIRONMENT] if container.runtime == "charliecloud" else []
    steps.append(_PATH)
    if container.runtime == "oci" and container.workdir:
        steps.append(f"cd -- {shlex.quote(container.workdir)}")
    # With a directory for the code the shell stays, to tidy up behind the command.
    return [*steps, _PRIVATE, command] if _is_private(container) else [*steps, f"exec {command}"]


def _is_private(container: Container) -> bool:
    # Who names a directory wants to be in it; the code then goes where the task says.
    return container.runtime == "none" or (container.runtime in _WITHOUT_PLACE and not container.workdir)


def _placed(container: Container, command: Sequence[str]) -> list[str]:
    """Return the command with a destination for the code bundle that can be written."""
    words = list(command)
    if not _is_private(container) or "--dest" not in words[:-1]:
        return words
    place = words.index("--dest") + 1
    return [*words[:place], ".", *words[place + 1 :]]


def _module_lines(modules: Sequence[str], said: Iterable[str]) -> list[str]:
    if not modules:
        return []
    # A batch shell is no login shell, so on many sites nothing has defined the command yet.
    found = ("/etc/profile.d/modules.sh", "/etc/profile.d/lmod.sh", "/etc/profile.d/z00_lmod.sh")
    define = f"for file in {' '.join(found)}; do [ -r $file ] && . $file; done; true"
    # Their functions are not written for set -u.
    load = [f"module load {shlex.quote(name)}" for name in modules]
    keep, again = _restored(said)
    return ["set +u", *keep, f"command -v module >/dev/null || {{ {define}; }}", *load, *again, "set -u"]


def _restored(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what remembers variables, and what gives them back: a task's own words win over a module's.

    A list that a module has put something before ends in what the task said, and stays as it is.
    """
    if not (words := " ".join(sorted(filter(_VARIABLE.fullmatch, names)))):
        return [], []
    again = r"case \${$flyte_name-} in *:\"\$flyte_kept_$flyte_name\") ;;"
    again += r" *) export $flyte_name=\"\$flyte_kept_$flyte_name\" ;; esac"
    over = f'for flyte_name in {words}; do eval "%s"; done'
    return [over % r"flyte_kept_$flyte_name=\${$flyte_name-}"], [over % again]


def wrapped_script(
    script: str,
    *,
    modules: Sequence[str] = (),
    directories: Sequence[str] = (),
    prelude: Sequence[str] = (),
    said: Iterable[str] = (),
) -> str:
    """Return a user's script, preceded by what has to be done before it; without anything to do, the script itself.

    It runs unmodified under its own interpreter, in place of the shell before it, so that signals and the exit code are
    its own. Directives inside are text here: whoever submits it reads them from ``script``.
    """
    check_modules(modules)
    if not modules and not directories and not prelude:
        return script
    shebang, _, _ = script.partition("\n")
    interpreter = shebang.removeprefix("#!").strip().split(None, 1)
    if not script.startswith("#!") or not interpreter:
        raise ValueError('The script does not start with #!: its first line names its interpreter, as in "#!/bin/bash"')
    mark = f"END_{hashlib.sha256(script.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
    lines = ["#!/bin/bash", "set -e", *_module_lines(modules, said)]
    lines += ["set +u"] if modules else []
    lines += prelude
    lines += [f"mkdir -p -- {shlex.join(directories)}"] if directories else []
    lines.append(f"exec {shlex.join(interpreter)} /dev/fd/{_FD} \"$@\" {_FD}<<'{mark}'")
    return "\n".join([*lines, script.removesuffix("\n"), mark, ""])
