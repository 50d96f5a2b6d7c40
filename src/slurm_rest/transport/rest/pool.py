"""Makes the pool of connections: TLS, sockets, the way through somebody else, and the environment's proxies."""

from __future__ import annotations

import ssl

import httpx

from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError
from slurm_rest.transport.streams import Dialer

from .proxies import is_loopback

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
    elif transport is None and path:
        transport = httpx.AsyncHTTPTransport(uds=path, limits=limits)
    try:
        return httpx.AsyncClient(
            base_url=base,
            timeout=timeout,
            transport=transport,
            verify=tls,
            limits=limits,
            # A proxy's loopback is another one. With a transport of our own httpx leaves proxies out by itself.
            trust_env=not is_loopback(base),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        hint = "Check http_proxy, https_proxy and all_proxy, or set no_proxy to the host of slurmrestd."
        raise ConfigError(f"A proxy of the environment cannot be used: {error}", hint=hint) from None


def _tls(settings: Settings, url: str) -> ssl.SSLContext:
    if not url.startswith("https:"):
        # Never used; httpx would load the system's certificates for nothing (20 ms).
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=settings.ca_file)
    except (OSError, ssl.SSLError) as error:
        hint = "Check SLURM_REST_CA_FILE."
        raise ConfigError(f"Cannot read the CA file {settings.ca_file}: {error}", hint=hint) from None
