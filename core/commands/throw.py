"""Complete elements that have thrown a message or a signal, after its delivery to all current receivers."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.records.messages import CompleteThrow
from vivero.core.state.instance_tree import ACTIVATED, TERMINATING, Element
from vivero.core.view import View


def needs(command: CompleteThrow, tenant: str) -> Needs:
    yield Need(NeedKind.ELEMENT, command.key)


def complete(command: CompleteThrow, view: View) -> Effects:
    """Complete the thrower, unless the event has ended it or is about to: ending may take several quanta."""
    thrower = view.element(command.key)
    if thrower is not None and thrower.state is ACTIVATED and not _ends(thrower):
        yield ElementCompleting(thrower.key)


def _ends(element: Element) -> bool:
    """Whether a scope around the element is terminating or interrupted."""
    scope = element.scope
    while scope is not None and scope.then is None and scope.state is not TERMINATING:
        scope = scope.scope
    return scope is not None
