"""Whose a request is: tokens as auth/jwt takes them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

import jwt

from slurm_rest.auth import read_claims

from .cluster import FakeCluster
from .jobs import Owner

__all__ = ["NOBODY", "Identity", "Tokens"]

NOBODY = Owner("nobody", 99)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. ``owner`` is None when the token is refused; ``is_missing`` when there are no usable headers at all."""

    owner: Owner | None = None
    is_missing: bool = False


class Tokens:
    """Checks tokens: those signed with ``key`` (HS256), and ``token`` as it is for ``user``.

    With neither every token is taken, for the user that it names, or ``X-SLURM-USER-NAME`` does, or else ``user``.
    """

    def __init__(self, cluster: FakeCluster, *, key: bytes | None = None, token: str | None = None, user: str) -> None:
        self._cluster, self._key, self._token, self._user = cluster, key, token, user

    def __repr__(self) -> str:
        """Return no token and no key."""
        return f"{type(self).__name__}(user={self._user!r})"

    def sign(self, user: str | None = None, lifespan: int = 86400) -> str:
        """Return a token for a user that is good for so many seconds."""
        if self._key is None:
            return self._token or "any"
        # A fractional exp counts as none.
        now = int(time.time())
        return jwt.encode({"exp": now + lifespan, "iat": now, "sun": user or self._user}, self._key, algorithm="HS256")

    def identify(self, headers: Mapping[str, str]) -> Identity:
        """Return who sent these headers; their names are in lower case."""
        token, bearer = headers.get("x-slurm-user-token"), headers.get("authorization", "")
        # Both at once are refused, and so is any other scheme than exactly Bearer.
        if bearer.startswith("Bearer ") == (token is not None):
            return Identity(is_missing=True)
        found = self._user_of(token if token is not None else bearer.removeprefix("Bearer "))
        name = headers.get("x-slurm-user-name") or ""
        if found is None:
            return Identity()
        if name and name != found:
            if self._is_open or found in ("root", "slurm"):
                found = name
            else:
                return Identity()
        if self._is_open and found not in self._cluster.users:
            self._cluster.users[found] = 2000 + len(self._cluster.users)
        return Identity(self._cluster.owner(found) or NOBODY)

    @property
    def _is_open(self) -> bool:
        return self._key is None and self._token is None

    def _user_of(self, token: str) -> str | None:
        if self._is_open:
            return read_claims(token).user or self._user
        if self._token is not None and token == self._token:
            return self._user
        return self._signed_user(token) if self._key is not None else None

    def _signed_user(self, token: str) -> str | None:
        try:
            # Only the signature; auth/jwt looks at exp alone, and nbf and iat in the future do no harm.
            content = jwt.PyJWS().decode(token, self._key or b"", algorithms=["HS256"])
            claims = json.loads(content)
        except (jwt.InvalidTokenError, ValueError):
            return None
        if not isinstance(claims, dict):
            return None
        expires, user = claims.get("exp"), claims.get("sun") or claims.get("username")
        good = isinstance(expires, int) and not isinstance(expires, bool) and expires >= time.time()
        return user if good and isinstance(user, str) else None
