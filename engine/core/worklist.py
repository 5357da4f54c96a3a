"""The loop of one command, to quiescence or to the end of its quantum.

Its work is a queue of items `(element key, stage, argument)`. A stage's effects are collected, then applied;
`FOLLOW` says what each event puts into the queue. When the queue is empty, touched scopes settle, innermost
first. When the quantum is used up, what is left is saved in the tree and goes on as a later command.
docs/design/execution.md §2, §4 and §5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from vivero.engine.core.apply import APPLY
from vivero.engine.core.changes import FREE_CHANGES, cost_of
from vivero.engine.core.dispatch import ELEMENTS
from vivero.engine.core.ending import Ending, ends_its_instance
from vivero.engine.core.events.behaviour import VariableChange
from vivero.engine.core.lifecycle import (
    HEARD,
    LISTENERS,
    STAGES,
    empty,
    first_stage_of_activation,
    first_stage_of_completion,
    most_told,
    next_stage,
)
from vivero.engine.core.outcomes import Ended
from vivero.engine.core.records.base import Event
from vivero.engine.core.records.catalogue import RetireDefinition
from vivero.engine.core.records.effects import Check, Effects, Fail, Happens, LoadMore, Reply, ReplyLater, Send, failing
from vivero.engine.core.records.instances import (
    COMMAND_STAGE,
    DEADLOCK_STAGE,
    ContinueWork,
    ElementActivating,
    ElementCompleted,
    ElementCompleting,
    ElementTerminated,
    ElementTerminating,
    IncidentRaised,
    IncidentResolved,
    InstanceCreated,
    LoopStarted,
    ScopeEmptied,
    ScopeInterrupted,
    WorkDeferred,
    WorkResumed,
)
from vivero.engine.core.records.jobs import JobCompleted, JobCreated, JobFailed, JobReleased
from vivero.engine.core.records.messages import ReleaseStart
from vivero.engine.core.records.timers import TimerCanceled, TimerFailed, TimerMoved, TimerScheduled, TimerTriggered
from vivero.engine.core.rules import QUANTUM_CHARACTERS, QUANTUM_STEPS
from vivero.engine.core.settle_queue import SettleQueue
from vivero.engine.core.shared import deadlocks, subscriptions
from vivero.engine.core.shared.deferred import is_deferred, is_idle
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.state.instance_tree import (
    ACTIVATED,
    ACTIVATING,
    MISSING,
    TERMINATED,
    TERMINATING,
    Element,
    Incident,
    Instance,
    Job,
    Timer,
)
from vivero.engine.core.state.state import State
from vivero.engine.core.view import View

ITEM_COST = 4
TERMINATION_COST = 1
"""Ending an element is cheap: a quantum holds four times as many of these."""
LOOKS_PER_COST = 32
"""Such a join looks at each place that has a token."""


class Worklist:
    """Works off what one command has begun, and holds what came of it until the next one begins."""

    def __init__(self, state: State, view: View, limit: int) -> None:
        self.state = state
        self.view = view
        self.limit = self.quantum = self._whole = limit
        """What one command and its follow-ups may cost before the rest is deferred, and what deferred work may."""
        self.used = 0
        """Of that, by the quantum: for items, rows, characters that are written, and steps of expressions."""
        self.events: list[Event] = []
        self.replies: list[Reply] = []
        self.later = False
        """Whether a later command answers this one."""
        self.sends: list[Send] = []
        self.ended: list[Ended] = []
        self.available: list[tuple[str, str]] = []
        """(type, tenant) of jobs that became available."""
        self.timers: dict[int, tuple[int, str] | None] = {}
        """See `Notices.timers`."""
        self._queue: deque[tuple[int, str, Any]] = deque()
        self._settle_queue = SettleQueue()
        self._unloaded: dict[int, None] = {}
        """Bodies of paged loops that go on when more of them has been loaded."""
        self._ending = Ending()
        self._charged = 0
        """Of `used`: for characters and steps."""
        self._written = 0
        """`State.written` when the quantum began."""
        self._next_written = 0
        """When there are more of them to be charged."""

    def begin_quantum(self) -> None:
        self.used = self._charged = self.view.steps = 0
        self._written = self.state.written
        self._next_written = self._written + QUANTUM_CHARACTERS // self._whole

    def _charge(self) -> None:
        """Characters that were written, and steps that expressions took."""
        written = self.state.written
        of_characters = (written - self._written) * self._whole // QUANTUM_CHARACTERS
        cost = of_characters + self.view.steps * self._whole // QUANTUM_STEPS
        self.used += cost - self._charged
        self._charged = cost
        self._next_written = written + QUANTUM_CHARACTERS // self._whole

    def begin(self) -> None:
        if self.view.spent:
            self.view.begin_stage()
        if self._queue or self._settle_queue.new or self._settle_queue.waiting or self._unloaded:
            self._forget_items()
        self._ending.forget()
        self.events = []
        self.replies = []
        self.sends = []
        self.later = False
        self.ended = []
        self.available = []
        self.timers = {}

    def _forget_items(self) -> None:
        self._queue.clear()
        self._settle_queue.clear()
        self._unloaded.clear()

    def drain(self) -> None:
        queue, touched, state = self._queue, self._settle_queue, self.state
        new, waiting = touched.new, touched.waiting
        while queue or new or waiting:
            if state.written > self._next_written:
                self._charge()
            if self.used >= self.limit:
                self._defer()
                return
            if queue:
                key, stage, argument = queue.popleft()
                self._run(key, stage, argument)
            else:
                self.used += ITEM_COST
                self._settle(touched.pop(state.elements))
        if self._unloaded:
            self._defer()

    # ---- items of the queue

    def _run(self, key: int, stage: str, argument: Any) -> None:
        self.used += TERMINATION_COST if stage == "terminate" else ITEM_COST
        element = self.state.elements.get(key)
        if element is None:
            return
        staged = STAGES.get(stage)
        if staged is None:
            self._run_in_scope(element, stage, argument)
            return
        state, effects_of, following = staged
        if element.state is state and not (state is ACTIVATING and self._ending.covers(element.scope)):
            if element.node is MISSING:
                self.view.node(element)
            try:
                effects = effects_of(element, self.view, argument)
            except Fail as failure:
                effects = failing(failure)
            done = self.take(effects, element, stage, argument)
            if done and following is not None and not element.jobs:
                following = next_stage(following, element)
                self._queue.appendleft((key, following, 0))  # before another can change what it has set

    def _run_in_scope(self, scope: Element, stage: str, argument: Any) -> None:
        if stage == "settle":
            self._settle_queue.add(scope.key)
        elif stage == "end":
            self._end(scope)
        elif stage == "check":
            self._check(scope, argument)
        elif self._ending.covers(scope):
            return  # nothing begins in there
        elif stage == "arrive":
            self._arrive(scope, argument)
        elif stage == "enter":
            self._enter(scope, *argument)
        elif stage == "trigger":
            self._trigger(scope, argument)
        else:
            raise LookupError(f"there is no stage {stage!r}")

    def _arrive(self, scope: Element, flow: str) -> None:
        if scope.state is ACTIVATED:
            model = self.view.model(scope.instance.definition_key)
            node = model.nodes[model.flows[flow].target]
            self.take(ELEMENTS[node.type].arrive(node, flow, scope, self.view), scope, "arrive", flow)

    def _enter(self, scope: Element, node: str, variables: dict[str, str]) -> None:
        """A boundary event, once its host has ended."""
        if scope.state is ACTIVATED:
            nodes = self.view.model(scope.instance.definition_key).nodes
            self.take(enter(nodes[node], scope, self.view, occurred=variables))

    def _end(self, scope: Element) -> None:
        """Its instance was made to be terminated after an element, which has ended in this scope: nothing follows.

        All scopes around it are told at once: one that is told later would go on meanwhile.
        """
        around = [scope]
        while around[-1] is not scope.instance and around[-1].scope is not None:
            around.append(around[-1].scope)
        alive = (one.key for one in around if one.state is not TERMINATING)
        self.take(ElementTerminating(key) for key in alive)

    def _trigger(self, element: Element, argument: tuple[str, dict[str, str]]) -> None:
        target, variables = argument
        if element.state is ACTIVATED:
            node = self.view.model(element.instance.definition_key).nodes[target]
            effects = ELEMENTS[element.type].trigger(element, node, variables, self.view)
            self.take(effects, element, "trigger", argument)

    def _check(self, element: Element, key: int) -> None:
        """Whether what its subscription `key` waits for has happened."""
        subscription = element.subscriptions.get(key)
        if subscription is not None and not self._ending.covers(element.scope):
            self.take(subscriptions.check(subscription, self.view), element, "check", key)

    # ---- scopes that settle

    def _settle(self, scope: Element | None) -> None:
        """What follows in a scope that is quiet. Not while a boundary event whose host has ended is to be entered by a
        later quantum: till then no place holds its token. One in a scope that is to end has its turn when it is told.
        """
        if scope is None:
            return
        if scope.scope is not None and scope.state is not TERMINATING and self._ending.covers(scope.scope):
            return
        if scope.pages is not None:  # no more of a long loop than a quantum, whatever command begins or ends it
            self.used = max(self.used, self.limit - self.quantum)
        before = len(self.events)
        if scope.then is not None or scope.state is TERMINATING:
            self._empty(scope)
            if scope.live and len(self.events) - before < most_told(scope):
                return  # all have been told, and the end of the last one touches it
        elif scope.state is ACTIVATED and not is_deferred(scope, "enter"):
            self._join(scope)
            if len(self.events) == before:
                self.take(ELEMENTS[scope.type].settle(scope, self.view), scope, "settle")
            if len(self.events) == before and (scope.open_incidents or (scope.tokens and not scope.live)):
                self.take(deadlocks.check(scope, self.view))
        if len(self.events) > before:
            self._settle_queue.add(scope.key)

    def _join(self, scope: Element) -> None:
        """Joins that the settling of their scope decides: what moved may have been what they waited for."""
        joins = (self.view.node(scope) if scope.node is MISSING else scope.node).joins
        if joins and not (scope.node.loop is not None and not scope.is_inner):
            self.used += len(joins) * len(scope.tokens) // LOOKS_PER_COST
            nodes = self.view.model(scope.instance.definition_key).nodes
            for gateway in joins:
                self.take(ELEMENTS[nodes[gateway].type].join(nodes[gateway], scope, self.view), scope, "settle")

    def _empty(self, scope: Element) -> None:
        if scope.live or scope.state is TERMINATING:
            self.take(empty(scope, self.view))
        elif scope.state is ACTIVATED:
            self.take(self._take_over(scope), scope, "settle")

    def _take_over(self, scope: Element) -> Effects:
        """What the scope was interrupted for."""
        assert scope.then is not None, "a scope is emptied for a reason"
        if scope.then[0] == "complete":
            yield ElementCompleting(scope.key)
        else:
            _, node, variables = scope.then
            yield ScopeEmptied(scope.key)
            nodes = self.view.model(scope.instance.definition_key).nodes
            yield from enter(nodes[node], scope, self.view, occurred=variables)

    # ---- what is left when the quantum is used up

    def _defer(self) -> None:
        """Save what is left in the trees it belongs to; a later command goes on with it."""
        left: dict[int, list[tuple[int, str, Any]]] = {}
        settles = ((key, "settle", 0) for key in dict.fromkeys((*self._settle_queue, *self._unloaded)))
        for item in (*self._queue, *settles):
            element = self.state.elements.get(item[0])
            if element is not None and not self._waits_already(element, item) and not is_idle(element, item[1]):
                left.setdefault(element.root.key, []).append(item)
        self._forget_items()
        for root, work in left.items():
            self.take((WorkDeferred(root, tuple(work)),))

    def _waits_already(self, element: Element, item: tuple[int, str, Any]) -> bool:
        """A command that goes on with it is under way: one is enough, however many commands find too little loaded."""
        return element.pages is not None and item in element.root.work

    # ---- effects

    def take(self, effects: Effects, element: Element | None = None, stage: str = "", argument: Any = 0) -> bool:
        """Collect a stage's effects, then apply them. A `Fail` on the way becomes an incident; False then."""
        done = True
        try:
            collected = list(effects)
            if len(collected) > FREE_CHANGES:
                self.used += cost_of(collected, stage)
        except Fail as failure:
            if element is None:
                raise
            done = False
            argument = 0 if stage in HEARD else argument  # all of its listeners are told again
            collected = [
                IncidentRaised(self.view.key(), element.key, stage, failure.type, failure.message, None, argument)
            ]
        if self.view.spent:
            self.view.begin_stage()
            self._charge()
        state, events = self.state, self.events
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
        if state.variable_changes:
            self._variables_changed(state.variable_changes)
        return done

    def _variables_changed(self, changes: list[VariableChange]) -> None:
        """Each subscription that they concern has one turn, however many they are."""
        watching = self.state.watching
        self.used += sum(len(watching.get(scope.instance.key, ())) for scope, _, _ in changes) // LOOKS_PER_COST
        for one in subscriptions.affected(changes, self.view):
            self._queue.append((one.element.key, "check", one.key))
        changes.clear()

    def _other(self, effect: object) -> None:
        if isinstance(effect, Reply):
            self.replies.append(effect)
        elif isinstance(effect, Send):
            self.sends.append(effect)
        elif isinstance(effect, ReplyLater):
            self.later = True
        elif isinstance(effect, Happens):
            self._queue.append((effect.element, "trigger", (effect.target, effect.variables)))
        elif isinstance(effect, Check):
            self._queue.append((effect.element, "check", effect.subscription))
        elif isinstance(effect, LoadMore):
            self._unloaded[effect.body] = None
        else:
            raise TypeError(f"{effect!r} is no effect")

    # ---- what follows an event (docs/design/execution.md §4); `row` is what the event is about, which may have ended

    def _entered(self, row: Element, event: InstanceCreated | ElementActivating) -> None:
        row.node = self.view.model(row.instance.definition_key).nodes[row.element]
        if row.scope is not None and row.scope.open_incidents:
            self._settle_queue.add(row.scope.key)  # it may have been stuck, and is no longer
        if event.begin:
            self._queue.append((row.key, "activate", event.begin))
        else:
            self._queue.append((row.key, first_stage_of_activation(row), 0))

    def _completing(self, row: Element, _event: Event) -> None:
        """It completes before anything else happens: a loop collects of each inner instance what that one has set."""
        if row.node is MISSING:
            self.view.node(row)
        self._queue.appendleft((row.key, first_stage_of_completion(row), 0))

    def _completed(self, row: Element, event: ElementCompleted) -> None:
        scope = row.scope
        if scope is not None and not (row.instance.terminate_after and ends_its_instance(row)):
            for flow in event.flows:
                self._queue.append((scope.key, "arrive", flow))
        self._gone(row, event)

    def _gone(self, row: Element, _event: Event) -> None:
        if row.scope is not None:
            self._settle_queue.add(row.scope.key)
            if row.instance.terminate_after and ends_its_instance(row):
                self._queue.appendleft((row.scope.key, "end", 0))  # before anything else begins
            elif row.state is TERMINATED and row.then is not None and row.then[0] == "enter":
                self._queue.append((row.scope.key, "enter", row.then[1:]))
        if type(row) is Instance:
            if row.root is row:  # nobody waits for the end of a called one
                self.ended.append(Ended(row.key, row.state.value, row.variables))
            if row.start_lock is not None:
                released = ReleaseStart(row.key, row.tenant, row.process_id, row.start_lock)
                self.sends.append(Send(released))
            definition = self.state.catalogue.definitions.get(row.definition_key)
            if definition is not None and definition.state == "DRAINING" and not self.view.running(definition.key):
                self.sends.append(Send(RetireDefinition(definition.key)))

    def _terminating(self, row: Element, _event: Event) -> None:
        self._ending.forget()
        self._queue.append((row.key, "terminate", 0))
        if row.live:
            self._settle_queue.add(row.key)

    def _touch(self, row: Element, _event: Event) -> None:
        self._settle_queue.add(row.key)

    def _interrupted(self, row: Element, _event: Event) -> None:
        self._ending.forget()
        self._settle_queue.add(row.key)

    def _goes_on(self, row: Instance, _event: Event) -> None:
        """A later command is to go on with the work of the tree: one, however often that is found."""
        following = Send(ContinueWork(row.key), later=True)
        if row.work and following not in self.sends:
            self.sends.append(following)

    def _resumed(self, row: Instance, event: WorkResumed) -> None:
        """Scopes are touched at no cost: otherwise a quantum full of them would defer them again, for ever."""
        self._goes_on(row, event)
        for item in event.items:
            if item[1] == "settle":
                self._settle_queue.add(item[0])
            elif not self._is_dropped(item[0], item[1]):
                self._queue.append(item)

    def _is_dropped(self, key: int, stage: str) -> bool:
        """An element in a scope that ends early takes no further step: its turn comes to be told to end, and what it
        did till then might be refused by the database, so that it could not be cancelled."""
        element = self.state.elements.get(key) if stage in STAGES and stage != "terminate" else None
        return element is not None and self._ending.covers(element.scope)

    def _resolved(self, row: Incident, _event: Event) -> None:
        if row.stage and row.stage not in (COMMAND_STAGE, DEADLOCK_STAGE):
            self._queue.append((row.element.key, row.stage, row.argument))
        if row.element.tokens:
            self._settle_queue.add(row.element.key)  # whether it is stuck was not looked at meanwhile

    def _worked(self, row: Job, _event: Event) -> None:
        """Behind a listener the next one has its turn, before another can change what it has set."""
        if row.listener_event in LISTENERS:
            self._queue.appendleft((row.element.key, LISTENERS[row.listener_event], row.listener_index + 1))

    def _timed(self, row: Timer, _event: Event) -> None:
        self.timers[row.key] = (row.due_at, row.tenant) if row.state == "PENDING" else None

    def _offered(self, row: Job, _event: Event) -> None:
        if row.lease in ("ready", "backoff"):  # with a backoff, pollers must learn when it ends
            self.available.append((row.type, row.element.instance.tenant))


FOLLOW: dict[type[Event], Callable[[Worklist, Any, Any], None]] = {
    InstanceCreated: Worklist._entered,
    ElementActivating: Worklist._entered,
    ElementCompleting: Worklist._completing,
    ElementCompleted: Worklist._completed,
    ElementTerminating: Worklist._terminating,
    ElementTerminated: Worklist._gone,
    ScopeInterrupted: Worklist._interrupted,
    LoopStarted: Worklist._touch,
    WorkDeferred: Worklist._goes_on,
    WorkResumed: Worklist._resumed,
    IncidentResolved: Worklist._resolved,
    TimerScheduled: Worklist._timed,
    TimerMoved: Worklist._timed,
    TimerFailed: Worklist._timed,
    TimerTriggered: Worklist._timed,
    TimerCanceled: Worklist._timed,
    JobCreated: Worklist._offered,
    JobCompleted: Worklist._worked,
    JobFailed: Worklist._offered,
    JobReleased: Worklist._offered,
}

_EVENTS = {kind: (applier, FOLLOW.get(kind)) for kind, applier in APPLY.items()}
