"""What a task says of its job: a bounded text, and the same as data. Pure.

Everything from the cluster is untrusted text; tokens, keys and environments never reach this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from slurm_rest import JobInfo, JobState

from .states import is_unlaunched

__all__ = [
    *("MESSAGE_LIMIT", "capped", "describe", "describe_unheard", "details", "sendable", "whereabouts", "with_stderr"),
]

# gRPC clients take 4 MiB in all, and the platform keeps messages; what matters stands at both ends.
MESSAGE_LIMIT = 8 * 1024
_LONGEST_COMMENT, _LONGEST_FACT = 500, 4 * 1024
_UNLAUNCHED = "a node could not launch it"
# What slurmd says with a signal that nobody sent.
_UNLAUNCHED_BY = {53: "its output could not be opened, or its directory is not there", 54: "its prolog failed"}
_GAP = "\n[...]\n"
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def capped(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return a text of at most so many bytes of UTF-8, without its middle where it is longer.

    Colours of terminals are left out, and no character is in it that a database refuses.
    """
    raw = _CONTROL.sub("\ufffd", _COLOURS.sub("", text)).encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode()
    room = limit - len(_GAP)
    head, tail = raw[: room // 2], raw[len(raw) - (room - room // 2) :]
    return head.decode("utf-8", "ignore") + _GAP + tail.decode("utf-8", "ignore")


def describe(
    job_id: str,
    state: JobState,
    record: JobInfo | None,
    *,
    stale_since: datetime | None = None,
    is_ours: bool = False,
) -> str:
    """Return one line on a job: its state, and how it ended or why it waits. ``is_ours`` is a cancellation of ours."""
    words = [f"Slurm job {job_id} is {state}"]
    if record is not None and record.reason and record.reason not in ("None", state.base.value):
        words.append(f"reason: {record.reason}")
    if record is not None and state.is_terminal:
        if record.exit_code.code or record.exit_code.signal:
            words.append(f"exit code {record.exit_code}")
        if (code := record.derived_exit_code).code and code != record.exit_code:
            # Its script went on behind a step that failed.
            words.append(f"highest exit code of a step {code}")
        by = "" if is_ours else _unlaunched(record) or _cancelled_by(record)
        words += [by] if by else []
        words += [f"comment: {said}"] if by and (said := _comment_on(record)) else []
        words += [f"on {record.nodes}"] if record.nodes else []
    if stale_since is not None:
        words.append(f"{_no_news(stale_since)}, this is what was known last")
    return ", ".join(words)


def describe_unheard(job_id: str, stale_since: datetime | None) -> str:
    """Return one line on a job of which this process has heard nothing, and whose phase is thus a guess."""
    words = [
        f"Slurm job {job_id}: this connector has not heard of it yet, and tells the phase that it may have reached"
    ]
    words += [_no_news(stale_since)] if stale_since is not None else []
    return ", ".join(words)


def _no_news(since: datetime) -> str:
    return f"no news from Slurm since {since:%Y-%m-%d %H:%M:%S} UTC"


def _unlaunched(record: JobInfo) -> str:
    """Say that a node could not launch a job, and why where its exit code tells; empty for others."""
    why = _UNLAUNCHED_BY.get(record.exit_code.signal or 0)
    return (f"{_UNLAUNCHED}: {why}" if why else _UNLAUNCHED) if is_unlaunched(record) else ""


def _cancelled_by(record: JobInfo) -> str:
    """Say who cancelled a job, as accounting keeps it; empty where nobody did or nothing tells."""
    if record.state.base.value != "CANCELLED":
        return ""
    who = record.raw.get("kill_request_user")
    if isinstance(who, str) and who:
        return f"cancelled by {who}, not through Flyte"
    for word in record.state.raw:
        _, by, uid = word.partition(" by ")
        if by:
            return f"cancelled by user {uid}, not through Flyte"
    return "cancelled, not through Flyte"


def _comment_on(record: JobInfo) -> str:
    """Return what an administrator or Slurm wrote to a job, for instance why it was cancelled."""
    comment = record.raw.get("comment")
    of_accounting = comment if isinstance(comment, Mapping) else {}
    places = (record.raw.get("admin_comment"), record.raw.get("system_comment"))
    texts = (*places, of_accounting.get("administrator"), of_accounting.get("system"))
    return next((text[:_LONGEST_COMMENT] for text in texts if isinstance(text, str) and text), "")


def whereabouts(stdout: str, stderr: str, login: str, running: str = "") -> str:
    """Return where the files of a job are, and how to get into one that runs: ``running`` is its id.

    ``login`` is USER@HOST of a login node, empty where none is known.
    """
    place = f" on {login}" if login else ""
    text = f"Job files{place}: {stdout} (stdout), {stderr} (stderr)"
    if not running:
        return text
    shell = f"srun --jobid={running} --overlap --pty bash"
    return f"{text}\nAttach to the running job: " + (f"ssh -t {login} '{shell}'" if login else shell)


def with_stderr(message: str, tail: str, lines: int) -> str:
    """Return the message with the end of the job's standard error behind it."""
    if not tail.strip():
        return message
    kept = "\n".join(tail.rstrip().splitlines()[-lines:])
    return f"{message}\n--- stderr (last {lines} lines) ---\n{kept}"


def details(facts: Mapping[str, object], record: JobInfo | None) -> dict[str, object]:
    """Return ``custom_info``: JSON values, without what is not known. ``facts`` are the connector's own."""
    found: dict[str, object] = dict(facts)
    if record is not None:
        code = record.exit_code
        found |= {
            "slurm_state": str(record.state),
            "cluster": record.cluster,
            "partition": record.partition,
            "account": record.account,
            "qos": record.qos,
            "user": record.user,
            "nodes": record.nodes,
            "reason": record.reason if record.reason != "None" else "",
            "submitted": _moment(record.submit_time),
            "started": _moment(record.start_time) if not record.state.is_pending else "",
            "ended": _moment(record.end_time) if record.state.is_terminal else "",
            "exit_code": str(code) if record.state.is_terminal else "",
            "derived_exit_code": str(record.derived_exit_code) if record.state.is_terminal else "",
            "restarts": record.restart_count,
            "tres": dict(record.tres_allocated or record.tres_requested),
        }
    return {name: _kept(value) for name, value in found.items() if value not in ("", None, {})}


def _kept(value: object) -> object:
    """Return a value as the platform can keep it: a list of ten thousand nodes is longer than all else together."""
    if isinstance(value, dict):
        return {_kept(name): _kept(one) for name, one in value.items()}
    return capped(value, _LONGEST_FACT) if isinstance(value, str) else value


def sendable(text: str) -> str:
    """Return a text as a message of protobuf takes it: what Slurm keeps need not be UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _moment(time: datetime | None) -> str:
    return time.isoformat() if time else ""
