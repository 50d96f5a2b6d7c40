"""httpx's errors in our words, and what each says about a request that was on its way."""

from __future__ import annotations

import httpx

from slurm_rest.errors import (
    ConfigError,
    ErrorContext,
    HostKeyError,
    ProtocolError,
    SlurmError,
    Timeout,
    TransportError,
    Unreachable,
)

from .proxies import blame_proxy

__all__ = ["FAULTS", "lost", "translated"]

# A raw OSError is TLS's: an alert after the handshake, for instance for want of a client certificate.
FAULTS = (httpx.TransportError, httpx.DecodingError, httpx.InvalidURL, OSError)


def translated(
    error: Exception, url: str, timeout: httpx.Timeout, context: ErrorContext, *, tunnelled: bool
) -> SlurmError:
    """Return ours for one of FAULTS. Their texts carry addresses, never headers. No proxy is used in a tunnel."""

    def blame(hint: str) -> str:
        return hint if tunnelled else blame_proxy(url, hint)

    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
        message, hint = _connect_problem(url, error)
        return Unreachable(message, hint=blame(hint), context=context)
    if isinstance(error, httpx.TimeoutException):
        hint = "slurmrestd is busy or stuck, or slurmctld behind it is."
        message = f"{url} gave no answer within {timeout.read:g} s ({context.method} {context.path})"
        return Timeout(message, hint=hint, context=context)
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
        return ConfigError(f"Cannot use {url}: {error}", hint="Check SLURM_REST_URL.", context=context)
    reason = str(error) or type(error).__name__
    hint = "It may speak https, or something else than HTTP; or slurmrestd ended while it answered."
    message = f"{url} broke the exchange off ({context.method} {context.path}): {reason}"
    return ProtocolError(message, hint=blame(hint), context=context)


def _connect_problem(url: str, error: Exception) -> tuple[str, str]:
    """Return a message and a hint for a connection that did not come about."""
    words = str(error)
    lower = words.lower()
    if "wrong_version_number" in lower or "record_layer_failure" in lower:
        return f"{url} does not speak TLS", "slurmrestd behind it may speak plain http: try http:// in the URL."
    if "certificate" in lower:
        hint = "Name its CA with SLURM_REST_CA_FILE."
        if "mismatch" in lower:
            hint = "Write the host in the URL as the certificate names it."
        elif "expired" in lower or "not yet valid" in lower:
            hint = "Whoever runs the server has to renew it; or is this host's clock wrong?"
        return f"The certificate of {url} is not trusted: {words}", hint
    if "name or service" in lower or "name resolution" in lower or "nodename" in lower or "no address" in lower:
        return f"The host name in {url} is not known", "Check SLURM_REST_URL."
    if isinstance(error, httpx.TimeoutException):
        return f"{url} did not take a connection in time", "Check host and port, and firewalls between."
    if "no such file" in lower or "[errno 2]" in lower:
        return f"There is no socket at {url}", "Check SLURM_REST_URL; is slurmrestd running?"
    if "permission denied" in lower:
        return f"You may not open {url}", "A local socket serves only the user who started slurmrestd, and root."
    if url.startswith("unix:"):
        return f"Nothing listens at {url}", "Is slurmrestd running, and is that its socket?"
    return f"Nothing listens at {url}", "Check host and port in SLURM_REST_URL; is slurmrestd running?"


def lost(error: SlurmError) -> bool:
    """True when a submission may have arrived although it failed: anything after the connection stood.

    What failed may also be a ping before it, which negotiates the version.
    """
    before = isinstance(error, (Unreachable, HostKeyError)) or error.context.method == "GET"
    return isinstance(error, TransportError) and not before
