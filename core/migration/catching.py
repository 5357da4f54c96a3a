"""The events that live elements catch: which waits stay, which are closed, and which are opened by a migration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from vivero.core.bpmn.model import Node, Process
from vivero.core.elements import user_task
from vivero.core.elements.multi_instance import prevents_paging
from vivero.core.events import subscriptions
from vivero.core.migration.checks import begin, event_type, signature
from vivero.core.migration.plan import Plan
from vivero.core.migration.target_view import TargetView
from vivero.core.records.effects import AwaitAgain, Effect, Effects, Fail, Send, Violation
from vivero.core.records.messages import OpenSubscription, SubscriptionOpened
from vivero.core.records.migrations import MoveSubscription
from vivero.core.records.timers import TimerCanceled
from vivero.core.rules import SEND_CHANGES
from vivero.core.shared import waits
from vivero.core.shared.catchers import event_node
from vivero.core.shared.jobs import cancel_jobs
from vivero.core.state.instance_tree import ACTIVATED, COMPLETING, Element, Subscription, Timer
from vivero.core.view import View

BOUNDARY, EVENT_SUB_PROCESS, INTERMEDIATE = "BOUNDARY", "EVENT_SUB_PROCESS", "INTERMEDIATE"


@dataclass(slots=True)
class Changes:
    """The effects of a migration besides renaming, and its problems."""

    effects: list[Effect] = field(default_factory=list)
    interrupting: dict[str, bool] = field(default_factory=dict)
    """Target id → whether the waits for it end when the event occurs."""
    violations: list[Violation] = field(default_factory=list)
    weight: int = 0
    """The changed rows: a follow-up counts as several."""
    waits: int = 0
    """The most effects and problems of one element."""
    is_complete: bool = True
    """Whether `effects` and `violations` have those of all elements. `interrupting` and the numbers always do."""


def changes(
    plan: Plan, view: View, most: int | None = None, *, is_trial: bool = False, is_decided: bool = False
) -> Changes:
    """The waits that are closed and opened, and the user tasks that take the place of jobs.

    The result is not complete if there would be more effects and problems than `most`. `is_trial`: nothing happens, and
    no keys are taken. `is_decided`: nothing is refused any more, and what fails now is tried again, for an incident.
    """
    found, after = Changes(), TargetView(view, plan, is_trial=is_trial)
    changing, all_of_them = [], 0
    for same in plan.kinds:
        of_first = _of_element(same[0], plan, after, is_decided) if _may_change(same[0], plan) else None
        if of_first is None:
            continue
        found.interrupting |= of_first.interrupting
        if not (of_first.effects or of_first.violations):
            continue  # nothing changes at the others either
        changing.append((same, of_first))
        number = len(of_first.effects) + len(of_first.violations)
        all_of_them += number * len(same)
        found.weight += weight_of(of_first.effects) * len(same)
        found.waits = max(found.waits, number)
    if most is not None and all_of_them > most:
        found.is_complete = False
        return found
    for same, of_first in changing:
        for element in same:
            of_one = of_first if element is same[0] else _of_element(element, plan, after, is_decided)
            found.effects += of_one.effects
            found.violations += of_one.violations
    return found


def weight_of(effects: list[Effect]) -> int:
    return sum(SEND_CHANGES if isinstance(effect, Send) else 1 for effect in effects)


def _may_change(first: Element, plan: Plan) -> bool:
    own, goal = first.waits, plan.target.nodes[plan.ids[first.element]]
    waiting = own.timers or own.subscriptions or first.pages is not None
    return bool(waiting) or _catches(plan.node(first)) or _catches(goal)


def _of_element(element: Element, plan: Plan, after: TargetView, is_decided: bool) -> Changes:
    found = Changes()
    catching = _Catching(element, plan, after, found, is_decided)
    try:
        catching.run()
    except Fail as failure:
        catching.refuse(element.element, failure.message)
    return found


def _catches(node: Node) -> bool:
    """Whether elements of the node catch events, or may need a user task. There may be thousands that do not."""
    events = node.boundaries or node.event_sub_processes or node.type == "EVENT_BASED_GATEWAY"
    return bool(events) or node.user_task is not None


class _Catching:
    """The events that one element catches, before and after."""

    def __init__(self, element: Element, plan: Plan, after: TargetView, found: Changes, is_decided: bool) -> None:
        self.element, self.plan, self.after, self.found = element, plan, after, found
        self.is_decided = is_decided
        self.node, goal = plan.node(element), plan.goal(element)
        assert goal is not None, f"the checks refuse unmapped elements: {element.element}"
        self.goal = goal

    def refuse(self, id: str, text: str) -> None:
        self.found.violations.append(Violation(begin(self.plan.instance) + text, id))

    def run(self) -> None:
        if self.element.pages is not None and prevents_paging(self.element, self.after):
            self.refuse(
                self.node.id,
                f"the active element with id '{self.node.id}' is a long loop, which is loaded in pages, and the target "
                f"element with id '{self.goal.id}' has conditional events or a cancel event inside, which such a loop "
                "cannot have.",
            )
            return
        before = dict(caught(self.element, self.node, self.plan.source))
        now = dict(caught(self.element, self.goal, self.plan.target))
        kept = self._kept(before, now)
        closed = [wait for wait in self._waits() if wait.target != self.node.id and wait.target not in kept]
        for wait in self._waits():
            if wait not in closed:
                self._keep(wait, kept)
        for wait in closed:
            self.found.effects += [*_closed(self.element, wait)]
        self._open({id: type_ for id, type_ in now.items() if id not in kept.values()}, closed)
        if self.element.state is ACTIVATED and self.goal.user_task is not None and self.node.user_task is None:
            self._change_task()

    def _change_task(self) -> None:
        """A task of the engine takes the place of the job, which stays if expressions fail after the decision."""
        try:
            self.found.effects += [*cancel_jobs(self.element), *user_task.activate(self.element, self.after)]
        except Fail:
            if not self.is_decided:
                raise

    def _waits(self) -> Iterator[Timer | Subscription]:
        yield from self.element.waits.timers.values()
        yield from self.element.waits.subscriptions.values()

    def _kept(self, before: dict[str, str], now: dict[str, str]) -> dict[str, str]:
        """Source id → target id of the mapped events of the element."""
        kept: dict[str, str] = {}
        for id, type_ in before.items():
            target = self.plan.ids.get(id)
            if target is None:
                continue
            source, goal = self.plan.source, self.plan.target
            one, other = event_node(source.nodes[id], source), event_node(goal.nodes[target], goal)
            if now.get(target) != type_:
                self._refuse_detached(id, target)
            elif signature(one) != signature(other):
                text = (
                    f"the event with id '{id}' and event type '{event_type(one)}' is mapped to '{target}' and "
                    f"different event type '{event_type(other)}'. Elements must be mapped to the same event type."
                )
                self.refuse(id, text)
            elif target in kept.values():
                self.refuse(id, f"more than one catch event is mapped to the target catch event with id '{target}'.")
            else:
                kept[id] = target
        return kept

    def _refuse_detached(self, id: str, target: str) -> None:
        self.refuse(
            id,
            f"the event with id '{id}' of the active element with id '{self.element.element}' is mapped to '{target}'. "
            "These mappings detach the boundary event from the element in the target process. "
            "Events must stay with their element.",
        )

    def _keep(self, wait: Timer | Subscription, kept: dict[str, str]) -> None:
        """The name, key and due date stay. Whether the event interrupts follows the target."""
        target, interrupting = kept.get(wait.target), True
        if target is not None and wait.type != INTERMEDIATE:
            node = event_node(self.plan.target.nodes[target], self.plan.target)
            interrupting = node.interrupting or node.awaits_all
            self.found.interrupting[target] = interrupting
        if not isinstance(wait, Subscription) or wait.correlation_key is None:
            return
        instance, process_id = self.plan.instance, self.plan.target.id
        if process_id != self.plan.process_id or interrupting != wait.interrupting:
            command = MoveSubscription(wait.key, instance.tenant, wait.correlation_key, process_id, interrupting)
            self.found.effects.append(Send(command))

    def _open(self, new: dict[str, str], closed: list[Timer | Subscription]) -> None:
        for id, type_ in new.items():
            if _is_open(self.element, type_):
                try:
                    self.found.effects += [*self._opened(id, type_, closed)]
                except Fail:
                    if not self.is_decided:
                        raise
                    self.found.effects.append(AwaitAgain(self.element.key, id))

    def _opened(self, id: str, type_: str, closed: list[Timer | Subscription]) -> Effects:
        for effect in subscriptions.subscribe_to(self.element, self.plan.target.nodes[id], type_, self.after):
            self._check_name(effect, id, closed)
            yield _of_target(effect, self.plan.target.id)

    def _check_name(self, effect: Effect, id: str, closed: list[Timer | Subscription]) -> None:
        """An element has at most one subscription to each message."""
        if not isinstance(effect, SubscriptionOpened) or effect.correlation_key is None:
            return
        for wait in closed:
            if isinstance(wait, Subscription) and wait.correlation_key is not None and wait.name == effect.name:
                text = (
                    f"a subscription to the message '{wait.name}' is open at the event with id '{wait.target}', which "
                    f"has no mapping instruction, and the event with id '{id}' of the target would open another one. "
                    f"Map '{wait.target}' to '{id}'."
                )
                self.refuse(wait.target, text)


def caught(element: Element, node: Node, process: Process) -> Iterator[tuple[str, str]]:
    """Ids and wait types of the events that an element of this node catches besides its own.

    In a loop the body has the boundary events, and the inner instances have the event sub-processes.
    """
    if not element.is_inner:
        yield from ((id, BOUNDARY) for id in node.boundaries)
    if element.is_inner or node.loop is None:
        yield from ((id, EVENT_SUB_PROCESS) for id in node.event_sub_processes)
    if node.type == "EVENT_BASED_GATEWAY":
        yield from ((process.flows[flow].target, INTERMEDIATE) for flow in node.outgoing)


def _is_open(element: Element, type_: str) -> bool:
    """Whether the element waits for events of this type now. One that has yet to begin will wait when it does."""
    if type_ == BOUNDARY:
        return element.state in (ACTIVATED, COMPLETING) and element.occurred is None
    if type_ == EVENT_SUB_PROCESS:
        return element.is_open
    return element.state is ACTIVATED


def _closed(element: Element, wait: Timer | Subscription) -> Effects:
    if isinstance(wait, Timer):
        yield TimerCanceled(wait.key)
    yield from waits.close_one(element, wait)


def _of_target(effect: Effect, process_id: str) -> Effect:
    """The effect; a message channel learns of the process id of the target."""
    if isinstance(effect, Send) and isinstance(effect.command, OpenSubscription):
        return Send(msgspec.structs.replace(effect.command, process_id=process_id))
    return effect
