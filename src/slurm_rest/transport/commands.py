"""Slurm's commands as pairs: what to run, and how to read what it printed. Nothing here does I/O.

Observed on 22.05, 24.11 and 26.05, whose JSON output is not used: 22.05's ``squeue --json`` cannot be relied upon.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from slurm_rest.errors import (
    AccountingDown,
    ControllerDown,
    ErrorContext,
    PermissionDenied,
    ProtocolError,
    SlurmError,
    SlurmIssue,
    SubmitRejected,
    Timeout,
    TransportError,
    Unreachable,
)
from slurm_rest.models import CancelResult, Ping, Submission
from slurm_rest.sbatch import JobSpec
from slurm_rest.sbatch.times import counts_from_now
from slurm_rest.states import BaseState, JobState

from .advice import BY_HAND, SUBMIT_AGAIN, advice_on
from .answers import no_accounting, no_such_user
from .base import PreparedJob, StateRow
from .ids import base_id
from .shell import Finished, Program, quote

__all__ = [
    "accounting_program",
    "began_too_late",
    "cancel_program",
    "context_of",
    "failure",
    "ping_program",
    "read_cancelled",
    "read_ping",
    "read_states",
    "read_submission",
    "read_version",
    "state_of",
    "states_program",
    "submit_program",
    "version_program",
]

# Exit statuses of the submission's own preparations, before sbatch is started.
_TOO_LATE, _NO_ROOM = 97, 98
# What timeout(1) exits with.
_OUT_OF_TIME = 124
_ID = re.compile(r"(\d+)(?:_(\d+)|\+(\d+))?")
_PARSABLE = re.compile(r"(\d+)(?:;(\S+))?")
# squeue and sacct tell one word. These are flags, with the base state that they stand beside.
_FLAGS: Mapping[str, BaseState] = {
    "COMPLETING": BaseState.RUNNING,
    "CONFIGURING": BaseState.RUNNING,
    "POWER_UP_NODE": BaseState.RUNNING,
    "RESIZING": BaseState.RUNNING,
    "SIGNALING": BaseState.RUNNING,
    "STAGE_OUT": BaseState.RUNNING,
    "STOPPED": BaseState.RUNNING,
    "EXPEDITING": BaseState.PENDING,
    "REQUEUED": BaseState.PENDING,
    "REQUEUE_FED": BaseState.PENDING,
    "REQUEUE_HOLD": BaseState.PENDING,
    "RESV_DEL_HOLD": BaseState.PENDING,
    "SPECIAL_EXIT": BaseState.PENDING,
}
_AWAY = re.compile(r"[Uu]nable to contact slurm controller|Unable to connect to slurm")
# After these the controller may have done what it was asked.
_LOST = re.compile(
    r"[Ss]ocket timed out|Zero Bytes were|[Cc]ommunication connection failure|[Mm]essage (?:send|receive) fail"
)
# munged is away, or has another key or time than slurmctld's. What cannot be decoded is an answer, the rest proves that
# slurmctld did nothing.
_UNPROVEN = re.compile(r"Munge (?:en|de)code failed[^;]*|Protocol authentication error")
_UNREADABLE = "Munge decode failed"
_DENIED = re.compile(r"Access/permission denied|Invalid user id|[Uu]ser not found|not authorized")


def state_of(word: str) -> JobState:
    """Return the state for the one word of squeue and sacct, which may be a flag's."""
    base = _FLAGS.get(word)
    return JobState(base, frozenset({word}), (word,)) if base is not None else JobState.parse(word)


# --- failures ------------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    """Return what a command complained about, without its own name in front."""
    found = []
    for line in text.splitlines():
        plain = re.sub(r"^(?:sbatch|squeue|sacct|scancel|scontrol): (?:error: |fatal: )?", "", line.strip())
        if plain:
            found.append(plain)
    return found


def context_of(done: Finished) -> ErrorContext:
    """Return a command and what it complained about, as data of an error."""
    said = "; ".join(_words(done.stderr) or _words(done.stdout)[-3:])[:2000]
    issues = (SlurmIssue(said, source=done.name),) if said else ()
    return ErrorContext(command=done.name, exit_status=done.status, stderr=done.stderr[:2000], errors=issues)


def failure(done: Finished, where: str) -> SlurmError:
    """Return the error that a command's exit status and complaint mean."""
    context = context_of(done)
    said = context.errors[0].description if context.errors else "no output"
    message = f"{done.name} on {where} failed with exit status {done.status}: {said}"
    if done.name == "sacct" and "accounting storage is disabled" in said:
        return no_accounting(where)
    unknown = re.match(r"Invalid user(?: id)?:? ?(.*)", said) if done.name == "sacct" else None
    if unknown:
        return no_such_user(unknown[1], where, context)
    unproven = _UNPROVEN.search(said)
    if unproven:
        message = f"{done.name} on {where} cannot prove to Slurm who runs it: {unproven[0]}"
        hint = "Is munged running there, with the cluster's key and time? Try there: munge -n | unmunge"
        return Unreachable(message, hint=hint, context=context)
    if done.name == "sacct":
        hint = "slurmdbd may be away, or the cluster keeps no accounting: sacctmgr ping."
        return AccountingDown(message, hint=hint, context=context)
    if _AWAY.search(said) or _LOST.search(said):
        return ControllerDown(message, hint="Look at it with: scontrol ping", context=context)
    if _DENIED.search(said):
        return PermissionDenied(message, hint="Ask as the job's owner, or an operator.", context=context)
    return ProtocolError(message, hint=f"Try {done.name} there by hand.", context=context)


# --- sbatch --------------------------------------------------------------------------------------------------


def submit_program(job: PreparedJob, *, begin_by: int, seconds: float) -> Program:
    """Return the submission: the script on sbatch's standard input, the environment on descriptor 3.

    It does nothing after the second ``begin_by`` of the host's clock, and ends sbatch after ``seconds``: sbatch
    outlives the connection under it, and would try for 2 minutes to get a word with a busy slurmctld.

    ``--export=A=1,..`` cannot hold every value, leaves SLURM_EXPORT_ENV behind, and shows in ``ps``. ``--export-file``
    takes NUL-separated text, also from a descriptor, and then the job's environment is exactly that; 26.05 reads it
    only beside ``--export=ALL``, which 22.05 and 24.11 do not mind. Both texts come out of the shell's own printf, so
    they are in no argument list and on no disk. A script with arguments has to be a file: sbatch takes them behind its
    name only.
    """
    if job.spec is None:
        raise TypeError("a job for commands needs its spec")
    jobs = _jobs_of(job.body)
    environment = quote(_with_name(_texts(jobs[0].get("environment")), jobs[0].get("name")))
    script = quote([str(job.body["script"])])
    first, *others = ([*spec.to_argv()] for spec in _specs(job.spec, jobs))
    limited = ["timeout", "-k", "2", f"{seconds:g}", "sbatch"]
    command = quote([*limited, "--parsable", *first, "--export=ALL", "--export-file=3"])
    for words in others:
        # Slurm runs the script with the first component's environment; without words of their own the others would
        # open the same descriptor again.
        command += f" : {quote([*words, '--export=ALL', '--export-file=/dev/null'])}"
    prepared = ""
    if job.spec.args:
        prepared = (
            f'f=$(umask 077 && mktemp "${{TMPDIR:-/tmp}}/slurm-rest.XXXXXXXX") || exit {_NO_ROOM}\n'
            f"trap 'rm -f \"$f\"' EXIT; trap 'exit 129' HUP INT TERM\n"
            f'printf %s {script} >"$f" || exit {_NO_ROOM}\n'
        )
        command += f' "$f" {quote(job.spec.args)} </dev/null'
    else:
        command = f"printf %s {script} | {command}"
    fence = f'[ "$(date +%s)" -le {begin_by} ] || exit {_TOO_LATE}'
    return Program("sbatch", f"{fence}\n{prepared}printf '%s\\0' {environment} | {{ {command}\n}} 3<&0")


def _jobs_of(body: Mapping[str, object]) -> list[Mapping[str, object]]:
    jobs = body.get("jobs")
    return [job for job in (jobs if isinstance(jobs, list) else [body["job"]]) if isinstance(job, Mapping)]


def _with_name(environment: list[str], name: object) -> list[str]:
    """Add the job's name: beside ``--export-file`` 22.05 forgets it, and with it what ``%x`` stands for."""
    if not name or any(entry.startswith("SLURM_JOB_NAME=") for entry in environment):
        return environment
    return [*environment, f"SLURM_JOB_NAME={name}"]


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _specs(spec: JobSpec, jobs: Sequence[Mapping[str, object]]) -> Iterable[JobSpec]:
    """Return the components for a command line: what was worked out here replaces what names files of this host."""
    for part, made in zip([spec, *spec.components], jobs, strict=True):
        changes: dict[str, object] = {"args": (), "env": {}, "components": ()}
        changes |= dict.fromkeys(("export", "export_file", "get_user_env", "wait", "bbf"))
        changes["chdir"] = made.get("current_working_directory")
        changes["name"] = made.get("name") or None
        if part is spec:
            changes["comment"] = made.get("comment")
        if part.nodefile is not None:
            nodes = made.get("required_nodes")
            changes |= {"nodefile": None, "nodelist": ",".join(nodes) if isinstance(nodes, list) else nodes}
        changes |= _moments(part, made)
        yield part.replace(**changes)


def _moments(part: JobSpec, made: Mapping[str, object]) -> dict[str, object]:
    """Return the moments that depend on a time zone as they are over REST too: in the submitter's, not in the host's.

    What counts from now does not depend on one, and is better counted by the host's clock.
    """
    begin = made.get("begin_time")
    told = {"begin": begin.get("number") if isinstance(begin, Mapping) else None, "deadline": made.get("deadline")}
    given = {"begin": part.begin, "deadline": part.deadline}
    return {name: told[name] for name, text in given.items() if told[name] and not counts_from_now(text)}


def read_submission(done: Finished, where: str) -> Submission | SlurmError:
    """Return the job of a submission: the last line if it is ``id`` or ``id;cluster``, never a digit of other text.

    Where a site's wrapper prints other numbers of that form, none is believed: it could be the id of another job.
    Raises what means that there is no job; an error that is returned says why nothing is known.
    """
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    found = _PARSABLE.fullmatch(lines[-1]) if lines else None
    told = {int(job[1]) for line in lines if (job := _PARSABLE.fullmatch(line))} - {0}
    if done.status == 0 and found and told == {int(found[1])}:
        return Submission(job_id=int(found[1]), cluster=found[2] or "", warnings=tuple(_words(done.stderr)))
    context = context_of(done)
    said = "; ".join(_words(done.stderr)) or " ".join(lines)[:300] or "no output"
    if began_too_late(done):
        hint = "Nothing was submitted. The host or the way to it is too busy."
        return Timeout(f"{where} came to the submission too late", hint=hint, context=context)
    if done.status == _NO_ROOM:
        hint = "The job was not submitted: /tmp (or TMPDIR) there must take a small file."
        raise TransportError(f"{where} has no room for the job's environment: {said}", hint=hint, context=context)
    if _UNREADABLE in said:
        return failure(done, where)
    if _AWAY.search(said) or _UNPROVEN.search(said):
        raise failure(done, where)
    if done.status == _OUT_OF_TIME:
        hint = "slurmctld is busy or stuck: scontrol ping"
        return Timeout(f"sbatch on {where} took too long and was ended: {said}", hint=hint, context=context)
    if _LOST.search(said):
        return failure(done, where)
    # A site's wrapper may fail behind an sbatch that has told its job.
    if done.status == 0 or told or (done.status > 125 and done.status != 255):
        message = f"sbatch on {where} did not tell whether there is a job (exit status {done.status}): {said}"
        return ProtocolError(message, hint="Try sbatch there by hand.", context=context)
    raise SubmitRejected(f"Slurm refused the job: {said}", hint=advice_on(said) or SUBMIT_AGAIN, context=context)


def began_too_late(done: Finished) -> bool:
    """Return whether a submission did nothing because its time to begin was over."""
    return done.status == _TOO_LATE


# --- squeue --------------------------------------------------------------------------------------------------


def states_program() -> Program:
    """Return the question for the states of all jobs, tasks apart; no text of any user is part of the answer.

    For 1,000 ids this is cheaper than naming them (measured: 55 ms against 220 ms with 10,000 jobs queued).
    """
    return Program("squeue", quote(["squeue", "-h", "-a", "-r", "-t", "all", "-o", "%i %A %T"]))


def read_states(done: Finished, asked: Collection[int] | None) -> list[StateRow]:
    """Return the rows of these jobs under the ids that were asked for; None: of all, each under its own id."""
    rows: list[StateRow] = []
    known = None if asked is None else set(asked)
    # Of tens of thousands of lines most are of plain jobs, in a handful of states, and nobody asked about them.
    states: dict[str, JobState] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) != 3 or not words[1].isdigit():
            raise ProtocolError(
                f"squeue printed a line that is no job's: {line[:100]!r}", hint=BY_HAND, context=context_of(done)
            )
        if words[2] not in states:
            states[words[2]] = state_of(words[2])
        if words[0] == words[1]:
            own = int(words[1])
            if known is None or own in known:
                rows.append(StateRow(own, states[words[2]]))
            continue
        found = _ID.fullmatch(words[0])
        if found is None:
            continue
        base, own = int(found[1]), int(words[1])
        task, offset = (None if found[part] is None else int(found[part]) for part in (2, 3))
        named = {own} if known is None else {base, own} & known
        state = states[words[2]]
        rows += [StateRow(job_id, state, task, offset, own if own != job_id else None) for job_id in named]
    return rows


# --- scancel -------------------------------------------------------------------------------------------------

_KILL_ERROR = re.compile(r"Kill job error on job id (\S+): (.*)")


def cancel_program(labels: Sequence[str], signal: str | None) -> Program:
    """Return the cancellation; without ``-v`` scancel says nothing of unknown ids and of jobs that are over."""
    how = ["--signal", signal, "--full"] if signal else []
    return Program("scancel", quote(["scancel", "-v", *how, *labels]))


def read_cancelled(done: Finished, labels: Sequence[str], where: str) -> list[CancelResult]:
    """Return what came of each id; a complaint about none of them means that nothing is known."""
    complaints: dict[str, str] = {}
    for line in done.stderr.splitlines():
        if found := _KILL_ERROR.search(line):
            complaints[_plain(found[1])] = found[2].strip()
    if done.status and not complaints:
        raise failure(done, where)
    return [_result(label, complaints.get(_plain(label), "")) for label in labels]


def _plain(label: str) -> str:
    return label.replace("[", "").replace("]", "")


def _result(label: str, said: str) -> CancelResult:
    outcome: Literal["signalled", "already_over", "not_found", "denied"] = "denied"
    if not said:
        outcome = "signalled"
    elif "already complet" in said:
        outcome = "already_over"
    elif "Invalid job id" in said:
        outcome = "not_found"
    return CancelResult(job_id=base_id(label), outcome=outcome, message=said)


# --- scontrol ------------------------------------------------------------------------------------------------

_PING = re.compile(r"Slurmctld\((\w+)\) at (\S+) is (\w+)")
_VERSION = re.compile(r"^slurm\S* (\d+\.\d+\S*)$", re.MULTILINE)
_CONFIG = re.compile(r"^(ClusterName|SLURM_VERSION|LoginName)\s*= (\S+)", re.MULTILINE)
# The user's own name first: what fails is scontrol.
_WHO = 'printf "LoginName = %s\\n" "$(id -un)"; scontrol --version && scontrol show config'


def version_program() -> Program:
    """Return the question for the release of the commands, the name of the cluster, and who runs them."""
    return Program("scontrol", _WHO)


def read_version(done: Finished, where: str) -> tuple[str, str, str]:
    """Return release (``22.05.8``), cluster name, and the user's name."""
    found = _VERSION.search(done.stdout)
    if done.status or found is None:
        raise failure(done, where)
    told = dict(_CONFIG.findall(done.stdout))
    return found[1], told.get("ClusterName", ""), told.get("LoginName", "")


def ping_program() -> Program:
    """Return the question for the controllers and, as a proof that this user is known, the configuration."""
    return Program("scontrol", f"scontrol ping; {_WHO}")


def read_ping(done: Finished, where: str) -> list[Ping]:
    """Return one value for each controller; raises ControllerDown when none answers."""
    release, cluster, _ = read_version(done, where)
    # The configuration ends with the same lines once more.
    found = dict.fromkeys(_PING.findall(done.stdout))
    pings = [
        Ping(hostname=host, responding=word == "UP", primary=role == "primary", cluster=cluster, slurm=release)
        for role, host, word in found
    ]
    if not any(ping.responding for ping in pings):
        raise ControllerDown(f"No slurmctld answers {where}", hint="Look at it with: scontrol ping")
    return pings


def accounting_program() -> Program:
    """Return the cheapest question to accounting."""
    return Program("sacct", quote(["sacct", "-X", "-n", "-P", "-o", "JobID", "-j", "1"]))
