"""End event. BPMN 2.0.2 §10.5.3: its token ends; what its definition says happens. None: nothing more. Error: the
nearest catcher takes over, and the event never completes. Escalation: likewise, but an interrupting catcher alone
keeps it from completing. Terminate: everything else in its scope ends, and the scope completes. Message and signal:
sent as by an intermediate throw event.

Not here: compensation end events.
"""

from __future__ import annotations

from vivero.engine.bpmn.model import ErrorEvent, TerminateEvent
from vivero.engine.core.elements import intermediate_throw_event
from vivero.engine.core.records.effects import Effects, Fail
from vivero.engine.core.records.instances import ElementCompleted, ScopeInterrupted
from vivero.engine.core.shared import events
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View


def activate(event: Element, at: View) -> Effects:
    definition = at.node(event).event
    if isinstance(definition, ErrorEvent):
        yield from _throw_error(event, definition, at)
    else:
        yield from intermediate_throw_event.activate(event, at)


def _throw_error(event: Element, error: ErrorEvent, at: View) -> Effects:
    assert error.code is not None, f"the parser lets no error end event without a code through: {event.element}"
    code = at.text(error.code, event)
    caught = events.throw_error(event, code, {}, at, from_itself=False)
    if caught is None:
        raise Fail(*events.unhandled_error(event, code, None, at, from_itself=False))
    yield from caught


def leave(event: Element, at: View) -> Effects:
    yield ElementCompleted(event.key)
    scope = event.scope
    if isinstance(at.node(event).event, TerminateEvent) and scope is not None and scope.then is None:
        yield ScopeInterrupted(scope.key, ("complete",))
