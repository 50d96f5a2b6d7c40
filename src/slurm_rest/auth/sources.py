"""The providers that take a token from somewhere: a text, the environment, a file, a command."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from slurm_rest.errors import SlurmError, TokenMissing, TokenSourceError
from slurm_rest.processes import TooMuchOutputError, run_command
from slurm_rest.within import within

from .claims import clean_token, read_claims, redact

__all__ = [
    "CommandToken",
    "EnvironmentToken",
    "FileToken",
    "Held",
    "KnowsTime",
    "NoToken",
    "StaticToken",
    "TokenProvider",
    "ask",
]

# A source that keeps giving a token that is about to end is not asked for another one more often than this.
_SAME_AGAIN_SECONDS = 5.0
# A token is a line; this leaves room for what else a command says.
_MAX_OUTPUT = 1 << 20


class TokenProvider(Protocol):
    """Gives the token for the next request.

    ``renew=True`` asks for a fresh one after Slurm refused the last; a provider that has nothing fresher returns
    what it has.
    """

    @property
    def name(self) -> str:
        """Where the token comes from, in words for an error message."""

    async def token(self, *, renew: bool = False) -> str:
        """Return the token, or raise ConfigError or TokenMissing."""


async def ask(provider: TokenProvider, *, renew: bool = False) -> str:
    """Return a provider's token, empty where it is NoToken's.

    A provider may be the caller's own, so whatever else it raises, or returns, becomes a TokenSourceError.
    """
    hint = "The provider's token() is async, returns text, and takes renew=."
    try:
        token: object = await (provider.token(renew=True) if renew else provider.token())
    except SlurmError:
        raise
    except Exception as error:
        told = redact(f"{type(error).__name__}: {error}")
        # What it said may hold a token, and a traceback would show that.
        raise TokenSourceError(f"{provider.name} failed: {told}", hint=hint) from None
    if not isinstance(token, str):
        raise TokenSourceError(f"{provider.name} gave no text but {type(token).__name__}", hint=hint)
    return clean_token(token, provider.name) if token else ""


@runtime_checkable
class KnowsTime(Protocol):
    """A provider that looks at ``exp`` itself, and so has to know how far the server's clock is off."""

    def note_skew(self, seconds: float) -> None:
        """Take by how many seconds the server's clock is ahead of this machine's."""


@dataclass(slots=True)
class Held:
    """The last token of a source that makes them, and when it has to make another. Many askers cause one making."""

    clock: Callable[[], float] = time.time
    skew: float = 0.0
    token: str = field(default="", repr=False)
    _renew_at: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def now(self) -> float:
        """Return the server's time in Unix seconds."""
        return self.clock() + self.skew

    async def get(self, make: Callable[[], Awaitable[str]], *, renew: bool) -> str:
        """Return the token, made anew when there is none, when it ends soon, or when ``renew`` says so."""
        before = self.token
        async with self._lock:
            # Whoever waited for the lock takes what the first one fetched.
            if self.token and (self.token != before or not (renew or self._is_due())):
                return self.token
            token = await make()
            self._renew_at = self._when(token)
            self.token = token
            return token

    def _is_due(self) -> bool:
        return self._renew_at is not None and self.now() > self._renew_at

    def _when(self, token: str) -> float | None:
        claims, now = read_claims(token), self.now()
        if claims.expires is None:
            return None
        end = claims.expires.timestamp()
        if end <= now and claims.lifetime is not None:
            # Nobody makes expired tokens: the two clocks differ.
            end = now + claims.lifetime
        soonest = now + _SAME_AGAIN_SECONDS if token == self.token else now
        return max(end - claims.margin, soonest)


class NoToken:
    """For servers that need none, such as a local socket with rest_auth/local."""

    name = "no token"

    async def token(self, *, renew: bool = False) -> str:
        """Return an empty text: no header is sent."""
        return ""


@dataclass(frozen=True, slots=True)
class StaticToken:
    """A token given as text."""

    value: str = field(repr=False)
    name: str = "the token argument"

    async def token(self, *, renew: bool = False) -> str:
        """Return the text, cleaned."""
        return clean_token(self.value, self.name)


@dataclass(frozen=True, slots=True)
class EnvironmentToken:
    """Slurm's own SLURM_JWT, or another variable, looked up at each request."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    name: str = "SLURM_JWT"

    async def token(self, *, renew: bool = False) -> str:
        """Return the variable's value."""
        if self.name not in self.environ:
            raise TokenMissing(f"{self.name} is not set", hint="Make a token with: scontrol token")
        return clean_token(self.environ[self.name], self.name)


@dataclass(frozen=True, slots=True)
class FileToken:
    """A file that holds the token, read at each request."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return f"the token file {self.path}"

    async def token(self, *, renew: bool = False) -> str:
        """Return the file's text."""
        try:
            text = await asyncio.to_thread(self.path.read_text, encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise TokenSourceError(f"Cannot read {self.name}: {reason}", hint="Check SLURM_REST_TOKEN_FILE.") from None
        return clean_token(text, self.name)


@dataclass(slots=True)
class CommandToken:
    """A command that prints a token; run again shortly before ``exp``, or when Slurm refuses its last one."""

    # Its words may hold a password.
    command: Sequence[str] = field(repr=False)
    timeout: float = 30.0
    name: str = "the token command"
    _held: Held = field(default_factory=Held, repr=False, init=False, compare=False)

    async def token(self, *, renew: bool = False) -> str:
        """Return the command's last output, running it when that is missing or about to expire."""
        return await self._held.get(self._make, renew=renew)

    def note_skew(self, seconds: float) -> None:
        """Take by how many seconds the server's clock is ahead."""
        self._held.skew = seconds

    async def _make(self) -> str:
        return clean_token(await self._run(), self.name)

    async def _run(self) -> str:
        hint = "Check SLURM_REST_TOKEN_COMMAND."
        try:
            # Its standard input is empty: on ours a script for submit may stand.
            done = await within(self.timeout, run_command(self.command, max_output=_MAX_OUTPUT))
        except TimeoutError:
            hint = "Does it wait for an answer? It must print a token by itself."
            raise TokenSourceError(f"{self.name} gave no token in {self.timeout:g} s", hint=hint) from None
        except TooMuchOutputError:
            raise TokenSourceError(f"{self.name} printed more than {_MAX_OUTPUT} bytes", hint=hint) from None
        except OSError as error:
            raise TokenSourceError(f"Cannot run {self.name} {self.command[0]}: {error.strerror}", hint=hint) from None
        if done.status:
            last = redact(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])[:200]
            message = f"{self.name} failed with status {done.status}: {last or 'no message'}"
            raise TokenSourceError(message, hint=hint)
        lines = done.stdout.decode(errors="replace").split()
        return lines[-1] if lines else ""
