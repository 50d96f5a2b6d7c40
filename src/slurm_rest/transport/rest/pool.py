"""Makes the pool of connections: TLS, sockets, the way through somebody else, and the environment's proxies."""

from __future__ import annotations

import ssl

import httpx

from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError
from slurm_rest.transport.streams import Dialer

from .proxies import proxy_of
from .sockets import sockets

__all__ = ["make_pool"]


def make_pool(
    settings: Settings,
    *,
    dialer: Dialer | None,
    http_transport: httpx.AsyncBaseTransport | None,
    timeout: httpx.Timeout,
    connections: int,
) -> httpx.AsyncClient:
    """Return a client for the settings' URL that keeps at most so many connections."""
    url, transport = settings.url, http_transport
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    path = url.removeprefix("unix:") if url.startswith("unix:") else ""
    base = "http://localhost" if path else url
    tls = _tls(settings, base)
    if transport is None and dialer is not None:
        from .through import through  # only for those who need it

        transport = through(dialer, path, tls, limits)
    elif transport is None and (path or (base.startswith("http:") and not proxy_of(base))):
        transport = sockets(path, limits)
    elif transport is None and not proxy_of(base):
        transport = httpx.AsyncHTTPTransport(verify=tls, limits=limits)
    if transport is not None:
        return _Direct(transport, base_url=base, timeout=timeout)
    try:
        return httpx.AsyncClient(
            base_url=base,
            timeout=timeout,
            verify=tls,
            limits=limits,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        hint = "Check http_proxy, https_proxy and all_proxy, or set no_proxy to the host of slurmrestd."
        raise ConfigError(f"A proxy of the environment cannot be used: {error}", hint=hint) from None


class _Direct(httpx.AsyncClient):
    """Hands each request to its one transport, without looking for redirects, logins and hooks, which nobody has here.

    That is four fifths of what httpx does around a small request.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, *, base_url: str, timeout: httpx.Timeout) -> None:
        super().__init__(transport=transport, base_url=base_url, timeout=timeout, trust_env=False)
        self._only = transport

    async def send(self, request: httpx.Request, **_: object) -> httpx.Response:
        """Send, and return the answer as soon as its headers are there; its body is to be read."""
        # As httpx has it, a request may have a time-out of its own.
        request.extensions = {"timeout": self.timeout.as_dict(), **request.extensions}
        response = await self._only.handle_async_request(request)
        response.request = request
        if "set-cookie" in response.headers:
            self.cookies.extract_cookies(response)
        return response


def _tls(settings: Settings, url: str) -> ssl.SSLContext:
    if not url.startswith("https:"):
        # Never used; httpx would load the system's certificates for nothing (20 ms).
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=settings.ca_file)
    except (OSError, ssl.SSLError) as error:
        hint = "Check SLURM_REST_CA_FILE."
        raise ConfigError(f"Cannot read the CA file {settings.ca_file}: {error}", hint=hint) from None
