"""Builds httpx's requests: queries encoded as slurmrestd reads them, without its own long looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote

import httpx

__all__ = ["Query", "RequestBuilder", "encode_query", "ids_query"]

_HAVE_BODIES = frozenset({"POST", "PUT", "PATCH"})
# A text is encoded already.
Query = Sequence[tuple[str, str]] | str


def ids_query(ids: Iterable[int]) -> str:
    """Return the query for jobs by their ids, of which there may be thousands: numbers need no encoding."""
    query = "&job_id=".join([str(job_id) for job_id in ids])
    return f"job_id={query}" if query else ""


def encode_query(query: Query) -> bytes:
    """Return a query as it is sent. Only letters, digits and -._~ may stand in a value; repeated names are lists."""
    if not isinstance(query, str):
        query = "&".join(f"{name}={value if value.isdecimal() else quote(value, safe='')}" for name, value in query)
    return query.encode("ascii")


class RequestBuilder:
    """Builds requests of one client, as ``client.build_request`` does, in a fraction of the time.

    ``headers`` are those that all have; names of headers are in lower case, here and in ``build``.
    httpx looks twice at each character of a URL, 2 ms for one with 1,000 ids, merges headers with the client's, and
    finds out what kind of body it is.
    """

    def __init__(self, client: httpx.AsyncClient, headers: Mapping[str, str] | None = None) -> None:
        self._client = client
        self._base = str(client.base_url).rstrip("/")
        # Half the time of a request is its URL, and most requests go to a few. A URL never changes.
        self._url = lru_cache(maxsize=64)(httpx.URL)
        self._headers = {**_encoded(client.headers), **_encoded(headers or {})}

    def build(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes | None
    ) -> httpx.Request:
        """Return the request. ``path`` is encoded already."""
        url = self._url(f"{self._base}/{path.lstrip('/')}")
        sent = [(b"Host", url.netloc), *{**self._headers, **_encoded(headers)}.items()]
        if body or method in _HAVE_BODIES:
            sent.append((b"Content-Length", b"%d" % len(body or b"")))
        request = httpx.Request(
            method,
            url,
            headers=sent,
            # Of a proxy that wants to know its clients again.
            cookies=self._client.cookies or None,
            # With a stream, host and length are the caller's to tell.
            stream=httpx.ByteStream(body or b""),
        )
        # A transport may look at the content, which httpx has at hand only once it is read.
        request.read()
        encoded = encode_query(query)
        if encoded:
            request.url = _QueriedURL(request.url, encoded)
        return request


def _encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.encode("ascii"): value.encode("ascii") for name, value in headers.items()}


class _QueriedURL(httpx.URL):
    """A URL with a query that needs no encoding any more."""

    def __init__(self, url: httpx.URL, query: bytes) -> None:
        super().__init__(url)
        self._encoded = query

    @property
    def query(self) -> bytes:
        """The query."""
        return self._encoded

    @property
    def params(self) -> httpx.QueryParams:
        """The query's names and values."""
        return httpx.QueryParams(self._encoded)

    @property
    def raw_path(self) -> bytes:
        """Path and query, as they are sent."""
        return super().raw_path + b"?" + self._encoded

    def __str__(self) -> str:
        return f"{super().__str__()}?{self._encoded.decode()}"
