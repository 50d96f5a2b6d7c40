"""Sends one HTTP request and reads its answer, up to a size."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import NamedTuple

import httpx

from slurm_rest.errors import AnswerTooLarge, ErrorContext

__all__ = ["Fetched", "fetch"]

# 10,000 nodes or 14,000 records of accounting are less; read as JSON it is ten times that for a moment.
MAX_ANSWER = 64 << 20
# Full records of everybody's jobs, 8 kB each: how many those may be, the caller says.
MAX_LISTING = 1 << 30


class Fetched(NamedTuple):
    """One answer as it came."""

    status: int
    headers: httpx.Headers
    content: bytes


async def fetch(client: httpx.AsyncClient, context: ErrorContext, request: httpx.Request) -> Fetched:
    """Return the whole answer; raises AnswerTooLarge as soon as it is known to be, and httpx's errors."""
    most = MAX_LISTING if _is_listing(context.path) else MAX_ANSWER
    response = await client.send(request, stream=True)
    try:
        announced = response.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > most:
            raise _too_large(context, most)
        pieces, size = [], 0
        async for piece in _pieces(response):
            size += len(piece)
            if size > most:
                raise _too_large(context, most)
            pieces.append(piece)
    finally:
        await response.aclose()
    return Fetched(response.status_code, response.headers, b"".join(pieces))


def _pieces(response: httpx.Response) -> AsyncIterable[bytes]:
    """Return the answer's body as it comes: what is not compressed need not pass through httpx's decoders."""
    stream = response.stream
    if isinstance(stream, httpx.AsyncByteStream) and "content-encoding" not in response.headers:
        return stream
    return response.aiter_bytes()


def _is_listing(path: str) -> bool:
    service, _, rest = path.removeprefix("/").partition("/")
    return service == "slurm" and rest.partition("/")[2].strip("/") == "jobs"


def _too_large(context: ErrorContext, most: int) -> AnswerTooLarge:
    message = f"The answer to {context.method} {context.path} has more than {most >> 20} MiB; it was not read"
    hint = "Ask for less at once: fewer jobs, a shorter span of time, one user's or one partition's."
    return AnswerTooLarge(message, hint=hint, context=context)
