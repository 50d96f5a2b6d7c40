"""What ASGI cannot say: a connection that is cut, an answer that is written twice. Needs uvicorn."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from .app import CUT, TWICE, FakeSlurmrestd, Message, Receive, Send

__all__ = ["WireProtocol"]


class WireProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with the two faults as extensions of the ASGI scope."""

    # The arguments are uvicorn's, whose types are its own business.
    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._application = cast("FakeSlurmrestd", self.app)
        self.app = cast("Any", self._call)  # uvicorn exports no type of an application

    async def _call(self, scope: Message, receive: Receive, send: Send) -> None:
        scope["extensions"] = {CUT: self._cut, TWICE: self._write_twice}
        await self._application(scope, receive, send)

    def _cut(self) -> None:
        self.transport.abort()
        # Else uvicorn would complain that there was no answer.
        self.cycle.disconnected = True

    def _write_twice(self) -> None:
        self.transport = self.cycle.transport = cast("asyncio.Transport", _Doubled(self.transport))


class _Doubled:
    """Repeats everything once more before the connection closes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._written = b""

    def write(self, data: bytes) -> None:
        self._written += data
        self._transport.write(data)

    def close(self) -> None:
        self._transport.write(self._written)
        self._written = b""
        self._transport.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)
