"""Turns a script or JobSpec, its options and the settings into a submission that is ready to send.

Pure but for what it is told to read: the files that options such as ``--export-file`` name.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .api import API_VERSIONS
from .auth import ChainToken, EnvironmentToken, FileToken, StaticToken, read_claims
from .config import EnvironmentRule, Settings, load_settings
from .errors import AuthError, ConfigError, SpecError, UnsupportedVersion
from .exits import with_exit_record
from .keys import add_key, callers_key, name_mark, new_key
from .sbatch import JobSpec, ReadJob, Script, Setting, Submitter, read_job, submit_body
from .sbatch.getopt import Given
from .sbatch.kinds import unsendable
from .sbatch.limits import FIRST_RELEASE
from .sbatch.options import ROW_OF
from .transport.base import PreparedJob
from .transport.fields import require_fields

__all__ = [
    "Surroundings",
    "Target",
    "check_words",
    "convert_read",
    "current_directory",
    "prepare",
    "read_spec",
    "read_submitted_file",
    "translate",
    "try_releases",
]

_RELEASES = ("26.05", "24.11")
# Slurm's own word for no limit in SLURM_RLIMIT_* is all bits set.
_NO_LIMIT = 2**64 - 1
_LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Target:
    """Where a submission goes: the API version, the Slurm release behind it (``24.11``), and the cluster's name.

    ``commands`` says that it goes to sbatch, and there is no API version.
    """

    version: str
    release: str
    cluster: str = ""
    commands: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a submission may take from the process that makes it."""

    directory: str
    host: str = ""
    umask: int | None = None
    nice: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def here(cls, rule: EnvironmentRule = "submit") -> Surroundings:
        """Read from this process what jobs get of it under a rule: under ``login`` no more than the directory.

        Reading the umask means to set it for a moment, in all threads.
        """
        if rule == "login":
            return cls(os.getcwd())
        import resource  # POSIX only, and only here

        umask = os.umask(0o077)
        os.umask(umask)
        names = ("CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS")
        limits = {}
        for name in names:
            kind = getattr(resource, f"RLIMIT_{name}", None)
            if kind is not None:
                soft = resource.getrlimit(kind)[0]
                limits[name] = _NO_LIMIT if soft == resource.RLIM_INFINITY else soft
        return cls(os.getcwd(), os.uname().nodename, umask, os.getpriority(os.PRIO_PROCESS, 0), limits)


def read_spec(
    script: str | os.PathLike[str] | Script | JobSpec,
    options: Mapping[str, object],
    *,
    environ: Mapping[str, str],
    release: str,
    given: list[Given] | None = None,
) -> ReadJob:
    """Read a job as sbatch would: directives, then ``SBATCH_*`` variables, then ``given`` and ``options``.

    A JobSpec is taken as it is; one whose script has a directive that is not among its options is refused, since
    the directive would be ignored.
    """
    if not isinstance(script, JobSpec):
        if "script" in options:
            raise SpecError("The script is given twice", field="script", hint="Pass it as the first argument alone.")
        return read_job(script, given=given or (), environ=environ, release=release, keywords=options)
    spec = script.replace(**options)
    if "#SBATCH" in spec.script or "#SLURM" in spec.script:
        written = read_job(Script(spec.script, "job"), environ={}, release=release).spec
        lost = [name for name in written.options() if name != "name" and not _has(spec, name)]
        if lost or len(written.components) > len(spec.components):
            hint = "Make the spec with JobSpec.from_script, or remove the directives from the script."
            what = f"--{lost[0].replace('_', '-')}" if lost else "hetjob"
            raise SpecError(f"The script has a directive that the spec leaves out: {what}", field="script", hint=hint)
    return ReadJob(spec)


def _has(spec: JobSpec, name: str) -> bool:
    """Tell whether a spec has an option, or one that takes its place: the later one of the two counts for sbatch."""
    slot = ROW_OF[name].slot
    others = (ROW_OF[other] for other in spec.options())
    return getattr(spec, name) is not None or any(name in one.clears or (slot and slot == one.slot) for one in others)


def prepare(
    read: ReadJob, settings: Settings, target: Target, *, user: str, here: Surroundings, words: str | None = None
) -> PreparedJob:
    """Build the body of a submission, with a key behind the comment that finds the job again.

    ``words`` are the caller's own (``idempotency_key``): the same ones make the same key.
    """
    if words is not None and not user:
        raise ConfigError("idempotency_key needs the user's name", hint="Set SLURM_REST_USER.")
    key = new_key() if words is None else callers_key(check_words(words), user, target.cluster)
    body = translate(read, settings, target, user=user, here=here)
    first = _first(body)
    if settings.exit_records and _can_record(body, first):
        directory = settings.for_user(settings.exit_records, user, "SLURM_REST_EXIT_RECORDS")
        body["script"], entry = with_exit_record(str(body["script"]), directory, key)
        environment = first.get("environment")
        first["environment"] = [*(environment if isinstance(environment, list) else ()), entry]
    comment = first.get("comment")
    first["comment"] = _comment(comment if isinstance(comment, str) else "", key)
    name = first.get("name")
    label = name if isinstance(name, str) else ""
    return PreparedJob(
        body,
        key,
        user,
        label,
        repeated=words is not None,
        own_name=words is not None and label.endswith(name_mark(words)),
        spec=read.spec,
        api_version=target.version,
    )


def check_words(words: str) -> str:
    """Return a caller's ``idempotency_key``, or raise SpecError."""
    problem = f"takes 1 to {_LONGEST_WORDS} characters"
    if isinstance(words, str) and 0 < len(words) <= _LONGEST_WORDS:
        problem = unsendable(words)
        if not problem:
            return words
    hint = "Use a text that stays the same when the same job is submitted again."
    raise SpecError(f"idempotency_key {problem}", field="idempotency_key", kind="value", hint=hint)


def translate(read: ReadJob, settings: Settings, target: Target, *, user: str, here: Surroundings) -> dict[str, object]:
    """Build the body alone.

    The job's directory is ``chdir``, else the workdir setting, else the current one: under the ``submit`` rule by its
    own name, and where the path map covers it by the cluster's. Where nothing says ``--export``, the environment is the
    job user's login environment, or under ``submit`` this process's.
    """
    rule = settings.environment
    submitter = Submitter(
        environ=settings.environ,
        directory=here.directory,
        host=here.host,
        umask=here.umask,
        nice=here.nice,
        limits=here.limits,
    )
    return submit_body(
        read.spec,
        Setting(
            directory=_directory(read.spec, settings, user, here),
            rule=rule,
            version=target.version,
            release=target.release,
            submitter=submitter,
            now=datetime.now(),  # sbatch resolves times in the submitter's own zone
            command=read.path,
            cluster=target.cluster,
            read_file=read_submitted_file,
            commands=target.commands,
            base="" if rule == "submit" else settings.path_map.to_cluster(here.directory) or "",
        ),
    )


def try_releases(ready: Callable[[Target], object], *, commands: bool = False) -> None:
    """Raise what is wrong with a job in every Slurm release, by the newest one's words."""
    try:
        ready(Target("", _RELEASES[0], commands=commands))
    except SpecError:
        try:
            ready(Target("", _RELEASES[1], commands=commands))
        except SpecError:
            pass
        else:
            return
        raise


def convert_read(
    source: Script | JobSpec, options: Mapping[str, object], given: list[Given], arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return the body for a job without asking any cluster, in the configured API version or the newest.

    ``arguments`` are settings as for a client. The sbatch that is imitated is that of the first Slurm release that
    serves the version: 24.11 up to v0.0.42, 26.05 from v0.0.43 on.
    """
    settings = load_settings(arguments)
    version = settings.api_version or API_VERSIONS[-1]
    if version not in API_VERSIONS:
        hint = f"It takes {', '.join(API_VERSIONS)}."
        raise UnsupportedVersion(
            f"This client does not know API version {version}", version=version, supported=API_VERSIONS, hint=hint
        )
    target = Target(version, FIRST_RELEASE[version])
    read = read_spec(source, options, environ=settings.environ, release=target.release, given=given)
    body = translate(read, settings, target, user=_user_of(settings), here=Surroundings.here(settings.environment))
    require_fields(body, version)
    return body


def _user_of(settings: Settings) -> str:
    """Return whose job it would be as far as that is told here: no command is run for a token, and none has to be."""
    if settings.user:
        return settings.user
    if settings.ways()[0] != "rest":
        return settings.ssh_user or getpass.getuser()
    token = settings.token
    user = ""
    for provider in token.providers if isinstance(token, ChainToken) else (token,):
        if isinstance(provider, (StaticToken, EnvironmentToken, FileToken)):
            # A token that is missing matters to submit alone.
            with contextlib.suppress(ConfigError, AuthError):
                user = user or read_claims(asyncio.run(provider.token())).user
    return user or getpass.getuser()


def read_submitted_file(path: str) -> bytes:
    """Return the bytes of a file that an option names; relative names start from the current directory."""
    with open(path, "rb") as file:
        return file.read()


def _first(body: Mapping[str, object]) -> dict[str, object]:
    jobs = body.get("jobs")
    first = jobs[0] if isinstance(jobs, list) else body["job"]
    if not isinstance(first, dict):
        raise TypeError("a body without a job")
    return first


def _can_record(body: Mapping[str, object], first: Mapping[str, object]) -> bool:
    """Return whether an exit record leaves the job's meaning alone.

    A signal for the batch script alone would reach the recorder alone, and the script of a het job is one component's.
    """
    flags = first.get("kill_warning_flags")
    return "jobs" not in body and not (isinstance(flags, list) and "BATCH_JOB" in flags)


def _comment(text: str, key: str) -> str:
    try:
        return add_key(text, key)
    except ValueError as error:
        hint = "The rest holds the key that finds the job again when an answer is lost."
        raise SpecError(f"comment: {error}", field="comment", kind="value", hint=hint) from None


def current_directory(settings: Settings, here: Surroundings) -> str | None:
    """Return the cluster's name of the current directory, None where it is none of the cluster's."""
    return here.directory if settings.environment == "submit" else settings.path_map.to_cluster(here.directory)


def _directory(spec: JobSpec, settings: Settings, user: str, here: Surroundings) -> str:
    """Return the directory for components that have no ``chdir``."""
    workdir = settings.for_user(settings.workdir or "", user, "SLURM_REST_WORKDIR")
    found = workdir or current_directory(settings, here)
    if found is not None:
        return found
    if all(part.chdir is not None for part in (spec, *spec.components)):
        return "/"
    raise ConfigError(
        "The job has no directory on the cluster",
        hint="Pass chdir=, or set SLURM_REST_WORKDIR (for instance /home/{user}), or submit from a directory of the"
        " cluster: on its own hosts with SLURM_REST_ENVIRONMENT=submit, elsewhere with SLURM_REST_PATH_MAP.",
    )
