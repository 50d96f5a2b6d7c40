"""The key that every submission carries at the end of its job's comment, behind the user's own text.

It finds the job again when the answer to the submission was lost.
"""

from __future__ import annotations

import hashlib
import re
import secrets

__all__ = ["COMMENT_LIMIT", "add_key", "callers_key", "name_mark", "new_key", "split_comment"]

# Slurm answers error 2012 to longer comments, counted in bytes.
COMMENT_LIMIT = 1024
_KEY = re.compile(r"(?:^| )(slurm-rest:[0-9a-f]{20})\Z")


def new_key() -> str:
    """Return a key that no other submission has: 80 random bits."""
    return f"slurm-rest:{secrets.token_hex(10)}"


def callers_key(words: str, user: str, cluster: str) -> str:
    """Return the key for a caller's own words: always the same for the same user on the same cluster."""
    whole = "\0".join((cluster, user, words))
    return f"slurm-rest:{hashlib.sha256(whole.encode('utf-8', 'surrogateescape')).hexdigest()[:20]}"


def name_mark(words: str) -> str:
    """Return what the name of a job may end in to tell that it is the one of these words, whatever its comment says."""
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def add_key(comment: str, key: str) -> str:
    """Return the comment with the key behind it; ValueError with the room that is left for text if it is too long."""
    whole = f"{comment} {key}" if comment else key
    if len(whole.encode("utf-8", "surrogateescape")) > COMMENT_LIMIT:
        raise ValueError(f"the comment may have {COMMENT_LIMIT - len(key) - 1} bytes")
    return whole


def split_comment(comment: str) -> tuple[str, str]:
    """Return the user's own text and the key behind it, each empty when absent."""
    found = _KEY.search(comment)
    return (comment[: found.start()], found[1]) if found else (comment, "")
