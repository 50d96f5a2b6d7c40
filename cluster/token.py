"""Tokens for slurmrestd, signed with the key that the daemons read (auth/jwt: HS256; claims exp, iat, sun)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time


def sign(key: bytes, user: str, lifespan: int) -> str:
    """Return a token for a user that is valid for so many seconds from now."""
    now = int(time.time())
    # The daemons read a fractional exp as 0, that is as expired.
    claims = {"exp": now + int(lifespan), "iat": now, "sun": user}
    text = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
    return f"{text}.{_encode(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


def _part(content: dict[str, object]) -> str:
    return _encode(json.dumps(content, separators=(",", ":")).encode())


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
