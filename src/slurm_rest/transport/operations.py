"""Names of requests for metrics and logs: few, whatever jobs, nodes and users they are about. Pure."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from functools import lru_cache

from slurm_rest.records import mapping, number

from .answers import Answer

__all__ = ["operation_name", "proxy_time", "slurm_time"]

# Behind these stands a name or an id.
_TAKES_A_NAME = frozenset(
    {"account", "cluster", "job", "node", "partition", "qos", "reservation", "resources", "user", "wckey"}
)
_WORDS = frozenset({"submit", "allocate", "requeue", "node", "hostlist", "hostnames", "state"})


# Jobs have paths of their own, but most requests are of a few kinds, and each is named twice.
@lru_cache(maxsize=256)
def operation_name(method: str, path: str) -> str:
    """Return ``GET job/{}`` for ``GET /slurm/v0.0.42/job/12``; accounting's begin with ``slurmdb/``."""
    service, _, rest = path.strip("/").partition("/")
    words = [word for word in rest.split("/")[1:] if word]
    for place in range(1, len(words)):
        if words[place - 1] in _TAKES_A_NAME and words[place] not in _WORDS:
            words[place] = "{}"
    prefix = "slurmdb/" if service == "slurmdb" else ""
    return f"{method} {prefix}{'/'.join(words)}"


def slurm_time(answer: Answer) -> int | None:
    """Return slurmctld's time from answers that tell it, in Unix seconds (24.11 and 26.05).

    Those about single jobs and all jobs have it as ``last_update``; in others that word means another thing.
    """
    if answer.context.method != "GET" or answer.status != 200 or answer.context.errors:
        return None
    operation = operation_name(answer.context.method, answer.context.path)
    if operation == "GET diag":
        return number(mapping(answer.body.get("statistics")).get("req_time")) or None
    if operation in ("GET job/{}", "GET jobs"):
        return number(answer.body.get("last_update")) or None
    return None


def proxy_time(date: str) -> float | None:
    """Return the Unix seconds of a ``Date`` header; slurmrestd sends none, a proxy in front of it does."""
    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except (ValueError, TypeError, OverflowError):
        return None
