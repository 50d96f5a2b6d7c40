"""Work that is done once across replicas and restarts: its receipt, an object beside the outputs, says who does it.

The receipt is created by the one that begins, written anew while the work goes on, and holds the result at its end.
Whoever finds a result does nothing; whoever sees that it is not written any more begins anew. No two clocks are
compared: how long it has stayed as it is, each measures for itself.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import itertools
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from slurm_rest.within import within

from . import objects

__all__ = ["Receipts"]

log = logging.getLogger("flyteplugins.slurm_rest")

# A replica that has not written for so long is taken for dead; a store that is away for longer costs a second upload.
_LEASE, _BEAT, _LOOK = 30.0, 8.0, 2.0
# A store may not answer at all.
_ANSWER = 15.0


class _Lost(Exception):
    """Somebody else does the work now."""


@dataclass(slots=True)
class Receipts:
    """The receipts of one process, which ``owner`` names. ``clock`` gives seconds that never go back."""

    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    lease: float = field(default_factory=lambda: _LEASE)
    beat: float = field(default_factory=lambda: _BEAT)
    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    _beats: itertools.count[int] = field(default_factory=itertools.count)

    async def once(self, uri: str, work: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the result of the work, which is done here unless somebody else has done it, or does it now.

        Raises what the work and the store raise; the next call in this process goes on with it.
        """
        seen, since = "", self.clock()
        while True:
            found = await within(_ANSWER, objects.read(uri))
            if found is not None and (result := _result(found.data)) is not None:
                return result
            if found is not None and found.tag != seen:
                seen, since = found.tag, self.clock()
            tag = await self._claimed(uri, found, is_stale=self.clock() - since >= self.lease)
            if tag:
                try:
                    return await self._done(uri, tag, work)
                except _Lost:
                    log.warning("%s: another replica has taken the work over", uri)
            elif found is not None:
                await self.pause(min(_LOOK, self.lease))

    async def _claimed(self, uri: str, found: objects.Found | None, *, is_stale: bool) -> str:
        """Return the mark of our receipt, empty where the work is somebody else's."""
        if found is not None and _owner(found.data) == self.owner:
            return found.tag
        if found is None:
            claimed = await within(_ANSWER, objects.create(uri, self._claim()))
        elif is_stale:
            log.warning("%s: whoever began it has not been heard of for %g s, beginning anew", uri, self.lease)
            claimed = await within(_ANSWER, objects.replace(uri, self._claim(), found.tag))
        else:
            return ""
        # A store that knows no conditions has let two of them write: the later one counts.
        mine = await within(_ANSWER, objects.read(uri)) if claimed else None
        return mine.tag if mine is not None and _owner(mine.data) == self.owner else ""

    async def _done(self, uri: str, tag: str, work: Callable[[], Awaitable[bytes]]) -> bytes:
        mover = asyncio.ensure_future(work())
        try:
            while not (await asyncio.wait([mover], timeout=self.beat))[0]:
                tag = await self._renewed(uri, tag)
            result = mover.result()
            await self._written(uri, _receipt(result), tag)
            return result
        finally:
            if not mover.done():
                mover.cancel()
                await asyncio.wait([mover])

    async def _renewed(self, uri: str, tag: str) -> str:
        try:
            return await self._written(uri, self._claim(), tag)
        except _Lost:
            raise
        except Exception as error:  # the work meets the same fault, and is tried again
            log.info("%s cannot be written now: %s", uri, type(error).__name__)
            return tag

    async def _written(self, uri: str, data: bytes, tag: str) -> str:
        """Write our receipt anew and return its mark. Raises ``_Lost`` where it is ours no more."""
        for _ in range(2):
            written = await within(_ANSWER, objects.replace(uri, data, tag))
            now = await within(_ANSWER, objects.read(uri))
            if written and now is not None and now.data == data:
                return now.tag
            # An answer that was lost leaves an unknown mark on what is still ours.
            if now is None or (_owner(now.data) != self.owner and now.data != data):
                raise _Lost
            tag = now.tag
        raise _Lost

    def _claim(self) -> bytes:
        return json.dumps({"owner": self.owner, "beat": next(self._beats)}).encode()


def _receipt(result: bytes) -> bytes:
    return json.dumps({"result": base64.b64encode(result).decode()}).encode()


def _result(data: bytes) -> bytes | None:
    try:
        return base64.b64decode(json.loads(data)["result"], validate=True)
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None


def _owner(data: bytes) -> str:
    try:
        return str(json.loads(data)["owner"])
    except (ValueError, KeyError, TypeError):
        # Half a receipt, as a full disk leaves one: nobody's.
        return ""
