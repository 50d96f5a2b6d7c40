"""Job ids and signals as all transports check them, and which records are about the same job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from signal import Signals

from slurm_rest.errors import JobNotFound, SpecError
from slurm_rest.models import JobInfo

__all__ = [
    "MAX_JOB_ID",
    "base_id",
    "check_id",
    "check_signal",
    "group_ids",
    "latest_records",
    "no_such_job",
    "read_label",
    "wrong_id",
]

# Slurm keeps 26 bits for an id; a larger one makes it refuse a whole batch.
MAX_JOB_ID = 0x03FFFFFF

_ID = re.compile(r"\d+(?:_\d+|_\[[\d,%:-]+\]|\+\d+)?", re.ASCII)
_LABEL = re.compile(r"(\d+)(?:_(\d+)|\+(\d+))?", re.ASCII)
_HINT = "Job ids are numbers from 1 up, as in 123 or 123_4."
_SIGNALS = frozenset(
    [
        "HUP",
        "INT",
        "QUIT",
        "ABRT",
        "KILL",
        "ALRM",
        "TERM",
        "USR1",
        "USR2",
        "URG",
        "CONT",
        "STOP",
        "TSTP",
        "TTIN",
        "TTOU",
        "CHLD",
        "PIPE",
        "XCPU",
    ]
)


def wrong_id(value: object, problem: str = "is not a job id", hint: str = _HINT) -> SpecError:
    """Return the error about what is no job id; a record is named by its job, not shown whole."""
    if isinstance(value, JobInfo):
        problem = f"The record of job {value.label} is no handle"
        hint = "Make one of it: client.job(record.label, submit_time=record.submit_time)"
        return SpecError(problem, field="job_id", hint=hint)
    return SpecError(f"{value!r} {problem}", field="job_id", hint=hint)


def no_such_job(label: int | str, *, accounting: bool = True) -> JobNotFound:
    """Return the error about a job that nobody knows; without ``accounting`` it may have been there all the same."""
    if accounting:
        return JobNotFound(f"There is no job {label}", hint="Neither the controller nor accounting knows it.")
    hint = "There is no accounting to ask, and a job that ended is forgotten after a while (MinJobAge)."
    return JobNotFound(f"The controller knows no job {label}", hint=hint)


def check_id(value: object) -> str:
    """Return a job id as Slurm writes it (``12``, ``12_3``, ``12+1``), or raise SpecError."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise wrong_id(value)
    label = str(value).strip()
    if not _ID.fullmatch(label) or base_id(label) == 0:
        raise wrong_id(value)
    return label


def read_label(value: int | str) -> tuple[int, int | None, int | None]:
    """Return the id, the task's index and the component's offset that ``12``, ``12_3`` or ``12+1`` mean."""
    found = _LABEL.fullmatch(check_id(value))
    if found is None:
        hint = "A handle is for one job: 123, a task 123_4, or a component 123+1."
        raise SpecError(f"{value!r} is not one job", field="job_id", hint=hint)
    job_id, task_id, offset = found.groups()
    return int(job_id), int(task_id) if task_id else None, int(offset) if offset else None


def base_id(label: str) -> int:
    """Return the number in front of ``12_3`` or ``12+1``."""
    return int(re.split(r"[_+]", label)[0])


def check_signal(value: str | int | None) -> str | None:
    """Return a signal name; an unknown one must not be sent, since slurmrestd then kills the job (v0.0.41+)."""
    if value is None:
        return None
    # Their text differs from one Python to another.
    plain = int(value) if isinstance(value, Signals) else value
    word = str(plain).strip().upper().removeprefix("SIG")
    if word in _SIGNALS or (word.isdecimal() and 1 <= int(word) <= 64):
        return word
    hint = f"It takes a number from 1 to 64, or one of {', '.join(sorted(_SIGNALS))}."
    raise SpecError(f"{value!r} is not a signal", field="signal", hint=hint)


def latest_records(records: Iterable[JobInfo]) -> Iterator[JobInfo]:
    """Keep the last incarnation of each job: accounting has one record for each start after a requeue."""
    last: dict[tuple[int, int | None, int | None], JobInfo] = {}
    for record in records:
        key = (record.id, record.array_task_id, record.het_job_offset)
        before = last.get(key)
        if before is None or _age(record) >= _age(before):
            last[key] = record
    return iter(last.values())


def _age(record: JobInfo) -> tuple[float, int]:
    return (record.submit_time.timestamp() if record.submit_time else 0.0, record.restart_count)


def group_ids(record: JobInfo) -> set[int]:
    """Return the ids under which a record is asked for: its own, and its array's or het job's."""
    return {job_id for job_id in (record.id, record.array_job_id, record.het_job_id) if job_id}
