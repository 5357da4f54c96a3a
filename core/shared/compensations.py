"""Compensation: register completed activities, and run their handlers. BPMN 2.0.2 §10.7, §13.5.5.

Handlers run one after the other, the latest completed activity first. What is registered inside a completed scope comes
after its own handler, and before whatever completed earlier. So each step looks for the latest registration that is
left, and other throwing events may take some of them meanwhile.
"""

from __future__ import annotations

from collections.abc import Set
from operator import attrgetter

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.compensations import (
    CompensationEnded,
    CompensationHandedOver,
    CompensationRegistered,
    CompensationStarted,
)
from vivero.core.records.effects import Effect, Effects
from vivero.core.records.instances import ElementActivating, ElementCompleting, ElementTerminating, EventTriggered
from vivero.core.shared.flows import enter
from vivero.core.state.compensation import Compensation
from vivero.core.state.instance_tree import ACTIVATED, ACTIVATING, TERMINATING, Element, Instance
from vivero.core.state.lazy_variables import LazyVariables
from vivero.core.state.registrations import OPEN, Registration
from vivero.core.view import View

ROLL_BACK = ("roll back",)
"""`Element.then` of a transaction that is cancelled, or of the loop that it is."""

_by_key = attrgetter("key")

# ----------------------------------------------------------------------------------------------- completed activities


def register(activity: Element, view: View) -> Effects:
    """Register an activity that completes, if something can compensate it or what is registered in it.

    A compensation handler is not registered in the scope around it.
    """
    if activity.compensation is not None or activity.scope is None:
        return
    handler = _handler_of(activity, view)
    if handler is not None or activity.registered:
        yield CompensationRegistered(view.key(), activity.key, handler, _is_scope(activity, view))


def keep(scope: Element, view: View) -> Effects:
    """Register an active scope that ends with a cancelled transaction around it, if something in it is registered.

    Completed activities in it are compensated with the transaction. A transaction inside of the cancelled one ends
    without compensation.
    """
    if scope.registered and _is_rolled_back(scope, view):
        if isinstance(scope.variables, LazyVariables):  # handlers will see them
            raise NotLoaded(Need(NeedKind.VARIABLES, scope.variables.part))
        yield CompensationRegistered(view.key(), scope.key, None, True)


def _is_rolled_back(scope: Element, view: View) -> bool:
    inner, around = scope, scope.scope
    while around is not None and inner.compensation is None and not isinstance(inner, Instance):
        found = around.then == ROLL_BACK
        if view.node(inner).transaction is not None and not (found and inner.is_inner):
            return False
        if found:
            return True
        inner, around = around, around.scope
    return False


def _is_scope(activity: Element, view: View) -> bool:
    """Whether handlers see its variables: it contains other elements."""
    node = view.node(activity)
    return bool(activity.registered) or node.has_none_start or node.ad_hoc is not None


def _handler_of(activity: Element, view: View) -> str | None:
    """A loop's body has the boundary event; each of its inner instances has the event sub-process."""
    node = view.node(activity)
    if node.compensated_by is None:
        return None
    at_boundary = view.model(activity.instance.definition_key).nodes[node.compensated_by].host is not None
    has_it = node.loop is None or activity.is_inner is not at_boundary
    return node.compensated_by if has_it else None


# ----------------------------------------------------------------------------------------------- handlers


def compensate(
    scopes: tuple[int, ...], only: str | None, thrower: Element | None, scope: Element, view: View
) -> Effects:
    """Run the handlers of what is registered in `scopes`, in the flow scope `scope`. Then `thrower` completes.

    The scope itself is the thrower if it is a cancelled transaction.
    """
    key = None if thrower is None else thrower.key
    yield from _next(Compensation(0, key, scopes, (), view.key(), only), scope, view)


def roll_back(transaction: Element, view: View) -> Effects:
    """Run the handlers in a cancelled transaction that is empty. Then its cancel boundary event follows."""
    yield from compensate((transaction.key,), None, transaction, transaction, view)


def hand_over(boundary: Element, view: View) -> Effects:
    """A boundary event that compensates completes: its handler goes on."""
    handler, scope = view.node(boundary).handler, boundary.scope
    if handler is not None and scope is not None and not _ends_early(scope):
        for entered in enter(view.model(boundary.instance.definition_key).nodes[handler], scope, view):
            yield entered
            yield CompensationHandedOver(_key_of(entered), boundary.key)


def after_handler(handler: Element, view: View) -> Effects:
    """A handler completes: the next one follows."""
    compensation, scope, node = handler.compensation, handler.scope, view.node(handler)
    if compensation is None or scope is None or node.handler is not None or _ends_early(scope):
        return
    if node.type == "EVENT_SUB_PROCESS":
        yield CompensationEnded(compensation.key)
    yield from _next(compensation, scope, view)


def _key_of(entered: Effect) -> int:
    assert isinstance(entered, ElementActivating), "an element is entered by one event"
    return entered.key


def _ends_early(scope: Element) -> bool:
    around: Element | None = scope
    while around is not None:
        if around.then is not None or around.state is TERMINATING:
            return True
        around = around.scope
    return False


def _next(at: Compensation, scope: Element, view: View) -> Effects:
    """Begin to compensate the latest activity that is left. Without one, the throwing event completes."""
    inside, ended = list(at.inside), set[int]()
    while True:
        left = _latest(at, inside, ended, scope, view)
        if left is None and inside:
            key = inside.pop()
            row = _registration(key, view)
            if row is not None and row.state == OPEN:
                ended.add(key)
                yield CompensationEnded(key)
        elif left is None:
            break
        elif left.handler is None:
            inside.append(left.key)
        else:
            yield from _start(left, left.handler, tuple(inside), at, scope, view)
            return
    thrower = None if at.thrower is None else view.element(at.thrower)
    if thrower is scope:
        yield from _leave_cancelled(scope, view)
    elif thrower is not None and thrower.state in (ACTIVATING, ACTIVATED):
        yield ElementCompleting(thrower.key)


def _leave_cancelled(transaction: Element, view: View) -> Effects:
    settings = view.node(transaction).transaction
    boundary = None if settings is None else settings.cancelled_by
    assert boundary is not None, f"the parser rejects cancel end events without: {transaction.element}"
    yield EventTriggered(transaction.key, boundary)
    yield ElementTerminating(transaction.key, ("enter", boundary, {}))


def _start(
    row: Registration, handler: str, inside: tuple[int, ...], at: Compensation, scope: Element, view: View
) -> Effects:
    node = view.model(scope.instance.definition_key).nodes[handler]
    for key in inside:
        _registration(key, view)  # the applier needs them
    for entered in enter(node, scope, view, occurred={}):
        yield entered
        place = at.thrower, at.scopes, inside, at.before, at.only
        yield CompensationStarted(row.key, _key_of(entered), *place, replaces=node.host is None)


# ----------------------------------------------------------------------------------------------- what is left


def _latest(at: Compensation, inside: list[int], ended: Set[int], scope: Element, view: View) -> Registration | None:
    """The latest open registration: inside the innermost completed scope, else in the scopes of the compensation."""
    only = None if inside else at.only
    rows = (
        row for key in inside[-1:] or at.scopes for row in _latest_of_each(key, only, ended, at.before, scope, view)
    )
    return max(rows, key=_by_key, default=None)


def _latest_of_each(
    key: int, only: str | None, ended: Set[int], before: int, scope: Element, view: View
) -> list[Registration]:
    """The latest open registration of each activity in a scope: a live one, or one that was registered itself."""
    live = view.element(key)
    place = _registration(key, view) if live is None else live
    if place is None:
        return []
    of_scope = place.activity if isinstance(place, Registration) else place.key
    found: list[Registration] = []
    missing: list[tuple[str, int]] = []
    for element, number in place.registered.items():
        if only is None or element == only:
            group = view.state.registrations.group(of_scope, element)
            latest = next((row for row in reversed(group.values()) if row.key < before and row.key not in ended), None)
            if latest is not None:
                found.append(latest)
            elif len(group) < number:
                missing.append((element, number - len(group)))
    if missing:
        raise NotLoaded(Need(NeedKind.REGISTRATIONS, (scope.instance.key, of_scope, tuple(missing))))
    return found


def _registration(key: int, view: View) -> Registration | None:
    """The row; None if it has ended, as another compensation has begun the last handler in it."""
    found = view.state.registrations.by_key.get(key)
    if found is None and key not in view.state.registrations.gone:
        raise NotLoaded(Need(NeedKind.REGISTRATION, key))
    return found
