"""Which way to Slurm the settings mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurm_rest.config import Settings

from .command_line import CommandTransport
from .rest import RestTransport

if TYPE_CHECKING:
    import httpx

__all__ = ["choose_transport"]


def choose_transport(
    settings: Settings,
    *,
    http_transport: httpx.AsyncBaseTransport | None,
    read_timeout: float | None,
    recovery_timeout: float,
) -> RestTransport | CommandTransport:
    """Return REST, SSH or the commands of this host; each is loaded only where it is used."""
    chosen = settings.chosen_transport()
    if chosen == "rest":
        return RestTransport(
            settings,
            http_transport=http_transport,
            read_timeout=read_timeout,
            recovery_timeout=recovery_timeout,
        )
    if chosen == "cli":
        from .cli import cli_transport

        return cli_transport()
    from .ssh import ssh_transport

    return ssh_transport(settings)
