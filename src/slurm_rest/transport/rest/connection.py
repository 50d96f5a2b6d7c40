"""HTTP to one slurmrestd: version negotiation, refused tokens, what is sent again, and what answers mean."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

import httpx

from slurm_rest.api import API_VERSIONS
from slurm_rest.auth import TokenKeeper
from slurm_rest.config import Settings
from slurm_rest.errors import (
    AccountingDown,
    AnswerTooLarge,
    AuthError,
    ProtocolError,
    SlurmError,
    TokenMissing,
    TokenRejected,
    Unreachable,
    UnsupportedVersion,
    VersionNotServed,
)
from slurm_rest.metrics import Metrics
from slurm_rest.records import mapping, read_ping
from slurm_rest.transport.answers import Answer, controller_down, error_of, is_ambiguous
from slurm_rest.transport.base import Counters
from slurm_rest.transport.streams import Dialer

from .building import Query
from .sending import Sender

__all__ = ["Connection"]

log = logging.getLogger("slurm_rest")

# A dead slurmctld costs job/{id} 20 s, and 26.05 with busy threads 40 s, before slurmrestd says so; a frozen
# slurmdbd costs 45 s.
READ_TIMEOUT = 60.0
CONNECT_TIMEOUT = 5.0
# ping/ is answered at once also when slurmctld or slurmdbd is away, so at first contact silence means a frozen daemon.
FIRST_TIMEOUT = 10.0
_PAUSES = (0.1, 0.4)


class Connection:
    """The way to one slurmrestd, bound to the event loop that first uses it."""

    def __init__(
        self,
        settings: Settings,
        *,
        dialer: Dialer | None = None,
        http_transport: httpx.AsyncBaseTransport | None = None,
        read_timeout: float = READ_TIMEOUT,
        metrics: Metrics | None = None,
    ) -> None:
        self.settings = settings.require_url()
        self.metrics = metrics or Metrics()
        self.tokens = TokenKeeper(settings.token, metrics=self.metrics)
        timeout = httpx.Timeout(read_timeout, connect=CONNECT_TIMEOUT)
        self._first_timeout = httpx.Timeout(min(read_timeout, FIRST_TIMEOUT), connect=CONNECT_TIMEOUT)
        self._sender = Sender(
            self.settings, self.tokens, self.metrics, timeout, dialer=dialer, http_transport=http_transport
        )
        self._dialer = dialer
        self._version = settings.api_version
        self._older: Sequence[str] | None = None
        self._negotiation = asyncio.Lock()
        # How often it failed, and why the last time.
        self._failures, self._failure = 0, SlurmError("")

    async def close(self) -> None:
        """Close the pool."""
        await self.tokens.close()
        await self._sender.close()
        if self._dialer is not None:
            await self._dialer.close()

    @property
    def counters(self) -> Counters:
        """Requests made and bytes received."""
        return self._sender.counters

    @property
    def release(self) -> str:
        """Slurm's release as far as it is known yet, for instance ``24.11.5``."""
        return self._sender.release

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known yet."""
        return self._sender.cluster

    @property
    def where(self) -> str:
        """The URL, and from where it is seen."""
        return self.settings.url if self._dialer is None else f"{self.settings.url} through {self._dialer.where}"

    async def version(self) -> str:
        """Return the API version in use: the configured one, or the newest that both sides know, found once.

        Whoever waits while another finds out shares the outcome, also a failure: a frozen slurmrestd costs 10 s.
        """
        if self._version is None:
            failures = self._failures
            async with self._negotiation:
                if self._version is None and self._failures != failures:
                    raise self._failure
                if self._version is None:
                    try:
                        self._version = await self._negotiate()
                    except SlurmError as error:
                        self._failures, self._failure = self._failures + 1, error
                        raise
        return self._version

    @property
    def known_version(self) -> str:
        """The API version as far as it is known yet."""
        return self._version or ""

    async def _negotiate(self) -> str:
        served = await self._served(stop_at_first=True, timeout=self._first_timeout)
        if served:
            return served[0]
        hint = "slurmrestd 24.11 and 26.05 serve them; older ones are reached over SSH."
        raise VersionNotServed(
            f"{self.settings.url} serves none of the API versions {API_VERSIONS[0]} to {API_VERSIONS[-1]}",
            supported=API_VERSIONS,
            hint=hint,
        )

    async def older_versions(self) -> Sequence[str]:
        """Return what is served beside the version in use and is older, newest first; none where one is pinned."""
        version = await self.version()
        if self.settings.api_version is not None:
            return ()
        if self._older is None:
            served = await self._served(stop_at_first=False)
            self._older = served[served.index(version) + 1 :] if version in served else ()
        return self._older

    async def _served(self, *, stop_at_first: bool, timeout: httpx.Timeout | None = None) -> list[str]:
        """Return the versions that answer a ping, newest first; cheaper than reading a 1.8 MB document."""
        found = []
        for version in reversed(API_VERSIONS):
            answer = await self._sender.send("GET", f"/slurm/{version}/ping/", (), None, timeout=timeout)
            error = self._error_of(answer)
            if isinstance(error, UnsupportedVersion):
                continue
            if error is not None:
                raise error
            found.append(version)
            if stop_at_first:
                break
        return found

    async def get(self, service: str, path: str, query: Query = (), *, like: Answer | None = None) -> Answer:
        """Read ``/<service>/<version><path>``; raises the error that the answer means.

        A read is tried again after a broken connection, and once with a renewed token after a rejection. ``like`` is an
        earlier answer to the same question: when the same bytes come, the new one shares its body.
        """
        return await self.call("GET", service, path, query, None, repeatable=True, like=like)

    async def call(
        self,
        method: str,
        service: str,
        path: str,
        query: Query,
        body: bytes | None,
        *,
        repeatable: bool = False,
        like: Answer | None = None,
    ) -> Answer:
        """Send one request and return a good answer; raises the error that a bad one means."""
        version = await self.version()
        target = f"/{service}/{version}{path}"
        answer = await self.exchange(method, target, query, body, repeatable=repeatable, like=like)
        error = await self.judge(answer)
        if await self._may_ask_again(answer, error, repeatable=repeatable):
            answer = await self.exchange(method, target, query, body, repeatable=True)
            error = await self.judge(answer)
        if isinstance(error, UnsupportedVersion):
            # Nothing was done, whatever the method: the path itself is unknown there.
            renewed = await self._renegotiate(version, error)
            answer = await self.exchange(method, f"/{service}/{renewed}{path}", query, body, repeatable=repeatable)
            error = await self.judge(answer)
        if error is not None:
            raise await self.explained(error, answer, repeatable=repeatable)
        if self.tokens.wants_time:
            await self._learn_time()
        return answer

    # --- refused tokens -------------------------------------------------------------------------------------

    async def _may_ask_again(self, answer: Answer, error: SlurmError | None, *, repeatable: bool) -> bool:
        """After an answer that may mean a refused token: True when there is another, and the request may be sent again.

        Slurm's refusal proves that nothing was done, but what a proxy in front of it did nobody knows: only reads are
        sent again. After others, the next request has another token.
        """
        if isinstance(error, AccountingDown) and repeatable and answer.token:
            # 26.05 reports a refused token there like a dead database. A read that slurmctld judges can tell.
            try:
                await self.prove_token()
            except AuthError:
                raise
            except SlurmError:
                return False
            return await self.tokens.token() != answer.token
        refused = isinstance(error, (TokenRejected, TokenMissing)) and bool(answer.token)
        return refused and repeatable and await self.tokens.replace(answer.token)

    async def prove_token(self) -> None:
        """Make the cheapest read that slurmctld checks the token for; raises what is wrong with it."""
        await self.get("slurm", "/jobs/state/", [("job_id", "1")])

    async def explained(self, error: SlurmError, answer: Answer, *, repeatable: bool = False) -> SlurmError:
        """Add to a refused token what comes next: another one, for what is not sent again, or why there is none."""
        if not isinstance(error, TokenRejected):
            return error
        self.tokens.refuse(answer.token)
        if not repeatable:
            with contextlib.suppress(SlurmError):
                if await self.tokens.replace(answer.token):
                    error.hint = "Nothing was done. There is another token now: try again."
                    return error
        if self.tokens.why:
            error.hint = f"{error.hint} ({self.tokens.why})"
        return error

    async def _learn_time(self) -> None:
        """Ask what time it is there: Slurm took a token that is over by this clock, or refused one that is not."""
        self.tokens.time_is_asked()
        with contextlib.suppress(SlurmError):
            await self._sender.send("GET", f"/slurm/{await self.version()}/diag/", (), None)

    # --- requests -------------------------------------------------------------------------------------------

    async def post_once(self, path: str, body: bytes, check: Callable[[str], None], *, only: str = "") -> Answer:
        """Post to slurmctld and return whatever answer comes, good or bad; nothing is ever sent twice.

        ``check`` is called with the API version before anything is sent. An answer that says that the version is
        not served proves that nothing was done, so the version is negotiated anew; not where ``only`` names one.
        """
        version = only or await self.version()
        check(version)
        answer = await self.exchange("POST", f"/slurm/{version}{path}", (), body)
        error = error_of(answer)
        if isinstance(error, UnsupportedVersion) and not only:
            version = await self._renegotiate(version, error)
            check(version)
            answer = await self.exchange("POST", f"/slurm/{version}{path}", (), body)
        return answer

    async def _renegotiate(self, version: str, error: UnsupportedVersion) -> str:
        """After a 404 for a path: return another version that is served, or raise what is wrong."""
        served = await self._served(stop_at_first=False)
        if version in served:
            raise error
        if self.settings.api_version is not None or not served:
            hint = f"It serves {', '.join(reversed(served)) or 'none of ours'}; change SLURM_REST_API_VERSION."
            message = f"{self.settings.url} does not serve API version {version}"
            raise VersionNotServed(message, version=version, supported=served, hint=hint, context=error.context)
        log.warning("slurmrestd no longer serves %s, going on with %s", version, served[0])
        self._version, self._older = served[0], None
        return served[0]

    async def judge(self, answer: Answer) -> SlurmError | None:
        """Return the error that an answer means; asks slurmrestd again where the answer alone cannot tell."""
        if is_ambiguous(answer) and not await self.controller_responds():
            return controller_down(answer.context)
        return self._error_of(answer)

    def _error_of(self, answer: Answer) -> SlurmError | None:
        error = error_of(answer, answer.token, self.tokens.clock.now())
        if isinstance(error, TokenMissing) and self.settings.url.startswith("unix:"):
            error.hint += " Or ask as the user who started slurmrestd: with rest_auth/local it serves only that one."
        return error

    async def controller_responds(self) -> bool:
        """Ask ``ping/``, which answers at once also when slurmctld is away (a bad token looks the same there)."""
        version = await self.version()
        answer = await self._sender.send("GET", f"/slurm/{version}/ping/", (), None)
        return any(ping.responding for ping in read_ping(answer.body, version))

    async def accounting_storage(self) -> bool:
        """Return whether slurmrestd was started with an accounting storage; its answers name the plugin."""
        version = await self.version()
        answer = await self._sender.send("GET", f"/slurm/{version}/ping/", (), None)
        return mapping(mapping(answer.body.get("meta")).get("plugin")).get("accounting_storage") != ""

    async def exchange(
        self,
        method: str,
        path: str,
        query: Query,
        body: bytes | None,
        *,
        repeatable: bool = False,
        like: Answer | None = None,
    ) -> Answer:
        """Send one request; a repeatable one again after a broken connection, with growing pauses."""
        for pause in _PAUSES if repeatable else ():
            try:
                answer = await self._sender.send(method, path, query, body, like)
            except AnswerTooLarge:
                raise
            except (Unreachable, ProtocolError) as error:
                log.info("%s %s: %s; trying again in %.1f s", method, path, error.message, pause)
            else:
                # 503 comes from proxies, for instance while slurmrestd restarts.
                if answer.status != 503:
                    return answer
            await asyncio.sleep(pause)
        return await self._sender.send(method, path, query, body, like)
