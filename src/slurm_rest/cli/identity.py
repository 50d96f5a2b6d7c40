"""``slurm-rest token`` and ``slurm-rest version``."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from slurm_rest import __version__
from slurm_rest.tables import clean, show_span, show_time

from .documents import Fields, describe, instant
from .failures import Failed
from .shared import json_option, with_client
from .terminal import columns, out, out_json

if TYPE_CHECKING:
    from slurm_rest.auth import TokenProvider
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.models import Ping

__all__ = ["TOKEN_KEYS", "Login", "read_login", "token", "version"]


@dataclass(frozen=True, slots=True)
class Login:
    """What the settings say about who asks, without the token itself. ``problem`` is empty for a usable one.

    ``passed_over`` has the sources of a chain that gave none, and why. ``is_read`` tells that there is a token, which
    ``problem`` is then about.
    """

    user: str = ""
    source: str = ""
    issued: datetime | None = None
    expires: datetime | None = None
    algorithm: str = ""
    key_id: str = ""
    problem: str = ""
    hint: str = ""
    acts_as: str = ""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    is_read: bool = False

    @property
    def seconds_left(self) -> int | None:
        """How long the token is good for by this machine's clock, negative once it has expired."""
        return int((self.expires - datetime.now(timezone.utc)).total_seconds()) if self.expires else None

    @property
    def lifetime(self) -> str:
        """Return ``2026-01-31 12:00:00 (00:29:59 left)``."""
        left = self.seconds_left
        if self.expires is None or left is None:
            return "-"
        span = self.expires - datetime.now(timezone.utc)
        told = f"{show_span(span)} left" if left > 0 else f"{show_span(-span)} ago"
        return f"{show_time(self.expires)} ({told})"


TOKEN_KEYS: Fields[Login] = {
    "ok": lambda login: not login.problem,
    "user": lambda login: login.user,
    "acts_as": lambda login: login.acts_as,
    "source": lambda login: login.source,
    "issued": lambda login: instant(login.issued),
    "expires": lambda login: instant(login.expires),
    "seconds_left": lambda login: login.seconds_left,
    "algorithm": lambda login: login.algorithm,
    "key_id": lambda login: login.key_id,
    "problem": lambda login: login.problem,
    "passed_over": lambda login: dict(login.passed_over),
}
_MAKE_ONE = "Make one with: export $(scontrol token), or set one of the SLURM_REST_TOKEN_* settings."


async def read_login(arguments: dict[str, str]) -> Login:
    """Read the token that the settings lead to. Nothing is sent; other errors of the settings are raised."""
    from slurm_rest.auth import ChainToken, NoToken, read_claims
    from slurm_rest.config import load_settings
    from slurm_rest.errors import AuthError, ConfigError, TransportError

    settings = load_settings(arguments)
    acts_as = settings.user or ""
    if isinstance(settings.token, NoToken):
        return Login(problem="no token is configured", hint=_MAKE_ONE, source=settings.token.name, acts_as=acts_as)
    try:
        if _needs_binding(settings.token):
            from slurm_rest.transport.choice import bind_tokens  # loads the HTTP client, which others need not

            bind_tokens(settings)
        claims = read_claims(await settings.token.token())
    except (ConfigError, AuthError, TransportError) as error:
        return Login(problem=error.message, hint=error.hint, source=settings.token.name, acts_as=acts_as)
    passed_over = dict(settings.token.reasons) if isinstance(settings.token, ChainToken) else {}
    problem = claims.problem or ("it has expired" if claims.is_expired() else "")
    return Login(
        user=claims.user,
        source=settings.token.name,
        issued=claims.issued,
        expires=claims.expires,
        algorithm=claims.algorithm,
        key_id=claims.key_id,
        problem=problem,
        hint=_MAKE_ONE if problem else "",
        acts_as=acts_as or claims.user,
        passed_over=passed_over,
        is_read=True,
    )


def _needs_binding(provider: TokenProvider) -> bool:
    from slurm_rest.auth import ChainToken, ScontrolToken

    providers = provider.providers if isinstance(provider, ChainToken) else (provider,)
    return any(isinstance(one, ScontrolToken) for one in providers)


@click.command()
@json_option(TOKEN_KEYS, "an object")
@click.pass_context
def token(ctx: click.Context, as_json: bool) -> None:
    """Show what the token says of itself, never the token.

    Nothing is sent, so this cannot tell whether the cluster accepts it: `slurm-rest ping` does. Exit status 1 if there
    is no token or Slurm could not use it.
    """
    login = asyncio.run(read_login(ctx.obj))
    if as_json:
        out_json(describe(login, TOKEN_KEYS))
    elif login.user or login.expires or login.algorithm:
        acts_as = [["acts as", login.acts_as]] if login.acts_as != login.user else []
        lines = [
            ["user", login.user],
            *acts_as,
            ["from", login.source],
            ["issued", show_time(login.issued)],
            ["expires", login.lifetime],
            ["algorithm", login.algorithm],
            ["key id", login.key_id],
            *(["passed over", f"{name}: {reason}"] for name, reason in login.passed_over.items()),
        ]
        out("\n".join(columns(lines)))
    if login.problem:
        about = f"the token (from {login.source}) cannot be used: " if login.is_read else ""
        raise Failed(f"{about}{login.problem}", login.hint)


async def _ask_server(client: AsyncSlurmClient) -> tuple[Ping, str]:
    found = await client.ping()
    # SSH and commands have no API version: what answered is then another way than the URL.
    told = next((ping for ping in found if ping.responding), found[0])
    return told, client.settings.url if told.api_version else client.address


@click.command(short_help="Print versions, with --server also of Slurm.")
@click.option("--server", is_flag=True, help="Ask the server for its versions, too.")
@json_option(["client", "python", "slurm", "api_version", "cluster", "url"], "an object")
@click.pass_context
def version(ctx: click.Context, server: bool, as_json: bool) -> None:
    """Print the versions of this client and, with --server, of Slurm and its REST API."""
    found: dict[str, object] = {"client": __version__, "python": platform.python_version()}
    if not as_json:
        out(f"slurm-rest {__version__} (Python {platform.python_version()})")
    if server:
        told, url = with_client(ctx, _ask_server)
        found |= {"slurm": told.slurm, "api_version": told.api_version, "cluster": told.cluster, "url": url}
        if not as_json:
            api = f"API {told.api_version}, " if told.api_version else ""
            out(f"Slurm {clean(told.slurm)}, {api}cluster {clean(told.cluster)}, {clean(url)}")
    if as_json:
        out_json(found)
