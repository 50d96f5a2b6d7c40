"""Reads the body of a submission as slurmrestd's parsers do: what they take, warn of, refuse, or lose."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from slurm_rest.api import words
from slurm_rest.api.base import known_in

from .errors import WORDS, Refused
from .habits import habits_of
from .jobs import JobRequest

__all__ = ["Issue", "Submitted", "read_number", "read_submission", "read_update", "with_changes"]

_TEXTS = (
    *("name", "account", "partition", "comment", "qos", "dependency", "array", "current_working_directory"),
    *("standard_output", "standard_error", "standard_input", "reservation", "constraints", "wckey", "licenses"),
)
_LISTS = ("environment", "argv")
_INTEGERS = ("tasks", "cpus_per_task", "minimum_nodes", "maximum_nodes", "minimum_cpus", "nice", "tasks_per_node")
_NUMBERS = ("time_limit", "memory_per_node", "memory_per_cpu", "begin_time", "priority", "kill_warning_delay")
_FLAGS = {"mail_type": words.JOB_MAIL_FLAGS, "open_mode": words.OPEN_MODE, "flags": words.JOB_FLAGS}
# Slurm's own words for JSON's kinds.
_KINDS = (
    (bool, "boolean", "boolean"),
    (int, "64 bit integer", "integer"),
    (float, "floating point number", "number"),
    (str, "string", "string"),
    (list, "list", "array"),
    (dict, "dictionary", "object"),
)  # fmt: skip
# Integers and texts that have to be within something.
_RANGES = ("nice", "nodes")
_LARGEST_NICE = 2**31 - 3
_SPAN = re.compile(r"(\d+)-(\d+)")
# Any number, or one of sbatch's words for a time.
_MOMENT = re.compile(r"\d|now|today|tomorrow|midnight|noon|fika|teatime|elevenses")
_LARGEST_SCRIPT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Issue:
    """One element of ``errors`` or ``warnings``; a warning has no number."""

    description: str
    source: str
    number: int | None = None

    def as_record(self) -> dict[str, object]:
        """Return it as slurmrestd writes it."""
        if self.number is None:
            return {"description": self.description, "source": self.source}
        error = {"error_number": self.number, "error": WORDS.get(self.number, "Unspecified error")}
        return {"description": self.description, **error, "source": self.source}


@dataclass(slots=True)
class Submitted:
    """A body, read. ``is_lost`` says that a value of the wrong type made slurmrestd drop the job without an error."""

    requests: list[JobRequest] = field(default_factory=list)
    errors: list[Issue] = field(default_factory=list)
    warnings: list[Issue] = field(default_factory=list)
    is_lost: bool = False
    hold: bool = False


def read_submission(body: object, release: str, version: str) -> Submitted:
    """Read a submission; raises Refused for what slurmctld would refuse by its number alone."""
    found = Submitted()
    # No body at all is one without fields.
    body = {} if body is None else body
    if not isinstance(body, dict):
        found.errors.append(_no_dictionary(body, "#/"))
        return found
    if isinstance(body.get("script"), (int, float)):
        _Reader(found, release, version, "#").take_for_text("script", body["script"])
    found.warnings += [
        Issue(f'Ignoring unknown field "{key}" of type {_kind(value)} in DATA_PARSER_JOB_SUBMIT_REQ', f"#/{key}/")
        for key, value in body.items()
        if key not in ("script", "job", "jobs")
    ]
    jobs = body.get("jobs") if isinstance(body.get("jobs"), list) else None
    place = "#/jobs" if jobs else "#/job"
    parts: list[object] = list(jobs or [body[key] for key in ("job",) if key in body])
    for number, part in enumerate(parts):
        where = f"{place}[{number}]" if jobs else place
        if isinstance(part, dict):
            _Reader(found, release, version, where).check(part)
        else:
            found.errors.append(_no_dictionary(part, f"{where}/"))
            return found
    _complain_of_missing(body, parts, release, found)
    if found.errors and not all(issue.number == 9207 for issue in found.errors):
        return found
    for part in parts:
        if isinstance(part, dict) and not found.is_lost:
            found.requests.append(_request(part, str(body.get("script") or part.get("script") or ""), release))
    # v0.0.40 refuses an unknown flag, the later versions complain and submit.
    if found.errors and version == "v0.0.40":
        found.requests.clear()
    # A text that is no boolean counts as true.
    found.hold = any(isinstance(part, dict) and bool(part.get("hold")) for part in parts)
    return found


def read_update(body: object, release: str, version: str) -> Submitted:
    """Read an update: the fields of a job, without a script."""
    found = Submitted()
    if isinstance(body, dict):
        _Reader(found, release, version, "#").check(body)
        return found
    found.errors.append(_no_dictionary(body, "#/"))
    rejected = "Rejecting request. Failure parsing job update request."
    found.errors.append(Issue(rejected, "_job_post_update", 9000))
    return found


def _complain_of_missing(body: Mapping[str, object], parts: list[object], release: str, found: Submitted) -> None:
    script = body.get("script") or (parts and isinstance(parts[0], dict) and parts[0].get("script"))
    complaint = ""
    if "job" in body and "jobs" in body:
        complaint = 'Specify only one "job" or "jobs" fields but never both'
    elif not script:
        complaint = 'Populated "script" field is required for job submission'
    elif not parts:
        complaint = f'{habits_of(release).specifying} either "job" or "jobs" fields are required to submit job'
    if complaint and not found.errors and not found.is_lost:
        found.errors.append(Issue(complaint, "_job_post", 9000))


def _request(part: Mapping[str, object], script: str, release: str) -> JobRequest:
    environment = part.get("environment")
    if isinstance(environment, dict):
        environment = [f"{key}={value}" for key, value in environment.items()]
    if not isinstance(environment, list) or not environment:
        raise Refused(habits_of(release).no_environment)
    if not part.get("current_working_directory"):
        raise Refused(2063)
    if len(script.encode("utf-8", "surrogateescape")) > _LARGEST_SCRIPT:
        raise Refused(2012)
    argv = part.get("argv")
    name = part.get("name")
    tasks, nodes = _whole(part.get("tasks")), _whole(part.get("minimum_nodes"))
    return JobRequest(
        script=script,
        name=name if isinstance(name, str) else None,
        directory=str(part["current_working_directory"]),
        environment=tuple(map(str, environment)),
        argv=tuple(map(str, argv)) if isinstance(argv, list) else (),
        partition=str(part.get("partition") or ""),
        tasks=max(tasks or 1, 1),
        cpus_per_task=max(_whole(part.get("cpus_per_task")) or 1, 1),
        node_count=max(nodes or 1, 1),
        memory=_memory(part),
        time_limit=read_number(part.get("time_limit")),
        begin=float(read_number(part.get("begin_time")) or 0),
        dependency=str(part.get("dependency") or ""),
        array=str(part.get("array") or ""),
        fields=dict(part),
    )


def with_changes(request: JobRequest, changes: Mapping[str, object]) -> JobRequest:
    """Return what was asked for, with some fields changed."""
    return _request({**request.fields, **changes}, request.script, "")


def _memory(part: Mapping[str, object]) -> int | None:
    return read_number(part.get("memory_per_node"))


class _Reader:
    """Checks the fields of one job."""

    def __init__(self, found: Submitted, release: str, version: str, where: str) -> None:
        self._found, self._release, self._version, self._where = found, release, version, where

    def check(self, part: Mapping[str, object]) -> None:
        """Look at every field, in the order in which they came."""
        for name, value in part.items():
            if value is None:
                continue
            if self._version not in known_in("JobDescMsg", name):
                self._warn(f'Ignoring unknown field "{name}" of type {_kind(value)} in DATA_PARSER_JOB_DESC_MSG', name)
            elif name in _LISTS and not isinstance(value, list):
                self._list(name, value)
            elif name in _FLAGS:
                self._flags(name, value)
            elif name in _NUMBERS:
                self._number(name, value)
            else:
                self._scalar(name, value)

    def _scalar(self, name: str, value: object) -> None:
        if name in _TEXTS and not isinstance(value, (str, int, float)):
            self._lose("string", "string", name, value)
        elif name in _TEXTS and not isinstance(value, str):
            self.take_for_text(name, value)
        elif name in _INTEGERS and not _is_whole(value):
            self._lose("integer format=int32", "64 bit integer", name, value)
        elif name == "hold" and not isinstance(value, bool):
            self._unexpected("boolean", "boolean", name, value)
        elif name in _RANGES:
            self._range(name, value)

    def take_for_text(self, name: str, value: object) -> None:
        """Complain of a number where a text belongs; it is taken all the same."""
        self._unexpected("string", "string", name, value)

    def _range(self, name: str, value: object) -> None:
        if name == "nice" and abs(_whole(value) or 0) > _LARGEST_NICE:
            self._fail(f"Nice value not within +/- {_LARGEST_NICE}", name, 2123)
        elif name == "nodes" and (found := _SPAN.fullmatch(str(value))) and int(found[1]) > int(found[2]):
            shown = value if self._version == "v0.0.40" else f'"{value}"'
            self._fail(f"Unknown format: {shown}", name, 9202)

    def _list(self, name: str, value: object) -> None:
        self._unexpected("array", "list", name, value)
        if not isinstance(value, dict):
            got = "string" if self._version == "v0.0.40" else _shown(value)
            self._fail(f"expected a list of strings but got {got}", name, 9208)

    def _flags(self, name: str, value: object) -> None:
        given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        for place, word in enumerate(given):
            if word not in _FLAGS[name]:
                self._found.errors.append(Issue(f'Unknown flag "{word}"', f"{self._where}/{name}[{place}]/", 9207))
                if self._version == "v0.0.40":
                    self._fail("Parsing flags failed", name, 9207)

    def _number(self, name: str, value: object) -> None:
        if isinstance(value, dict) or (_is_whole(value) and not isinstance(value, str)):
            if self._version == "v0.0.40" and not isinstance(value, dict):
                self._unexpected("object", "dictionary", name, value)
            return
        if isinstance(value, str) and value.lstrip("-").isdigit() and self._version != "v0.0.40":
            return
        if name == "begin_time" and isinstance(value, str) and not _MOMENT.search(value):
            self._fail(f"Parsing of {value} for timestamp failed", name, 9202)
        if name.startswith("memory") or name == "begin_time":
            return
        if self._version == "v0.0.40":
            self._unexpected("object", "dictionary", name, value)
            self._fail(f"Expected dictionary but got {_kind(value)}", name, 9209)
        else:
            self._fail(f"Expected integer but got {_shown(value)}", name, 9202)

    def _lose(self, kind: str, slurms: str, name: str, value: object) -> None:
        self._found.is_lost = True
        self._unexpected(kind, slurms, name, value)

    def _unexpected(self, kind: str, slurms: str, name: str, value: object) -> None:
        start = f"Expected OpenAPI type={kind} (Slurm type={slurms}) but got OpenAPI type={_json_kind(value)}"
        shown = "" if self._version == "v0.0.40" else f": {_shown(value)}"
        self._warn(f"{start} (Slurm type={_kind(value)}){shown}", name)

    def _warn(self, text: str, name: str) -> None:
        self._found.warnings.append(Issue(text, f"{self._where}/{name}/"))

    def _fail(self, text: str, name: str, number: int) -> None:
        self._found.errors.append(Issue(text, f"{self._where}/{name}/", number))


def read_number(value: object) -> int | None:
    """Read a number that may be unset: ``{"number": 5}`` without ``set`` is unset, as for the real parsers."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return None if value < 0 else int(value)


def _whole(value: object) -> int | None:
    if isinstance(value, str):
        return int(value) if value.isdigit() else None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else round(value)


def _is_whole(value: object) -> bool:
    return _whole(value) is not None or (isinstance(value, str) and value.lstrip("-").isdigit())


def _no_dictionary(value: object, source: str) -> Issue:
    return Issue(f"Rejecting {_kind(value)} when dictionary expected", source, 9209)


def _kind(value: object) -> str:
    return next((slurms for kind, slurms, _ in _KINDS if isinstance(value, kind)), "null")


def _json_kind(value: object) -> str:
    return next((name for kind, _, name in _KINDS if isinstance(value, kind)), "null")


def _shown(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
