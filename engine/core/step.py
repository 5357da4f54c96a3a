"""One command, slice by slice, to quiescence. Pure: state in, state and rows of the event log out.

The work of a command is a queue of items `(element key, stage, argument)`. A stage's effects are collected, then
applied (CORE D2); `FOLLOW` says what each event puts into the queue (CORE D4). When the queue is empty, touched
scopes settle, innermost first. When the slice is used up, what is left is saved in the tree and
goes on as a later command (CORE D5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from engine.bpmn.model import Process
from engine.core import records
from engine.core.apply import APPLY
from engine.core.dispatch import COMMANDS, ELEMENTS
from engine.core.elements import inclusive_gateway
from engine.core.lifecycle import (
    STAGES,
    empty,
    first_stage_of_activation,
    first_stage_of_completion,
)
from engine.core.needs import Need, NeedKind, NotLoaded
from engine.core.records import (
    COMMAND_STAGE,
    DEADLOCK_STAGE,
    CloseSubscription,
    Command,
    ContinueWork,
    Effects,
    ElementCompleting,
    ElementTerminating,
    Event,
    Fail,
    Happens,
    IncidentRaised,
    IncidentType,
    LoadMore,
    OpenSubscription,
    Reject,
    Rejection,
    RejectionCode,
    ReleaseStart,
    Reply,
    ReplyLater,
    RetireDefinition,
    ScopeEmptied,
    Send,
    TimerFailed,
    TriggerTimer,
    WorkDeferred,
)
from engine.core.rules import BATCH_CHARACTERS, PAGED_FROM, SLICE_CHARACTERS, TIMER_RULES, TimerRules
from engine.core.shared import deadlocks
from engine.core.shared.deferred import is_deferred
from engine.core.shared.flows import enter
from engine.core.state import (
    ACTIVATED,
    MISSING,
    TERMINATED,
    TERMINATING,
    Definition,
    Element,
    Incident,
    Instance,
    Job,
    Row,
    State,
    Timer,
    Variable,
)
from engine.core.touched import Touched
from engine.core.view import View

ITEM_COST = 4
TERMINATION_COST = 1
"""Ending an element is cheap: a slice holds four times as many of these."""
PROMPT = (OpenSubscription, CloseSubscription)
"""Follow-ups that are never put off, also when the slice is used up: otherwise the tree could go on, and throw what it
waits for, before its channel knows. Each is soon done."""
TAKEN_UP_AND_PUT_OFF = 2
"""So many events has a slice that got no further."""
MOST_ROWS = 5_000
"""Slices between commands write no more rows of the event log for one position: a page of a trace has room for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one command may do before the rest is deferred."""

    slice_items: int = 500
    timers: TimerRules = TIMER_RULES
    paged_from: int = PAGED_FROM
    """A loop over more items than this is paged."""
    inline_follow_ups: bool = True
    """False: every follow-up goes through the log, so that the row that cannot be saved is itself a command."""


DEFAULT_LIMITS = Limits()


class Entry(msgspec.Struct):
    """A row of the command log. `request`: the position that it goes back to, when that is another one."""

    position: int
    tenant: str
    command: Command
    request: int | None = None


class Handled(msgspec.Struct, eq=False):
    """What came of a command or of one of its follow-ups: a row of the event log."""

    seq: int
    root: int | None
    request: int | None
    """Set when this row goes back to another position than its own."""
    events: list[Event]
    rejection: Rejection | None = None
    answered: bool = False
    response: msgspec.Struct | None = None


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


@dataclass(slots=True)
class Spilled:
    """A follow-up for later, to be written to the inbox."""

    command: Command
    tenant: str
    request: int


class Ended(NamedTuple):
    """A process instance that ended: its key, its last state, and its variables as it left them."""

    key: int
    state: str
    variables: Mapping[str, Variable]


@dataclass(slots=True)
class Notices:
    """What others may want to know once the batch is committed."""

    spilled: list[Spilled] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    available: dict[tuple[str, str], int] = field(default_factory=dict)
    """Jobs that became available, by (type, tenant)."""
    timers: dict[int, tuple[int, str] | None] = field(default_factory=dict)
    """Timers that were touched: due date (epoch ms) and tenant, None of one that is no longer pending."""
    poisoned: list[tuple[int, BaseException]] = field(default_factory=list)
    """Positions whose handling raised, with the bug."""


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
        self.at = View(state, find_model, limits.timers, limits.paged_from)
        self.notices = Notices()
        self._limit = self._whole = self._slice = limits.slice_items * ITEM_COST
        self._under_way: dict[int, UnderWay] = {}
        """By root, as far as this processor has sent them itself."""
        self._deferred: dict[int, None] = {}
        """Those of these roots whose work can go on between commands, in turn."""
        self._besides = False
        self._inline = limits.inline_follow_ups
        self._used = 0
        self._ceiling = SLICE_CHARACTERS
        """Of `State.written`: a slice that has come there ends."""
        self.used_up = False
        """Whether the last slice between commands had as many items as it may."""
        self._queue: deque[tuple[int, str, Any]] = deque()
        self._touched = Touched()
        self._unloaded: dict[int, None] = {}
        """Bodies of paged loops that go on when more of them has been loaded."""
        self._events: list[Event] = []
        self._replies: list[Reply] = []
        self._later = False
        self._sends: list[Send] = []
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
        at = self.at
        at.now = self.state.now = now
        at.position = self.state.position = entry.position
        at.request = entry.position if entry.request is None else entry.request
        at.tenant = entry.tenant
        at.leases = leases
        self._begin_slice()
        follow_ups: deque[Command] = deque()
        if isinstance(entry.command, ContinueWork):
            rows = self._continue(entry.command, entry.request, follow_ups)
        else:
            rows = self._handle(entry.command, 0, entry.request, follow_ups)
        self._last, self._seq = entry.position, len(rows)
        if follow_ups:
            rows += self._follow_up(follow_ups)
        if isinstance(entry.command, TriggerTimer):
            self._note_untriggered(entry.command.key)
        return rows

    def _continue(self, command: ContinueWork, request: int | None, follow_ups: deque[Command]) -> list[Handled]:
        """The next slice of deferred work, by its own command."""
        known = self._arrived(command)
        self._limit = self._slice
        try:
            return self._handle(command, 0, request, follow_ups)
        except NotLoaded:
            if known is not None:
                known.commands += 1
                self._under_way[command.key] = known
            raise
        finally:
            self._limit = self._whole

    def _arrived(self, command: ContinueWork) -> UnderWay | None:
        """One command fewer is under way to the tree."""
        known = self._under_way.get(command.key)
        if known is not None:
            known.commands -= 1
            if not known.commands:
                del self._under_way[command.key]
        return known

    def cut(self, items: int) -> None:
        """How much deferred work is done at once from now on: so many items, and no more than a command may do."""
        self._slice = min(items * ITEM_COST, self._whole)

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
        """A slice of a tree's deferred work between commands: behind the rows of the last one, and with its position.

        What it needs has been loaded. The command that is under way will find what is left then, or nothing; no other
        is sent. Where nothing can be done now (no row, or a bug), that command decides.
        """
        del self._deferred[root]
        at, known, tree = self.at, self._under_way.get(root), self.state.trees.get(root)
        if known is None or tree is None or not tree.work:
            return []
        work = tree.work
        at.now = self.state.now = now
        at.tenant, at.request = known.tenant, known.request
        at.position = self.state.position = self._last
        self._begin_slice()
        self._limit, self._besides = self._slice, True
        follow_ups: deque[Command] = deque()
        try:
            rows = self._handle(ContinueWork(root), self._seq, known.request, follow_ups)
        except NotLoaded:
            return []
        else:
            self._seq += len(rows)
            self.used_up = self._used >= self._slice
            if tree.work and (tree.work != work or len(rows[0].events) > TAKEN_UP_AND_PUT_OFF):
                self._deferred[root] = None  # others have their turn next time
            return rows + self._follow_up(follow_ups)
        finally:
            self._limit, self._besides = self._whole, False

    def go_on(self) -> list[Handled]:
        """Handle the follow-ups that were parked, now that what they need has been loaded.

        Their rows belong to the last position that was processed, and name the request that they go back to: so the
        order of the rows is the order in which all of it happened.
        """
        at, rows = self.at, []
        parked, self.parked = self.parked, []
        for one in parked:
            if self.is_full():
                self.parked.append(one)
                continue
            at.tenant, at.request = one.tenant, one.request
            at.position = self.state.position = self._last
            self._begin_slice()
            rows += self._follow_up(deque(one.commands), loaded=len(one.commands))
        return rows

    def is_full(self) -> bool:
        """Whether the batch has written so much that the rest is for another one."""
        return self.state.written > BATCH_CHARACTERS

    def _begin_slice(self) -> None:
        self._used, self._ceiling = 0, self.state.written + SLICE_CHARACTERS

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
            if not self._inline or (self._used >= self._limit and not isinstance(command, PROMPT)):
                self._spill(command)
                continue
            try:
                if loaded <= 0:
                    self._check_loaded(command)
                handled = self._handle(command, self._seq, self.at.request, follow_ups)
            except NotLoaded as missing:
                self._park([command, *follow_ups], missing.need)
                break
            loaded -= 1
            self._used += ITEM_COST
            self._seq += len(handled)
            rows += handled
        return rows

    def _check_loaded(self, command: Command) -> None:
        """What is not in memory may be in the database, or nowhere: a handler cannot tell."""
        for need in COMMANDS[type(command)].needs(command, self.at.tenant):
            table = _TABLES.get(need.kind)
            if table is not None and need.key not in getattr(self.state, table):
                raise NotLoaded(need)

    def _park(self, commands: list[Command], missing: Need) -> None:
        """Whatever follows waits, too: it must not overtake."""
        at = self.at
        needs = [need for command in commands for need in COMMANDS[type(command)].needs(command, at.tenant)]
        self.parked.append(Parked(commands, at.tenant, at.request, [*needs, missing]))

    def _handle(self, command: Command, seq: int, request: int | None, follow_ups: deque[Command]) -> list[Handled]:
        """One command as a unit: all of it happens, or nothing."""
        self._begin()
        rejection = None
        try:
            self._take(COMMANDS[type(command)].handle(command, self.at))
            self._drain()
        except Reject as reject:
            self._abandon()
            rejection = reject.rejection
        except NotLoaded:
            self._abandon()
            raise
        except Exception as bug:  # whatever it is, it must harm this command alone
            self._abandon()
            rejection = self._poisoned(command, bug)
        for send in self._sends:
            if send.later:
                self._spill(send.command)
            else:
                follow_ups.append(send.command)
        rows = self._rows(seq, request, rejection)
        self.state.keep()
        return rows

    # ---- the loop

    def _drain(self) -> None:
        queue, touched, state = self._queue, self._touched, self.state
        new, waiting = touched.new, touched.waiting
        while queue or new or waiting:
            if self._used >= self._limit or state.written > self._ceiling:
                self._defer()
                return
            if queue:
                key, stage, argument = queue.popleft()
                self._run(key, stage, argument)
            else:
                self._used += ITEM_COST
                self._settle(touched.pop(state.elements))
        if self._unloaded:
            self._defer()

    def _run(self, key: int, stage: str, argument: Any) -> None:
        self._used += TERMINATION_COST if stage == "terminate" else ITEM_COST
        element = self.state.elements.get(key)
        if element is None:
            return
        staged = STAGES.get(stage)
        if staged is None:
            self._run_in_scope(element, stage, argument)
            return
        state, effects_of, following = staged
        if element.state is state:
            if element.node is MISSING:
                self.at.node(element)
            done = self._take(effects_of(element, self.at, argument), element, stage, argument)
            if done and following is not None:
                self._queue.appendleft((key, following, 0))  # before another can change what it has set

    def _run_in_scope(self, scope: Element, stage: str, argument: Any) -> None:
        if stage == "arrive":
            self._arrive(scope, argument)
        elif stage == "enter":
            self._enter(scope, *argument)
        elif stage == "settle":
            self._touched.add(scope.key)
        elif stage == "trigger":
            self._trigger(scope, argument)
        elif stage == "end":
            self._end(scope)
        else:
            raise LookupError(f"there is no stage {stage!r}")

    def _arrive(self, scope: Element, flow: str) -> None:
        if scope.state is ACTIVATED and scope.then is None:
            model = self.at.model(scope.instance.definition_key)
            node = model.nodes[model.flows[flow].target]
            self._take(ELEMENTS[node.type].arrive(node, flow, scope, self.at), scope, "arrive", flow)

    def _enter(self, scope: Element, node: str, variables: dict[str, str]) -> None:
        """A boundary event, once its host has ended."""
        if scope.state is ACTIVATED and scope.then is None:
            nodes = self.at.model(scope.instance.definition_key).nodes
            self._take(enter(nodes[node], scope, self.at, occurred=variables))

    def _end(self, scope: Element) -> None:
        """Its instance was made to be terminated after an element, which has ended in this scope: nothing follows.

        All scopes around it are told at once: one that is told later would go on meanwhile.
        """
        around = [scope]
        while around[-1] is not scope.instance and around[-1].scope is not None:
            around.append(around[-1].scope)
        alive = (one.key for one in around if one.state is not TERMINATING)
        self._take(ElementTerminating(key) for key in alive)

    def _trigger(self, element: Element, argument: tuple[str, dict[str, str]]) -> None:
        target, variables = argument
        if element.state is ACTIVATED:
            node = self.at.model(element.instance.definition_key).nodes[target]
            effects = ELEMENTS[element.type].trigger(element, node, variables, self.at)
            self._take(effects, element, "trigger", argument)

    def _settle(self, scope: Element | None) -> None:
        """What follows in a scope that is quiet. Not while a boundary event whose host has ended is to be entered by a
        later slice: till then no place holds its token."""
        if scope is None:
            return
        if scope.pages is not None:  # no more of a long loop than a slice, whatever command begins or ends it
            self._used = max(self._used, self._limit - self._slice)
        before = len(self._events)
        if scope.then is not None or scope.state is TERMINATING:
            self._empty(scope)
        elif scope.state is ACTIVATED and not is_deferred(scope, "enter"):
            self._join(scope)
            if len(self._events) == before:
                self._take(ELEMENTS[scope.type].settle(scope, self.at), scope, "settle")
            if len(self._events) == before and (scope.open_incidents or (scope.tokens and not scope.live)):
                self._take(deadlocks.look(scope, self.at))
        if len(self._events) > before:
            self._touched.add(scope.key)

    def _join(self, scope: Element) -> None:
        """Inclusive joins that wait in the scope: what moved may have been what they waited for."""
        joins = self.at.node(scope).joins
        if joins and not (scope.node.loop is not None and not scope.is_inner):
            nodes = self.at.model(scope.instance.definition_key).nodes
            for gateway in joins:
                self._take(inclusive_gateway.join(nodes[gateway], scope, self.at), scope, "settle")

    def _empty(self, scope: Element) -> None:
        if scope.live or scope.state is TERMINATING:
            self._take(empty(scope))
        elif scope.state is ACTIVATED:
            self._take(self._take_over(scope), scope, "settle")

    def _take_over(self, scope: Element) -> Effects:
        """What the scope was interrupted for."""
        assert scope.then is not None, "a scope is emptied for a reason"
        if scope.then[0] == "complete":
            yield ElementCompleting(scope.key)
        else:
            _, node, variables = scope.then
            yield ScopeEmptied(scope.key)
            nodes = self.at.model(scope.instance.definition_key).nodes
            yield from enter(nodes[node], scope, self.at, occurred=variables)

    def _defer(self) -> None:
        """Save what is left in the trees it belongs to; a later command goes on with it."""
        left: dict[int, list[tuple[int, str, Any]]] = {}
        items = [*self._queue, *((key, "settle", 0) for key in dict.fromkeys((*self._touched, *self._unloaded)))]
        for item in items:
            element = self.state.elements.get(item[0])
            if element is not None and not self._waits_already(element, item):
                left.setdefault(element.root.key, []).append(item)
        self._queue.clear()
        self._touched.clear()
        self._unloaded.clear()
        for root, work in left.items():
            self._take(iter((WorkDeferred(root, tuple(work)), Send(ContinueWork(root), later=True))))

    def _waits_already(self, element: Element, item: tuple[int, str, Any]) -> bool:
        """A command that goes on with it is under way: one is enough, however many commands find too little loaded."""
        return element.pages is not None and item in element.root.work

    # ---- effects

    def _take(self, effects: Effects, element: Element | None = None, stage: str = "", argument: Any = 0) -> bool:
        """Collect a stage's effects, then apply them. A `Fail` on the way becomes an incident; False then."""
        done = True
        try:
            collected = list(effects)
        except Fail as failure:
            if element is None:
                raise
            done = False
            collected = [
                IncidentRaised(self.at.key(), element.key, stage, failure.type, failure.message, None, argument)
            ]
        state, events = self.state, self._events
        for effect in collected:
            found = _EVENTS.get(type(effect))  # type: ignore[arg-type]  # other effects are not in it
            if found is None:
                self._other(effect)
                continue
            applier, follow = found
            row = applier(state, effect)
            events.append(effect)  # type: ignore[arg-type]  # what is in the table is an event
            if follow is not None:
                follow(self, row, effect)
        return done

    def _other(self, effect: object) -> None:
        if isinstance(effect, Reply):
            self._replies.append(effect)
        elif isinstance(effect, Send):
            self._sends.append(effect)
        elif isinstance(effect, ReplyLater):
            self._later = True
        elif isinstance(effect, Happens):
            self._queue.append((effect.element, "trigger", (effect.target, effect.variables)))
        elif isinstance(effect, LoadMore):
            self._unloaded[effect.body] = None
        else:
            raise TypeError(f"{effect!r} is no effect")

    def _spill(self, command: Command) -> None:
        if isinstance(command, ContinueWork):
            known = self._under_way.get(command.key)
            if known is None:
                self._under_way[command.key] = UnderWay(1, self.at.tenant, self.at.request)
            elif self._besides:
                return
            else:
                known.commands += 1
            self._deferred[command.key] = None
        self.notices.spilled.append(Spilled(command, self.at.tenant, self.at.request))

    # ---- the frame of a command

    def _begin(self) -> None:
        self._queue.clear()
        self._touched.clear()
        self._unloaded.clear()
        self._events = []
        self._replies = []
        self._sends = []
        self._later = False
        self._ended: list[Ended] = []
        self._available: list[tuple[str, str]] = []
        self._timers: dict[int, tuple[int, str] | None] = {}

    def _abandon(self) -> None:
        self.state.undo()
        self._begin()

    def _poisoned(self, command: Command, bug: Exception) -> Rejection:
        """A bug of ours: its tree gets an incident that parks the command, so that a person can try it again."""
        self.notices.poisoned.append((self.at.position, bug))
        reason = f"handling the command raised {type(bug).__name__}: {bug}"
        rejection = Rejection(RejectionCode.PROCESSING_ERROR, reason)
        try:
            self._take(self._refused(command, rejection))
        except Exception as another:  # the same bug, it may be: then nothing is left but the rejection
            self.notices.poisoned.append((self.at.position, another))
            self._abandon()
        return rejection

    def refuse(self, entry: Entry, now: int, rejection: Rejection) -> list[Handled]:
        """A command of ours cannot be handled or saved: it is rejected, and parked like one that raises."""
        at = self.at
        at.now = self.state.now = now
        at.position = self.state.position = entry.position
        at.request = entry.position if entry.request is None else entry.request
        at.tenant = entry.tenant
        if isinstance(entry.command, ContinueWork):
            self._arrived(entry.command)
        self._begin()
        self._take(self._refused(entry.command, rejection))
        for send in self._sends:
            self._spill(send.command)
        rows = self._rows(0, entry.request, rejection)
        self.state.keep()
        self._last, self._seq = entry.position, len(rows)
        return rows

    def _refused(self, command: Command, rejection: Rejection) -> Effects:
        """What is left of a command that cannot be handled: nobody may wait for it for ever."""
        yield from self._parked(command, rejection.reason)
        refused = COMMANDS[type(command)].refused
        if refused is not None:
            yield from refused(command, rejection, self.at)

    def _parked(self, command: Command, reason: str) -> Effects:
        """An incident that keeps the command; a timer does not fire again by itself (KERNEL.md section 2)."""
        timer = self.state.timers.get(command.key) if isinstance(command, TriggerTimer) else None
        if timer is not None:
            yield TimerFailed(timer.key)
        place = self._tree_of(command) if timer is None or timer.element is None else timer.element
        if place is not None:
            parked = {"intent": command.intent, "command": records.encode_command(command).decode()}
            message = f"Command '{command.intent}' at position {self.at.position}: {reason}"
            yield IncidentRaised(self.at.key(), place.key, COMMAND_STAGE, IncidentType.UNKNOWN, message, None, parked)

    def _tree_of(self, command: Command) -> Instance | None:
        key = getattr(command, "key", None)
        if key is None:
            return None
        state = self.state
        tables = (state.elements, state.jobs, state.incidents, state.user_tasks, state.subscriptions)
        row: Row | None = next((table[key] for table in tables if key in table), None)
        element: Element | None = None if row is None else row.place()
        return element.root if element is not None and element.root.key in state.elements else None

    def _rows(self, seq: int, request: int | None, rejection: Rejection | None) -> list[Handled]:
        """The command's own row, and one more for each answer to another request."""
        notices = self.notices
        if self._ended:
            notices.ended += self._ended
        if self._timers:
            notices.timers |= self._timers
        for available in self._available:
            notices.available[available] = notices.available.get(available, 0) + 1
        own = Handled(seq, self._root(), request, self._events, rejection)
        own.answered = rejection is None and request is None and not self._later
        rows = [own]
        for reply in self._replies:
            if reply.rejection is None and (reply.to is None or reply.to == self.at.request):
                own.answered, own.response = True, reply.body
            else:
                to = self.at.request if reply.to is None else reply.to
                rows.append(Handled(seq + len(rows), own.root, to, [], reply.rejection, True, reply.body))
        return rows

    def _root(self) -> int | None:
        """The tree that the command was about: that of the first row it changed."""
        for row in self.state.changed():
            element: Element | None = row.place()
            if element is not None:
                return element.root.key
        return None

    # ---- what follows an event (CORE D4); `row` is what the event is about, which may have ended

    def _entered(self, row: Element, event: records.InstanceCreated | records.ElementActivating) -> None:
        self.at.node(row)
        if row.scope is not None and row.scope.open_incidents:
            self._touched.add(row.scope.key)  # it may have been stuck, and is no longer
        if event.begin:
            self._queue.append((row.key, "activate", event.begin))
        else:
            self._queue.append((row.key, first_stage_of_activation(row), 0))

    def _completing(self, row: Element, _event: Event) -> None:
        """It completes before anything else happens: a loop collects of each inner instance what that one has set."""
        if row.node is MISSING:
            self.at.node(row)
        self._queue.appendleft((row.key, first_stage_of_completion(row), 0))

    def _completed(self, row: Element, event: records.ElementCompleted) -> None:
        scope = row.scope
        if scope is not None and not (row.instance.terminate_after and _ends_its_instance(row)):
            for flow in event.flows:
                self._queue.append((scope.key, "arrive", flow))
        self._gone(row, event)

    def _gone(self, row: Element, _event: Event) -> None:
        if row.scope is not None:
            self._touched.add(row.scope.key)
            if row.instance.terminate_after and _ends_its_instance(row):
                self._queue.appendleft((row.scope.key, "end", 0))  # before anything else begins
            elif row.state is TERMINATED and row.then is not None and row.then[0] == "enter":
                self._queue.append((row.scope.key, "enter", row.then[1:]))
        if isinstance(row, Instance):
            self._ended.append(Ended(row.key, row.state.value, row.variables))
            if row.start_lock is not None:
                released = ReleaseStart(row.key, row.tenant, row.process_id, row.start_lock)
                self._sends.append(Send(released))
            definition = self.state.definitions.get(row.definition_key)
            if definition is not None and definition.state == "DRAINING" and not self.at.running(definition.key):
                self._sends.append(Send(RetireDefinition(definition.key)))

    def _terminating(self, row: Element, _event: Event) -> None:
        self._queue.append((row.key, "terminate", 0))
        if row.live:
            self._touched.add(row.key)

    def _touch(self, row: Element, _event: Event) -> None:
        self._touched.add(row.key)

    def _resumed(self, _row: Element, event: records.WorkResumed) -> None:
        """Scopes are touched at no cost: otherwise a slice full of them would defer them again, for ever."""
        for item in event.items:
            if item[1] == "settle":
                self._touched.add(item[0])
            elif not self._is_to_end(item[0], item[1]):
                self._queue.append(item)

    def _is_to_end(self, key: int, stage: str) -> bool:
        """An element in a scope that ends early takes no further step: its turn comes to be told to end, and what it
        did till then might be refused by the database, so that it could not be cancelled."""
        element = self.state.elements.get(key) if stage in STAGES and stage != "terminate" else None
        scope = None if element is None else element.scope
        while scope is not None:
            if scope.then is not None or scope.state is TERMINATING:
                return True
            scope = scope.scope
        return False

    def _resolved(self, row: Incident, _event: Event) -> None:
        if row.stage and row.stage not in (COMMAND_STAGE, DEADLOCK_STAGE):
            self._queue.append((row.element.key, row.stage, row.argument))
        if row.element.tokens:
            self._touched.add(row.element.key)  # whether it is stuck was not looked at meanwhile

    def _note_untriggered(self, key: int) -> None:
        """A trigger that came too early changed nothing: whoever waits for the timer must hear that it is pending."""
        timer = self.state.timers.get(key)
        if timer is not None and timer.state == "PENDING":
            self.notices.timers[key] = timer.due_at, timer.tenant

    def _timed(self, row: Timer, _event: Event) -> None:
        self._timers[row.key] = (row.due_at, row.tenant) if row.state == "PENDING" else None

    def _offered(self, row: Job, _event: Event) -> None:
        if row.lease in ("ready", "backoff"):  # with a backoff, pollers must learn when it ends
            self._available.append((row.type, row.element.instance.tenant))


def _ends_its_instance(element: Element) -> bool:
    """Of a loop the body does, and not each of its instances."""
    return element.element in element.instance.terminate_after and not element.is_inner


FOLLOW: dict[type[Event], Callable[[Processor, Any, Any], None]] = {
    records.InstanceCreated: Processor._entered,
    records.ElementActivating: Processor._entered,
    records.ElementCompleting: Processor._completing,
    records.ElementCompleted: Processor._completed,
    records.ElementTerminating: Processor._terminating,
    records.ElementTerminated: Processor._gone,
    records.ScopeInterrupted: Processor._touch,
    records.LoopStarted: Processor._touch,
    records.WorkResumed: Processor._resumed,
    records.IncidentResolved: Processor._resolved,
    records.TimerScheduled: Processor._timed,
    records.TimerMoved: Processor._timed,
    records.TimerFailed: Processor._timed,
    records.TimerTriggered: Processor._timed,
    records.TimerCanceled: Processor._timed,
    records.JobCreated: Processor._offered,
    records.JobFailed: Processor._offered,
    records.JobReleased: Processor._offered,
}

_TABLES = {
    NeedKind.INSTANCE: "elements",
    NeedKind.ELEMENT: "elements",
    NeedKind.JOB: "jobs",
    NeedKind.TIMER: "timers",
    NeedKind.SUBSCRIPTION: "subscriptions",
    NeedKind.DEFINITION: "definitions",
}
"""Where the state has what a need asks for by its key."""

_EVENTS = {kind: (applier, FOLLOW.get(kind)) for kind, applier in APPLY.items()}
