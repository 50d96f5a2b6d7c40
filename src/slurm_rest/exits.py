"""The exit record: what a job itself leaves on the cluster's files about how its script ended.

For clusters without accounting, where nobody else keeps the end of a job that the controller has forgotten. Only jobs
that ask for it leave one. The script stays as it is, file name, arguments and lines included, but for its first line:
a small shell program, which the environment carries, runs the script's own interpreter on it and writes down the exit
status. Slurm ends a job (scancel, time limit, preemption) by a signal to every process of it, so that program hears of
it too, and then the record says so instead of taking the script's exit status for the end that Slurm decided on.

Pure.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from datetime import datetime, timezone

from .identity import Identity
from .models import ExitCode, JobInfo
from .states import JobState

__all__ = ["ExitRecord", "name_of", "read_exit_record", "with_exit_record"]

_VARIABLE = "SLURM_REST_RECORDER"
# Older kernels read 127 bytes of it. Without the variable the shell fails, and so does the job.
_FIRST_LINE = f"#!/usr/bin/env -S /bin/sh -uc 'eval \"${_VARIABLE}\"'"
_VERSION = 1
_NUMBERS = ",".join(f'"{name}":%d' for name in ("restarts", "started", "ended", "status"))
# The interpreter runs in the foreground, so standard input is its own; traps are for this shell alone, and without
# them it would not live to write the record. Slurm signals one process after the other, so the interpreter may be gone
# before this shell is told; the sleep is for that. Nothing that goes wrong with the record is the job's business.
_PROGRAM = """\
set +u; unset {variable}
slurm_rest_label=${{SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}}${{SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}
slurm_rest_file={directory}/$slurm_rest_label.json slurm_rest_signal= slurm_rest_start=$(date +%s)
{{ mkdir -p {directory}; rm -f "$slurm_rest_file"; }} 2>/dev/null
for slurm_rest_word in HUP INT QUIT TERM; do trap "slurm_rest_signal=$slurm_rest_word" $slurm_rest_word; done
trap : USR1 USR2 ALRM
{interpreter} "$0" "$@"
slurm_rest_status=$?
sleep 0.5 2>/dev/null || sleep 1
slurm_rest_form='{{"version":{version},"job":"%s","key":"%s",{numbers},"signal":"%s"}}'
{{ printf "$slurm_rest_form\\n" "$slurm_rest_label" {key} "${{SLURM_RESTART_COUNT:-0}}" "$slurm_rest_start" \\
  "$(date +%s)" "$slurm_rest_status" "$slurm_rest_signal" >"$slurm_rest_file.$$" &&
  mv -f "$slurm_rest_file.$$" "$slurm_rest_file"; }} 2>/dev/null
exit "$slurm_rest_status"
"""


@dataclass(frozen=True, slots=True)
class ExitRecord:
    """What the script of one job or array task left. ``signal`` is what the job was told to end by, empty if nothing.

    ``restarts`` is Slurm's count of the start that wrote it. Times are the compute node's, in whole seconds.
    """

    label: str
    key: str
    restarts: int
    started: datetime
    ended: datetime
    status: int
    signal: str = ""

    def is_of(self, identity: Identity) -> bool:
        """Tell whether it is certainly of this job: by the submission's key, or by a start after its submit time."""
        if identity.key:
            return self.key == identity.key
        return identity.submit_time is not None and self.started >= identity.submit_time

    def info(self, job_id: int, task_id: int | None = None) -> JobInfo:
        """Return it as a record of the job, or of a task of the array ``job_id``."""
        return JobInfo(
            id=job_id,
            array_job_id=job_id if task_id is not None else None,
            array_task_id=task_id,
            state=JobState.parse("FAILED" if self.status else "COMPLETED"),
            reason="ExitRecord",
            exit_code=ExitCode(self.status, 0),
            start_time=self.started,
            end_time=self.ended,
            restart_count=self.restarts,
            submission_key=self.key,
            source="exit record",
        )


def with_exit_record(script: str, directory: str, key: str) -> tuple[str, str]:
    """Return the script as it is to be submitted, and the ``K=V`` that its environment needs.

    ``directory`` is on the cluster, and all nodes see it.
    """
    first, newline, rest = script.partition("\n")
    # As the kernel reads it: the interpreter, and all that follows as one argument.
    interpreter = shlex.join(re.split("[ \t]+", first.removeprefix("#!").strip(" \t"), maxsplit=1))
    program = _PROGRAM.format(
        variable=_VARIABLE,
        directory=shlex.quote(directory.rstrip("/")),
        interpreter=interpreter,
        version=_VERSION,
        numbers=_NUMBERS,
        key=shlex.quote(key),
    )
    return f"{_FIRST_LINE}{newline}{rest}", f"{_VARIABLE}={program}"


def name_of(job_id: int, task_id: int | None = None) -> str:
    """Return the record's file name: ``12.json``, or ``12_3.json`` for a task."""
    return f"{job_id}.json" if task_id is None else f"{job_id}_{task_id}.json"


def read_exit_record(data: bytes) -> ExitRecord | None:
    """Read a record; None for anything else, since the user's own hands may have been at it."""
    try:
        told = json.loads(data)
    except ValueError:
        return None
    if not isinstance(told, dict) or told.get("version") != _VERSION:
        return None
    try:
        return ExitRecord(
            label=_word(told["job"]),
            key=_word(told["key"]),
            restarts=_count(told["restarts"]),
            started=datetime.fromtimestamp(_count(told["started"]), timezone.utc),
            ended=datetime.fromtimestamp(_count(told["ended"]), timezone.utc),
            status=_count(told["status"]),
            signal=_word(told["signal"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(type(value).__name__)
    return value
