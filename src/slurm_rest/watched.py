"""What is known of one job that somebody follows, and what each answer of Slurm adds to it. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from .errors import OutcomeUnknown
from .exits import ExitRecord
from .followed import WHOLE, Followed, Moment
from .identity import Identity, MemberKey, member_key
from .models import JobInfo, combined_state, group_record, in_order
from .states import BaseState, JobState
from .transport.ids import no_such_job

__all__ = ["GRACE", "LATE", "RUNAWAY", "Watched"]

# How long an id may be unknown to controller and accounting before it counts as gone: a fresh job reaches
# slurmdbd within 50 ms on 24.11 and 26.05, and within a second on 22.05.
GRACE = 5.0
# The same for one that was certainly there, where accounting is kept: after an outage of slurmdbd or its database, seen
# from here or not, slurmctld tries every 10 s to hand over what was missed.
LATE = 30.0
# How long accounting may call a job live that the controller does not know: slurmctld hands over late what slurmdbd
# missed, but after a controller lost its state nobody ever closes the record (a runaway job).
RUNAWAY = 600.0
_UNKNOWN = JobState.parse(None)
_KEEPING = "A longer MinJobAge, accounting, or exit records (SLURM_REST_EXIT_RECORDS) keep the ends of jobs."
# How many members an error names.
_NAMED = 10


@dataclass(slots=True)
class Watched:
    """One job. ``stale_since`` is set while Slurm gives no answer about it; ``state`` is then the last known.

    ``records`` are the final ones, of all members, once ``settled``: the controller's state is terminal and a full
    record agrees, or there can be none. ``replaced`` says that the controller now has another job under the id.
    """

    identity: Identity
    state: JobState = _UNKNOWN
    members: dict[MemberKey, JobState] = field(default_factory=dict)
    own_ids: dict[MemberKey, int] = field(default_factory=dict)
    records: Sequence[JobInfo] = ()
    # The same by member: an array has thousands, and each may be asked for.
    by_member: Mapping[MemberKey, JobInfo] = field(default_factory=dict)
    member_records: dict[MemberKey, JobInfo] = field(default_factory=dict)
    member_ended: dict[MemberKey, float] = field(default_factory=dict)
    # When the controller told of it last; the poller moves it on at the same answer.
    told: Moment | None = None
    stale_since: datetime | None = None
    # Why there was no news the last time that there was none.
    stale_reason: str = ""
    missing_since: float | None = None
    # Since when both sources have answered, and neither knew it.
    nobody_since: float | None = None
    ended_since: float | None = None
    restarts: int = 0
    # Members that vanished before they ended: cancelled while pending (which leaves no trace), or ended and forgotten.
    vanished: dict[MemberKey, JobState] = field(default_factory=dict)
    replaced: bool = False
    suspect: bool = False
    settled: bool = False
    error: Exception | None = None
    # Why the job's own exit record does not tell how it ended.
    exit_note: str = ""
    # False where the cluster keeps no accounting: then nobody can tell a cancelled task from one that ran meanwhile.
    accounting: bool = True
    watchers: int = 0
    member_watchers: dict[MemberKey, int] = field(default_factory=dict)

    @property
    def job_id(self) -> int:
        """The id, of an array or het job the group's."""
        return self.identity.job_id

    @property
    def heard_at(self) -> datetime | None:
        """When the controller told of it last."""
        return self.told.at if self.told else None

    @property
    def is_over(self) -> bool:
        """True when there is nothing more to learn."""
        return self.settled or self.error is not None

    @property
    def wants_record(self) -> bool:
        """True when the whole job seems to be over, or has left the controller."""
        return not self.is_over and not self.replaced and (self.missing_since is not None or self.state.is_terminal)

    @property
    def is_quiet(self) -> bool:
        """True when there is nothing to ask about the job but its state: it goes on, and nobody waits for a member."""
        asks = self.suspect or self.replaced or self.member_watchers
        return not asks and self.missing_since is None and self.ended_since is None

    def ended_members(self) -> list[MemberKey]:
        """Return the members that somebody waits for, that have ended, and whose records are not known yet."""
        if not self.member_watchers:
            return []
        return [
            key
            for key, count in self.member_watchers.items()
            if count and key not in self.member_records and key in self.members and self.members[key].is_terminal
        ]

    # --- what the controller's states say -------------------------------------------------------------------

    def take(self, found: Mapping[MemberKey, JobState], moment: Moment) -> bool:
        """Take the states of a tick and return whether the job moved; the same again change nothing but the moment."""
        if not found:
            self.missing_since = moment.now if self.missing_since is None else self.missing_since
            return False
        self.stale_since = self.nobody_since = None
        self.told = moment
        if self.missing_since is None and found == self.members:
            return False
        self._note_restarts(found)
        # Tasks that left the controller before the others keep the state they ended in.
        before = self.members
        ended = {key: state for key, state in before.items() if state.is_terminal}
        self.vanished |= {key: state for key, state in before.items() if key not in found and key not in ended}
        self.members = ended | dict(found)
        state = combined_state(self.members)
        if self.vanished and state.is_terminal:
            self.missing_since = moment.now if self.missing_since is None else self.missing_since
            return False
        self.missing_since = None
        # A task's move is one too, though the state of the whole stays.
        return self._become(state, moment.now) or self.members != before

    def _note_restarts(self, found: Mapping[MemberKey, JobState]) -> None:
        for key, state in found.items():
            before = self.members.get(key)
            if before is None or before.is_pending or before.base is BaseState.UNKNOWN:
                continue
            if state.is_pending or (before.is_terminal and not state.is_terminal):
                # Started anew, or another job under this id.
                self.restarts += 1
                self.suspect = True
                self.member_records.pop(key, None)
                self.member_ended.pop(key, None)

    def _become(self, state: JobState, now: float) -> bool:
        moved = state != self.state
        self.state = state
        self.ended_since = (self.ended_since or now) if state.is_terminal else None
        return moved

    # --- what full records say ------------------------------------------------------------------------------

    def settle(self, records: Collection[JobInfo], now: float, *, accounting: bool = True) -> bool:
        """Take full records of this id and return whether they leave no doubt.

        False asks for the controller's own record: the source that answered is behind, or the two disagree.
        """
        self.accounting = accounting
        mine = self.identity.pick(records)
        if records and not mine:
            self.replaced = True
            return True
        if self.missing_since is not None:
            mine = [record for record in mine if record.source == "controller" or not record.state.is_pending]
        if not mine:
            self._nobody(now, accounting)
            return True
        mine = in_order([*mine, *self._told_before(mine)])
        state = JobState.combine(record.state for record in mine)
        of_controller = any(record.source == "controller" for record in mine)
        if self.missing_since is not None:
            return self._left(mine, state, of_controller, now)
        if state.is_terminal and (of_controller or state.base is self.state.base):
            self._finish(mine, state)
            return True
        if of_controller:
            # Requeued by hand since the last tick.
            self.restarts += 1
            self._become(state, now)
        return of_controller

    def untold(self, records: Iterable[JobInfo]) -> list[MemberKey]:
        """Return what left the controller before its end was seen and has none of these records."""
        if self.missing_since is None or self.heard_at is None:
            return []
        known = {member_key(record) for record in self.identity.pick(records)}
        # Of two states of one member the later is that in ``members``.
        states = {**self.vanished, **self.members}
        return [key for key, state in states.items() if key not in known and not state.is_terminal]

    def unread(self, records: Iterable[JobInfo]) -> list[MemberKey]:
        """Return of whom an exit record may tell: what is untold, and a known job that left before the first look."""
        if self.missing_since is None or self.heard_at is not None or not self.identity.is_pinned:
            return self.untold(records)
        known = {member_key(record) for record in self.identity.pick(records)}
        asked = [key for key, count in self.member_watchers.items() if count]
        # One task's end is not its array's.
        wanted = asked if sum(self.member_watchers.values()) == self.watchers else [WHOLE]
        return [key for key in wanted if key not in known]

    def never_seen_running(self, records: Iterable[JobInfo]) -> set[MemberKey]:
        """Return the members without a record that waited when they vanished: cancelled, unless they ran since."""
        states = {**self.vanished, **self.members}
        return {key for key in self.untold(records) if key != WHOLE and states[key].is_pending}

    def tell_exit(self, found: ExitRecord | str, member: MemberKey) -> list[JobInfo]:
        """Take the exit record of the job or a task, or why there is none; return the record that it makes.

        None comes of one that another job or an earlier start left, or that was told to end: then Slurm decided on how.
        """
        if isinstance(found, str):
            self.exit_note = found
        elif not found.is_of(self.identity):
            known = self.identity.key or self.identity.submit_time
            self.exit_note = "its exit record is another job's" if known else "nothing tells whose its exit record is"
        elif found.restarts < self.restarts:
            self.exit_note = "its exit record is of an earlier start"
        elif found.signal:
            self.exit_note = (
                f"its exit record says that it was told to end by SIG{found.signal}, and its script's status was then"
                f" {found.status}"
            )
        else:
            return [found.info(self.job_id, member[0])]
        return []

    def _told_before(self, mine: Collection[JobInfo]) -> list[JobInfo]:
        """Return a record for each member whose end the controller told, and of which there is no full one."""
        known = {member_key(record) for record in mine}
        missing = [key for key, state in self.members.items() if key not in known and state.is_terminal]
        return [self._bare(key) for key in missing if key != WHOLE]

    def _bare(self, member: MemberKey) -> JobInfo:
        task, offset = member
        return JobInfo(
            id=self.own_ids.get(member, self.job_id),
            state=self.members.get(member, self.state),
            array_job_id=self.job_id if task is not None else None,
            array_task_id=task,
            het_job_id=self.job_id if offset is not None else None,
            het_job_offset=offset,
        )

    def _left(self, mine: list[JobInfo], state: JobState, of_controller: bool, now: float) -> bool:
        if state.is_terminal:
            lost = self._lost_members(mine)
            # Without accounting only an exit record may be late, and the others' records soon leave the controller.
            final = not self.accounting and not self.exit_note
            if not lost or final or self.missing_since is None or now - self.missing_since > GRACE:
                self._finish(mine, state)
                self.error = self._lost(lost) if lost else None
            return True
        self._become(state, now)
        if of_controller:
            self.missing_since = None
        elif self.missing_since is not None and now - self.missing_since > RUNAWAY:
            self.error = self._unknown(f"accounting still calls it {state}: a runaway job", "sacctmgr show runawayjobs")
        return True

    def _finish(self, mine: list[JobInfo], state: JobState) -> None:
        self.state, self.records, self.settled = state, mine, True
        self.by_member = {member_key(record): record for record in reversed(mine)}
        self.restarts = max([self.restarts, *(record.restart_count for record in mine)])
        if len(mine) == 1:
            self.identity = self.identity.pinned_by(mine[0])

    def _nobody(self, now: float, accounting: bool) -> None:
        """Neither source has a record: final is what the controller said last, if that was an end."""
        self.nobody_since = now if self.nobody_since is None else self.nobody_since
        certain = self.heard_at is not None or self.identity.is_pinned
        patient = accounting and certain and not self.state.is_terminal
        if now - self.nobody_since <= (LATE if patient else GRACE):
            return
        if not accounting:
            # Of an array what the controller told of each task stands, though others vanished.
            told = combined_state(self.members)
            self.state = told if told.is_terminal else self.state
        if self.state.is_terminal:
            lost = self._lost_members(())
            self._finish([self._bare(key) for key in self.members], self.state)
            self.error = self._lost(lost) if lost else None
        elif self.heard_at is None:
            self.error = no_such_job(self.job_id, accounting=accounting)
            if self.exit_note:
                self.error.hint += f" And {self.exit_note}."
        else:
            why = "accounting does not know it" if accounting else "there is no accounting to ask"
            if self.exit_note:
                why += f"; {self.exit_note}"
            self.error = self._unknown(why, "" if accounting else _KEEPING)

    def _lost_members(self, mine: Iterable[JobInfo]) -> list[MemberKey]:
        """Return the members that left the controller alive and of whose end there is no record.

        A waiting task that is cancelled on its own vanishes (24.11, 26.05): no row, no record, nothing in accounting.
        Where accounting is kept, one that ever ran is there, so these are no loss; elsewhere it would be a guess.
        """
        states = {**self.vanished, **self.members}
        lost = [key for key in self.untold(mine) if key != WHOLE]
        return [key for key in lost if not (states[key].is_pending and self.accounting)]

    def _lost(self, members: Collection[MemberKey]) -> OutcomeUnknown:
        few = [Followed(self.identity, key).label for key in list(members)[:_NAMED]]
        names = ", ".join(few) + (f" and {len(members) - len(few)} more" if len(members) > len(few) else "")
        if self.accounting:
            why, hint = "neither controller nor accounting has a record", ""
        else:
            why, hint = "there is no accounting to ask", f" {_KEEPING}"
        note = f"; {self.exit_note}" if self.exit_note else ""
        message = f"How {names} ended cannot be told: last seen alive, and {why}{note}"
        return OutcomeUnknown(message, job_id=self.job_id, hint=f"The other tasks' records can be had.{hint}")

    def settle_member(self, member: MemberKey, records: Iterable[JobInfo], now: float) -> None:
        """Take the full record of a member that ended; without one, what the controller said of its end stands."""
        for record in self.identity.pick(record for record in records if member_key(record) == member):
            if record.state.is_terminal:
                self.member_records[member] = record
                return
        if now - self.member_ended.setdefault(member, now) > GRACE:
            self.member_records[member] = self._member(member)

    def is_another(self, records: Collection[JobInfo]) -> bool:
        """Tell from every record that accounting has under this id whether the newest is another job's."""
        mine = self.identity.pick(records)
        return bool(records) and not any(record in mine for record in Identity(self.job_id).pick(records))

    def settle_replaced(self, records: Iterable[JobInfo]) -> None:
        """Take every record that accounting has under an id whose job in the controller is another one."""
        mine = self.identity.pick(records)
        state = JobState.combine(record.state for record in mine)
        if mine and state.is_terminal:
            self._finish(mine, state)
        else:
            self.error = self._unknown("its id now belongs to another job")

    def _unknown(self, why: str, hint: str = "") -> OutcomeUnknown:
        seen = f"{self.heard_at:%Y-%m-%d %H:%M:%S} UTC" if self.heard_at else "no time"
        message = f"How job {self.job_id} ended cannot be told: last seen {self.state} at {seen}, and {why}"
        return OutcomeUnknown(message, job_id=self.job_id, hint=hint)

    # --- for one who follows --------------------------------------------------------------------------------

    def state_of(self, member: MemberKey) -> JobState:
        """Return the state of the job or of a member; a member that never had a row is UNKNOWN."""
        if member == WHOLE:
            return self.state
        if member in self.members:
            return self.members[member]
        if member in self.vanished and not self.settled:
            return self.vanished[member]
        return self._member(member).state if self.settled and self._has(member) else JobState.parse(None)

    def is_over_for(self, member: MemberKey) -> bool:
        """Return whether the job or a member is over, with all there is to know."""
        return self.is_over or member in self.member_records

    def error_for(self, member: MemberKey) -> Exception | None:
        """Return what ended the job without a record; a member may have one though another member has none."""
        return None if self.settled and member != WHOLE else self.error

    def outcome(self, member: MemberKey) -> JobInfo:
        """Return the final record of the job or of a member; raises the error that ended it."""
        if member in self.member_records:
            return self.member_records[member]
        error = self.error_for(member)
        if error is not None:
            raise error
        return group_record(self.job_id, self.records) if member == WHOLE else self._member(member)

    def _has(self, member: MemberKey) -> bool:
        return member in self.by_member or member in self.vanished

    def _member(self, member: MemberKey) -> JobInfo:
        if member in self.by_member:
            return self.by_member[member]
        label = Followed(self.identity, member).label
        state = self.members.get(member) or self.vanished.get(member)
        if state is None:
            raise no_such_job(label, accounting=self.accounting)
        if state.is_terminal:
            return self._bare(member)
        if not (state.is_pending and self.accounting):
            why = "" if self.accounting else ", and there is no accounting to ask"
            hint = "" if self.accounting else _KEEPING
            raise OutcomeUnknown(
                f"How {label} ended cannot be told: last seen {state}{why}", job_id=self.job_id, hint=hint
            )
        # Accounting has every task that ever ran: this one was cancelled on its own before (see ``_lost_members``).
        return replace(self._bare(member), state=JobState.parse("CANCELLED"), reason="CancelledWhilePending")
