"""Elements that have thrown a message or a signal go on, once it was given to who waits for it."""

from __future__ import annotations

from engine.core.needs import Need, NeedKind, Needs
from engine.core.records import CompleteThrow, Effects, ElementCompleting
from engine.core.state import ACTIVATED
from engine.core.view import View


def needs(command: CompleteThrow, tenant: str) -> Needs:
    yield Need(NeedKind.ELEMENT, command.key)


def complete(command: CompleteThrow, at: View) -> Effects:
    """Nothing, if what was thrown has ended its thrower."""
    thrower = at.element(command.key)
    if thrower is not None and thrower.state is ACTIVATED:
        yield ElementCompleting(thrower.key)
