"""A cluster at the wire whose answers to submissions get lost, and the jobs that carry their keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
import respx

from slurm_rest.transport import recovery

from .captures import Capture, capture
from .wire import NEW, Server, good, states

__all__ = ["BOUNDS", "CUT", "JOB_ID", "MADE", "OLD", "RECENT", "SCRIPT", "Cluster", "at_once", "body_of_request"]

SCRIPT = "#!/bin/sh\ntrue\n"
MADE = capture(NEW, "submit_ok")
JOB_ID: int = MADE.body["job_id"]
CUT = httpx.RemoteProtocolError("disconnected")
BOUNDS = replace(recovery.BOUNDS, grace=2.0, held=10.0)
# Later than any run of the tests: they may begin long after this file was read.
RECENT: dict[str, Any] = {"submit_time": {"set": True, "number": 2**31}}
OLD: dict[str, Any] = {"submit_time": {"set": True, "number": 1_700_000_000}}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing take time."""
    monkeypatch.setattr(recovery, "BOUNDS", replace(BOUNDS, grace=0, held=0, pauses=(0,)))


class Cluster:
    """Jobs of the controller and of accounting; the sent key stands for ``KEY`` in their comments."""

    def __init__(self, server: Server, *jobs: dict[str, Any], past: tuple[dict[str, Any], ...] = ()) -> None:
        self.server, self.key = server, ""
        server.ping()
        rows = sorted({(str(one["job_id"]), "PENDING") for one in jobs})
        # Nothing is there before something was sent, or a test says which key is.
        self.listing = server.on("GET", "/jobs/state/", lambda _: states(*(rows if self.key else ())).response)
        self.past = past
        self.accounting: respx.Route | None = None
        self.reads = [
            server.router.get(f"/slurm/v0.0.45/job/{one['job_id']}").mock(side_effect=self._answer(one)) for one in jobs
        ]

    def _answer(self, record: dict[str, Any]) -> Callable[[httpx.Request], httpx.Response]:
        return lambda _: good(jobs=[self._keyed(record)]).response

    def _keyed(self, record: dict[str, Any]) -> dict[str, Any]:
        comment = record.get("comment", "")
        if isinstance(comment, dict):
            return {**record, "comment": {"job": comment["job"].replace("KEY", self.key)}}
        return {**record, "comment": comment.replace("KEY", self.key)}

    def asks_accounting(self, reply: Capture | None = None) -> Cluster:
        """Expect a question to accounting."""
        answer: Any = reply or (lambda _: good(jobs=[self._keyed(one) for one in self.past]).response)
        self.accounting = self.server.on("GET", "/slurmdb/v0.0.45/jobs/", answer)
        self.server.on("GET", "/diag/", lambda _: good(statistics={"req_time_start": 1_800_000_000}).response)
        return self

    def posts(self, *replies: Capture | Exception) -> respx.Route:
        """Reply to submissions, and note the key."""
        left = list(replies)

        def post(request: httpx.Request) -> httpx.Response:
            self.key = body_of_request(request)["job"]["comment"].split()[-1]
            reply = left.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply.response

        return self.server.on("POST", "/job/submit", post)


def body_of_request(request: httpx.Request) -> Any:
    import json

    return json.loads(request.content)
