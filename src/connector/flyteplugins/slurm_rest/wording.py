"""Errors of slurm_rest in the connector's terms: it reads other variables than they tell one to set. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from slurm_rest import SlurmError

from .messages import capped

__all__ = ["in_our_terms", "tells_in_our_terms"]

_NAME = re.compile(r"(?<![A-Z_])SLURM_(?:REST_[A-Z_]*[A-Z]|JWT)(?![A-Z])")
# All others that the connector reads have FLYTE_ before the same name.
_OTHER = {
    "SLURM_JWT": "FLYTE_SLURM_REST_TOKEN",
    "SLURM_REST_USER": "FLYTE_SLURM_USERNAME",
    "SLURM_REST_TRANSPORT": "FLYTE_SLURM_TRANSPORT",
    "SLURM_REST_PATH_MAP": "FLYTE_SLURM_FILES",
    "SLURM_REST_WORKDIR": "FLYTE_SLURM_WORKING_DIR",
    "SLURM_REST_SSH_HOST": "FLYTE_SLURM_HOST",
    "SLURM_REST_SSH_PORT": "FLYTE_SLURM_PORT",
    "SLURM_REST_SSH_USER": "FLYTE_SLURM_USERNAME",
    "SLURM_REST_SSH_KEY_FILE": "FLYTE_SLURM_SSH_PRIVATE_KEY",
    "SLURM_REST_SSH_KNOWN_HOSTS": "FLYTE_SLURM_KNOWN_HOSTS",
    "SLURM_REST_SSH_INSECURE": "FLYTE_SLURM_SKIP_HOST_KEY_VERIFICATION",
}
# What is no setting of the connector is no advice.
_WITHOUT = {
    "A longer MinJobAge, accounting, or exit records (SLURM_REST_EXIT_RECORDS) keep the ends of jobs.": (
        "A longer MinJobAge, or accounting, keeps the ends of jobs."
    )
}
# gRPC loses the whole of an error whose text does not fit into its 8 KiB of trailers.
_LONGEST, _LONGEST_HINT = 4_500, 1_500
_SAME = ("URL", "TOKEN", "TOKEN_FILE", "JWT_KEY_FILE", "API_VERSION", "CA_FILE")

P = ParamSpec("P")
R = TypeVar("R")


def in_our_terms(text: str) -> str:
    """Return what slurm_rest says with the connector's variables in place of its own, where there is such a one."""
    for theirs, ours in _WITHOUT.items():
        text = text.replace(theirs, ours)
    return _NAME.sub(lambda found: _named(found[0]), text)


def _named(name: str) -> str:
    same = name.removeprefix("SLURM_REST_") in _SAME
    return _OTHER.get(name, f"FLYTE_{name}" if same else name)


def tells_in_our_terms(call: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Make a call's SlurmErrors say what to set on the connector, and all its errors short enough to arrive."""

    @functools.wraps(call)
    async def told(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await call(*args, **kwargs)
        except SlurmError as error:
            error.message = _sendable(error.message, _LONGEST)
            error.hint = _sendable(in_our_terms(error.hint), _LONGEST_HINT)
            raise
        except ValueError as error:
            if (text := str(error)) != (short := _sendable(text, _LONGEST)):
                raise ValueError(short) from None
            raise

    return told


def _sendable(text: str, most: int) -> str:
    # All other characters take three times their bytes there.
    is_plain = text.isascii() and text.isprintable() and "%" not in text
    return capped(text, most if is_plain else most // 3)
