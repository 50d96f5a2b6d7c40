"""SlurmTransport over several others: REST, then SSH, then the commands of this host, as far as each is configured.

A job may be submitted over one and followed over another: all of them know it under the same id. What decides about the
way is in ``conditions`` and ``switching``; here is what each operation allows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from slurm_rest.api.base import ApiCaller
from slurm_rest.errors import SlurmError, SubmitUncertain
from slurm_rest.history import HistoryQuery
from slurm_rest.models import (
    ActionResult,
    CancelResult,
    Diagnostics,
    JobInfo,
    JobUsage,
    Node,
    Partition,
    Ping,
    Submission,
    TransportHealth,
)
from slurm_rest.within import within

from .base import Counters, PreparedJob, SlurmTransport, StateRow
from .capabilities import Capabilities
from .conditions import falls_through, proves_nothing_was_sent
from .once import left_open
from .recovery import Case, Decision, Look, group_id
from .switching import Switchboard, Way

__all__ = ["FallbackTransport"]

log = logging.getLogger("slurm_rest")

_FIND_SECONDS = 30.0
# What a dying daemon handed on is carried out within moments.
_FIND_PAUSES = (0.5, 2.0, 0.0)


class FallbackTransport:
    """Several transports as one; the first is the best. ``ways`` knows which is used."""

    def __init__(
        self,
        transports: Sequence[SlurmTransport],
        *,
        guarded: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        on_switch: Callable[[str, str], None] | None = None,
        patience: float = 10.0,
    ) -> None:
        self.board = Switchboard(transports, guarded=guarded, clock=clock, on_switch=on_switch, patience=patience)

    @property
    def transports(self) -> list[SlurmTransport]:
        """All transports, the best first."""
        return [way.transport for way in self.board.ways]

    @property
    def _now(self) -> SlurmTransport:
        return self.board.current.transport

    @property
    def name(self) -> str:
        """The name of the transport that is used now."""
        return self._now.name

    @property
    def where(self) -> str:
        """Where the transport leads that is used now."""
        return self._now.where

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known yet."""
        return next((one.cluster for one in self.transports if one.cluster), "")

    @property
    def counters(self) -> Counters:
        """The sums over all transports."""
        each = [one.counters for one in self.transports]
        return Counters(sum(one.requests for one in each), sum(one.bytes_received for one in each))

    @property
    def capabilities(self) -> Capabilities:
        """What the present transport can do, and what others do in its place because it cannot."""
        each = [way.transport.capabilities for way in self.board.ways if way.breaker.is_closed]
        return replace(
            self._now.capabilities,
            accounting=self._now.capabilities.accounting or self.board.lends_accounting,
            generated_api=any(one.capabilities.generated_api for one in self.transports),
            requeue=any(one.requeue for one in each),
            pending_tasks=any(one.pending_tasks for one in each),
        )

    @property
    def slurm_release(self) -> str:
        """Slurm's release as far as it is known yet."""
        return next((one.slurm_release for one in self.transports if one.slurm_release), "")

    @property
    def api(self) -> ApiCaller:
        """What the generated operations go through: REST alone, whatever becomes of it."""
        able = (one for one in self.transports if one.capabilities.generated_api)
        return next(able, self.transports[0]).api

    def health(self) -> list[TransportHealth]:
        """Return how each transport fares."""
        return self.board.health()

    async def close(self) -> None:
        """Close all transports."""
        await self.board.close()

    async def target(self) -> tuple[str, str, str]:
        """Return the target of the transport that answers."""
        return await self.board.call(lambda one: one.target())

    async def older_versions(self) -> Sequence[str]:
        """Return the older versions of the transport that answers."""
        return await self.board.call(lambda one: one.older_versions())

    async def user_name(self) -> str:
        """Return the user of the transport that answers."""
        return await self.board.call(lambda one: one.user_name())

    async def reach(self) -> None:
        """Prove that one of them answers."""
        await self.board.call(lambda one: one.reach())

    # --- submission -----------------------------------------------------------------------------------------

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job.

        Another way is taken only when it is certain that there is none: whatever a transport raises but
        SubmitUncertain says so. After SubmitUncertain the job is looked for by its key over the other ways. What they
        show decides as it would have over the first one: the job is returned; or it is sent over the way that showed
        for certain that there is none and none will come; or it stays uncertain.
        """
        began = time.time()
        took: list[Way] = []

        async def send(one: SlurmTransport) -> Submission:
            took.append(next(way for way in self.board.ways if way.transport is one))
            return await one.submit(job)

        async def fits(way: Way) -> str:
            return await _unfit(way.transport, job)

        try:
            return await self.board.call(
                send,
                can=lambda able: bool(job.api_version) or not able.generated_api,
                fits=fits,
                patient=False,
            )
        except SubmitUncertain as error:
            found = await self._find(job, began, took[-1], error) if took else None
            if found is None:
                raise
            return found

    async def _find(self, job: PreparedJob, since: float, used: Way, error: SubmitUncertain) -> Submission | None:
        """Look for the job over the other ways; None when that does not settle it."""
        if isinstance(error.__cause__, SlurmError) and falls_through(error.__cause__):
            self.board.give_up(used, error.__cause__.message)
        case = left_open(error)
        for pause in _FIND_PAUSES:
            for way in self.board.ways:
                finder = way.transport
                if way is used or await _unfit(finder, job):
                    continue
                look = await self._look(finder, way.name, job, since)
                if look is None:
                    continue
                if look.jobs:
                    job_id = min(group_id(record) for record in look.jobs)
                    log.warning("The answer to a submission was lost; over %s it is job %d", way.name, job_id)
                    return Submission(job_id=job_id, cluster=finder.cluster, found=True)
                # A way that came by itself may lead to another cluster, where there is none for a reason.
                sure = way.same_cluster or not way.guarded
                if case is not None and sure and case.judge(look) is Decision.ABSENT:
                    log.warning("A submission was lost on its way (%s); sending it over %s", error.message, way.name)
                    return await finder.submit(job)
            await asyncio.sleep(_until_settled(case, pause))
        return None

    async def _look(self, finder: SlurmTransport, name: str, job: PreparedJob, since: float) -> Look | None:
        try:
            return await within(_FIND_SECONDS, finder.find(job, since=since))
        except (SlurmError, TimeoutError) as problem:
            log.info("Looking for %s over %s: %s", job.key, name, problem)
            return None

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        """Look for the job of a key over the way that answers."""
        return await self.board.call(lambda one: one.find(job, since=since))

    # --- reading --------------------------------------------------------------------------------------------

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Return the states over the way that answers."""
        return await self.board.call(lambda one: one.states(ids))

    async def all_states(self) -> list[StateRow]:
        """Return a row for every job in the controller."""
        return await self.board.call(lambda one: one.all_states())

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Return full records over the way that answers."""
        return await self.board.call(lambda one: one.describe(ids, ended=ended))

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record that accounting has under these ids, over the way that answers."""
        return await self.board.call(lambda one: one.incarnations(ids))

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return accounting's records of a span of time over the way that answers."""
        return await self.board.call(lambda one: one.history(query))

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used, over the way that answers."""
        return await self.board.call(lambda one: one.usage(ids))

    async def job_records(self, states: Collection[str] = (), *, limit: int | None = None) -> list[JobInfo]:
        """Return a record for every job in the controller."""
        return await self.board.call(lambda one: one.job_records(states, limit=limit))

    async def nodes(self) -> list[Node]:
        """Return all nodes."""
        return await self.board.call(lambda one: one.nodes())

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        return await self.board.call(lambda one: one.partitions())

    async def diag(self) -> Diagnostics:
        """Return slurmctld's counters, which REST alone tells."""
        return await self.board.call(lambda one: one.diag(), can=lambda able: able.diag)

    async def ping(self) -> list[Ping]:
        """Prove that the controller answers over one way."""
        return await self.board.call(lambda one: one.ping())

    async def ping_accounting(self) -> None:
        """Prove that accounting answers over one way."""
        await self.board.call(lambda one: one.ping_accounting())

    # --- acting ---------------------------------------------------------------------------------------------

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Cancel over the way that answers. A signal that may have arrived is not sent again over another way."""
        again = signal is None or signal.upper().removeprefix("SIG") in ("KILL", "TERM", "9", "15")
        falls = falls_through if again else proves_nothing_was_sent
        return await self.board.call(lambda one: one.cancel(ids, signal), falls=falls)

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Hold over the way that answers and can."""
        return await self.board.call(lambda one: one.hold(ids), can=_able(ids))

    async def release(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Release over the way that answers and can."""
        return await self.board.call(lambda one: one.release(ids), can=_able(ids))

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        """Requeue over a way that can; what may have been done is not done again over another way."""
        return await self.board.call(
            lambda one: one.requeue(ids, hold=hold),
            can=lambda able: able.requeue,
            falls=proves_nothing_was_sent,
            patient=False,
        )

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change a job over the way that answers and can."""
        await self.board.call(lambda one: one.update(job_id, changes), can=_able([job_id]))


def _until_settled(case: Case | None, pause: float) -> float:
    """Return how long to wait for the next look: longer where it could then settle the case."""
    settles = case.settles_at() if case is not None and pause else None
    return pause if settles is None else max(pause, min(settles - time.monotonic(), _FIND_SECONDS))


def _able(ids: Sequence[int | str]) -> Callable[[Capabilities], bool] | None:
    """Return what a way must be able to do for these labels; None when all can."""
    if not any("_" in str(label) for label in ids):
        return None
    return lambda able: able.pending_tasks


async def _unfit(transport: SlurmTransport, job: PreparedJob) -> str:
    """Return why a job must not be submitted over a transport: it would become somebody else's."""
    if transport.capabilities.generated_api or not job.user:
        return ""
    own = await transport.user_name()
    return f"it logs in as {own}, and the job is {job.user}'s" if own and own != job.user else ""
