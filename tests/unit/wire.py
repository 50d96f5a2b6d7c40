"""A slurmrestd on the wire: respx routes that answer with captures of real ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import respx

from slurm_rest import AsyncSlurmClient
from slurm_rest.auth import TokenProvider
from slurm_rest.transport.rest import connection as rest_connection

from .captures import Capture, capture

URL = "http://slurm:6820"
NEW = "26.05.5/v0.0.45"
NOT_SERVED = capture(NEW, "not_found_404").response
UP = capture(NEW, "ping").response
DOWN = capture(NEW, "bad_token_ping").response
# What respx may answer with: an answer, an error of httpx, or a function of the request.
Reply = httpx.Response | Exception | Callable[[httpx.Request], Any]


class Server:
    """One slurmrestd that serves v0.0.45. Every route has to be called."""

    def __init__(self, router: respx.MockRouter) -> None:
        self.router = router

    def on(self, method: str, path: str, *replies: Reply | Capture) -> respx.Route:
        """Answer a path below ``/slurm/v0.0.45`` (or a whole one) with these replies, one after the other."""
        whole = path if path.startswith(("/slurm/", "/slurmdb/")) else f"/slurm/v0.0.45{path}"
        plain = [reply.response if isinstance(reply, Capture) else reply for reply in replies]
        route = self.router.route(method=method, path=whole)
        if len(plain) > 1:
            # One after the other; none of these is a function.
            return route.mock(side_effect=[reply for reply in plain if isinstance(reply, (httpx.Response, Exception))])
        only = plain[0]
        return route.mock(return_value=only) if isinstance(only, httpx.Response) else route.mock(side_effect=only)

    def ping(self, *replies: Reply) -> respx.Route:
        """Answer the newest version's ping, by default that all is well."""
        return self.on("GET", "/ping/", *(replies or (UP,)))


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reads be repeated at once."""
    monkeypatch.setattr(rest_connection, "_PAUSES", (0, 0))


@pytest.fixture
def server(no_pauses: None) -> Iterator[Server]:
    with respx.mock(base_url=URL, assert_all_called=True) as router:
        yield Server(router)


def client(token: str | TokenProvider = "tok", **settings: Any) -> AsyncSlurmClient:
    """Return a client of the server."""
    return AsyncSlurmClient(URL, token=token, **({"workdir": "/tmp"} | settings))


def body_of(call: respx.models.Call) -> Any:
    """Return the JSON that a request carried."""
    return json.loads(call.request.content)


def query_of(call: respx.models.Call, name: str) -> list[str]:
    """Return the values of a query parameter."""
    return call.request.url.params.get_list(name)


def states(*rows: tuple[str, str]) -> Capture:
    """Return an answer of ``jobs/state/``."""
    return good(jobs=[{"job_id": job_id, "state": words.split("+")} for job_id, words in rows])


def good(**body: object) -> Capture:
    """Return a good answer with this content."""
    whole = {"meta": capture(NEW, "ping").body["meta"], "errors": [], "warnings": [], **body}
    return Capture("GET", "/", 200, "application/json", json.dumps(whole).encode())


def job(job_id: int, state: str = "COMPLETED", code: int = 0, **more: object) -> dict[str, object]:
    """Return a controller's record, cut short."""
    exit_code = {"status": ["SUCCESS"], "return_code": {"set": True, "infinite": False, "number": code}}
    whole = {"job_id": job_id, "job_state": state.split("+"), "user_name": "alice", "user_id": 1001}
    return {**whole, "exit_code": exit_code, **more}


def accounted(job_id: int, state: str = "COMPLETED", code: int = 0, **more: object) -> dict[str, object]:
    """Return an accounting record, cut short."""
    exit_code = {"status": ["SUCCESS"], "return_code": {"set": True, "infinite": False, "number": code}}
    return {"job_id": job_id, "state": {"current": state.split("+"), "reason": "None"}, "exit_code": exit_code, **more}
