"""A slurmrestd that is not there: canned answers by path, and what was asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import jwt

URL = "http://slurm.test:6820"
VERSION = "v0.0.42"
META = {"slurm": {"release": "24.11.5", "cluster": "testing"}}

Answer = tuple[int, object] | Exception


@dataclass
class Server:
    """What slurmrestd answers, by method and path behind the version; a function may look at the request."""

    answers: dict[tuple[str, str], Answer | Callable[[httpx.Request], Answer]] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)

    def answer(self, method: str, path: str, body: object, status: int = 200) -> None:
        """Set the answer for one path, for example ``/slurm/jobs/``."""
        self.answers[method, path] = (status, body)

    def jobs(self, *records: dict[str, object]) -> None:
        """Let the controller know these jobs, and accounting none."""
        self.answer("GET", "/slurm/jobs/", {"jobs": list(records)})
        for record in records:
            self.answer("GET", f"/slurm/job/{record['job_id']}", {"jobs": [record]})
        rows = {str(record["job_id"]): record["job_state"] for record in records}

        def states(request: httpx.Request) -> Answer:
            asked = request.url.params.get_list("job_id") or list(rows)
            found = [{"job_id": job_id, "state": rows[job_id]} for job_id in asked if job_id in rows]
            return 200, {"jobs": found}

        self.answers["GET", "/slurm/jobs/state/"] = states
        self.answer("GET", "/slurmdb/jobs/", {"jobs": []})

    def body(self, method: str = "POST") -> dict[str, object]:
        """Return the JSON of the one request with this method."""
        (request,) = [request for request in self.requests if request.method == method]
        value = json.loads(request.content)
        assert isinstance(value, dict)
        return value

    def reply(self, request: httpx.Request) -> httpx.Response:
        """Answer one request; an unknown job is answered as Slurm does."""
        self.requests.append(request)
        _, service, _, rest = request.url.path.split("/", 3)
        answer = self.answers.get((request.method, f"/{service}/{rest}"))
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            error = {"error_number": 2017, "error": "Invalid job id specified", "description": "unknown", "source": "x"}
            answer = 404, {"errors": [error]}
        status, body = answer
        document = {"errors": [], "warnings": [], "meta": META, **body} if isinstance(body, dict) else body
        if isinstance(document, str):
            return httpx.Response(status, text=document)
        # As slurmrestd writes it: bytes that are not UTF-8 stand in the text as they are.
        content = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape")
        return httpx.Response(status, content=content, headers={"Content-Type": "application/json"})


@dataclass(frozen=True)
class Result:
    """How the command ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]


def token(**claims: object) -> str:
    """Return a token that looks like Slurm's."""
    values = {"sun": "alice", "exp": int(time.time()) + 3600, "iat": int(time.time()), **claims}
    return jwt.encode(values, b"k" * 32, algorithm="HS256")


def job(job_id: int, state: str = "RUNNING", **fields: object) -> dict[str, object]:
    """Return a record as the controller sends it."""
    return {"job_id": job_id, "name": f"job{job_id}", "user_name": "alice", "job_state": [state], **fields}
