"""Scopes that can never go on, and saying so.

BPMN 2.0.2 §13.3.4: a scope ends when no token remains in it. One whose tokens all wait before joins, with no child and
no event sub-process to wait for, keeps them for ever: its model is wrong, and nobody would notice.
"""

from __future__ import annotations

from vivero.engine.core.records.effects import Effects, IncidentType
from vivero.engine.core.records.instances import DEADLOCK_STAGE, IncidentRaised, IncidentResolved
from vivero.engine.core.shared.deferred import is_deferred
from vivero.engine.core.state.instance_tree import Element, Subscription, Timer
from vivero.engine.core.view import View


def look(scope: Element, view: View) -> Effects:
    """Raise the incident of an active scope that is quiet and can never go on; resolve that of one that can again.

    A scope that has another incident already is looked at once that is resolved.
    """
    if not _is_stuck(scope):
        yield from (IncidentResolved(i.key) for i in scope.open_incidents.values() if i.stage == DEADLOCK_STAGE)
    elif not scope.open_incidents:
        flows = view.model(scope.instance.definition_key).flows
        joins = sorted({flows[flow].target for flow in scope.tokens})
        message = f"Deadlock: tokens wait at [{', '.join(joins)}]"
        yield IncidentRaised(view.key(), scope.key, DEADLOCK_STAGE, IncidentType.UNKNOWN, message, None)


def _is_stuck(scope: Element) -> bool:
    """Its boundary events are no reason to hope: they end the scope, and go on elsewhere. What was deferred is one."""
    if scope.live or not scope.tokens:
        return False
    waits: tuple[Timer | Subscription, ...] = (*scope.timers.values(), *scope.subscriptions.values())
    return not any(wait.type == "EVENT_SUB_PROCESS" for wait in waits) and not is_deferred(scope, "arrive", "settle")
