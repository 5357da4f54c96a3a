"""Terminate event. BPMN 2.0.2 §10.5.5: it terminates everything else in the scope of its end event, and the scope
completes."""

from __future__ import annotations

from vivero.core.bpmn.model import TerminateEvent
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ScopeInterrupted
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def follow(event: Element, _terminate: TerminateEvent, _view: View) -> Effects:
    scope = event.scope
    if scope is not None and scope.then is None:
        yield ScopeInterrupted(scope.key, ("complete",))
