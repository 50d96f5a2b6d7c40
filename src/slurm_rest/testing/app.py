"""The fake slurmrestd as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from . import accounting, controller
from .answers import Answers
from .cluster import FakeCluster
from .faults import Fault, Faults
from .habits import habits_of
from .replies import Handler, Reply, Request, not_found
from .shapes import versions_of
from .tokens import Tokens

__all__ = ["CUT", "TWICE", "FakeSlurmrestd"]

# ASGI's own types: whatever a server sends.
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Extensions that this project's server offers: to cut the connection, and to write an answer twice.
CUT, TWICE = "slurm_rest.cut", "slurm_rest.twice"
_PATH = re.compile(r"/+(slurm|slurmdb)/+(v0\.0\.\d+)/+(.*?)/*")
_LARGEST_PAGE = b"<html><body>upstream failure</body></html>"


class FakeSlurmrestd:
    """Answers as slurmrestd of the cluster's release does.

    Any ASGI server runs it; without one, ``httpx.ASGITransport(app)`` does as the client's ``http_transport``.
    """

    def __init__(self, cluster: FakeCluster, tokens: Tokens, faults: Faults | None = None) -> None:
        self.cluster, self.tokens, self.faults = cluster, tokens, faults or Faults()
        self.requests = 0
        self._routes = [
            (service, method, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)), handler, versions)
            for service, routes in (("slurm", controller.ROUTES), ("slurmdb", accounting.ROUTES))
            for method, path, handler, versions in routes
        ]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await _lifespan(receive, send)
            return
        self.requests += 1
        body = await _read(receive)
        method, path = scope["method"], scope["path"]
        fault = self.faults.take(method, path)
        if self.faults.latency:
            await asyncio.sleep(self.faults.latency)
        if fault in (Fault.LOST_BEFORE, Fault.FAILED_BEFORE):
            await _spoil(fault, scope, send)
            return
        reply, meta = self.answer(method, path, scope["query_string"], dict(_headers(scope)), body, fault)
        if fault in (Fault.LOST_AFTER, Fault.FAILED_AFTER):
            await _spoil(fault, scope, send)
            return
        if reply.status >= 400 and self.faults.errors_twice and TWICE in scope.get("extensions", {}):
            scope["extensions"][TWICE]()
        await _send(reply, meta, send)

    def answer(
        self, method: str, path: str, query: bytes, headers: Mapping[str, str], body: bytes, fault: Fault | None = None
    ) -> tuple[Reply, Mapping[str, object] | None]:
        """Return the reply to a request, and its ``meta``."""
        cluster = self.cluster
        cluster.settle()
        identity = self.tokens.identify(headers)
        if identity.is_missing:
            return Reply(401, text="Authentication failure"), None
        found = _PATH.fullmatch(path)
        handler, parts = self._route(method, found) if found else (None, {})
        if found is None or handler is None:
            return not_found(cluster.release), None
        refused = fault is Fault.REJECTED or self.faults.rejects_tokens
        content, problem = self._content(method, headers, body)
        if problem is not None:
            return problem, None
        pairs = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        owner = None if refused else identity.owner
        request = Request(cluster, self.faults, found[2], owner, parts, pairs, content)
        service = "slurmctld" if found[1] == "slurm" else "slurmdbd"
        return handler(request), Answers(cluster, found[2]).meta(service)

    def _route(self, method: str, found: re.Match[str]) -> tuple[Handler | None, Mapping[str, str]]:
        service, version, rest = found.groups()
        if version in versions_of(self.cluster.release):
            for own, verb, pattern, handler, versions in self._routes:
                match = pattern.fullmatch(rest)
                if own == service and verb == method and match and (not versions or version in versions):
                    return handler, match.groupdict()
        return None, {}

    def _content(self, method: str, headers: Mapping[str, str], body: bytes) -> tuple[object, Reply | None]:
        """Parse a body as strictly as slurmrestd: one content type, no charset."""
        habits = habits_of(self.cluster.release)
        if not body:
            return None, None
        if method == "GET" or "chunked" in headers.get("transfer-encoding", ""):
            return None, Reply(406 if method != "GET" else habits.unread_query, text="Unable to parse query.")
        if headers.get("content-type") != "application/json":
            status, words = habits.unread_type
            return None, Reply(status, text=words)
        try:
            content = json.loads(body.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            content = None
        # A number alone is no document to it.
        if content is None or (isinstance(content, (int, float)) and not isinstance(content, bool)):
            return None, Reply(400, text=habits.unread_body)
        return content, None


def _headers(scope: Message) -> list[tuple[str, str]]:
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]


async def _read(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _spoil(fault: Fault, scope: Message, send: Send) -> None:
    if fault in (Fault.LOST_BEFORE, Fault.LOST_AFTER):
        if CUT not in scope.get("extensions", {}):
            # Without a server of ours this is how a cut connection looks to a client in the same process.
            raise ConnectionResetError("the connection was cut")
        scope["extensions"][CUT]()
        return
    status = 503 if fault is Fault.FAILED_BEFORE else 500
    await _write(status, b"text/html", _LARGEST_PAGE, send)


async def _send(reply: Reply, meta: Mapping[str, object] | None, send: Send) -> None:
    if reply.text is not None:
        await _write(reply.status, b"text/plain", reply.text.encode(), send)
        return
    record = reply.record
    errors, warnings = record.pop("errors"), record.pop("warnings")
    whole = {**record, "meta": meta, "errors": errors, "warnings": warnings}
    # A name that was not UTF-8 comes back as the bytes that it was, and spoils the whole body, as it does for real.
    content = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogateescape")
    await _write(reply.status, b"application/json", content, send)


async def _write(status: int, content_type: bytes, content: bytes, send: Send) -> None:
    headers = [(b"content-type", content_type), (b"content-length", str(len(content)).encode())]
    if status >= 400:
        headers.insert(0, (b"connection", b"Close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
