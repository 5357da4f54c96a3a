"""Compensation event. BPMN 2.0.2 §10.5.5, §10.7: throwing it runs the handlers of completed activities of its scope,
one after the other, the latest first. The throwing event waits for them, unless `waitForCompletion` is false.

In an event sub-process it also reaches the scope around: the completed one, if the event sub-process compensates it.
"""

from __future__ import annotations

from vivero.core.bpmn.model import CompensateEvent
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.compensations import compensate
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def throw(event: Element, definition: CompensateEvent, view: View) -> Effects:
    scope = event.scope
    assert scope is not None, "an event is in a scope"
    yield from compensate(_reach(scope), definition.activity, event if definition.waits else None, scope, view)
    if not definition.waits:
        yield ElementCompleting(event.key)


def _reach(scope: Element) -> tuple[int, ...]:
    if scope.type != "EVENT_SUB_PROCESS" or scope.scope is None:
        return (scope.key,)
    return scope.key, scope.scope.key if scope.compensation is None else scope.compensation.key
