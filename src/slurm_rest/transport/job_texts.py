"""Records of jobs as squeue, scontrol and sacct print them, into the values of models.py. Nothing here does I/O.

Names, comments and paths are users' text and may hold anything, newlines too. So fields stand between random words
that nobody can foresee, and a field without users' text comes last, where records are told apart.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from slurm_rest.errors import ProtocolError
from slurm_rest.history import HistoryQuery
from slurm_rest.keys import split_comment
from slurm_rest.models import ExitCode, JobInfo
from slurm_rest.records import reason_of_end, tres

from .advice import BY_HAND
from .commands import state_of
from .shell import Finished, Program, quote

__all__ = [
    "Question",
    "accounting_question",
    "details_question",
    "history_question",
    "queue_question",
    "read_accounting",
    "read_details",
    "read_fields",
    "read_moment",
    "read_number",
    "read_queue",
    "read_span",
]

# What squeue -O calls its fields, in this order; State comes last, being a word of Slurm's own.
_QUEUE = (
    *("JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "HetJobOffset", "RestartCnt", "SubmitTime", "EligibleTime"),
    *("StartTime", "EndTime", "TimeLimit", "NodeList", "NumNodes", "NumCPUs", "NumTasks", "PriorityLong"),
    *("Dependency", "tres-alloc", "UserName", "UserID", "Account", "Partition", "QOS", "Reason"),
    *("Name", "Comment", "WorkDir", "Command", "State"),
)
_ACCOUNTING = (
    *("JobID", "JobIDRaw", "State", "Submit", "Eligible", "Start", "End", "TimelimitRaw", "NNodes", "AllocCPUS"),
    *("ReqTRES", "AllocTRES", "NodeList", "User", "UID", "Account", "Partition", "QOS", "Cluster", "Priority"),
    *("Reason", "JobName", "Comment", "WorkDir", "SubmitLine", "DerivedExitCode"),
)
# The paths are those that the job asked for, with patterns filled in on request. Restarts came with them.
_PATHS = ("Restarts", "StdIn", "StdErr", "StdOut")
_LAST = "ExitCode"
_NOTHING = frozenset({"", "(null)", "N/A", "None", "Unknown", "None assigned", "n/a"})
_SIGNAL = re.compile(r"^(RaisedSignal):\d+\(.*\)$")
_LABEL = re.compile(r"(\d+)(?:_(?:(\d+)|\[([^\]]*)\])|\+(\d+))?")


@dataclass(frozen=True, slots=True)
class Question:
    """A program, and what its answer is taken apart by."""

    program: Program
    fields: tuple[str, ...] = ()
    separator: str = ""


def queue_question(ids: Sequence[int] | None) -> Question:
    """Ask the controller for the records of these jobs, or of all."""
    mark = f"~{secrets.token_hex(4)}~"
    words = ["squeue", "-h", "-a", "-t", "all", "-O", ",".join(f"{name}:{mark}" for name in _QUEUE)]
    if ids is not None:
        words += ["-j", ",".join(map(str, ids))]
    return Question(Program("squeue", quote(words)), _QUEUE, mark)


def accounting_question(ids: Sequence[int], *, paths: bool) -> Question:
    """Ask accounting for every incarnation of these jobs; ``paths`` where it has them, see ``Capabilities``."""
    return _sacct(["-D", "-j", ",".join(map(str, ids))], paths)


def history_question(query: HistoryQuery, *, paths: bool) -> Question:
    """Ask accounting for the jobs of a span of time, the last incarnation of each."""
    return _sacct(query.words(), paths)


def _sacct(words: Sequence[str], paths: bool) -> Question:
    fields = (*_ACCOUNTING, *(_PATHS if paths else ()), _LAST)
    mark = f"~{secrets.token_hex(4)}~"
    fixed = ["sacct", "-X", "-P", "-n", "-a", f"--delimiter={mark}", "-o", ",".join(fields)]
    fixed += ["--expand-patterns"] if paths else []
    return Question(Program("sacct", quote([*fixed, *words])), fields, mark)


def details_question(ids: Sequence[int]) -> Question:
    """Ask the controller for what squeue cannot tell: exit codes, and the paths as they will be."""
    mark = f"~{secrets.token_hex(8)}~"
    loop = f"for i in {quote(map(str, ids))}; do scontrol show job -d \"$i\"; printf '\\n%s\\n' {quote([mark])}; done"
    return Question(Program("scontrol", loop), (), mark)


def read_fields(question: Question, done: Finished, *, trailing: bool) -> Iterator[dict[str, str]]:
    """Take an answer apart. ``trailing``: each record ends in a separator and a newline (squeue), else a newline."""
    count, end = len(question.fields), "\n"
    parts = done.stdout.split(question.separator)
    # Behind the last separator of squeue's there is always one more part, if only an empty one.
    while len(parts) >= count + trailing:
        values, parts = parts[:count], parts[count:]
        if trailing:
            if parts:
                parts[0] = parts[0].removeprefix(end)
        else:
            values[-1], newline, following = values[-1].partition(end)
            parts = [following, *parts] if newline and following else parts
        yield dict(zip(question.fields, values, strict=True))
    if any(part.strip() for part in parts):
        raise ProtocolError(f"{done.name} printed half a record: {parts[0][:100]!r}", hint=BY_HAND)


def _value(text: str) -> str:
    return "" if text.strip() in _NOTHING else text


def read_number(text: str) -> int | None:
    """Return a plain number, else None."""
    # Slurm's "no value" and "infinite" are the largest numbers.
    return int(text) if text.isascii() and text.isdecimal() and int(text) < 0xFFFFFFFE else None


def read_moment(text: str) -> datetime | None:
    """Return an aware time from Unix seconds, None for anything else."""
    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0
    return datetime.fromtimestamp(seconds, timezone.utc) if seconds else None


_SPAN = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,6})", re.ASCII)


def read_span(text: str) -> timedelta | None:
    """Read ``1-02:00:00``, ``2:00:00`` or ``30:00``; UNLIMITED, NOT_SET and the like are no limit."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _exit(text: str) -> ExitCode:
    code, colon, signal = text.strip().partition(":")
    if not colon or read_number(code) is None or read_number(signal) is None:
        return ExitCode()
    return ExitCode(int(code), int(signal))


# --- squeue and scontrol -------------------------------------------------------------------------------------


def read_queue(question: Question, done: Finished, cluster: str) -> list[JobInfo]:
    """Read squeue's answer. Exit codes and paths are not part of it."""
    return [_queued(record, cluster) for record in read_fields(question, done, trailing=True)]


def _queued(record: Mapping[str, str], cluster: str) -> JobInfo:
    told = {name: _value(text) for name, text in record.items()}
    own = read_number(told["JobID"])
    if own is None:
        raise ProtocolError(f"squeue printed a job without a number: {record['JobID'][:100]!r}", hint=BY_HAND)
    tasks = told["ArrayTaskID"]
    array = read_number(told["ArrayJobID"]) if tasks else None
    comment, key = split_comment(told["Comment"])
    return JobInfo(
        id=own,
        name=record["Name"],
        user=told["UserName"],
        uid=read_number(told["UserID"]),
        account=told["Account"],
        partition=told["Partition"],
        qos=told["QOS"],
        cluster=cluster,
        state=state_of(told["State"]),
        # The description of the signal, which squeue adds (24.11, 26.05), is no part of the word that slurmrestd says.
        reason=_SIGNAL.sub(r"\1", told["Reason"]),
        array_job_id=array,
        array_task_id=read_number(tasks),
        array_tasks=tasks if array and read_number(tasks) is None else "",
        het_job_id=read_number(told["HetJobID"]),
        het_job_offset=read_number(told["HetJobOffset"]),
        submit_time=read_moment(told["SubmitTime"]),
        eligible_time=read_moment(told["EligibleTime"]),
        start_time=read_moment(told["StartTime"]),
        end_time=read_moment(told["EndTime"]),
        time_limit=read_span(told["TimeLimit"]),
        nodes=told["NodeList"],
        node_count=read_number(told["NumNodes"]),
        cpus=read_number(told["NumCPUs"]),
        tasks=read_number(told["NumTasks"]),
        working_directory=told["WorkDir"],
        command=told["Command"],
        comment=comment,
        submission_key=key,
        dependency=told["Dependency"],
        priority=read_number(told["PriorityLong"]),
        restart_count=read_number(told["RestartCnt"]) or 0,
        tres_allocated=tres(told["tres-alloc"]) if told["NodeList"] else {},
        raw=dict(record),
    )


_START = re.compile(r"^JobId=(\d+) ", re.MULTILINE)


def read_details(question: Question, done: Finished, records: Iterable[JobInfo]) -> list[JobInfo]:
    """Return the records with what scontrol adds to them."""
    text, records = done.stdout, list(records)
    # The names are known, so they can be taken out before they pass for anything else.
    for name in sorted({record.name for record in records}, key=len, reverse=True):
        text = text.replace(f"JobName={name}", "JobName=")
    texts: dict[int, str] = {}
    for answer in text.split(f"\n{question.separator}\n"):
        starts = [*_START.finditer(answer)]
        ends = [*(start.start() for start in starts[1:]), len(answer)]
        for start, end in zip(starts, ends, strict=False):
            texts.setdefault(int(start[1]), answer[start.start() : end])
    return [_detailed(record, texts.get(record.id, "")) for record in records]


def _detailed(record: JobInfo, text: str) -> JobInfo:
    over = record.state.is_terminal
    paths = {name: _path(text, name) for name in ("StdOut", "StdErr", "StdIn")}
    requested = re.search(r"^   (?:ReqTRES|TRES)=(\S*)", text, re.MULTILINE)
    return replace(
        record,
        exit_code=_exit(_word(text, "ExitCode")) if over else ExitCode(),
        derived_exit_code=_exit(_word(text, "DerivedExitCode")) if over else ExitCode(),
        tres_requested=tres(requested[1]) if requested else {},
        stdout=paths["StdOut"],
        stderr=paths["StdErr"],
        stdin=paths["StdIn"],
        raw={**record.raw, "scontrol": text},
    )


def _word(text: str, name: str) -> str:
    found = re.search(rf"(?:^|\s){name}=(\S*)", text)
    return found[1] if found else ""


# A path may have lines and end in blanks; what follows it does not look like one of its lines.
_PATH_ENDS = r"(?=\n   [A-Z][A-Za-z]*[=:]|\n *\n|\n *\Z|\Z)"


def _path(text: str, name: str) -> str | None:
    """Return a path of scontrol's: the last that it may be, since a command line in front may look like one too."""
    found = re.findall(rf"^   {name}=(.*?){_PATH_ENDS}", text, re.MULTILINE | re.DOTALL)
    return _value(found[-1]) or None if found else None


# --- sacct ---------------------------------------------------------------------------------------------------


def read_accounting(question: Question, done: Finished) -> list[JobInfo]:
    """Read sacct's answer: one record for each incarnation of each job."""
    return [_accounted(record) for record in read_fields(question, done, trailing=False)]


def _accounted(record: Mapping[str, str]) -> JobInfo:
    told = {name: _value(text) for name, text in record.items()}
    found = _LABEL.fullmatch(record["JobID"].strip())
    own = read_number(told["JobIDRaw"]) or (read_number(found[1]) if found else None)
    if found is None or own is None:
        raise ProtocolError(f"sacct printed a job without a number: {record['JobID'][:100]!r}", hint=BY_HAND)
    base, task, tasks, offset = int(found[1]), found[2], found[3], found[4]
    state = state_of(told["State"])
    comment, key = split_comment(told["Comment"])
    code = _exit(told["ExitCode"]) if state.is_terminal else ExitCode()
    minutes = read_number(told["TimelimitRaw"])
    return JobInfo(
        id=own,
        name=record["JobName"],
        user=told["User"],
        uid=read_number(told["UID"]),
        account=told["Account"],
        partition=told["Partition"],
        qos=told["QOS"],
        cluster=told["Cluster"],
        state=state,
        reason=reason_of_end(state, code, told["Reason"], told["NodeList"]),
        exit_code=code,
        derived_exit_code=_exit(told["DerivedExitCode"]) if state.is_terminal else ExitCode(),
        array_job_id=base if task or tasks else None,
        array_task_id=int(task) if task else None,
        array_tasks=tasks or "",
        het_job_id=base if offset else None,
        het_job_offset=int(offset) if offset else None,
        submit_time=read_moment(told["Submit"]),
        eligible_time=read_moment(told["Eligible"]),
        start_time=read_moment(told["Start"]),
        end_time=read_moment(told["End"]),
        time_limit=None if minutes is None else timedelta(minutes=minutes),
        nodes=told["NodeList"],
        node_count=read_number(told["NNodes"]),
        cpus=read_number(told["AllocCPUS"]),
        tres_requested=tres(told["ReqTRES"]),
        tres_allocated=tres(told["AllocTRES"]),
        stdout=told.get("StdOut") or None,
        stderr=told.get("StdErr") or None,
        stdin=told.get("StdIn") or None,
        working_directory=told["WorkDir"],
        command=told["SubmitLine"],
        comment=comment,
        submission_key=key,
        priority=read_number(told["Priority"]),
        restart_count=read_number(told.get("Restarts", "")) or 0,
        source="accounting",
        raw=dict(record),
    )
