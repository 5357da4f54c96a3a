"""Handling commands with their follow-ups: the frame around the loop of `worklist`. Pure: state in, state and rows out.

A command is a unit: all of it happens, or nothing. Its follow-ups run next, in the same transaction, as far as the
quantum and the loaded rows allow. The others are deferred to the inbox, and return through the log. Deferred work
continues between commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from operator import attrgetter

from vivero.core.bpmn.model import Process
from vivero.core.dispatch import COMMANDS, handle
from vivero.core.execution.awaiting_load import AwaitingLoad
from vivero.core.execution.deferred_trees import DeferredTrees
from vivero.core.execution.held_commands import FREEING, HeldCommands
from vivero.core.execution.outcomes import CommandRecord, Contexts, FollowUp, Handled, InboxCommand, Notices
from vivero.core.execution.quarantine import quarantine
from vivero.core.execution.worklist import ITEM_COST, Worklist
from vivero.core.needs import NO_LEASES, Leases, Need, NeedKind, NotLoaded
from vivero.core.partitions.keys import partition_of
from vivero.core.partitions.routes import Routes
from vivero.core.records.base import Command
from vivero.core.records.effects import Reject, Rejection, RejectionCode, Send
from vivero.core.records.instances import ContinueWork
from vivero.core.records.messages import OpenSubscription
from vivero.core.records.timers import TriggerTimer
from vivero.core.rules import (
    BATCH_CHARACTERS,
    BATCH_ROWS,
    STAGE_STEPS,
    TIMER_RULES,
    TREE_RULES,
    TimerRules,
    TreeRules,
)
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Element
from vivero.core.state.state import State
from vivero.core.state.undo import undo
from vivero.core.view import FindDecisions, View, no_decisions

EVENTS_WITHOUT_PROGRESS = 2
"""Events of a quantum that only resumes work and defers it again."""
MAX_ROWS_PER_POSITION = 5_000
"""Rows of the event log after which no quantum is added to a position, so that a page of a trace can hold them."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """The work that one command may do before the rest is deferred."""

    quantum_items: int = 500
    timers: TimerRules = TIMER_RULES
    paged_from: int = TREE_RULES.paged_from
    stage_steps: int = STAGE_STEPS
    """Steps that all expressions of one stage may take together."""
    inline_follow_ups: bool = True
    """False: every follow-up goes through the log, so that a row that cannot be saved is a command of its own."""
    max_part_rows: int = TREE_RULES.max_part_rows
    max_tree_rows: int = TREE_RULES.max_tree_rows
    max_whole_rows: int = TREE_RULES.max_whole_rows
    migration_page: int = TREE_RULES.migration_page


DEFAULT_LIMITS = StepLimits()


class Processor:
    """Runs commands of one partition against its state."""

    def __init__(
        self,
        state: State,
        limits: StepLimits = DEFAULT_LIMITS,
        find_model: Callable[[Definition], Process | None] = lambda _definition: None,
        find_decisions: FindDecisions = no_decisions,
    ) -> None:
        """`find_model` gives the executable model of a definition if it is available without waiting."""
        self.state = state
        rules = TreeRules(
            *(limits.paged_from, limits.max_part_rows, limits.max_tree_rows),
            *(limits.max_whole_rows, limits.migration_page),
        )
        self.view = View(state, find_model, limits.timers, rules, limits.stage_steps, find_decisions)
        self.notices = Notices()
        self._max_cost = limits.quantum_items * ITEM_COST
        self._deferred_trees = DeferredTrees()
        self.held = HeldCommands(self.view)
        self._between_commands = False
        self._inline = limits.inline_follow_ups
        self._work = Worklist(state, self.view, self._max_cost)
        self.several = False
        """Whether there are several partitions. For one, no home of a command is computed."""
        self.contexts: Contexts | None = None
        """None: commands need no contexts of their own."""
        self.used_up = False
        """Whether the latest quantum between commands used its whole budget."""
        self._last = self._seq = 0
        """The latest position, and the number of its rows."""
        self.lacks: Need | None = None
        """The need that the latest quantum between commands lacked."""
        self.awaiting_load: list[AwaitingLoad] = []
        """Follow-ups of this batch that `resume_awaiting` handles once their needs are loaded."""

    def set_routes(self, routes: Routes) -> None:
        """Set the routes that the next commands are handled with."""
        self.state.set_routes(routes)
        self.several = routes.several

    def is_elsewhere(self, command: Command, tenant: str) -> bool:
        """Whether another partition handles the command. Nothing needs to be loaded for it here."""
        here = self.state.partition
        return self.several and command.home_in(tenant, self.state.routes, here) != here

    def set_inline(self, inline: bool) -> None:
        """Set `StepLimits.inline_follow_ups`."""
        self._inline = inline

    def process(self, record: CommandRecord, now: int, leases: Leases = NO_LEASES) -> list[Handled]:
        """Handle a command and the follow-ups that belong to its transaction. `now`: epoch milliseconds.

        Raises:
            NotLoaded: nothing has happened. Load the need, and run the command again.
        """
        command, request = record.command, record.request
        self._begin_command(record.position, record.tenant, record.position if request is None else request, now)
        self.view.leases = leases
        if self.several and self.is_elsewhere(command, record.tenant):
            return self._forward(record)
        self._work.begin_quantum()
        follow_ups: deque[FollowUp] = deque()
        if type(command) is ContinueWork:
            rows = self._continue(record, follow_ups)
        else:
            rows = self._handle(command, 0, request, follow_ups, record.context)
        self._last, self._seq = record.position, len(rows)
        if follow_ups:
            rows += self._follow_up(follow_ups)
        if type(command) is TriggerTimer:
            self._note_untriggered(command.key)
        return rows

    def _forward(self, record: CommandRecord) -> list[Handled]:
        """Send a command to the partition that handles it, with the request that waits for its outcome.

        An own element that does not wait any more opens no subscription: its end may have been sent already.
        """
        if not self._opens_in_vain(record.command):
            self._send_to_inbox(record.command, record.context)
        self.skip(record.position)
        return [Handled(0, None, record.request, [], forwarded=True)]

    def _opens_in_vain(self, command: Command) -> bool:
        if not isinstance(command, OpenSubscription) or not self.view.is_of_this_partition(command.key):
            return False
        return self.view.subscription(command.key) is None

    def _continue(self, record: CommandRecord, follow_ups: deque[FollowUp]) -> list[Handled]:
        """Run the next quantum of deferred work by its own command."""
        key: int = record.command.key  # type: ignore[attr-defined]  # it is a ContinueWork
        known = self._deferred_trees.note_arrived(key)
        self._work.limit = self._work.quantum
        try:
            return self._handle(record.command, 0, record.request, follow_ups, record.context)
        except NotLoaded:
            self._deferred_trees.restore(key, known)
            raise
        finally:
            self._work.limit = self._max_cost

    def set_quantum(self, items: int) -> None:
        """Set the number of work items in a quantum of deferred work. The limit of a command is its maximum."""
        self._work.quantum = min(items * ITEM_COST, self._max_cost)

    def deferred(self) -> int | None:
        """The root of a tree whose deferred work may continue now; None if there is none."""
        return self._deferred_trees.next_root() if self._inline and self._seq < MAX_ROWS_PER_POSITION else None

    def will_continue(self, command: Command) -> bool:
        """Whether the work of the command continues between commands, so that its arrival is not urgent."""
        return isinstance(command, ContinueWork) and self._deferred_trees.is_ready(command.key)

    def skip(self, position: int) -> None:
        """Note that the command at `position` was answered with one row, without being handled."""
        self._last, self._seq = position, 1

    def run_deferred(self, root: int, now: int) -> list[Handled]:
        """Run a quantum of a tree's deferred work between commands; its needs must be loaded.

        The rows follow those of the latest command, at the same position. No command is sent: the one that is on its
        way will find the remaining work, or none. If `lacks` is set then, load it, and run the quantum again. If it
        cannot be loaded, or if no progress is possible now (a bug), that command decides.
        """
        self.lacks = None
        known, tree = self._deferred_trees.take(root), self.state.trees.get(root)
        if known is None or tree is None or not tree.work:
            return []
        work = tree.work
        self._begin_command(self._last, known.tenant, known.request, now)
        self._work.begin_quantum()
        self._work.limit, self._between_commands = self._work.quantum, True
        follow_ups: deque[FollowUp] = deque()
        try:
            rows = self._handle(ContinueWork(root), self._seq, known.request, follow_ups)
        except NotLoaded as missing:
            self.lacks = missing.need
            self._deferred_trees.requeue(root)
            return []
        else:
            self._seq += len(rows)
            self.used_up = self._work.used >= self._work.quantum
            if tree.work and (tree.work != work or len(rows[0].events) > EVENTS_WITHOUT_PROGRESS):
                self._deferred_trees.requeue(root)
            return rows + self._follow_up(follow_ups)
        finally:
            self._work.limit, self._between_commands = self._max_cost, False

    def give_up_deferred(self, root: int) -> None:
        """Leave the deferred work of a tree to the command that is on its way. It ends in progress or an incident."""
        self._deferred_trees.take(root)

    def resume_awaiting(
        self, enough: Callable[[], bool] = lambda: False, left_out: Set[Need] = frozenset()
    ) -> Iterator[list[Handled]]:
        """Handle the follow-ups that awaited a load, one command's at a time, so that other tasks can run in between.

        Once `enough` returns true, the rest awaits the next call, and so do those whose needs were left out. The rows
        belong to the latest position, and name their request: their order is the order of execution.
        """
        awaiting, self.awaiting_load = self.awaiting_load, []
        for one in awaiting:
            if self.is_full() or enough():
                self.awaiting_load.append(one)
                continue
            self._begin_command(self._last, one.tenant, one.request, self.view.now)
            self._work.begin_quantum()
            yield self._follow_up(deque(one.commands), loaded=one.loaded(left_out))

    def is_full(self) -> bool:
        """Whether the batch should end: it has reached its limit of characters or rows, or has released what was held.

        What the next commands send must be saved after that.
        """
        state = self.state
        return state.written > BATCH_CHARACTERS or len(state.dirty) > BATCH_ROWS or state.rerouted

    def give_up_awaiting(self) -> None:
        """Defer follow-ups, and held commands, whose needs are still missing after several rounds."""
        for one in self.awaiting_load:
            here = self.state.partition
            self.notices.to_inbox += [
                InboxCommand(each.command, one.tenant, one.request, here, context=each.context) for each in one.commands
            ]
        self.awaiting_load = []
        self.held.end_returns(self.notices)

    def take_back_held(
        self, enough: Callable[[], bool], is_loaded: Callable[[InboxCommand], bool], leases: Leases
    ) -> Iterator[tuple[InboxCommand, list[Handled]]]:
        """Handle the commands that a migration has held and whose tree is free, as rows of the latest position."""

        def fits(one: InboxCommand) -> bool:
            return is_loaded(one) and not (enough() or self.is_full() or self._seq >= MAX_ROWS_PER_POSITION)

        self.view.leases = leases
        return self.held.take_back(self._take_back, fits)

    def _take_back(self, one: InboxCommand) -> list[Handled]:
        self._begin_command(self._last, one.tenant, one.request or self._last, self.view.now)
        self._work.begin_quantum()
        follow_ups: deque[FollowUp] = deque()
        rows = self._handle(one.command, self._seq, one.request, follow_ups, one.context)
        self._seq += len(rows)
        return rows + self._follow_up(follow_ups)

    def _follow_up(self, follow_ups: deque[FollowUp], loaded: int = 0) -> list[Handled]:
        """Handle follow-ups in their order. The needs of the first `loaded` have been looked up in the database."""
        rows: list[Handled] = []
        while follow_ups:
            one = follow_ups.popleft()
            command = one.command
            if not self._inline or (self._work.used >= self._work.limit and not command.prompt):
                self._send_to_inbox(command, one.context)
                continue
            try:
                if loaded <= 0:
                    self._check_loaded(command)
                handled = self._handle(command, self._seq, self.view.request, follow_ups, one.context)
            except NotLoaded as missing:
                self._await_load([one, *follow_ups], missing.need)
                break
            loaded -= 1
            self._work.used += ITEM_COST
            self._seq += len(handled)
            rows += handled
        return rows

    def _check_loaded(self, command: Command) -> None:
        """Raise NotLoaded for a row that is not in memory. A handler would take it for one that does not exist."""
        for need in COMMANDS[type(command)].needs(command, self.view.tenant):
            table = _TABLES.get(need.kind)
            if table is not None and need.key not in table(self.state) and not self._is_foreign(need):
                raise NotLoaded(need)

    def _is_foreign(self, need: Need) -> bool:
        """Whether the row belongs to a tree of another partition, which is never loaded here."""
        return need.kind is not NeedKind.DEFINITION and partition_of(need.key) != self.state.partition

    def _await_load(self, commands: list[FollowUp], missing: Need) -> None:
        """Keep a follow-up and all that come after it, which must not overtake it."""
        view = self.view
        needs = [need for one in commands for need in COMMANDS[type(one.command)].needs(one.command, view.tenant)]
        self.awaiting_load.append(AwaitingLoad(commands, view.tenant, view.request, [*needs, missing]))

    def _handle(
        self,
        command: Command,
        seq: int,
        request: int | None,
        follow_ups: deque[FollowUp],
        context: str | None = None,
    ) -> list[Handled]:
        """Handle one command as a unit: all of it happens, or nothing."""
        if self.contexts is None:
            return self._handle_unit(command, seq, request, follow_ups)
        self.state.context = self.contexts.begin(command, context)
        try:
            rows = self._handle_unit(command, seq, request, follow_ups)
        except BaseException:
            self.contexts.cancel()
            raise
        self.contexts.end(rows[0])
        return rows

    def _handle_unit(
        self, command: Command, seq: int, request: int | None, follow_ups: deque[FollowUp]
    ) -> list[Handled]:
        work, rejection = self._work, None
        work.begin()
        try:
            work.take(handle(command, self.view))
            work.drain()
        except Reject as reject:
            self._undo()
            rejection = reject.rejection
        except (NotLoaded, MemoryError):  # a lack of memory ends this attempt; another may succeed
            self._undo()
            raise
        except Exception as bug:  # a bug must harm this command alone
            self._undo()
            rejection = self._poisoned(command, bug)
        for send in work.sends:
            self._send(send, follow_ups)
        rows = self._rows(command, seq, request, rejection)
        self.state.begin_command()
        if isinstance(command, FREEING):
            self.held.note_handled(command, self.notices, self._inline)
        return rows

    def _send(self, send: Send, follow_ups: deque[FollowUp]) -> None:
        context = self.state.context
        if send.held_by is not None:
            self.held.keep(send.command, send.held_by, context, self.notices)
        elif send.later or (self.several and self._leaves(send.command)):
            self._send_to_inbox(send.command, context, send.again)
        else:
            follow_ups.append(FollowUp(send.command, context))

    def _leaves(self, command: Command) -> bool:
        """Whether a follow-up goes to another partition, or is held until slots have moved."""
        here = self.state.partition
        return command.home_in(self.view.tenant, self.state.sending, here) != here

    def _send_to_inbox(self, command: Command, context: str | None = None, again: bool = False) -> None:
        tenant, request = self.view.tenant, self.view.request
        between = self._between_commands
        if isinstance(command, ContinueWork) and not self._deferred_trees.note_sent(
            command.key, tenant, request, between
        ):
            return
        here = self.state.partition
        home = command.home_in(tenant, self.state.sending, here) if self.several else here
        self.notices.to_inbox.append(InboxCommand(command, tenant, request, home, context=context, again=again))

    # ---- the frame of a command

    def _begin_command(self, position: int, tenant: str, request: int, now: int) -> None:
        """Set what handlers and appliers can see of the next command."""
        view, state = self.view, self.state
        view.now = state.now = now
        view.position = state.position = position
        view.tenant, view.request = tenant, request
        view.known_key = 0

    def _undo(self) -> None:
        undo(self.state)
        self._work.drop()
        self._work.begin()

    def _poisoned(self, command: Command, bug: Exception) -> Rejection:
        """Quarantine a command whose handler raised."""
        self.notices.poisoned.append((self.view.position, bug))
        reason = f"handling the command raised {type(bug).__name__}: {bug}"
        rejection = Rejection(RejectionCode.PROCESSING_ERROR, reason)
        try:
            self._quarantine(command, rejection)
        except Exception as another:  # probably the same bug: the rejection alone remains
            self.notices.poisoned.append((self.view.position, another))
            self._undo()
        return rejection

    def _quarantine(self, command: Command, rejection: Rejection) -> None:
        """Keep the command in an incident. It does not run, so nothing follows from this now."""
        self._work.take(quarantine(command, rejection, self.view))
        self._work.drop()

    def reject(
        self, record: CommandRecord, now: int, rejection: Rejection, leases: Leases = NO_LEASES
    ) -> list[Handled]:
        """Reject and quarantine an internal command that cannot be handled or saved."""
        request = record.position if record.request is None else record.request
        self._begin_command(record.position, record.tenant, request, now)
        self.view.leases = leases
        if isinstance(record.command, ContinueWork):
            self._deferred_trees.note_arrived(record.command.key)
        if self.contexts is not None:
            self.state.context = self.contexts.begin(record.command, record.context)
        self._work.begin()
        self._quarantine(record.command, rejection)
        for send in self._work.sends:
            self._send_to_inbox(send.command, self.state.context)
        rows = self._rows(record.command, 0, record.request, rejection)
        self.state.begin_command()
        if self.contexts is not None:
            self.contexts.end(rows[0])
        self._last, self._seq = record.position, len(rows)
        if isinstance(record.command, FREEING):
            self.held.note_handled(record.command, self.notices, inline=False)
        return rows

    def _rows(self, command: Command, seq: int, request: int | None, rejection: Rejection | None) -> list[Handled]:
        """The command's own row, and one for each answer to another request."""
        work, notices = self._work, self.notices
        if work.ended:
            notices.ended += work.ended
        if work.timers:
            notices.timers |= work.timers
        for available in work.available:
            notices.available[available] = notices.available.get(available, 0) + 1
        for happened in work.jobs:
            notices.jobs[happened] = notices.jobs.get(happened, 0) + 1
        for happened in work.incidents:
            notices.incidents[happened] = notices.incidents.get(happened, 0) + 1
        own = Handled(seq, self._root(), request, work.events, rejection)
        if work.later:
            own.answered = False
        elif request is None:
            own.answered = rejection is None
        elif (seq == 0 or command.held) and (self.several or command.was_put_off()):
            own.answered = command.answers_its_request()  # it was forwarded, or had to wait
        rows = [own]
        for reply in work.replies:
            if reply.rejection is None and (reply.to is None or reply.to == self.view.request):
                own.answered, own.response = True, reply.body
            else:
                to = self.view.request if reply.to is None else reply.to
                rows.append(Handled(seq + len(rows), own.root, to, [], reply.rejection, True, reply.body))
        return rows

    def _root(self) -> int | None:
        """The tree of the first row that the command changed."""
        for row in self.state.images:
            element: Element | None = row.place()
            if element is not None:
                return element.tree.key
        return None

    def _note_untriggered(self, key: int) -> None:
        """Announce a timer that is still pending: its trigger came too early, and changed nothing."""
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
"""The tables of the state that hold the rows of a need."""
