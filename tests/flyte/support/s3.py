"""A small object store that speaks S3's protocol, for tests: one bucket or any, in memory, no signatures checked.

Only what an S3 client of today sends: whole and ranged reads, listings, single and multipart uploads, deletions.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape, unescape

import uvicorn

__all__ = ["Store", "serve"]

_XML = "http://s3.amazonaws.com/doc/2006-03-01/"
_Receive = Callable[[], Awaitable[Mapping[str, Any]]]
_Send = Callable[[Mapping[str, Any]], Awaitable[None]]
_Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Store:
    """All objects, by ``bucket/key``. While ``down``, every request is answered with 503.

    An object in ``held`` cannot be written: whoever does waits until it is taken out.
    """

    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    down: bool = False
    held: set[str] = field(default_factory=set)

    def written(self, path: str) -> int:
        """Return how often somebody began to write an object, the upload of its parts counted each."""
        return self.requests.count(f"PUT {path}")

    def variables(self) -> dict[str, str]:
        """Return the environment by which flyte reaches it."""
        return {
            "FLYTE_AWS_ENDPOINT": self.url,
            "FLYTE_AWS_ACCESS_KEY_ID": "test",
            "FLYTE_AWS_SECRET_ACCESS_KEY": "test-secret",
            "FLYTE_AWS_S3_ADDRESSING_STYLE": "path",
            "AWS_REGION": "us-east-1",
        }

    async def __call__(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        path = unquote(scope["raw_path"].decode().split("?")[0]).lstrip("/")
        query = {name: values[0] for name, values in parse_qs(scope["query_string"].decode(), True).items()}
        self.requests.append(f"{scope['method']} {path}")
        while scope["method"] == "PUT" and path in self.held:  # noqa: ASYNC110  # another thread takes it out
            await asyncio.sleep(0.05)
        status, fields, content = self._answer(scope["method"], path, query, headers, body)
        fields.setdefault("content-length", str(len(content)))
        raw = [(name.encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})

    def _answer(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> _Answer:
        if self.down:
            return _error(503, "SlowDown")
        if method in ("GET", "HEAD") and ("list-type" in query or "/" not in path.rstrip("/")):
            return self._list(path.rstrip("/"), query)
        if method in ("GET", "HEAD"):
            return self._read(path, headers)
        if method == "PUT":
            return self._write(path, query, headers, body)
        if method == "POST":
            return self._remove(path.rstrip("/"), body) if "delete" in query else self._upload(path, query)
        self.objects.pop(path, None)
        return 204, {}, b""

    def _write(self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> _Answer:
        if "uploadId" in query:
            self.parts[query["uploadId"]][int(query["partNumber"])] = body
            return 200, {"etag": _etag(body)}, b""
        if headers.get("if-none-match") == "*" and path in self.objects:
            return _error(412, "PreconditionFailed")
        if (tag := headers.get("if-match")) and (path not in self.objects or _etag(self.objects[path]) != tag):
            return _error(412, "PreconditionFailed")
        self.objects[path] = body
        return 200, {"etag": _etag(body)}, b""

    def _remove(self, bucket: str, body: bytes) -> _Answer:
        keys = [unescape(key) for key in re.findall("<Key>(.*?)</Key>", body.decode())]
        for key in keys:
            self.objects.pop(f"{bucket}/{key}", None)
        return _xml("DeleteResult", "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys))

    def _upload(self, path: str, query: Mapping[str, str]) -> _Answer:
        if "uploadId" in query:
            parts = self.parts.pop(query["uploadId"])
            self.objects[path] = b"".join(parts[number] for number in sorted(parts))
            inner = f"<Key>{escape(path)}</Key><ETag>{_etag(self.objects[path])}</ETag>"
            return _xml("CompleteMultipartUploadResult", inner)
        upload = hashlib.sha256(f"{path}{len(self.requests)}".encode()).hexdigest()[:16]
        self.parts[upload] = {}
        return _xml("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>")

    def _read(self, path: str, headers: Mapping[str, str]) -> _Answer:
        if path not in self.objects:
            return _error(404, "NoSuchKey")
        data = self.objects[path]
        fields = {"etag": _etag(data), "last-modified": formatdate(usegmt=True), "accept-ranges": "bytes"}
        wanted = headers.get("range", "").removeprefix("bytes=")
        if not wanted:
            return 200, fields | {"content-length": str(len(data))}, data
        first, _, last = wanted.partition("-")
        start = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last), len(data) - 1) if first and last else len(data) - 1
        if start >= len(data):
            return _error(416, "InvalidRange")
        fields["content-range"] = f"bytes {start}-{end}/{len(data)}"
        return 206, fields, data[start : end + 1]

    def _list(self, bucket: str, query: Mapping[str, str]) -> _Answer:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        paths = list(self.objects)  # the test's own thread may add to them
        keys = sorted(path.removeprefix(f"{bucket}/") for path in paths if path.startswith(f"{bucket}/{prefix}"))
        common = sorted(
            {
                prefix + key[len(prefix) :].split(delimiter)[0] + delimiter
                for key in keys
                if delimiter and delimiter in key[len(prefix) :]
            }
        )
        plain = [key for key in keys if not (delimiter and delimiter in key[len(prefix) :])]
        inner = f"<Name>{escape(bucket)}</Name><IsTruncated>false</IsTruncated><KeyCount>{len(plain)}</KeyCount>"
        for key in plain:
            data = self.objects[f"{bucket}/{key}"]
            inner += (
                f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>{_etag(data)}</ETag>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            )
        inner += "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in common)
        return _xml("ListBucketResult", inner)


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _xml(root: str, inner: str) -> _Answer:
    text = f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{_XML}">{inner}</{root}>'
    return 200, {"content-type": "application/xml"}, text.encode()


def _error(status: int, code: str) -> _Answer:
    text = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
    return status, {"content-type": "application/xml"}, text.encode()


@contextmanager
def serve() -> Iterator[Store]:
    """Run a store on a free port of this host, in a thread, for the duration of a block."""
    store = Store()
    config = uvicorn.Config(store, host="127.0.0.1", port=0, log_level="warning", lifespan="off")
    config.timeout_graceful_shutdown = 1  # its clients keep their connections open
    # A connection that is closed in the moment in which somebody writes to it again is a fault of no store.
    config.timeout_keep_alive = 3600
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="s3", daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started:
        assert thread.is_alive(), "the store did not start"
        assert time.monotonic() < deadline, "the store did not start in time"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    store.url = f"http://127.0.0.1:{port}"
    yield store
    server.should_exit = True
    thread.join(30)
