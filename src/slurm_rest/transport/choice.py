"""Which way to Slurm the settings mean."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from slurm_rest.auth import ChainToken, ScontrolToken
from slurm_rest.config import Settings
from slurm_rest.metrics import Metrics

from .command_line import CommandTransport
from .rest import RestTransport

if TYPE_CHECKING:
    import httpx

__all__ = ["bind_tokens", "choose_transport"]


def choose_transport(
    settings: Settings,
    *,
    http_transport: httpx.AsyncBaseTransport | None,
    read_timeout: float | None,
    recovery_timeout: float,
    metrics: Metrics | None = None,
) -> RestTransport | CommandTransport:
    """Return REST, SSH or the commands of this host; each is loaded only where it is used."""
    chosen = settings.chosen_transport()
    if chosen == "rest":
        bind_tokens(settings)
        return RestTransport(
            settings,
            http_transport=http_transport,
            read_timeout=read_timeout,
            recovery_timeout=recovery_timeout,
            metrics=metrics,
        )
    if chosen == "cli":
        from .cli import cli_transport

        return cli_transport(metrics)
    from .ssh import ssh_transport

    return ssh_transport(settings, metrics)


def bind_tokens(settings: Settings) -> None:
    """Let ``scontrol token`` run over SSH, where the settings ask for it."""
    provider = settings.token
    for one in provider.providers if isinstance(provider, ChainToken) else (provider,):
        if isinstance(one, ScontrolToken) and one.run is None:
            from .ssh_token import scontrol_token

            one.run = partial(scontrol_token, settings)
