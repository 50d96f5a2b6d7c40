"""Reads slurmrestd's records into the values of models.py.

Tolerant by rule: an unknown key is ignored, a missing, null or mistyped one leaves its field empty, and every other
field stays readable. Covers v0.0.40 to v0.0.45 of both services, with plain numbers, ``{set, infinite, number}``
objects and the ``null``/``"Infinity"`` form of ``+complex`` parsers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from types import MappingProxyType

from .errors import SlurmIssue
from .keys import split_comment
from .models import Diagnostics, ExitCode, JobInfo, Node, Partition, Ping
from .states import BaseState, JobState

__all__ = [
    "ranges",
    "read_accounting_job",
    "read_controller_job",
    "read_diagnostics",
    "read_issues",
    "read_node",
    "read_partition",
    "read_ping",
    "reason_of_end",
]

# NO_VAL, INFINITE and their 64-bit forms, which slurmdb writes into plain integers (4294967294: never started).
_NO_NUMBER = frozenset({0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF})
_EMPTY: Mapping[str, object] = MappingProxyType({})


def mapping(value: object) -> Mapping[str, object]:
    """Return ``value`` if it is an object, otherwise an empty one."""
    # Parsed JSON has dicts only, and asking whether one is a Mapping takes long.
    return value if type(value) is dict or isinstance(value, Mapping) else _EMPTY


def items(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a list; null and anything else count as none."""
    found = value if isinstance(value, list) else []
    return [item for item in found if type(item) is dict or isinstance(item, Mapping)]


def text(value: object) -> str:
    """Return ``value`` if it is text, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def words(value: object) -> tuple[str, ...]:
    """Return the words of a list, of one word, or of a comma list."""
    if isinstance(value, str):
        return tuple(word for word in value.split(",") if word)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as Slurm writes them: ``1-3,7``."""
    found: list[list[int]] = []
    for one in sorted(numbers):
        if found and found[-1][1] == one - 1:
            found[-1][1] = one
        else:
            found.append([one, one])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def _waiting_tasks(told: str) -> str:
    """Return the tasks of an array as ``1-3%2``, where accounting tells a bitmap: ``0xE%2`` (24.11, 26.05)."""
    bits, percent, at_once = told.partition("%")
    if not re.fullmatch("0x[0-9A-Fa-f]+", bits):
        return told
    # bin() writes the highest bit first.
    return ranges(place for place, bit in enumerate(reversed(bin(int(bits, 16))[2:])) if bit == "1") + percent + at_once


def number(value: object) -> int | None:
    """Return a finite number in any of the forms that slurmrestd uses, else None."""
    if isinstance(value, Mapping):
        if value.get("infinite") is True or value.get("set") is False:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # NaN and infinities come from no number that Slurm means.
    result = int(value) if isinstance(value, int) or abs(value) < 2**64 else None
    return None if result is None or result in _NO_NUMBER else result


def moment(value: object) -> datetime | None:
    """Return an aware time from Unix seconds; 0 is Slurm's "none"."""
    seconds = number(value)
    try:
        return datetime.fromtimestamp(seconds, timezone.utc) if seconds else None
    except (OverflowError, ValueError, OSError):
        return None


def minutes(value: object) -> timedelta | None:
    """Return a limit given in minutes, None for unlimited and unset."""
    count = number(value)
    try:
        return None if count is None else timedelta(minutes=count)
    except OverflowError:
        return None


def tres(value: object) -> Mapping[str, str]:
    """Read ``cpu=1,mem=100M,gres/gpu:a100=2``, or slurmdb's list of objects, into a mapping."""
    if isinstance(value, str):
        pairs = (item.partition("=") for item in value.split(",") if item)
        return {key: amount for key, _, amount in pairs}
    found: dict[str, str] = {}
    for item in items(value):
        kind, name, count = text(item.get("type")), text(item.get("name")), number(item.get("count"))
        if kind and count is not None:
            found[f"{kind}/{name}" if name else kind] = str(count)
    return found


def exit_code(value: object) -> ExitCode:
    """Read an exit code object, or v0.0.38's raw wait status (768 is exit 3, 9 is SIGKILL)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ExitCode(value >> 8 & 0xFF, value & 0x7F)
    record = mapping(value)
    signal = mapping(record.get("signal"))
    killed_by = number(signal.get("id", signal.get("signal_id")))
    code = number(record.get("return_code"))
    if killed_by:
        return ExitCode(code or 0, killed_by)
    status = words(record.get("status"))
    if "PENDING" in status or "INVALID" in status:
        return ExitCode()
    return ExitCode(code, 0 if code is not None else None)


def read_issues(value: object) -> tuple[SlurmIssue, ...]:
    """Read an ``errors`` or ``warnings`` list; v0.0.38 writes ``error_code`` for ``error_number``."""
    found = []
    for item in items(value):
        code = number(item.get("error_number", item.get("error_code")))
        found.append(SlurmIssue(text(item.get("description")), code, text(item.get("error")), text(item.get("source"))))
    return tuple(found)


def _path(*candidates: object) -> str | None:
    return next((item for item in candidates if isinstance(item, str) and item), None)


def read_controller_job(record: Mapping[str, object]) -> JobInfo:
    """Read one element of ``jobs`` as slurmctld reports it.

    ``std*_expanded`` exists from v0.0.43 on, beside ``standard_output`` with the pattern; before it (24.11, and v0.0.42
    of 26.05), ``standard_output`` itself is expanded. ``outputs.output_file`` knows what each leaves over.
    """
    array_job = number(record.get("array_job_id")) or None
    het_job = number(record.get("het_job_id")) or None
    state = JobState.parse(record.get("job_state"))
    comment, key = split_comment(text(record.get("comment")))
    # Before the end these are success with code 0, which says nothing (observed on 24.11 and 26.05).
    over = state.is_terminal
    return JobInfo(
        id=number(record.get("job_id")) or 0,
        name=text(record.get("name")),
        user=text(record.get("user_name")),
        uid=number(record.get("user_id")),
        account=text(record.get("account")),
        partition=text(record.get("partition")),
        qos=text(record.get("qos")),
        cluster=text(record.get("cluster")),
        state=state,
        reason=_reason(record.get("state_reason")),
        exit_code=exit_code(record.get("exit_code")) if over else ExitCode(),
        derived_exit_code=exit_code(record.get("derived_exit_code")) if over else ExitCode(),
        array_job_id=array_job,
        array_task_id=number(record.get("array_task_id")) if array_job else None,
        array_tasks=text(record.get("array_task_string")),
        het_job_id=het_job,
        het_job_offset=number(record.get("het_job_offset")) if het_job else None,
        submit_time=moment(record.get("submit_time")),
        eligible_time=moment(record.get("eligible_time")),
        start_time=moment(record.get("start_time")),
        end_time=moment(record.get("end_time")),
        time_limit=minutes(record.get("time_limit")),
        nodes=text(record.get("nodes")),
        node_count=number(record.get("node_count")),
        cpus=number(record.get("cpus")),
        tasks=number(record.get("tasks")),
        tres_requested=tres(record.get("tres_req_str")),
        tres_allocated=tres(record.get("tres_alloc_str")),
        stdout=_path(record.get("stdout_expanded"), record.get("standard_output")),
        stderr=_path(record.get("stderr_expanded"), record.get("standard_error")),
        stdin=_path(record.get("stdin_expanded"), record.get("standard_input")),
        working_directory=text(record.get("current_working_directory")),
        command=text(record.get("command")),
        comment=comment,
        submission_key=key,
        dependency=text(record.get("dependency")),
        priority=number(record.get("priority")),
        restart_count=number(record.get("restart_cnt")) or 0,
        raw=record,
    )


def read_accounting_job(record: Mapping[str, object]) -> JobInfo:
    """Read one element of ``jobs`` as slurmdbd reports it: one incarnation of the job."""
    state_record, time, array = (mapping(record.get(name)) for name in ("state", "time", "array"))
    het, required = mapping(record.get("het")), mapping(record.get("required"))
    comment, key = split_comment(text(mapping(record.get("comment")).get("job")))
    tres_record, limits = mapping(record.get("tres")), mapping(array.get("limits"))
    array_job = number(array.get("job_id")) or None
    het_job = number(het.get("job_id")) or None
    state = JobState.parse(state_record.get("current"))
    over = state.is_terminal
    code = exit_code(record.get("exit_code")) if over else ExitCode()
    nodes = "" if record.get("nodes") == "None assigned" else text(record.get("nodes"))
    return JobInfo(
        id=number(record.get("job_id")) or 0,
        name=text(record.get("name")),
        user=text(record.get("user")),
        account=text(record.get("account")),
        partition=text(record.get("partition")),
        qos=text(record.get("qos")),
        cluster=text(record.get("cluster")),
        state=state,
        reason=reason_of_end(state, code, _reason(state_record.get("reason")), nodes),
        exit_code=code,
        derived_exit_code=exit_code(record.get("derived_exit_code")) if over else ExitCode(),
        array_job_id=array_job,
        array_task_id=number(array.get("task_id")) if array_job else None,
        array_tasks=_waiting_tasks(text(array.get("task")) or text(limits.get("task"))),
        het_job_id=het_job,
        het_job_offset=number(het.get("job_offset")) if het_job else None,
        submit_time=moment(time.get("submission")),
        eligible_time=moment(time.get("eligible")),
        start_time=moment(time.get("start")),
        end_time=moment(time.get("end")),
        time_limit=minutes(time.get("limit")),
        nodes=nodes,
        node_count=number(record.get("allocation_nodes")),
        cpus=number(required.get("CPUs")),
        tres_requested=tres(tres_record.get("requested")),
        tres_allocated=tres(tres_record.get("allocated")),
        stdout=_path(record.get("stdout_expanded"), record.get("stdout")),
        stderr=_path(record.get("stderr_expanded"), record.get("stderr")),
        stdin=_path(record.get("stdin_expanded"), record.get("stdin")),
        working_directory=text(record.get("working_directory")),
        command=text(record.get("submit_line")),
        comment=comment,
        submission_key=key,
        priority=number(record.get("priority")),
        restart_count=number(record.get("restart_cnt")) or 0,
        source="accounting",
        raw=record,
    )


# How slurmctld calls the reasons of such ends (22.05, 24.11, 26.05).
_REASONS = {
    BaseState.TIMEOUT: "TimeLimit",
    BaseState.DEADLINE: "DeadLine",
    BaseState.OUT_OF_MEMORY: "OutOfMemory",
    BaseState.NODE_FAIL: "NodeDown",
}


def reason_of_end(state: JobState, code: ExitCode, waited: str, nodes: str) -> str:
    """Return why a job ended, in slurmctld's words: accounting keeps only what it waited for last, ``waited``.

    That stands where the job never had ``nodes``. It is empty where slurmctld gives no reason either, or none can be
    told from the exit code.
    """
    if not state.is_terminal or (not nodes and state.base is BaseState.CANCELLED):
        return waited
    if state.base is BaseState.FAILED:
        return "RaisedSignal" if code.signal else "NonZeroExitCode" if code.code else ""
    return _REASONS.get(state.base, "")


def _reason(value: object) -> str:
    return "" if value in ("None", None) else text(value)


def read_node(record: Mapping[str, object]) -> Node:
    """Read one element of ``nodes``."""
    return Node(
        name=text(record.get("name")),
        state=words(record.get("state")),
        partitions=words(record.get("partitions")),
        cpus=number(record.get("cpus")),
        cpus_allocated=number(record.get("alloc_cpus")),
        memory=number(record.get("real_memory")),
        memory_allocated=number(record.get("alloc_memory")),
        gres=text(record.get("gres")),
        gres_used=text(record.get("gres_used")),
        features=words(record.get("features")),
        reason=text(record.get("reason")),
        raw=record,
    )


def read_partition(record: Mapping[str, object]) -> Partition:
    """Read one element of ``partitions``."""
    nodes, maximums, defaults = (mapping(record.get(key)) for key in ("nodes", "maximums", "defaults"))
    # v0.0.45 tells it; before, slurmrestd has no such word.
    inner = mapping(record.get("partition"))
    told = inner.get("flags", record.get("flags"))
    return Partition(
        name=text(record.get("name")),
        state=words(inner.get("state")),
        is_default=None if told is None else "DEFAULT" in words(told),
        nodes=text(nodes.get("configured")),
        node_count=number(nodes.get("total")),
        cpus=number(mapping(record.get("cpus")).get("total")),
        max_time=minutes(maximums.get("time")),
        default_time=minutes(defaults.get("time")),
        max_nodes=number(maximums.get("nodes")),
        raw=record,
    )


def read_ping(body: Mapping[str, object], api_version: str) -> list[Ping]:
    """Read the answer of ``ping/``: one element per configured slurmctld.

    v0.0.40 and 41 say ``pinged: UP``; 42 to 44 add ``responding``; 45 has only that and ``primary``.
    """
    meta = mapping(mapping(body.get("meta")).get("slurm"))
    found = []
    for item in items(body.get("pings")):
        latency = number(item.get("latency"))
        responding = item.get("responding")
        found.append(
            Ping(
                hostname=text(item.get("hostname")),
                responding=responding if isinstance(responding, bool) else item.get("pinged") == "UP",
                primary=item.get("primary") is True or item.get("mode") == "primary",
                latency=None if latency is None else timedelta(microseconds=latency),
                cluster=text(meta.get("cluster")),
                slurm=text(meta.get("release")),
                api_version=api_version,
            )
        )
    return found


def read_diagnostics(body: Mapping[str, object]) -> Diagnostics:
    """Read the answer of ``diag/``."""
    record = mapping(body.get("statistics"))
    return Diagnostics(
        server_threads=number(record.get("server_thread_count")),
        agent_queue=number(record.get("agent_queue_size")),
        since=moment(record.get("req_time_start")),
        raw=record,
        jobs_submitted=number(record.get("jobs_submitted")),
        jobs_started=number(record.get("jobs_started")),
        jobs_completed=number(record.get("jobs_completed")),
        jobs_cancelled=number(record.get("jobs_canceled")),
        jobs_failed=number(record.get("jobs_failed")),
        jobs_pending=number(record.get("jobs_pending")),
        jobs_running=number(record.get("jobs_running")),
    )
