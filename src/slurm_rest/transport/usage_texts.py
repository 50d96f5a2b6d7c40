"""What jobs used, as sacct prints it of their steps. Nothing here does I/O."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence

from slurm_rest.errors import ProtocolError
from slurm_rest.models import JobUsage
from slurm_rest.usage import USED_TRES, summed

from .advice import BY_HAND
from .job_texts import Question, read_fields, read_moment, read_number
from .shell import Finished, Program, quote

__all__ = ["read_usage", "usage_question"]

_FIELDS = ("JobIDRaw", "JobName", "Submit", "TotalCPU", "UserCPU", "SystemCPU", "TRESUsageInMax", "JobID")
_TIMES = {"cpu_seconds": "TotalCPU", "cpu_user_seconds": "UserCPU", "cpu_system_seconds": "SystemCPU"}
_SPAN = re.compile(r"(?:(?:(?P<days>\d+)-)?(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?)")
_COUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGTP]?)")
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def usage_question(ids: Sequence[int]) -> Question:
    """Ask accounting for every step of every incarnation of these jobs."""
    mark = f"~{secrets.token_hex(4)}~"
    words = ["sacct", "-P", "-n", "-a", "-D", "--noconvert", f"--delimiter={mark}", "-o", ",".join(_FIELDS)]
    return Question(Program("sacct", quote([*words, "-j", ",".join(map(str, ids))])), _FIELDS, mark)


def read_usage(question: Question, done: Finished) -> list[JobUsage]:
    """Read sacct's answer, where each job stands before its steps."""
    found: list[tuple[Mapping[str, str], list[dict[str, float]]]] = []
    for record in read_fields(question, done, trailing=False):
        if "." not in record["JobID"]:
            found.append((record, []))
        elif found:
            found[-1][1].append(dict(_used(record)))
    return [_usage(job, steps) for job, steps in found]


def _usage(job: Mapping[str, str], steps: Sequence[Mapping[str, float]]) -> JobUsage:
    job_id = read_number(job["JobIDRaw"])
    if job_id is None:
        raise ProtocolError(f"sacct printed a job without a number: {job['JobID'][:100]!r}", hint=BY_HAND)
    return summed(job_id, job["JobName"], read_moment(job["Submit"]), steps)


def _used(step: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for field, name in _TIMES.items():
        if span := _SPAN.fullmatch(step[name]):
            hours = int(span["days"] or 0) * 24 + int(span["hours"] or 0)
            yield field, (hours * 60 + int(span["minutes"])) * 60 + float(span["seconds"])
    for part in step["TRESUsageInMax"].split(","):
        kind, _, value = part.partition("=")
        count = _COUNT.fullmatch(value)
        if count and kind in USED_TRES:
            yield USED_TRES[kind], float(count["number"]) * 1024 ** _UNITS[count["unit"]]
