"""Sends single requests to one slurmrestd: with a token, in their turn, timed, counted and logged."""

from __future__ import annotations

import asyncio
import itertools
import logging
import platform
import secrets
import time
from urllib.parse import quote

import httpx

import slurm_rest
from slurm_rest.auth import TokenKeeper
from slurm_rest.config import Settings
from slurm_rest.errors import ErrorContext, SlurmError
from slurm_rest.metrics import Metrics, RequestRecord, request_fields
from slurm_rest.transport.answers import Answer, error_of, read_answer
from slurm_rest.transport.base import Counters
from slurm_rest.transport.loops import check_loop
from slurm_rest.transport.operations import operation_name, proxy_time, slurm_time
from slurm_rest.transport.streams import Dialer

from .building import Query, RequestBuilder
from .faults import FAULTS, translated
from .fetching import Fetched, fetch
from .pool import make_pool

__all__ = ["Sender"]

log = logging.getLogger("slurm_rest")

# 26.05 has 2 worker threads for each CPU: more requests at once only delay everybody's ping.
CONCURRENCY = 4
_USER_AGENT = f"slurm-rest-client/{slurm_rest.__version__} python/{platform.python_version()} httpx/{httpx.__version__}"


class Sender:
    """A keep-alive connection pool to one slurmrestd, bound to the event loop that first uses it.

    ``release`` and ``cluster`` are those of the last answer that told them.
    """

    def __init__(
        self,
        settings: Settings,
        tokens: TokenKeeper,
        metrics: Metrics,
        timeout: httpx.Timeout,
        *,
        dialer: Dialer | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.counters = Counters()
        self.release = ""
        self.cluster = ""
        self._settings, self._tokens, self._metrics, self._timeout = settings, tokens, metrics, timeout
        self._http_transport = http_transport
        self._dialer = dialer
        self._client: httpx.AsyncClient | None = None
        self._builder: RequestBuilder | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(CONCURRENCY)
        # Numbers alone would repeat in a server's log, where all clients meet.
        self._name = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    async def close(self) -> None:
        """Close the pool."""
        client, self._client = self._client, None
        # Sockets of a loop that is over close with it.
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def send(
        self,
        method: str,
        path: str,
        query: Query,
        body: bytes | None,
        like: Answer | None = None,
        timeout: httpx.Timeout | None = None,
    ) -> Answer:
        """Send one request, once, and return its answer, good or bad; see ``Connection.get`` for ``like``.

        ``timeout`` is the request's own, if it has one.
        """
        context = ErrorContext(method, path, request_id=f"{self._name}-{next(self._numbers)}")
        async with self._slots:
            # Asked here: a token may end while a request waits for its turn.
            token = await self._tokens.token()
            answer = await self._timed(context, query, token, body, like, timeout)
        self.release, self.cluster = answer.release or self.release, answer.cluster or self.cluster
        return answer

    async def _timed(
        self,
        context: ErrorContext,
        query: Query,
        token: str,
        body: bytes | None,
        like: Answer | None,
        timeout: httpx.Timeout | None,
    ) -> Answer:
        """Send, read, and note what came of it, whatever that is."""
        self.counters.requests += 1
        method, path = context.method, context.path
        before, started = self._tokens.clock.local(), time.perf_counter()
        outcome, status, received = "cancelled", None, 0
        try:
            response = await self._exchange(context, query, _headers(token, body, context.request_id), body, timeout)
            status, received = response.status, len(response.content)
            content_type = response.headers.get("content-type", "")
            answer = read_answer(
                method,
                path,
                status,
                content_type,
                response.content,
                context.request_id,
                like,
                token=token,
                user=self._settings.user or "",
            )
            error = error_of(answer)
            outcome = type(error).__name__ if error else "ok"
        except SlurmError as error:
            outcome = type(error).__name__
            raise
        finally:
            self.counters.bytes_received += received
            seconds = time.perf_counter() - started
            operation = operation_name(method, path)
            record = RequestRecord("rest", operation, outcome, seconds, received, status, context.request_id)
            self._metrics.record(record)
            _log_request(record, path)
        self._note_time(answer, response.headers.get("date", ""), before)
        return answer

    async def _exchange(
        self,
        context: ErrorContext,
        query: Query,
        headers: dict[str, str],
        body: bytes | None,
        timeout: httpx.Timeout | None,
    ) -> Fetched:
        try:
            client, builder = self._http()
            request = builder.build(context.method, context.path, query, headers, body)
            if timeout is not None:
                request.extensions = {**request.extensions, "timeout": timeout.as_dict()}
            return await fetch(client, context, request)
        except SlurmError:
            # What the way to slurmrestd says by itself.
            raise
        except FAULTS as error:
            url, limits = self._settings.url, timeout or self._timeout
            raise translated(error, url, limits, context, tunnelled=self._dialer is not None) from error

    def _note_time(self, answer: Answer, date: str, before: float) -> None:
        told, after = slurm_time(answer), self._tokens.clock.local()
        by_proxy = proxy_time(date) if told is None else None
        if told is not None:
            self._tokens.note_time(told, before, after)
        elif by_proxy is not None:
            self._tokens.note_time(by_proxy, before, after, from_slurm=False)

    def _http(self) -> tuple[httpx.AsyncClient, RequestBuilder]:
        if self._client is None or self._builder is None:
            self._loop = asyncio.get_running_loop()
            self._client = make_pool(
                self._settings,
                dialer=self._dialer,
                http_transport=self._http_transport,
                timeout=self._timeout,
                connections=CONCURRENCY,
            )
            self._builder = RequestBuilder(self._client, _same_headers(self._settings.user))
        check_loop(self._loop)
        return self._client, self._builder


def _same_headers(user: str | None) -> dict[str, str]:
    """Return the headers that all requests have."""
    headers = {"accept": "application/json", "user-agent": _USER_AGENT}
    if user:
        headers["x-slurm-user-name"] = quote(user, safe="@+.-_")
    return headers


def _headers(token: str, body: bytes | None, request_id: str) -> dict[str, str]:
    """Return those of one request."""
    headers = {"x-request-id": request_id}
    if token:
        headers["x-slurm-user-token"] = token
    if body is not None:
        # slurmrestd refuses the type with a charset behind it.
        headers["content-type"] = "application/json"
    return headers


def _log_request(record: RequestRecord, path: str) -> None:
    if not log.isEnabledFor(logging.DEBUG):
        return
    log.debug(
        "%s %s %s: HTTP %s, %s, %d bytes, %.4f s",
        record.request_id,
        record.operation.partition(" ")[0],
        path,
        record.status or "-",
        record.outcome,
        record.bytes_received,
        record.seconds,
        extra=request_fields(record),
    )
