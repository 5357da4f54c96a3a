"""The loop of one command, to quiescence or to the end of its budget (docs/design/execution.md §2, §4 and §5).

The queue holds items `(element key, stage, argument)`. The effects of a stage are collected, and then applied.
`consequences.FOLLOW` adds the work that follows each event. When the queue is empty, the scopes in the settle queue
settle, innermost first. When the budget is used up, the tree keeps the remaining work for a later command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from vivero.core.apply import APPLY
from vivero.core.dispatch import ELEMENTS
from vivero.core.events import subscriptions
from vivero.core.events.behaviour import VariableChange
from vivero.core.execution.changes import FREE_CHANGES, cost_of
from vivero.core.execution.consequences import FOLLOW
from vivero.core.execution.lifecycle import (
    RESTARTED,
    STAGES,
    empty,
    most_told,
    next_stage,
)
from vivero.core.execution.work import Work
from vivero.core.migration.pages import check_page, move_page, rename_page
from vivero.core.modifications.pages import terminate_page
from vivero.core.records.base import Event
from vivero.core.records.effects import (
    AwaitAgain,
    Check,
    Effect,
    Effects,
    Enter,
    Fail,
    Happens,
    LoadMore,
    Reply,
    ReplyLater,
    Send,
)
from vivero.core.records.instances import (
    ElementCompleting,
    ElementTerminating,
    IncidentRaised,
    ScopeEmptied,
    ScopeResumed,
    WorkDeferred,
)
from vivero.core.records.migrations import CHECK_PAGE, MOVE_PAGE, RENAME_PAGE
from vivero.core.records.modifications import PAGES, TERMINATE_PAGE
from vivero.core.records.suspensions import AWAIT_MESSAGE, RESCHEDULE, RESUME_WAITS, WorkSuspended
from vivero.core.rules import QUANTUM_CHARACTERS, QUANTUM_STEPS
from vivero.core.shared import deadlocks
from vivero.core.shared.compensations import ROLL_BACK, roll_back
from vivero.core.shared.deferred_work import is_deferred, is_idle
from vivero.core.shared.flows import enter
from vivero.core.shared.suspended_work import ONCE, await_message, is_stopped, reschedule, resume_waits
from vivero.core.state.instance_tree import (
    ACTIVATED,
    ACTIVATING,
    MISSING,
    TERMINATING,
    Element,
    Instance,
)
from vivero.core.state.state import State
from vivero.core.view import View

ITEM_COST = 4
TERMINATION_COST = 1
"""Ending an element is cheap: a quantum ends four times as many elements as it runs other stages."""
EFFECTS_PER_COST = 4
"""Effects of a command itself for one unit of cost: those of a modification of thousands of elements take a quantum."""
ENTERED_TOGETHER = 25
"""An item activates at most so many elements. Each of them is an item of its own, which pays for it."""
PER_ITEM_OF_PAGE = 4
"""Elements of an operation in pages for one item. A quantum is smaller while others have commands."""
LEAST_OF_PAGE = 100
"""Elements of the smallest page: each page is a transaction."""
CHECKS_PER_COST = 32
"""Places that an inclusive join checks, or subscriptions that a changed variable may concern, for one unit of cost."""


class Worklist(Work):
    """Runs the work of one command within a budget, and holds its results until the next one begins."""

    def __init__(self, state: State, view: View, limit: int) -> None:
        super().__init__(state, view)
        self.limit = self.quantum = self._max_cost = limit
        """Budgets of a command with its follow-ups, of a quantum of deferred work, and of the largest quantum."""
        self.used = 0
        """The used part of the budget: items, rows, written characters, and steps of expressions."""
        self._charged = 0
        """The part of `used` for characters and steps."""
        self._charge_every = QUANTUM_CHARACTERS // limit
        """Characters that cost something."""
        self._written = 0
        """`State.written` when the quantum began."""
        self._next_written = 0
        """`State.written` at which characters are charged again."""

    def begin_quantum(self) -> None:
        self.used = self._charged = self.budget.steps = 0
        self._written = written = self.state.written
        self._next_written = written + self._charge_every

    def _charge(self) -> None:
        """Charge the written characters and the steps of expressions."""
        written = self.state.written
        of_characters = (written - self._written) * self._max_cost // QUANTUM_CHARACTERS
        cost = of_characters + self.budget.steps * self._max_cost // QUANTUM_STEPS
        self.used += cost - self._charged
        self._charged = cost
        self._next_written = written + self._charge_every

    def drain(self) -> None:
        """Run all work, or defer the rest when the budget is used up."""
        state, view, elements = self.state, self.view, self.state.elements
        queue, new, waiting = self.queue, self.settling, self.settle_queue.waiting
        if self.held:  # what an operation in pages has begun waits for the last page
            self._defer()
        while queue or new or waiting:
            if state.written > self._next_written:
                self._charge()
            if self.used >= self.limit:
                self._defer()
                break
            if not queue:
                self.used += ITEM_COST
                self._settle(self.settle_queue.pop(elements))
                continue
            key, stage, argument = queue.popleft()
            wanted, effects_of, following, cost = _ITEMS[stage]
            self.used += cost
            element = elements.get(key)
            if element is None:
                continue
            if element.instance.suspended_at is not None and is_stopped(element) and not _empties(element, stage):
                self.suspended.append((key, stage, argument))
            elif wanted is None:
                effects_of(self, element, argument)
            elif element.state is wanted and not (wanted is ACTIVATING and self.ending.covers(element.scope)):
                if element.node is MISSING and wanted is not TERMINATING:
                    view.node(element)
                try:
                    effects = tuple(effects_of(element, view, argument))
                    if len(effects) > FREE_CHANGES:
                        self._pay(effects, stage)
                except Fail as failure:
                    effects, following = self._failed(failure, element, stage, argument), None
                self._apply(effects)
                if following is not None and not element.waits.jobs:
                    following = next_stage(following, element)
                    queue.appendleft((key, following, 0))  # before other work can change its variables
        if self.unloaded:
            self._defer()
        if self.suspended:
            self._suspend_items()

    # ---- items of the queue

    def _settle_later(self, scope: Element, _argument: object) -> None:
        self.settling[scope.key] = None

    def _resume_waits(self, element: Element, after: Any) -> None:
        self.take(resume_waits(element.instance, after, self.view))

    def _reschedule(self, element: Element, timer: int) -> None:
        self.take(reschedule(element, timer, self.view))

    def _await_message(self, element: Element, subscription: int) -> None:
        self.take(await_message(element, subscription, self.view))

    def _page(self, stage: str, element: Element, argument: Any) -> None:
        size = max(LEAST_OF_PAGE, PER_ITEM_OF_PAGE * self.limit // ITEM_COST)
        self.take(_page_of(stage)(element.instance, argument, self.view, size))
        self.used = max(self.used, self.limit)  # one transaction saves one page

    def _arrive(self, scope: Element, flow: str) -> None:
        if scope.state is ACTIVATED and not self.ending.covers(scope):
            model = self.view.model(scope.instance.definition_key)
            node = model.nodes[model.flows[flow].target]
            self.take(ELEMENTS[node.type].arrive(node, flow, scope, self.view), scope, "arrive", flow)

    def _enter(self, scope: Element, what: tuple[Any, ...]) -> None:
        """Enter a boundary event whose host has ended; without variables, what a modification activates so often."""
        if scope.state is not ACTIVATED or self.ending.covers(scope):
            return
        node, variables, times = what if len(what) > 2 else (*what, 1)
        entered = self.view.model(scope.instance.definition_key).nodes[node]
        for _ in range(min(times, ENTERED_TOGETHER)):
            self.take(enter(entered, scope, self.view, occurred=variables))
        if times > ENTERED_TOGETHER:
            self.queue.append((scope.key, "enter", (node, None, times - ENTERED_TOGETHER)))

    def _end(self, scope: Element, _argument: object) -> None:
        """Terminate the instance, because an element after which it should terminate has ended in this scope.

        All scopes up to the instance begin to terminate at once. Otherwise the outer ones would continue meanwhile.
        """
        around = [scope]
        while around[-1] is not scope.instance and around[-1].scope is not None:
            around.append(around[-1].scope)
        alive = (one.key for one in around if one.state is not TERMINATING)
        self.take(ElementTerminating(key) for key in alive)

    def _trigger(self, element: Element, argument: tuple[str, dict[str, str]]) -> None:
        target, variables = argument
        if element.state is ACTIVATED and not self.ending.covers(element):
            node = self.view.model(element.instance.definition_key).nodes[target]
            effects = ELEMENTS[element.type].trigger(element, node, variables, self.view)
            self.take(effects, element, "trigger", argument)

    def _check(self, element: Element, key: int) -> None:
        """Check whether the event that the subscription `key` waits for has happened."""
        subscription = element.waits.subscriptions.get(key)
        if subscription is not None and not self.ending.covers(element.scope):
            self.take(subscriptions.check(subscription, self.view), element, "check", key)

    def _await_again(self, element: Element, target: str) -> None:
        """Subscribe again to the event of `target`, whose definitions have all occurred."""
        if not self.ending.covers(element.scope):
            self.take(subscriptions.await_again(element, target, self.view), element, "await again", target)

    # ---- scopes that settle

    def _settle(self, scope: Element | None) -> None:
        """Decide what a quiet scope does.

        A scope waits while a later quantum has yet to enter a boundary event in it: no place holds the token of the
        ended host until then. A scope inside one that ends early waits until it terminates itself.
        """
        if scope is None:
            return
        if scope.instance.suspended_at is not None and is_stopped(scope) and not _empties(scope, "settle"):
            self.suspended.append((scope.key, "settle", 0))
            return
        if scope.scope is not None and scope.state is not TERMINATING and self.ending.covers(scope.scope):
            return
        if scope.pages is not None:  # each command runs at most a quantum of a long loop
            self.used = max(self.used, self.limit - self.quantum)
        events, before = self.events, len(self.events)
        if scope.then is not None or scope.state is TERMINATING:
            self._empty(scope)
            if scope.live and len(events) - before < most_told(scope):
                return  # the last child to end queues it again
        elif scope.state is ACTIVATED and not (scope.tree.work and is_deferred(scope, self.view, "enter")):
            if self.view.node(scope).joins:
                self._join(scope)
            if len(events) == before:
                effects = ELEMENTS[scope.type].settle(scope, self.view)
                if effects:  # most scopes wait for their children
                    self.take(effects, scope, "settle")
            if len(events) == before and (scope.waits.incidents or (scope.tokens and not scope.live)):
                self.take(deadlocks.check(scope, self.view))
        if len(events) > before:
            self.settling[scope.key] = None

    def _join(self, scope: Element) -> None:
        """Run the joins of the scope that wait for others: a token that one of them waited for may have moved."""
        joins = scope.node.joins
        if not (scope.node.loop is not None and not scope.is_inner):
            self.used += len(joins) * len(scope.tokens) // CHECKS_PER_COST
            nodes = self.view.model(scope.instance.definition_key).nodes
            for gateway in joins:
                effects = ELEMENTS[nodes[gateway].type].join(nodes[gateway], scope, self.view)
                self.take(effects, scope, "settle", gateway)

    def _empty(self, scope: Element) -> None:
        if scope.live or scope.state is TERMINATING:
            self.take(empty(scope, self.view), scope, "terminate")
        elif scope.state is ACTIVATED:
            self.take(self._after_emptying(scope), scope, "settle")

    def _after_emptying(self, scope: Element) -> Effects:
        """The effects for which the scope was interrupted."""
        assert scope.then is not None, "a scope is emptied for a reason"
        if scope.then[0] == "complete":
            yield ElementCompleting(scope.key)
        elif scope.then[0] == "resume":
            yield ScopeResumed(scope.key)
        elif scope.then == ROLL_BACK:
            yield ScopeEmptied(scope.key)
            yield from roll_back(scope, self.view)
        else:
            _, node, variables = scope.then
            yield ScopeEmptied(scope.key)
            nodes = self.view.model(scope.instance.definition_key).nodes
            yield from enter(nodes[node], scope, self.view, occurred=variables)

    # ---- deferred work

    def _defer(self) -> None:
        """Save the remaining work in its trees; a later command continues it."""
        left: dict[int, list[tuple[int, str, Any]]] = {}
        deferred: dict[int, set[tuple[int, str]]] = {}
        settles = ((key, "settle", 0) for key in dict.fromkeys((*self.settle_queue, *self.unloaded)))
        for item in (*self.queue, *settles):
            element = self.state.elements.get(item[0])
            if element is None or _is_deferred_already(element, item, deferred):
                continue
            if not is_idle(element, item[1]):
                left.setdefault(element.tree.key, []).append(item)
        self.clear_queues()
        for root, work in left.items():
            self.take((WorkDeferred(root, tuple(work)),))

    def _suspend_items(self) -> None:
        """Keep the work of suspended process instances with them, until they go on."""
        items: dict[Instance, list[tuple[int, str, Any]]] = {}
        known: dict[Instance, set[tuple[int, str, Any]]] = {}
        for item in self.suspended:
            element = self.state.elements.get(item[0])
            if element is None or is_idle(element, item[1]):
                continue
            instance = element.instance
            if item[1] in ONCE:
                if instance not in known:
                    known[instance] = {one for one in instance.suspended_work if one[1] in ONCE}
                if item in known[instance]:
                    continue
                known[instance].add(item)
            items.setdefault(instance, []).append(item)
        self.suspended = []
        self.take(WorkSuspended(instance.key, tuple(suspended)) for instance, suspended in items.items())

    # ---- effects

    def take(self, effects: Effects, element: Element | None = None, stage: str = "", argument: Any = 0) -> None:
        """Collect the effects of a stage, then apply them. If the stage of an element fails, raise an incident."""
        try:
            effects = tuple(effects)
            if len(effects) > FREE_CHANGES:
                self._pay(effects, stage, is_item=element is not None)
        except Fail as failure:
            if element is None:
                raise
            effects = self._failed(failure, element, stage, argument)
        self._apply(effects)

    def _pay(self, effects: Sequence[Effect], stage: str, *, is_item: bool = True) -> None:
        """Charge the changes of a stage. Raises Fail if they are too many."""
        self.used += cost_of(effects, stage)
        self.used += 0 if is_item else len(effects) // EFFECTS_PER_COST

    def _failed(self, failure: Fail, element: Element, stage: str, argument: Any) -> tuple[Event, ...]:
        """The incident of a stage that fails: nothing of its effects has happened."""
        argument = 0 if stage in RESTARTED else argument  # all its listeners run again
        again = failure.stage or stage
        raised = IncidentRaised(self.view.key(), element.key, again, failure.type, failure.message, None, argument)
        return (*failure.facts, raised)

    def _apply(self, effects: Iterable[Effect]) -> None:
        """Change the state by events, and add the work that follows."""
        if self.budget.spent:
            self.budget.begin_stage()
            self._charge()
        state, events = self.state, self.events
        for effect in effects:
            applier, follow = _EFFECTS[type(effect)]
            if applier is None:
                follow(self, effect)
                continue
            row = applier(state, effect)
            events.append(effect)  # type: ignore[arg-type]  # only events have appliers
            if follow is not None:
                follow(self, row, effect)
        if state.variable_changes:
            self._variables_changed(state.variable_changes)

    def _variables_changed(self, changes: list[VariableChange]) -> None:
        """Check each affected subscription once. Those of gateways are checked when their scopes settle."""
        watching = self.state.watching
        self.used += sum(len(watching.get(scope.instance.key, ())) for scope, _, _ in changes) // CHECKS_PER_COST
        for one in subscriptions.affected(changes, self.view):
            if one.target in self.view.node(one.element).joins:
                self.settling[one.element.key] = None
            else:
                self.queue.append((one.element.key, "check", one.key))
        changes.clear()


def _reply(work: Work, reply: Reply) -> None:
    work.replies.append(reply)


def _send(work: Work, send: Send) -> None:
    work.sends.append(send)


def _reply_later(work: Work, _effect: ReplyLater) -> None:
    work.later = True


def _happens(work: Work, happened: Happens) -> None:
    work.queue.append((happened.element, "trigger", (happened.target, happened.variables)))


def _enter(work: Work, entered: Enter) -> None:
    work.queue.append((entered.scope, "enter", (entered.node, None, entered.times)))


def _check(work: Work, checked: Check) -> None:
    work.queue.append((checked.element, "check", checked.subscription))


def _await_again(work: Work, awaited: AwaitAgain) -> None:
    work.queue.append((awaited.element, "await again", awaited.target))


def _load_more(work: Work, wanted: LoadMore) -> None:
    work.unloaded[wanted.body] = None


def _page_of(stage: str) -> Callable[[Instance, Any, View, int], Effects]:
    """The function of a page. It is looked up in this module at each page, so that a test can replace it."""
    pages = {CHECK_PAGE: check_page, MOVE_PAGE: move_page, RENAME_PAGE: rename_page, TERMINATE_PAGE: terminate_page}
    return pages[stage]


def _page(stage: str) -> Callable[[Worklist, Element, Any], None]:
    return lambda work, element, argument: work._page(stage, element, argument)


_OTHERS: dict[str, Callable[[Worklist, Element, Any], None]] = {
    "settle": Worklist._settle_later,
    "end": Worklist._end,
    "check": Worklist._check,
    "await again": Worklist._await_again,
    RESUME_WAITS: Worklist._resume_waits,
    RESCHEDULE: Worklist._reschedule,
    AWAIT_MESSAGE: Worklist._await_message,
    **{stage: _page(stage) for stage in PAGES},
    "arrive": Worklist._arrive,
    "enter": Worklist._enter,
    "trigger": Worklist._trigger,
}
"""Stages of the queue that belong to no state of their element."""
_ITEMS: dict[str, tuple[Any, Any, Any, int]] = {
    **{stage: (*staged, TERMINATION_COST if stage == "terminate" else ITEM_COST) for stage, staged in STAGES.items()},
    **{stage: (None, run, None, ITEM_COST) for stage, run in _OTHERS.items()},
}
"""Stage → what `STAGES` says of it and its cost; None and its function for the others."""
_EFFECTS: dict[type, tuple[Any, Any]] = {
    **{kind: (applier, FOLLOW.get(kind)) for kind, applier in APPLY.items()},
    Reply: (None, _reply),
    ReplyLater: (None, _reply_later),
    Send: (None, _send),
    Happens: (None, _happens),
    Enter: (None, _enter),
    Check: (None, _check),
    AwaitAgain: (None, _await_again),
    LoadMore: (None, _load_more),
}
"""Type of an effect → its applier, and the function that adds the work that follows. Only events have an applier."""


def _empties(scope: Element, stage: str) -> bool:
    """Whether settling only ends the children of an interrupted scope. They end while its instance is suspended, too:
    a called instance would run on otherwise, although an event sub-process has caught its error.
    """
    return stage == "settle" and scope.then is not None and scope.live > 0


def _is_deferred_already(
    element: Element, item: tuple[int, str, Any], deferred: dict[int, set[tuple[int, str]]]
) -> bool:
    """Whether the item of a paged loop is deferred, and a command is on its way to continue it. One is enough.

    `deferred` collects keys and stages of the work that each tree has already: arguments need not be hashable, and a
    tree may have ten thousand items.
    """
    if element.pages is None:
        return False
    tree = element.tree
    if tree.key not in deferred:
        deferred[tree.key] = {(key, stage) for key, stage, _ in tree.work}
    return item[:2] in deferred[tree.key] and item in tree.work
