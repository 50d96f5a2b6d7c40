"""Tokens signed here, for services that hold the cluster's key or one that its JWKS file knows."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slurm_rest.errors import ConfigError

from .sources import Held

__all__ = ["KeyToken"]

# After a refusal the server's clock may be ahead of this one; a token that lasts longer finds out.
_UNKNOWN_SKEW = 3600


@dataclass(slots=True)
class KeyToken:
    """Signs tokens for ``user``: HS256 with the file that slurm.conf names as jwt_key, whatever its bytes.

    With ``key_id`` and an RSA private key in PEM form it signs RS256, for a cluster with ``AuthAltParameters=jwks=...``
    in slurm.conf and slurmdbd.conf. ``key_id`` is the ``kid`` of the public half in that JWKS file, which Slurm wants
    in each token (24.11 and 26.05). That needs the package cryptography.
    ``lifespan`` is in seconds; a new token is signed when the last has less than a tenth of it left.
    """

    path: Path
    user: str
    lifespan: int = 1800
    clock: Callable[[], float] = field(default=time.time, repr=False)
    key_id: str = ""
    _held: Held = field(default_factory=Held, repr=False, init=False, compare=False)
    _skew_known: bool = field(default=False, repr=False, init=False, compare=False)

    def __post_init__(self) -> None:
        self._held.clock = self.clock

    @property
    def name(self) -> str:
        """The path."""
        return f"the key file {self.path}"

    async def token(self, *, renew: bool = False) -> str:
        """Return a token for ``user``."""
        longer = 0 if self._skew_known or not renew else _UNKNOWN_SKEW
        return await self._held.get(lambda: self._make(self.lifespan + longer), renew=renew)

    def note_skew(self, seconds: float) -> None:
        """Take by how many seconds the server's clock is ahead."""
        self._held.skew, self._skew_known = seconds, True

    async def _make(self, lifespan: int) -> str:
        key = await self._key()
        # A float would be read as 0, that is as expired.
        now = int(self._held.now())
        claims = {"sun": self.user, "iat": now, "exp": now + lifespan}
        kid = {"kid": self.key_id} if self.key_id else {}
        if b"-----BEGIN PUBLIC KEY" in key:
            raise ConfigError(f"{self.name} is a public key", hint="Tokens are signed with the private one.")
        if self.key_id and key.lstrip().startswith(b"-----BEGIN "):
            return self._sign_rs256(claims, key, kid)
        return _sign_hs256(claims, key, kid)

    def _sign_rs256(self, claims: Mapping[str, object], key: bytes, kid: Mapping[str, str]) -> str:
        import jwt  # its cryptography half costs more than the rest of this package

        try:
            return jwt.encode(dict(claims), key, algorithm="RS256", headers=dict(kid))
        except NotImplementedError:
            hint = "Install it: pip install cryptography"
            raise ConfigError("RS256 needs cryptography, which is not installed", hint=hint) from None
        except (jwt.PyJWTError, ValueError, TypeError):
            hint = "It takes an RSA private key in PEM form, without a passphrase."
            raise ConfigError(f"{self.name} is no key for RS256", hint=hint) from None

    async def _key(self) -> bytes:
        try:
            key = await asyncio.to_thread(self.path.read_bytes)
        except OSError as error:
            hint = "Check SLURM_REST_JWT_KEY_FILE."
            raise ConfigError(f"Cannot read {self.name}: {error.strerror}", hint=hint) from None
        if not key:
            raise ConfigError(f"{self.name} is empty", hint="Check SLURM_REST_JWT_KEY_FILE.")
        return key


def _sign_hs256(claims: Mapping[str, object], key: bytes, kid: Mapping[str, str]) -> str:
    # Any bytes are a key for Slurm, also the PEM file that its manual once made with openssl; PyJWT refuses those.
    parts = [_encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT", **kid}, claims)]
    signature = hmac.digest(key, ".".join(parts).encode(), "sha256")
    return ".".join([*parts, _encode(signature)])


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
