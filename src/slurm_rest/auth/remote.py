"""``scontrol token`` on another host. How that host is reached is not known here: whoever can run it binds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from slurm_rest.errors import ConfigError

from .claims import clean_token
from .sources import Held

__all__ = ["ScontrolToken"]


@dataclass(slots=True)
class ScontrolToken:
    """Tokens from ``scontrol token`` over SSH, which last half an hour, renewed before they end.

    A client made from settings binds it to its SSH host; elsewhere ``run`` is given, which returns what the command
    printed.
    """

    where: str = "the SSH host"
    run: Callable[[], Awaitable[str]] | None = field(default=None, repr=False, compare=False)
    _held: Held = field(default_factory=Held, repr=False, init=False, compare=False)

    @property
    def name(self) -> str:
        """Where it runs."""
        return f"scontrol token on {self.where}"

    async def token(self, *, renew: bool = False) -> str:
        """Return the last token, or another when that is missing or about to expire."""
        return await self._held.get(self._make, renew=renew)

    def note_skew(self, seconds: float) -> None:
        """Take by how many seconds the server's clock is ahead."""
        self._held.skew = seconds

    async def _make(self) -> str:
        if self.run is None:
            raise ConfigError(f"{self.name} is not bound to a connection", hint="Use it through a client's settings.")
        printed = (await self.run()).split()
        return clean_token(printed[-1] if printed else "", self.name)
