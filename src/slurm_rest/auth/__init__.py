"""Where tokens come from. A provider is asked on every request, so a rotated token needs no restart.

Slurm's tokens are JWTs whose claim ``sun`` (or ``username``) names the user. Its auth/jwt compares ``exp`` with the
server's clock and nothing else: ``iat`` and ``nbf`` are ignored, a missing or non-integer ``exp`` counts as expired
(22.05, 24.11 and 26.05). Nothing in this package puts a token or a key into a repr, a log line or an error.
"""

from .chain import ChainToken
from .claims import ServerClock, TokenClaims, clean_token, read_claims
from .keeper import TokenKeeper
from .remote import ScontrolToken
from .signing import KeyToken
from .sources import CommandToken, EnvironmentToken, FileToken, NoToken, StaticToken, TokenProvider

__all__ = [
    "ChainToken",
    "CommandToken",
    "EnvironmentToken",
    "FileToken",
    "KeyToken",
    "NoToken",
    "ScontrolToken",
    "ServerClock",
    "StaticToken",
    "TokenClaims",
    "TokenKeeper",
    "TokenProvider",
    "clean_token",
    "read_claims",
]
