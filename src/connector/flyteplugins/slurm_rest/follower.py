"""What is known of each job: its state from the client's one poller, its record when that is worth a request.

Nothing here is asked of Slurm while somebody waits, but for the first answer about a job that is new to this process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from slurm_rest import AsyncJob, AsyncSlurmClient, JobInfo, JobState, SlurmError
from slurm_rest.errors import JobNotFound
from slurm_rest.identity import Identity
from slurm_rest.tracking import TrackedJob

from .recording import Recorder

__all__ = ["Follower", "Look"]

log = logging.getLogger("flyteplugins.slurm_rest")

# Well under the two seconds that an answer may take.
_FIRST_NEWS = 0.9
# The reason why a job waits changes, and asking for it costs a request a job.
_PENDING_RECORD = 60.0
# A job that was waited for once is not waited for so long again.
_LATER_NEWS = 0.05
# What is told of a job beside the fields of its record.
_TOLD = (
    *("exit_code", "kill_request_user", "comment", "admin_comment", "system_comment"),
    "state_description",
)
# A job that nobody asked about for so long has been forgotten by the platform.
_FORGET = 3600.0


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of a job now. ``error`` says why nothing more will be learned: it vanished, or never was.

    ``record`` may be of an earlier state while the job goes on; once it is over it is the final one, and ``members``
    are those of an array's tasks or a het job's components. Without ``is_heard`` nobody told its state yet, and
    ``trouble`` is why there is no news.
    """

    state: JobState
    record: JobInfo | None = None
    stale_since: datetime | None = None
    restarts: int = 0
    is_over: bool = False
    error: SlurmError | None = None
    is_heard: bool = True
    trouble: str = ""
    members: Sequence[JobInfo] = ()


class _Entry:
    """One job that is followed."""

    def __init__(self, handle: AsyncJob, tracked: TrackedJob) -> None:
        self.handle, self.tracked = handle, tracked
        self.record: JobInfo | None = None
        self.record_state: JobState | None = None
        self.record_time = 0.0
        self.asking = False
        self.waited = False
        self.asked_about = 0.0
        self.trouble = ""
        self.troubled_since: datetime | None = None
        self.last_state: JobState | None = None


class Follower:
    """Follows the jobs of one client. ``clock`` gives seconds that never go back."""

    def __init__(self, client: AsyncSlurmClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._entries: dict[tuple[int, str], _Entry] = {}
        self._records = Recorder(client)
        self._swept = 0.0

    @property
    def size(self) -> int:
        """How many jobs are followed."""
        return len(self._entries)

    async def look(self, identity: Identity, patience: float = _FIRST_NEWS) -> Look:
        """Return what is known of a job; it is followed from the first time on.

        The first answer about one that is new here is waited for, ``patience`` seconds at most.
        """
        await self._sweep()
        entry = await self._entry(identity)
        entry.asked_about = self._clock()
        if entry.tracked.heard_at is None and not entry.tracked.is_over:
            await entry.tracked.news(min(patience, _LATER_NEWS) if entry.waited else patience)
            entry.waited = True
        outcome = entry.tracked.outcome()
        if isinstance(outcome, JobInfo):
            restarts, members = entry.tracked.restarts, entry.tracked.records
            return Look(outcome.state, outcome, restarts=restarts, is_over=True, members=members)
        state = self._state(entry)
        if isinstance(outcome, JobNotFound):
            return Look(state, entry.record, is_over=True, error=outcome)
        if outcome is not None:
            await self._again(identity, entry, outcome)
        else:
            entry.trouble, entry.troubled_since = "", None
            self._want_record(entry)
        return Look(
            state,
            entry.record,
            entry.tracked.stale_since or entry.troubled_since,
            entry.tracked.restarts,
            is_heard=entry.last_state is not None,
            trouble=entry.trouble or entry.tracked.stale_reason,
        )

    async def forget(self, identity: Identity) -> None:
        """Follow a job no longer."""
        entry = self._entries.pop((identity.job_id, identity.key), None)
        if entry is not None:
            await self._end(entry)

    async def close(self) -> None:
        """Follow nothing any more."""
        entries, self._entries = list(self._entries.values()), {}
        for entry in entries:
            await self._end(entry)
        await self._records.close()

    async def _entry(self, identity: Identity) -> _Entry:
        key = (identity.job_id, identity.key)
        if key not in self._entries:
            handle = AsyncJob(self._client, identity.job_id, identity=identity)
            tracked = await self._client.track(handle)
            self._entries[key] = _Entry(handle, tracked)
        return self._entries[key]

    def _state(self, entry: _Entry) -> JobState:
        """Return the state last heard, also from before the following had to begin anew."""
        if entry.tracked.heard_at is not None:
            entry.last_state = entry.tracked.state
        return entry.last_state or entry.tracked.state

    async def _again(self, identity: Identity, entry: _Entry, error: Exception) -> None:
        """Follow it anew: what ended the following, a token that is refused say, can be put right by somebody."""
        if not isinstance(error, SlurmError):
            log.error("Following job %d failed, beginning anew", identity.job_id, exc_info=error)
        entry.trouble = error.message if isinstance(error, SlurmError) else f"{type(error).__name__}: {error}"
        entry.troubled_since = entry.troubled_since or datetime.now(timezone.utc)
        await entry.tracked.close()
        entry.tracked = await self._client.track(entry.handle)

    def _want_record(self, entry: _Entry) -> None:
        """Ask for the record in the background where there is a reason to."""
        state = entry.tracked.state
        if entry.tracked.heard_at is None or entry.asking:
            return
        old = state.is_pending and self._clock() - entry.record_time > _PENDING_RECORD
        if entry.record_state != state or old:
            entry.asking = True
            self._records.want(entry.handle, lambda record: self._take(entry, state, record))

    def _take(self, entry: _Entry, state: JobState, record: JobInfo | None) -> None:
        entry.asking = False
        entry.record_time = self._clock()
        if record is not None:
            # The whole of what Slurm sent takes 25 kB a job.
            raw = {name: record.raw[name] for name in _TOLD if name in record.raw}
            entry.record, entry.record_state = replace(record, raw=raw), state

    async def _sweep(self) -> None:
        now = self._clock()
        if now - self._swept < 60:
            return
        self._swept = now
        for key, entry in list(self._entries.items()):
            if entry.asked_about and now - entry.asked_about > _FORGET:
                del self._entries[key]
                await self._end(entry)

    async def _end(self, entry: _Entry) -> None:
        self._records.drop(entry.handle)
        await entry.tracked.close()
