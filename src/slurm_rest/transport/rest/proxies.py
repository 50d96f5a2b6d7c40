"""Which proxy of the environment stands between us and a slurmrestd: httpx uses it, and its failures look like ours."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

__all__ = ["blame_proxy", "is_loopback", "proxy_of"]


def is_loopback(url: str) -> bool:
    """Return whether a URL means this host, where a proxy has no place."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def proxy_of(url: str) -> str:
    """Return ``HOST:PORT`` of the proxy that the environment names for a URL, empty if there is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or is_loopback(url) or proxy_bypass(parts.netloc):
        return ""
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all") or ""
    # Without whom it logs in as.
    return named.rpartition("://")[2].rpartition("@")[2].rstrip("/")


def blame_proxy(url: str, hint: str) -> str:
    """Return the hint of a failure on the way, with a word on the proxy if one is in use."""
    proxy = proxy_of(url)
    if not proxy:
        return hint
    host = urlsplit(url).hostname
    return (
        f"It goes through the proxy {proxy} ({urlsplit(url).scheme}_proxy); to go there directly set no_proxy={host}."
    )
