"""What the generated operations stand on: their description, the request they become, the answer they read.

Nothing here does I/O, and importing it does not import pydantic. A transport implements ``ApiCaller``; everything else
is pure.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from slurm_rest.api._answers import decode_json, read_answer
from slurm_rest.api._operation import ApiRequest, Operation, QueryParam, known_in, versions_of
from slurm_rest.api._requests import build_request
from slurm_rest.errors import ProtocolError

if TYPE_CHECKING:
    from slurm_rest.api._model import AnswerModel, RequestModel

__all__ = [
    "AnswerModel",
    "ApiCaller",
    "ApiRequest",
    "AsyncOperations",
    "Operation",
    "QueryParam",
    "RequestModel",
    "Runner",
    "SyncOperations",
    "Time",
    "Values",
    "build_request",
    "decode_json",
    "known_in",
    "read_answer",
    "versions_of",
]

_T = TypeVar("_T")

Time = datetime | int | str
"""A time in a query: a datetime (naive ones are taken as local time), epoch seconds, or Slurm's own text."""

Values = str | int | Iterable[str | int]
"""One value or several. Several are sent as a repeated parameter: the servers refuse the documented comma form."""


class ApiCaller(Protocol):
    """What the operations need of a transport."""

    async def api_version(self) -> str:
        """The version that client and server agreed on, for instance ``v0.0.45``."""
        ...

    async def send(self, request: ApiRequest) -> bytes:
        """Send, raise what Slurm reports as an error, return the body of the answer."""
        ...


class Runner(Protocol):
    """Runs a coroutine to its end on behalf of blocking code."""

    def __call__(self, coroutine: Coroutine[Any, Any, _T], /) -> _T:
        """Return the coroutine's result."""
        ...


class AsyncOperations:
    """Base of the generated classes with coroutines."""

    def __init__(self, caller: ApiCaller) -> None:
        self._caller = caller

    async def _call(
        self,
        operation: Operation,
        *,
        path: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
        body: RequestModel | Mapping[str, object] | None = None,
    ) -> AnswerModel:
        version = await self._caller.api_version()
        request = build_request(operation, version, path=path or {}, query=query or {}, body=body)
        raw = await self._caller.send(request)
        try:
            return read_answer(operation, raw)
        except ValueError:
            # Not from the error: it quotes the answer.
            where = f"{request.operation.method} {request.path}"
            raise ProtocolError(f"{where}: the answer is no JSON object", hint="Is this slurmrestd?") from None


class SyncOperations:
    """Base of the generated classes that block."""

    def __init__(self, run: Runner) -> None:
        self._run = run


def __getattr__(name: str) -> object:
    if name in ("AnswerModel", "RequestModel"):
        from slurm_rest.api import _model

        return getattr(_model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
