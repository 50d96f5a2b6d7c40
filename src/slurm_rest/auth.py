"""Where tokens come from. A provider is asked on every request, so a rotated token needs no restart.

Slurm's tokens are JWTs whose claim ``sun`` (or ``username``) names the user. Its auth/jwt compares ``exp`` with the
server's clock and nothing else: ``iat`` and ``nbf`` are ignored, a missing or non-integer ``exp`` counts as expired
(22.05, 24.11 and 26.05). Nothing in this module puts a token or a key into a repr, a log line or an error.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from .errors import ConfigError, TokenMissing

__all__ = [
    "CommandToken",
    "EnvironmentToken",
    "FileToken",
    "KeyToken",
    "NoToken",
    "StaticToken",
    "TokenClaims",
    "TokenProvider",
    "clean_token",
    "read_claims",
]


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


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a token says of itself, unverified: only Slurm can tell whether it is signed by the right key."""

    user: str = ""
    expires: datetime | None = None
    issued: datetime | None = None
    algorithm: str = ""
    key_id: str = ""
    problem: str = ""

    def is_expired(self, now: float | None = None) -> bool:
        """True when ``exp`` lies in the past by this machine's clock."""
        moment = time.time() if now is None else now
        return self.expires is not None and self.expires.timestamp() < moment


def read_claims(token: str) -> TokenClaims:
    """Read the claims without verifying the signature; ``problem`` says what makes it no token for Slurm."""
    parts = token.split(".")
    if len(parts) != 3:
        return TokenClaims(problem="it is not a JWT: it does not have three parts")
    try:
        header, claims = (_segment(part) for part in parts[:2])
    except (ValueError, RecursionError):
        return TokenClaims(problem="it is not a JWT: its parts are not base64 JSON")
    user = claims.get("sun", claims.get("username"))
    expires, issued = _seconds(claims.get("exp")), _seconds(claims.get("iat"))
    problem = ""
    if not isinstance(user, str) or not user:
        problem = 'it names no user (claim "sun")'
    elif expires is None:
        problem = 'it has no whole number as "exp", which Slurm takes for expired'
    return TokenClaims(
        user=user if isinstance(user, str) else "",
        expires=expires,
        issued=issued,
        algorithm=str(header.get("alg", "")),
        key_id=str(header.get("kid", "")),
        problem=problem,
    )


def _segment(part: str) -> Mapping[str, object]:
    value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _seconds(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return datetime.fromtimestamp(value, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return None


def clean_token(text: str, name: str) -> str:
    """Take a token as people have it: with blanks around it, or as ``SLURM_JWT=...`` from ``scontrol token``."""
    token = text.strip().removeprefix("SLURM_JWT=").strip().strip("\"'")
    if not token:
        raise TokenMissing(f"The token from {name} is empty", hint="Make one with: scontrol token")
    if not token.isascii() or any(character.isspace() or not character.isprintable() for character in token):
        raise ConfigError(f"The token from {name} is not one word of ASCII text", hint="Make one with: scontrol token")
    return token


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
    """Slurm's own SLURM_JWT, looked up at each request."""

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
            raise ConfigError(f"Cannot read {self.name}: {reason}", hint="Check SLURM_REST_TOKEN_FILE.") from None
        return clean_token(text, self.name)


@dataclass(slots=True)
class CommandToken:
    """A command that prints a token; run again shortly before ``exp``, or when Slurm refuses its last one."""

    command: Sequence[str]
    timeout: float = 30.0
    name: str = "the token command"
    _cached: str = field(default="", repr=False, init=False, compare=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, init=False, compare=False)

    async def token(self, *, renew: bool = False) -> str:
        """Return the command's last output, running it when that is missing or about to expire."""
        before = self._cached
        async with self._lock:
            # Whoever waited for the lock takes what the first one fetched.
            if self._cached and (self._cached != before or not (renew or _ends_soon(self._cached))):
                return self._cached
            self._cached = clean_token(await self._run(), self.name)
            return self._cached

    async def _run(self) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except OSError as error:
            hint = "Check SLURM_REST_TOKEN_COMMAND."
            raise ConfigError(f"Cannot run {self.name}: {error.strerror}", hint=hint) from None
        try:
            output, errors = await asyncio.wait_for(process.communicate(), self.timeout)
        except asyncio.TimeoutError:
            raise ConfigError(f"{self.name} gave no token in {self.timeout:g} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2][:200]
            raise ConfigError(f"{self.name} failed with status {process.returncode}: {last or 'no message'}")
        lines = output.decode(errors="replace").split()
        return lines[-1] if lines else ""


def _ends_soon(token: str, margin: float = 60.0) -> bool:
    claims = read_claims(token)
    return claims.expires is not None and claims.expires.timestamp() - time.time() < margin


@dataclass(slots=True)
class KeyToken:
    """Signs tokens with the cluster's own key (HS256), for services that hold it.

    ``lifespan`` is in seconds; a new token is signed when the last has less than a tenth of it left.
    """

    path: Path
    user: str
    lifespan: int = 1800
    clock: Callable[[], float] = field(default=time.time, repr=False)
    _cached: str = field(default="", repr=False, init=False, compare=False)
    _expires: int = field(default=0, repr=False, init=False, compare=False)

    @property
    def name(self) -> str:
        """The path."""
        return f"the key file {self.path}"

    async def token(self, *, renew: bool = False) -> str:
        """Return a token for ``user``."""
        now = int(self.clock())
        if renew or self._expires - now < self.lifespan // 10 or not self._cached:
            import jwt  # its cryptography half costs more than the rest of this package

            key = await self._key()
            # A float would be read as 0, that is as expired.
            expires = now + self.lifespan
            claims = {"sun": self.user, "iat": now, "exp": expires}
            try:
                self._cached = jwt.encode(claims, key, algorithm="HS256")
            except jwt.PyJWTError:
                hint = "It takes the bytes that slurm.conf names as jwt_key, no PEM file."
                raise ConfigError(f"{self.name} is no key for HS256", hint=hint) from None
            self._expires = expires
        return self._cached

    async def _key(self) -> bytes:
        try:
            key = await asyncio.to_thread(self.path.read_bytes)
        except OSError as error:
            hint = "Check SLURM_REST_JWT_KEY_FILE."
            raise ConfigError(f"Cannot read {self.name}: {error.strerror}", hint=hint) from None
        if not key:
            raise ConfigError(f"{self.name} is empty", hint="Check SLURM_REST_JWT_KEY_FILE.")
        return key
