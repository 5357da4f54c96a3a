"""Commands with what belongs to them: the frame around the loop of `worklist`. Pure: state in, state and rows out.

A command is a unit: all of it happens, or nothing. Its follow-ups run next, in the same transaction, as far as the
quantum and the loaded rows allow. The others are deferred to the inbox, and return through the log. Deferred work
continues between commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from vivero.engine.bpmn.model import Process
from vivero.engine.core.dispatch import COMMANDS
from vivero.engine.core.needs import Need, NeedKind, NotLoaded
from vivero.engine.core.outcomes import Entry, Handled, Notices, Spilled
from vivero.engine.core.records.base import Command
from vivero.engine.core.records.codec import encode_command
from vivero.engine.core.records.effects import Effects, IncidentType, Reject, Rejection, RejectionCode, incident_message
from vivero.engine.core.records.instances import COMMAND_STAGE, ContinueWork, IncidentRaised
from vivero.engine.core.records.jobs import CompleteJob, FailJob, JobWithheld, ThrowJobError
from vivero.engine.core.records.messages import CloseSubscription, OpenSubscription
from vivero.engine.core.records.timers import TimerFailed, TriggerTimer
from vivero.engine.core.rules import (
    BATCH_CHARACTERS,
    BATCH_ROWS,
    STAGE_STEPS,
    TIMER_RULES,
    TREE_RULES,
    TimerRules,
    TreeRules,
)
from vivero.engine.core.state.catalogue import Definition
from vivero.engine.core.state.instance_tree import Element, Instance, Job
from vivero.engine.core.state.rows import Row
from vivero.engine.core.state.state import State
from vivero.engine.core.state.undo import undo
from vivero.engine.core.view import View
from vivero.engine.core.worklist import ITEM_COST, Worklist

PROMPT = (OpenSubscription, CloseSubscription)
"""Follow-ups that run even if the quantum is used up. Otherwise the tree could continue, and throw what it waits for,
before its message channel knows of the wait. Each takes little time."""
JOB_REPORTS = (CompleteJob, FailJob, ThrowJobError)
"""Commands of workers about a job that they were given."""
TAKEN_UP_AND_PUT_OFF = 2
"""So many events has a quantum that got no further."""
MOST_ROWS = 5_000
"""Quanta between commands write no more rows of the event log for one position: a page of a trace has room for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one command may do before the rest is deferred."""

    quantum_items: int = 500
    timers: TimerRules = TIMER_RULES
    paged_from: int = TREE_RULES.paged_from
    stage_steps: int = STAGE_STEPS
    """What all expressions of one stage may take together."""
    inline_follow_ups: bool = True
    """False: every follow-up goes through the log, so that the row that cannot be saved is itself a command."""
    max_part_rows: int = TREE_RULES.most_together
    max_tree_rows: int = TREE_RULES.most


DEFAULT_LIMITS = Limits()


@dataclass(slots=True)
class UnderWay:
    """Commands that go on with a tree's deferred work are in the inbox or in the log: how many, and what they carry."""

    commands: int
    tenant: str
    request: int


@dataclass(slots=True)
class Parked:
    """Follow-ups of a command that are to go on in this batch, as soon as what the first one needs has been loaded."""

    commands: list[Command]
    tenant: str
    request: int
    needs: list[Need]


class Processor:
    """Runs commands of one partition against its state."""

    def __init__(
        self,
        state: State,
        limits: Limits = DEFAULT_LIMITS,
        find_model: Callable[[Definition], Process | None] = lambda _definition: None,
    ) -> None:
        """`find_model` gives the executable model of a definition if it is at hand, without waiting."""
        self.state = state
        trees = TreeRules(limits.paged_from, limits.max_part_rows, limits.max_tree_rows)
        self.view = View(state, find_model, limits.timers, trees, limits.stage_steps)
        self.notices = Notices()
        self._whole = limits.quantum_items * ITEM_COST
        self._under_way: dict[int, UnderWay] = {}
        """By root, as far as this processor has sent them itself."""
        self._deferred: dict[int, None] = {}
        """Those of these roots whose work can go on between commands, in turn."""
        self._besides = False
        self._inline = limits.inline_follow_ups
        self._work = Worklist(state, self.view, self._whole)
        self.used_up = False
        """Whether the last quantum between commands had as many items as it may."""
        self._last = self._seq = 0
        """The last position that was processed, and how many rows it has."""
        self.parked: list[Parked] = []
        """Follow-ups of this batch that wait for something to be loaded; then `go_on` handles them."""

    def set_inline(self, inline: bool) -> None:
        """Whether follow-ups are handled with their command (see `Limits.inline_follow_ups`)."""
        self._inline = inline

    def process(self, entry: Entry, now: int, leases: Mapping[int, str | None] = {}) -> list[Handled]:
        """Handle a command and the follow-ups that belong to its transaction. `now`: epoch milliseconds.

        Raises:
            NotLoaded: nothing has happened; load what it names and run the command again.
        """
        self._take_up_entry(entry, now)
        self.view.leases = leases
        self._work.begin_quantum()
        follow_ups: deque[Command] = deque()
        if type(entry.command) is ContinueWork:
            rows = self._continue(entry.command, entry.request, follow_ups)
        else:
            rows = self._handle(entry.command, 0, entry.request, follow_ups)
        self._last, self._seq = entry.position, len(rows)
        if follow_ups:
            rows += self._follow_up(follow_ups)
        if type(entry.command) is TriggerTimer:
            self._note_untriggered(entry.command.key)
        return rows

    def _continue(self, command: ContinueWork, request: int | None, follow_ups: deque[Command]) -> list[Handled]:
        """The next quantum of deferred work, by its own command."""
        known = self._arrived(command)
        self._work.limit = self._work.quantum
        try:
            return self._handle(command, 0, request, follow_ups)
        except NotLoaded:
            if known is not None:
                known.commands += 1
                self._under_way[command.key] = known
            raise
        finally:
            self._work.limit = self._whole

    def _arrived(self, command: ContinueWork) -> UnderWay | None:
        """One command fewer is under way to the tree."""
        known = self._under_way.get(command.key)
        if known is not None:
            known.commands -= 1
            if not known.commands:
                del self._under_way[command.key]
        return known

    def set_quantum(self, items: int) -> None:
        """How much deferred work is done at once from now on: so many items, and no more than a command may do."""
        self._work.quantum = min(items * ITEM_COST, self._whole)

    def deferred(self) -> int | None:
        """The root of a tree whose deferred work may go on now; None when there is none."""
        return next(iter(self._deferred), None) if self._inline and self._seq < MOST_ROWS else None

    def will_go_on(self, command: Command) -> bool:
        """Whether what the command is for is done between commands, so that it need not be hurried."""
        return isinstance(command, ContinueWork) and command.key in self._deferred

    def skip(self, position: int) -> None:
        """The command at `position` is answered with one row, without being handled."""
        self._last, self._seq = position, 1

    def go_on_between(self, root: int, now: int) -> list[Handled]:
        """A quantum of a tree's deferred work between commands: behind the rows of the last one, and with its position.

        What it needs has been loaded. The command that is under way will find what is left then, or nothing; no other
        is sent. Where nothing can be done now (no row, or a bug), that command decides.
        """
        del self._deferred[root]
        known, tree = self._under_way.get(root), self.state.trees.get(root)
        if known is None or tree is None or not tree.work:
            return []
        work = tree.work
        self._take_up(self._last, known.tenant, known.request, now)
        self._work.begin_quantum()
        self._work.limit, self._besides = self._work.quantum, True
        follow_ups: deque[Command] = deque()
        try:
            rows = self._handle(ContinueWork(root), self._seq, known.request, follow_ups)
        except NotLoaded:
            return []
        else:
            self._seq += len(rows)
            self.used_up = self._work.used >= self._work.quantum
            if tree.work and (tree.work != work or len(rows[0].events) > TAKEN_UP_AND_PUT_OFF):
                self._deferred[root] = None  # others have their turn next time
            return rows + self._follow_up(follow_ups)
        finally:
            self._work.limit, self._besides = self._whole, False

    def go_on(self, enough: Callable[[], bool] = lambda: False) -> Iterator[list[Handled]]:
        """Handle the follow-ups that were parked, now that what they need has been loaded: those of one command at a
        time, so that others may have their turn in between. The rest is parked again when there is `enough`.

        Their rows belong to the last position that was processed, and name the request that they go back to: so the
        order of the rows is the order in which all of it happened.
        """
        parked, self.parked = self.parked, []
        for one in parked:
            if self.is_full() or enough():
                self.parked.append(one)
                continue
            self._take_up(self._last, one.tenant, one.request, self.view.now)
            self._work.begin_quantum()
            yield self._follow_up(deque(one.commands), loaded=len(one.commands))

    def is_full(self) -> bool:
        """Whether the batch has written so much, or so many rows, that the rest is for another one."""
        return self.state.written > BATCH_CHARACTERS or len(self.state.dirty) > BATCH_ROWS

    def give_up_parked(self) -> None:
        """What still is not there after several rounds goes through the log."""
        for one in self.parked:
            self.notices.spilled += [Spilled(command, one.tenant, one.request) for command in one.commands]
        self.parked = []

    def _follow_up(self, follow_ups: deque[Command], loaded: int = 0) -> list[Handled]:
        """Handle follow-ups in their order; for the first `loaded` of them the database has been asked already."""
        rows: list[Handled] = []
        while follow_ups:
            command = follow_ups.popleft()
            if not self._inline or (self._work.used >= self._work.limit and not isinstance(command, PROMPT)):
                self._spill(command)
                continue
            try:
                if loaded <= 0:
                    self._check_loaded(command)
                handled = self._handle(command, self._seq, self.view.request, follow_ups)
            except NotLoaded as missing:
                self._park([command, *follow_ups], missing.need)
                break
            loaded -= 1
            self._work.used += ITEM_COST
            self._seq += len(handled)
            rows += handled
        return rows

    def _check_loaded(self, command: Command) -> None:
        """What is not in memory may be in the database, or nowhere: a handler cannot tell."""
        for need in COMMANDS[type(command)].needs(command, self.view.tenant):
            table = _TABLES.get(need.kind)
            if table is not None and need.key not in table(self.state):
                raise NotLoaded(need)

    def _park(self, commands: list[Command], missing: Need) -> None:
        """Whatever follows waits, too: it must not overtake."""
        view = self.view
        needs = [need for command in commands for need in COMMANDS[type(command)].needs(command, view.tenant)]
        self.parked.append(Parked(commands, view.tenant, view.request, [*needs, missing]))

    def _handle(self, command: Command, seq: int, request: int | None, follow_ups: deque[Command]) -> list[Handled]:
        """One command as a unit: all of it happens, or nothing."""
        self._work.begin()
        rejection = None
        try:
            self._work.take(COMMANDS[type(command)].handle(command, self.view))
            self._work.drain()
        except Reject as reject:
            self._abandon()
            rejection = reject.rejection
        except (NotLoaded, MemoryError):  # the latter is the machine's: an attempt has ended, and another may succeed
            self._abandon()
            raise
        except Exception as bug:  # whatever it is, it must harm this command alone
            self._abandon()
            rejection = self._poisoned(command, bug)
        for send in self._work.sends:
            if send.later:
                self._spill(send.command)
            else:
                follow_ups.append(send.command)
        rows = self._rows(seq, request, rejection)
        self.state.accept()
        return rows

    def _spill(self, command: Command) -> None:
        if isinstance(command, ContinueWork):
            known = self._under_way.get(command.key)
            if known is None:
                self._under_way[command.key] = UnderWay(1, self.view.tenant, self.view.request)
            elif self._besides:
                return
            else:
                known.commands += 1
            self._deferred[command.key] = None
        self.notices.spilled.append(Spilled(command, self.view.tenant, self.view.request))

    # ---- the frame of a command

    def _take_up_entry(self, entry: Entry, now: int) -> None:
        request = entry.position if entry.request is None else entry.request
        self._take_up(entry.position, entry.tenant, request, now)

    def _take_up(self, position: int, tenant: str, request: int, now: int) -> None:
        """What handlers and appliers are to know of the command that comes next."""
        view, state = self.view, self.state
        view.now = state.now = now
        view.position = state.position = position
        view.tenant, view.request = tenant, request

    def _abandon(self) -> None:
        undo(self.state)
        self._work.begin()

    def _poisoned(self, command: Command, bug: Exception) -> Rejection:
        """A bug of ours: its tree gets an incident that parks the command, so that a person can try it again."""
        self.notices.poisoned.append((self.view.position, bug))
        reason = f"handling the command raised {type(bug).__name__}: {bug}"
        rejection = Rejection(RejectionCode.PROCESSING_ERROR, reason)
        try:
            self._work.take(self._effects_of_rejection(command, rejection))
        except Exception as another:  # the same bug, it may be: then nothing is left but the rejection
            self.notices.poisoned.append((self.view.position, another))
            self._abandon()
        return rejection

    def refuse(
        self, entry: Entry, now: int, rejection: Rejection, leases: Mapping[int, str | None] = {}
    ) -> list[Handled]:
        """A command of ours cannot be handled or saved: it is rejected, and parked like one that raises."""
        self._take_up_entry(entry, now)
        self.view.leases = leases
        if isinstance(entry.command, ContinueWork):
            self._arrived(entry.command)
        self._work.begin()
        self._work.take(self._effects_of_rejection(entry.command, rejection))
        for send in self._work.sends:
            self._spill(send.command)
        rows = self._rows(0, entry.request, rejection)
        self.state.accept()
        self._last, self._seq = entry.position, len(rows)
        return rows

    def _effects_of_rejection(self, command: Command, rejection: Rejection) -> Effects:
        """What is left of a command that cannot be handled: nobody may wait for it for ever."""
        yield from self._parked(command, rejection.reason)
        rejected = COMMANDS[type(command)].rejected
        if rejected is not None:
            yield from rejected(command, rejection, self.view)

    def _parked(self, command: Command, reason: str) -> Effects:
        """An incident that keeps the command. Until somebody resolves it, a timer does not fire again by itself, and no
        worker is given the job again, whose result would be refused again (docs/design/log.md §5)."""
        timer = self.state.timers.get(command.key) if isinstance(command, TriggerTimer) else None
        job = self._reported_job(command) if isinstance(command, JOB_REPORTS) else None
        if timer is not None:
            yield TimerFailed(timer.key)
        if job is not None:
            yield JobWithheld(job.key)
        about = timer or job
        place = self._tree_of(command) if about is None or about.element is None else about.element
        if place is not None:
            parked = {"intent": command.intent, "command": encode_command(command).decode()}
            message = incident_message(f"Command '{command.intent}' at position {self.view.position}: {reason}")
            job_key = None if job is None else job.key
            yield IncidentRaised(
                self.view.key(), place.key, COMMAND_STAGE, IncidentType.UNKNOWN, message, job_key, parked
            )

    def _reported_job(self, command: CompleteJob | FailJob | ThrowJobError) -> Job | None:
        """The job that the command reports on; None if its lease was lost, or the job has an incident already."""
        job = self.state.jobs.get(command.key)
        if job is None or (command.lease is not None and self.view.leases.get(job.key) != command.lease):
            return None
        has_incident = any(incident.job == job.key for incident in job.element.open_incidents.values())
        return None if has_incident else job

    def _tree_of(self, command: Command) -> Instance | None:
        key = getattr(command, "key", None)
        if key is None:
            return None
        state = self.state
        tables = (
            *(state.elements, state.jobs, state.incidents),
            *(state.user_tasks, state.subscriptions, state.timers),
        )
        row: Row | None = next((table[key] for table in tables if key in table), None)
        element: Element | None = None if row is None else row.place()
        return element.root if element is not None and element.root.key in state.elements else None

    def _rows(self, seq: int, request: int | None, rejection: Rejection | None) -> list[Handled]:
        """The command's own row, and one more for each answer to another request."""
        notices = self.notices
        if self._work.ended:
            notices.ended += self._work.ended
        if self._work.timers:
            notices.timers |= self._work.timers
        for available in self._work.available:
            notices.available[available] = notices.available.get(available, 0) + 1
        own = Handled(seq, self._root(), request, self._work.events, rejection)
        own.answered = rejection is None and request is None and not self._work.later
        rows = [own]
        for reply in self._work.replies:
            if reply.rejection is None and (reply.to is None or reply.to == self.view.request):
                own.answered, own.response = True, reply.body
            else:
                to = self.view.request if reply.to is None else reply.to
                rows.append(Handled(seq + len(rows), own.root, to, [], reply.rejection, True, reply.body))
        return rows

    def _root(self) -> int | None:
        """The tree that the command was about: that of the first row it changed."""
        for row in self.state.changed():
            element: Element | None = row.place()
            if element is not None:
                return element.root.key
        return None

    def _note_untriggered(self, key: int) -> None:
        """A trigger that came too early changed nothing: whoever waits for the timer must hear that it is pending."""
        timer = self.state.timers.get(key)
        if timer is not None and timer.state == "PENDING":
            self.notices.timers[key] = timer.due_at, timer.tenant


_TABLES: Mapping[NeedKind, Callable[[State], Mapping[int, object]]] = {
    NeedKind.INSTANCE: attrgetter("elements"),
    NeedKind.ELEMENT: attrgetter("elements"),
    NeedKind.JOB: attrgetter("jobs"),
    NeedKind.TIMER: attrgetter("timers"),
    NeedKind.SUBSCRIPTION: attrgetter("subscriptions"),
    NeedKind.DEFINITION: attrgetter("catalogue.definitions"),
}
"""Where the state has what a need asks for by its key."""
