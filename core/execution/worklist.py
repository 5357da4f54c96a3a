"""The loop of one command, to quiescence or to the end of its budget (docs/design/execution.md §2, §4 and §5).

The queue holds items `(element key, stage, argument)`. The effects of a stage are collected, and then applied.
`consequences.FOLLOW` adds the work that follows each event. When the queue is empty, the scopes in the settle queue
settle, innermost first. When the budget is used up, the tree keeps the remaining work for a later command.
"""

from __future__ import annotations

from collections.abc import Callable
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
from vivero.core.records.effects import (
    AwaitAgain,
    Check,
    Effects,
    Enter,
    Fail,
    Happens,
    LoadMore,
    Reply,
    ReplyLater,
    Send,
    failing,
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
        self._written = 0
        """`State.written` when the quantum began."""
        self._next_written = 0
        """`State.written` at which characters are charged again."""

    def begin_quantum(self) -> None:
        self.used = self._charged = self.view.budget.steps = 0
        self._written = self.state.written
        self._next_written = self._written + QUANTUM_CHARACTERS // self._max_cost

    def _charge(self) -> None:
        """Charge the written characters and the steps of expressions."""
        written = self.state.written
        of_characters = (written - self._written) * self._max_cost // QUANTUM_CHARACTERS
        cost = of_characters + self.view.budget.steps * self._max_cost // QUANTUM_STEPS
        self.used += cost - self._charged
        self._charged = cost
        self._next_written = written + QUANTUM_CHARACTERS // self._max_cost

    def drain(self) -> None:
        """Run all work, or defer the rest when the budget is used up."""
        queue, settle_queue, state = self.queue, self.settle_queue, self.state
        new, waiting = settle_queue.new, settle_queue.waiting
        if self.held:  # what an operation in pages has begun waits for the last page
            self._defer()
        while queue or new or waiting:
            if state.written > self._next_written:
                self._charge()
            if self.used >= self.limit:
                self._defer()
                break
            if queue:
                key, stage, argument = queue.popleft()
                self._run(key, stage, argument)
            else:
                self.used += ITEM_COST
                self._settle(settle_queue.pop(state.elements))
        if self.unloaded:
            self._defer()
        if self.suspended:
            self._suspend_items()

    # ---- items of the queue

    def _run(self, key: int, stage: str, argument: Any) -> None:
        self.used += TERMINATION_COST if stage == "terminate" else ITEM_COST
        element = self.state.elements.get(key)
        if element is None:
            return
        if element.instance.suspended_at is not None and is_stopped(element) and not _empties(element, stage):
            self.suspended.append((key, stage, argument))
            return
        staged = STAGES.get(stage)
        if staged is None:
            self._run_other(element, stage, argument)
            return
        state, effects_of, following = staged
        if element.state is state and not (state is ACTIVATING and self.ending.covers(element.scope)):
            if element.node is MISSING and state is not TERMINATING:
                self.view.node(element)
            try:
                effects = effects_of(element, self.view, argument)
            except Fail as failure:
                effects = failing(failure)
            done = self.take(effects, element, stage, argument)
            if done and following is not None and not element.waits.jobs:
                following = next_stage(following, element)
                self.queue.appendleft((key, following, 0))  # before other work can change its variables

    def _run_other(self, scope: Element, stage: str, argument: Any) -> None:
        if stage == "settle":
            self.settle_queue.add(scope.key)
        elif stage == "end":
            self._end(scope)
        elif stage == "check":
            self._check(scope, argument)
        elif stage == "await again":
            self._await_again(scope, argument)
        elif stage == RESUME_WAITS:
            self.take(resume_waits(scope.instance, argument, self.view))
        elif stage == RESCHEDULE:
            self.take(reschedule(scope, argument, self.view))
        elif stage == AWAIT_MESSAGE:
            self.take(await_message(scope, argument, self.view))
        elif stage in PAGES:
            size = max(LEAST_OF_PAGE, PER_ITEM_OF_PAGE * self.limit // ITEM_COST)
            self.take(_page_of(stage)(scope.instance, argument, self.view, size))
            self.used = max(self.used, self.limit)  # one transaction saves one page
        elif self.ending.covers(scope):
            return  # nothing begins in a scope that ends early
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

    def _enter(self, scope: Element, node: str, variables: dict[str, str] | None, times: int = 1) -> None:
        """Enter a boundary event whose host has ended; without variables, what a modification activates so often."""
        if scope.state is not ACTIVATED:
            return
        entered = self.view.model(scope.instance.definition_key).nodes[node]
        for _ in range(min(times, ENTERED_TOGETHER)):
            self.take(enter(entered, scope, self.view, occurred=variables))
        if times > ENTERED_TOGETHER:
            self.queue.append((scope.key, "enter", (node, None, times - ENTERED_TOGETHER)))

    def _end(self, scope: Element) -> None:
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
        if element.state is ACTIVATED:
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
        before = len(self.events)
        if scope.then is not None or scope.state is TERMINATING:
            self._empty(scope)
            if scope.live and len(self.events) - before < most_told(scope):
                return  # the last child to end queues it again
        elif scope.state is ACTIVATED and not is_deferred(scope, self.view, "enter"):
            self._join(scope)
            if len(self.events) == before:
                self.take(ELEMENTS[scope.type].settle(scope, self.view), scope, "settle")
            if len(self.events) == before and (scope.waits.incidents or (scope.tokens and not scope.live)):
                self.take(deadlocks.check(scope, self.view))
        if len(self.events) > before:
            self.settle_queue.add(scope.key)

    def _join(self, scope: Element) -> None:
        """Run the joins of the scope that wait for others: a token that one of them waited for may have moved."""
        joins = (self.view.node(scope) if scope.node is MISSING else scope.node).joins
        if joins and not (scope.node.loop is not None and not scope.is_inner):
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

    def take(self, effects: Effects, element: Element | None = None, stage: str = "", argument: Any = 0) -> bool:
        """Collect the effects of a stage, then apply them. Returns False if the stage failed and raised an incident."""
        done = True
        try:
            collected = list(effects)
            if len(collected) > FREE_CHANGES:
                self.used += cost_of(collected, stage)
                self.used += len(collected) // EFFECTS_PER_COST if element is None else 0
        except Fail as failure:
            if element is None:
                raise
            done = False
            argument = 0 if stage in RESTARTED else argument  # all its listeners run again
            again = failure.stage or stage
            raised = IncidentRaised(self.view.key(), element.key, again, failure.type, failure.message, None, argument)
            collected = [*failure.facts, raised]
        if self.view.budget.spent:
            self.view.budget.begin_stage()
            self._charge()
        state, events = self.state, self.events
        for effect in collected:
            found = _EVENTS.get(type(effect))  # type: ignore[arg-type]  # the table has no other effects
            if found is None:
                self._take_other(effect)
                continue
            applier, follow = found
            row = applier(state, effect)
            events.append(effect)  # type: ignore[arg-type]  # the table has events only
            if follow is not None:
                follow(self, row, effect)
        if state.variable_changes:
            self._variables_changed(state.variable_changes)
        return done

    def _variables_changed(self, changes: list[VariableChange]) -> None:
        """Check each affected subscription once. Those of gateways are checked when their scopes settle."""
        watching = self.state.watching
        self.used += sum(len(watching.get(scope.instance.key, ())) for scope, _, _ in changes) // CHECKS_PER_COST
        for one in subscriptions.affected(changes, self.view):
            if one.target in self.view.node(one.element).joins:
                self.settle_queue.add(one.element.key)
            else:
                self.queue.append((one.element.key, "check", one.key))
        changes.clear()

    def _take_other(self, effect: object) -> None:
        if isinstance(effect, Reply):
            self.replies.append(effect)
        elif isinstance(effect, Send):
            self.sends.append(effect)
        elif isinstance(effect, ReplyLater):
            self.later = True
        elif isinstance(effect, Happens):
            self.queue.append((effect.element, "trigger", (effect.target, effect.variables)))
        elif isinstance(effect, Enter):
            self.queue.append((effect.scope, "enter", (effect.node, None, effect.times)))
        elif isinstance(effect, Check):
            self.queue.append((effect.element, "check", effect.subscription))
        elif isinstance(effect, AwaitAgain):
            self.queue.append((effect.element, "await again", effect.target))
        elif isinstance(effect, LoadMore):
            self.unloaded[effect.body] = None
        else:
            raise TypeError(f"{effect!r} is not an effect")


def _page_of(stage: str) -> Callable[[Instance, Any, View, int], Effects]:
    """The function of a page. It is looked up in this module at each page, so that a test can replace it."""
    pages = {CHECK_PAGE: check_page, MOVE_PAGE: move_page, RENAME_PAGE: rename_page, TERMINATE_PAGE: terminate_page}
    return pages[stage]


_EVENTS = {kind: (applier, FOLLOW.get(kind)) for kind, applier in APPLY.items()}
"""Event type → its applier, and the function that adds the work that follows."""


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
