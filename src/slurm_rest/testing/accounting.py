"""slurmrestd's ``/slurmdb/`` operations on a fake cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .habits import habits_of
from .jobs import FakeJob
from .past import is_wanted, jobs_between, last_starts
from .replies import Handler, Reply, Request, failed, refused
from .requests import Issue

__all__ = ["ROUTES"]

_AGO = re.compile(r"now(?:-(\d+)(second|minute|hour|day)s?)?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_FILTERS = {"users": "user", "job_name": "name", "partition": "partition", "account": "account", "state": "state"}


def _guarded(handler: Handler) -> Handler:
    def guard(request: Request) -> Reply:
        bad = request.owner is None
        if bad or request.faults.accounting_down:
            # 26.05 does not tell a bad token from a dead database.
            more = ", authentication error" if bad and habits_of(request.release).tells_bad_token else ""
            return failed(request.release, 7000, f"Failed to open slurmdbd connection{more}", "openapi_get_db_conn")
        return handler(request)

    return guard


def _jobs(request: Request) -> Reply:
    found: list[FakeJob] = []
    for step in request.values("step"):
        number = re.split(r"[_+.]", step)[0]
        if not number.isdigit():
            return refused(request, "query parameters", "op_handler_jobs")
        found += request.cluster.records.get(int(number), ())
    if not request.values("step"):
        now = request.cluster.now()
        start, end = _moment(request, "start_time", now - now % 86400), _moment(request, "end_time", now)
        by_submission = "true" in request.values("usage_time_as_submit_time")
        found = jobs_between(request.cluster, start, end, by_submission=by_submission)
    unique = list(dict.fromkeys(found))
    return _reply(request, unique, steps="true" not in request.values("skip_steps"))


def _moment(request: Request, name: str, default: float) -> float:
    text = next(iter(request.values(name)), "").removeprefix("uts")
    found = _AGO.fullmatch(text)
    if found:
        return request.cluster.now() - int(found[1] or 0) * _SECONDS.get(found[2] or "", 1)
    return float(text) if text.isdigit() else default


def _job(request: Request) -> Reply:
    number = re.split(r"[_+.]", request.path["id"])[0]
    if not number.isdigit() or int(number) == 0:
        return refused(request, "parameters", "op_handler_job")
    return _reply(request, list(dict.fromkeys(request.cluster.records.get(int(number), ()))), steps=True)


def _reply(request: Request, jobs: list[FakeJob], *, steps: bool) -> Reply:
    wanted = {key: _words(request.values(name)) for name, key in _FILTERS.items()}
    records = [one for one in request.answers.accounting_records(jobs, steps=steps) if is_wanted(one, wanted)]
    # Beside skip_steps only the last start of a job is sent, unless all are asked for.
    if not steps and "true" not in request.values("show_duplicates"):
        records = last_starts(records)
    if request.faults.duplicates:
        records = [one for one in records for _ in range(2)]
    who = habits_of(request.release).nothing_found
    return Reply(body={"jobs": records}, warnings=[] if records else [Issue(f"{who} found nothing", "_dump_jobs")])


def _words(values: Iterable[str]) -> list[str]:
    return [word for value in values for word in value.split(",")]


def _ping(request: Request) -> Reply:
    return Reply(body={"pings": request.answers.example("accounting_ping")})


def _clusters(request: Request) -> Reply:
    return Reply(body={"clusters": request.answers.example("cluster", name=request.cluster.name)})


def _users(request: Request) -> Reply:
    names = sorted(request.cluster.users)
    return Reply(body={"users": [user for name in names for user in request.answers.example("user", name=name)]})


def _qos(request: Request) -> Reply:
    return Reply(body={"qos": request.answers.example("qos")})


def _associations(request: Request) -> Reply:
    names = sorted(request.cluster.users)
    found = [one for name in names for one in request.answers.example("association", user=name)]
    return Reply(body={"associations": found})


# Method and path below /slurmdb/<version>/; versions that have it, none for all.
ROUTES: list[tuple[str, str, Handler, tuple[str, ...]]] = [
    ("GET", "jobs", _guarded(_jobs), ()),
    ("GET", "job/{id}", _guarded(_job), ()),
    ("GET", "clusters", _guarded(_clusters), ()),
    ("GET", "users", _guarded(_users), ()),
    ("GET", "qos", _guarded(_qos), ()),
    ("GET", "associations", _guarded(_associations), ()),
    ("GET", "ping", _guarded(_ping), ("v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45")),
]
