"""Incidents for scopes that can never continue.

BPMN 2.0.2 §13.3.4: a scope ends when no token remains in it. If all its tokens wait at joins, and it has neither
children nor event sub-processes, it never ends. The model is wrong, and without an incident nobody would notice.
"""

from __future__ import annotations

from vivero.core.records.effects import Effects, IncidentType
from vivero.core.records.instances import DEADLOCK_STAGE, IncidentRaised, IncidentResolved
from vivero.core.shared.deferred_work import is_deferred
from vivero.core.state.instance_tree import Element, Subscription, Timer
from vivero.core.view import View


def check(scope: Element, view: View) -> Effects:
    """Raise an incident if the quiet active scope can never continue; resolve it if the scope can continue again.

    A scope with another incident is checked after that one has been resolved.
    """
    if not _is_stuck(scope, view):
        yield from (IncidentResolved(i.key) for i in scope.waits.incidents.values() if i.stage == DEADLOCK_STAGE)
    elif not scope.waits.incidents:
        flows = view.model(scope.instance.definition_key).flows
        joins = sorted({flows[flow].target for flow in scope.tokens})
        message = f"Deadlock: tokens wait at [{', '.join(joins)}]"
        yield IncidentRaised(view.key(), scope.key, DEADLOCK_STAGE, IncidentType.UNKNOWN, message, None)


def _is_stuck(scope: Element, view: View) -> bool:
    """Boundary events do not count: they end the scope. Deferred work counts, because it can move a token. So does a
    complex gateway that waits for a variable."""
    if scope.live or not scope.tokens:
        return False
    waits: tuple[Timer | Subscription, ...] = (*scope.waits.timers.values(), *scope.waits.subscriptions.values())
    return not any(wait.type != "BOUNDARY" for wait in waits) and not is_deferred(scope, view, "arrive", "settle")
