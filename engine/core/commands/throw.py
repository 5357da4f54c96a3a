"""Elements that have thrown a message or a signal go on, once it was given to who waits for it."""

from __future__ import annotations

from vivero.engine.core.needs import Need, NeedKind, Needs
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.records.messages import CompleteThrow
from vivero.engine.core.state.instance_tree import ACTIVATED, TERMINATING, Element
from vivero.engine.core.view import View


def needs(command: CompleteThrow, tenant: str) -> Needs:
    yield Need(NeedKind.ELEMENT, command.key)


def complete(command: CompleteThrow, view: View) -> Effects:
    """Nothing, if what was thrown has ended its thrower, or is about to: that may take several quanta."""
    thrower = view.element(command.key)
    if thrower is not None and thrower.state is ACTIVATED and not _ends(thrower):
        yield ElementCompleting(thrower.key)


def _ends(element: Element) -> bool:
    """Whether a scope around it is to end, or is interrupted."""
    scope = element.scope
    while scope is not None and scope.then is None and scope.state is not TERMINATING:
        scope = scope.scope
    return scope is not None
