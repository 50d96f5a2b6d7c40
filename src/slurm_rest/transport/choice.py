"""Which ways to Slurm the settings mean."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from slurm_rest.auth import ChainToken, ScontrolToken
from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError
from slurm_rest.metrics import Metrics

from .base import SlurmTransport

if TYPE_CHECKING:
    import httpx

__all__ = ["bind_tokens", "choose_transport"]

log = logging.getLogger("slurm_rest")


def choose_transport(
    settings: Settings,
    *,
    http_transport: httpx.AsyncBaseTransport | None,
    read_timeout: float | None,
    recovery_timeout: float,
    metrics: Metrics | None = None,
) -> SlurmTransport:
    """Return the transport that is asked for, or one that falls back from REST to SSH to the commands of this host.

    Each is loaded only where it is used. This host's commands join in by themselves, so there they have to prove that
    they lead to the same cluster.
    """
    # Written so that NaN is refused, too.
    if read_timeout is not None and not read_timeout > 0:
        raise ConfigError(f"timeout is {read_timeout!r}", hint="It takes seconds, more than 0.")
    if not recovery_timeout >= 0:
        raise ConfigError(f"recovery_timeout is {recovery_timeout!r}", hint="It takes seconds, 0 or more.")

    def rest() -> SlurmTransport:
        from .rest import RestTransport

        bind_tokens(settings)
        dialer = None
        if settings.ssh_tunnel:
            from .ssh import SshRunner

            dialer = SshRunner(settings)
        return RestTransport(
            settings,
            dialer=dialer,
            http_transport=http_transport,
            read_timeout=read_timeout,
            recovery_timeout=recovery_timeout,
            metrics=metrics,
        )

    def ssh() -> SlurmTransport:
        from .ssh import ssh_transport

        return ssh_transport(settings, metrics, recovery_timeout)

    def cli() -> SlurmTransport:
        from .cli import cli_transport

        return cli_transport(metrics, recovery_timeout)

    makers: dict[str, Callable[[], SlurmTransport]] = {"rest": rest, "ssh": ssh, "cli": cli}
    first, *others = settings.ways()
    transports = [makers[first](), *(made for name in others if (made := _made(name, makers[name])))]
    if len(transports) == 1:
        return transports[0]
    from .fallback import FallbackTransport

    on_switch = None if metrics is None else metrics.record_fallback
    return FallbackTransport(transports, guarded=("cli",), on_switch=on_switch)


def _made(name: str, make: Callable[[], SlurmTransport]) -> SlurmTransport | None:
    """Return a second choice, None where it cannot be made: the first one does without."""
    try:
        return make()
    except ConfigError as error:
        log.warning("There is no way over %s: %s", name, error.message)
        return None


def bind_tokens(settings: Settings) -> None:
    """Let ``scontrol token`` run over SSH, where the settings ask for it."""
    provider = settings.token
    for one in provider.providers if isinstance(provider, ChainToken) else (provider,):
        if isinstance(one, ScontrolToken) and one.run is None:
            from .ssh_token import scontrol_token

            one.run = partial(scontrol_token, settings)
