"""slurmrestd's ``/slurm/`` operations on a fake cluster."""

from __future__ import annotations

import signal as signals

from slurm_rest.api.base import known_in

from .changing import change, requeue
from .errors import WORDS, Refused
from .habits import habits_of
from .jobs import FakeJob
from .replies import Handler, Reply, Request, failed, refused
from .requests import Issue, Submitted, read_submission, read_update
from .shapes import Record
from .tokens import NOBODY

__all__ = ["ROUTES"]

_LARGEST_ID = 0x03FFFFFF
_NO_TIME = {"set": True, "infinite": False, "number": 0}
_SUBMITTED_BY = "slurm_submit_batch_job()"
# What each operation says when slurmctld gives it nothing: words, and who says them.
_COMPLAINTS = {
    "diag": ("slurm_get_statistics() failed to get slurmctld statistics", "op_handler_diag"),
    "jobs": ("Unable to query jobs", "slurm_load_jobs()"),
    "states": ("Unable to query job states", "slurm_load_job_state()"),
    "nodes": ("Failure to query nodes", "_dump_nodes"),
    "submit": ("Batch job submission failed", _SUBMITTED_BY),
    "update": ("Job update requested failed", "slurm_update_job2()"),
    "cancel": ("Signal request failed", "slurm_kill_jobs()"),
}


def _guarded(kind: str, handler: Handler) -> Handler:
    """Refuse what slurmctld would refuse to everybody: it is away, or the token is bad."""

    def guard(request: Request) -> Reply:
        number = 1007 if request.owner is None else 0
        if request.faults.controller_down:
            number = -1 if kind in ("job", "states") else 1 if kind.startswith("cancel") else 1800
        if not number:
            return handler(request)
        words, source = _COMPLAINTS.get(kind.partition("/")[0], ("", ""))
        if kind == "job":
            words, source = f"Unable to query JobId={request.path['id']}", "_handle_job_get"
        if kind == "node":
            words, source = f"Failure to query node {request.path['name']}", "_dump_nodes"
        reply = failed(request.release, number, words, source, _empty(kind, request))
        return Reply(reply.status, reply.body) if kind == "partitions" else reply

    return guard


def _empty(kind: str, request: Request) -> Record:
    """Return what an answer without content holds."""
    if kind in ("jobs", "job"):
        return {"jobs": [], "last_backfill": _NO_TIME, "last_update": _NO_TIME}
    if kind == "states":
        return {"jobs": [] if request.version == "v0.0.40" else None}
    if kind == "update":
        return _updated(request)
    # v0.0.40 and 41 tell nothing about a single job.
    return {"status": []} if kind == "cancel" or (kind == "cancel/one" and _tells(request)) else {}


def _tells(request: Request) -> bool:
    return request.version not in ("v0.0.40", "v0.0.41")


def _now(request: Request) -> Record:
    return {"set": True, "infinite": False, "number": int(request.cluster.now())}


# --- looking ------------------------------------------------------------------------------------------------


def _ping(request: Request) -> Reply:
    status = ""
    if request.owner is None:
        status = WORDS[1007]
    elif request.faults.controller_down:
        status = WORDS[1800]
    return Reply(body={"pings": request.answers.pings(is_up=not status, status=status)})


def _diag(request: Request) -> Reply:
    return Reply(body={"statistics": request.answers.diag()})


def _jobs(request: Request) -> Reply:
    records = request.answers.job_records(list(request.cluster.all_jobs()))
    return Reply(body={"jobs": records, "last_backfill": _NO_TIME, "last_update": _now(request)})


def _states(request: Request) -> Reply:
    cluster = request.cluster
    labels = request.values("job_id")
    if not labels:
        return Reply(body={"jobs": request.answers.state_rows(cluster.all_jobs())})
    found: list[FakeJob] = []
    for label in labels:
        if not label or label.startswith("0"):
            return refused(request, "query", "op_handler_job_states")
        try:
            found += cluster.labelled(label)
        except ValueError:
            return refused(request, "query", "op_handler_job_states")
    return Reply(body={"jobs": request.answers.state_rows(found)})


def _job(request: Request) -> Reply:
    label = request.path["id"]
    if not label.split("_")[0].isdigit() or int(label.split("_")[0]) == 0:
        return refused(request, "parameters", "op_handler_job")
    job_id = int(label.split("_")[0])
    if job_id > _LARGEST_ID:
        return failed(request.release, 2017, f"Invalid JobID={job_id} rejected", "op_handler_job")
    jobs = request.cluster.members(job_id)
    if not jobs:
        return failed(
            request.release, 2017, f"Unable to query JobId={job_id}", "_handle_job_get", _empty("job", request)
        )
    records = request.answers.job_records(jobs)
    return Reply(body={"jobs": records, "last_backfill": _NO_TIME, "last_update": _now(request)})


def _nodes(request: Request) -> Reply:
    nodes = [request.answers.node(node) for node in request.cluster.machines.nodes]
    return Reply(body={"nodes": nodes, "last_update": _now(request)})


def _node(request: Request) -> Reply:
    name = request.path["name"]
    nodes = [node for node in request.cluster.machines.nodes if node.name == name]
    if not nodes:
        return failed(request.release, 0, f"Failure to query node {name}", "_dump_nodes")
    return Reply(body={"nodes": [request.answers.node(nodes[0])], "last_update": _now(request)})


def _partitions(request: Request) -> Reply:
    partitions = [request.answers.partition(one) for one in request.cluster.partitions]
    return Reply(body={"partitions": partitions, "last_update": _now(request)})


def _partition(request: Request) -> Reply:
    name = request.path["name"]
    found = [one for one in request.cluster.partitions if one.name == name]
    if found:
        return Reply(body={"partitions": [request.answers.partition(found[0])], "last_update": _now(request)})
    words = f"Unable to find partition {name}"
    if habits_of(request.release).refuses_partitions:
        return failed(request.release, 9000, words, "op_handler_partition")
    return Reply(warnings=[Issue(words, "_partition_get")])


# --- acting -------------------------------------------------------------------------------------------------


def _submit(request: Request) -> Reply:
    owner = request.owner or NOBODY
    release = request.release
    try:
        read = read_submission(request.body, release, request.version)
        if read.is_lost or not read.requests:
            status = status_of_errors(read, release)
            return Reply(status, errors=read.errors, warnings=read.warnings)
        if owner == NOBODY and habits_of(release).refuses_nobody:
            raise Refused(6010)
        if owner.uid and any(one.fields.get("user_id") not in (None, owner.name, owner.uid) for one in read.requests):
            raise Refused(2010)
        fits = all(map(request.cluster.machines.could_take, read.requests))
        if not fits and not read.hold and habits_of(release).refuses_too_large:
            raise Refused(2014)
        job_id = request.cluster.submit(read.requests, owner, hold=read.hold)
    except Refused as refusal:
        # An id is used up all the same when the job got as far as slurmctld.
        request.cluster.new_id()
        return failed(release, refusal.number, *_COMPLAINTS["submit"])
    warnings = list(read.warnings)
    # What keeps it from starting.
    waits_for = 2042 if read.hold else 0
    if not fits and not habits_of(release).refuses_too_large:
        waits_for = 2015
    if waits_for:
        what, who = ("HetJob", "slurm_submit_batch_het_job()") if len(read.requests) > 1 else ("Job", _SUBMITTED_BY)
        warnings += [Issue(f"{what} submission resulted in non-zero return code: {WORDS[waits_for]}", who)]
        warnings += [Issue(WORDS[waits_for], _SUBMITTED_BY)]
    body: Record = {"job_id": job_id, "step_id": "batch", "job_submit_user_msg": ""}
    if not _tells(request):
        error = {"error_code": waits_for, "error": WORDS[waits_for]}
        body = {"result": {"job_id": job_id, "step_id": "batch", **error, "job_submit_user_msg": ""}, **body}
    return Reply(500 if read.errors else 200, body, read.errors, warnings)


def status_of_errors(read: Submitted, release: str) -> int:
    """Return the status of a submission that was not made; 200 where nothing is called an error."""
    if not read.errors:
        return 200
    first = read.errors[0].number
    return 422 if first == 9000 else habits_of(release).other_error if first == 2123 else 500


def _cancel_many(request: Request) -> Reply:
    body = request.body if isinstance(request.body, dict) else {}
    labels = body.get("jobs")
    if not isinstance(labels, list) or not labels:
        return failed(request.release, 2173, *_COMPLAINTS["cancel"], {"status": []})
    status: list[Record] = []
    for label in map(str, labels):
        status += _cancelled(request, label, body.get("signal"))
    return Reply(body={"status": status})


def _cancel_one(request: Request) -> Reply:
    label = request.path["id"]
    base = label.split("_")[0]
    if not base.isdigit() or int(base) == 0:
        return refused(request, "parameters", "op_handler_job")
    if int(base) > _LARGEST_ID:
        return failed(request.release, 2017, f"Invalid JobID={int(base)} rejected", "op_handler_job")
    status = _cancelled(request, label, next(iter(request.values("signal")), None))
    return Reply(body={"status": status} if _tells(request) else {})


def _cancelled(request: Request, label: str, signal: object) -> list[Record]:
    try:
        jobs = request.cluster.labelled(label)
    except ValueError:
        jobs = []
    if not jobs:
        return [_failure(2017, label, 0)]
    outcome = request.cluster.cancel(jobs, request.owner or NOBODY, _signal_number(signal))
    several = len(jobs) > 1
    found: dict[str, Record] = {}
    for job, number in outcome.items():
        # Started tasks are named one by one; those that wait are one record.
        name = job.label if several and job.id else label
        if number:
            found.setdefault(name, _failure(number, name, job.id or job.group))
    return list(found.values())


def _failure(number: int, label: str, job_id: int) -> Record:
    words = WORDS[number]
    return {
        "error": {"string": words, "code": number, "message": words},
        "step_id": label,
        "job_id": {"set": bool(job_id), "infinite": False, "number": job_id},
        "federation": {"sibling": ""},
    }


def _signal_number(signal: object) -> int | None:
    word = str(signal or "").upper().removeprefix("SIG")
    if word.isdigit():
        return int(word)
    # An unknown name kills (v0.0.41 and later).
    found = getattr(signals, f"SIG{word}", None) if word else None
    return int(found) if found is not None else None


def _updated(request: Request) -> Record:
    if _tells(request):
        return {"results": None}
    results: object = [] if request.version == "v0.0.40" else None
    return {"results": results, "job_id": "", "step_id": "", "job_submit_user_msg": ""}


def _update(request: Request) -> Reply:
    label, cluster = request.path["id"], request.cluster
    if "_" in label:
        words = "Rejecting request. Submit job update against Array Job's JobID instead of array task id."
        return failed(request.release, 9000, words, "_job_post_update", _updated(request))
    if not label.isdigit():
        return refused(request, "parameters", "op_handler_job")
    read = read_update(request.body, request.release, request.version)
    if read.errors or read.is_lost:
        return Reply(500 if read.errors else 200, _updated(request), read.errors, read.warnings)
    known = {name: value for name, value in _fields(request.body).items() if known_in("JobDescMsg", name)}
    # Of an array only the tasks that have not started are meant; the others have ids of their own.
    jobs = [job for job in cluster.members(int(label)) if job.id in (0, int(label))]
    try:
        change(cluster, jobs, known, request.owner or NOBODY)
    except Refused as refusal:
        reply = failed(request.release, refusal.number, *_COMPLAINTS["update"], _updated(request))
        return Reply(reply.status, reply.body, reply.errors, read.warnings)
    return Reply(body=_updated(request), warnings=read.warnings)


def _fields(body: object) -> Record:
    return body if isinstance(body, dict) else {}


def _requeue(request: Request) -> Reply:
    label = request.path["id"]
    try:
        jobs = request.cluster.labelled(label)
    except ValueError:
        return refused(request, "parameters", "op_handler_job_requeue")
    outcome = requeue(request.cluster, jobs, request.owner or NOBODY, hold="true" in request.values("Hold"))
    lots = [_lot(job, number) for job, number in outcome.items()] if any(job.array_id for job in jobs) else []
    number = max(outcome.values(), default=2017)
    if number and not lots:
        return failed(
            request.release, number, f"Requeue JobID={label} failed", "op_handler_job_requeue", {"status": []}
        )
    return Reply(body={"status": lots})


def _lot(job: FakeJob, number: int) -> Record:
    # slurmctld reports tasks with the same outcome together.
    label = f"{job.array_id}_[{job.task_id}]"
    return {"job_id": job.group, "step_id": label, "error": WORDS[number], "error_code": number, "why": ""}


# Method and path below /slurm/<version>/; versions that have it, none for all.
ROUTES: list[tuple[str, str, Handler, tuple[str, ...]]] = [
    ("GET", "ping", _ping, ()),
    ("GET", "diag", _guarded("diag", _diag), ()),
    ("GET", "jobs", _guarded("jobs", _jobs), ()),
    ("DELETE", "jobs", _guarded("cancel", _cancel_many), ()),
    ("GET", "jobs/state", _guarded("states", _states), ()),
    ("POST", "job/submit", _guarded("submit", _submit), ()),
    ("GET", "job/{id}", _guarded("job", _job), ()),
    ("POST", "job/{id}", _guarded("update", _update), ()),
    ("DELETE", "job/{id}", _guarded("cancel/one", _cancel_one), ()),
    ("GET", "job/{id}/requeue", _guarded("requeue", _requeue), ("v0.0.45",)),
    ("GET", "nodes", _guarded("nodes", _nodes), ()),
    ("GET", "node/{name}", _guarded("node", _node), ()),
    ("GET", "partitions", _guarded("partitions", _partitions), ()),
    ("GET", "partition/{name}", _guarded("partitions", _partition), ()),
]
