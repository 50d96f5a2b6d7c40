"""A job that is followed without anybody waiting: what the poller knows of it can be looked at, at any time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .followed import Followed
from .models import JobInfo
from .poller import Poller
from .states import JobState
from .watched import Watched

__all__ = ["TrackedJob"]


class TrackedJob:
    """One job among those that a client follows with one request per interval; looking at it asks nobody.

    ``close`` lets go of it. Tracking thousands costs no task and no request each.
    """

    def __init__(self, poller: Poller, target: Followed) -> None:
        self._poller = poller
        self._target = target
        self._entry: Watched | None = None
        self._is_followed = False

    def start(self) -> None:
        """Follow it from now on."""
        self._entry = self._poller.enter(self._target)
        self._is_followed = True

    async def close(self) -> None:
        """Follow it no longer. What was known stays."""
        if self._is_followed:
            self._is_followed = False
            self._poller.leave(self._known, self._target)

    @property
    def _known(self) -> Watched:
        if self._entry is None:
            raise RuntimeError("tracked before it was started")
        return self._entry

    @property
    def state(self) -> JobState:
        """The state last heard, UNKNOWN before the first answer."""
        return self._known.state_of(self._target.member)

    @property
    def heard_at(self) -> datetime | None:
        """When the controller last told its state, None if it never did."""
        return self._known.heard_at

    @property
    def stale_since(self) -> datetime | None:
        """Since when there is no news, None while there is."""
        return self._known.stale_since

    @property
    def stale_reason(self) -> str:
        """Why there is no news, empty while there is."""
        return self._known.stale_reason if self._known.stale_since else ""

    @property
    def restarts(self) -> int:
        """How often it was seen to start anew under its id."""
        return self._known.restarts

    @property
    def is_over(self) -> bool:
        """True when nothing more will come of it."""
        return self._known.is_over_for(self._target.member)

    @property
    def records(self) -> Sequence[JobInfo]:
        """The final records of all members once the job is over, empty before."""
        return self._known.records

    def outcome(self) -> JobInfo | Exception | None:
        """Return the final record once it is over, or the error that stands in its place; None before."""
        if not self.is_over:
            return None
        try:
            return self._known.outcome(self._target.member)
        except Exception as error:  # whatever ended it is what there is to know
            return error

    async def news(self, timeout: float) -> None:
        """Wait until there is a first answer about it, or none can be had; no longer than ``timeout`` seconds."""
        await self._poller.until(self._has_news, timeout)

    def _has_news(self) -> bool:
        return self.heard_at is not None or self.stale_since is not None or self.is_over
