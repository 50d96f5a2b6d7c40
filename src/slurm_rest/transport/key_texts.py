"""Asks squeue and sacct for one user's jobs with their comments, where submission keys stand. Nothing here does I/O."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timezone

from slurm_rest.errors import ProtocolError
from slurm_rest.keys import split_comment
from slurm_rest.models import JobInfo

from .advice import BY_HAND
from .commands import state_of
from .job_texts import Question, read_fields, read_number
from .shell import Finished, Program, quote

__all__ = ["own_past_question", "own_queue_question", "read_own_past", "read_own_queue"]

# What squeue -O calls its fields; the last one is a word of Slurm's own.
_QUEUE = (
    *("JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "SubmitTime", "UserName", "UserID", "Name", "Comment"),
    "State",
)
_PAST = ("JobID", "JobIDRaw", "Submit", "User", "UID", "JobName", "Comment", "State")
# With states named, sacct lists what was in one of them, whatever the time when it was eligible: held jobs, and those
# cancelled while held, never were. They count up to the end of the time asked for, and this second is not over yet.
_OVER = "BF,CA,CD,DL,F,NF,OOM,PD,PR,R,RS,RV,S,TO"
_LABEL = re.compile(r"(\d+)(?:_(?:\d+|\[[^\]]*\])|\+(\d+))?")
# A name that accounting keeps as it is (it cuts off behind 255 bytes) and that its comma list does not split.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]{1,255}")


def own_queue_question() -> Question:
    """Ask for all jobs of the user who runs this, ended ones too; slurmctld filters by user."""
    mark = f"~{secrets.token_hex(4)}~"
    words = ["squeue", "-h", "-a", "-t", "all", "-O", ",".join(f"{name}:{mark}" for name in _QUEUE)]
    return Question(Program("squeue", f'{quote(words)} -u "$(id -u)"'), _QUEUE, mark)


def own_past_question(name: str, back: float) -> Question:
    """Ask accounting for the user's jobs of this name that are live or ended in the last ``back`` seconds."""
    mark = f"~{secrets.token_hex(4)}~"
    words = ["sacct", "-X", "-P", "-D", "-n", f"--delimiter={mark}", "-o", ",".join(_PAST), "-s", _OVER]
    words += ["-S", f"now-{int(back)}seconds", "-E", "now+1day"]
    words += [f"--name={name}"] if _PLAIN_NAME.fullmatch(name) else []
    return Question(Program("sacct", f'{quote(words)} -u "$(id -u)"'), _PAST, mark)


def read_own_queue(question: Question, done: Finished) -> list[JobInfo]:
    """Return records that have what tells whose they are: ids, user, name, time, state, comment and key."""
    found = []
    for record in read_fields(question, done, trailing=True):
        tasks = record["ArrayTaskID"].strip() not in ("", "N/A")
        array = read_number(record["ArrayJobID"]) if tasks else None
        found.append(_record(record, read_number(record["JobID"]), array, read_number(record["HetJobID"])))
    return found


def read_own_past(question: Question, done: Finished) -> list[JobInfo]:
    """Return records as ``read_own_queue`` does, one for each incarnation."""
    found = []
    for record in read_fields(question, done, trailing=False):
        label = _LABEL.fullmatch(record["JobID"].strip())
        base = int(label[1]) if label else None
        array = base if "_" in record["JobID"] else None
        het = base if "+" in record["JobID"] else None
        found.append(_record(record, read_number(record["JobIDRaw"]) or base, array, het))
    return found


def _record(record: Mapping[str, str], own: int | None, array: int | None, het: int | None) -> JobInfo:
    if not own:
        raise ProtocolError(f"A job without a number was printed: {record['JobID'][:100]!r}", hint=BY_HAND)
    comment, key = split_comment("" if record["Comment"] == "(null)" else record["Comment"])
    submitted = read_number(record.get("SubmitTime", record.get("Submit", "")))
    return JobInfo(
        id=own,
        name=record.get("Name", record.get("JobName", "")),
        user=record.get("UserName", record.get("User", "")),
        uid=read_number(record.get("UserID", record.get("UID", ""))),
        state=state_of(record["State"].split()[0] if record["State"].strip() else "UNKNOWN"),
        array_job_id=array or None,
        het_job_id=het or None,
        submit_time=datetime.fromtimestamp(submitted, timezone.utc) if submitted else None,
        comment=comment,
        submission_key=key,
        source="controller" if "UserName" in record else "accounting",
        raw=dict(record),
    )
