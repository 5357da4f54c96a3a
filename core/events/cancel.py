"""Cancel event. BPMN 2.0.2 §10.3.5, §10.5.4, §13.3.4: a cancel end event interrupts the transaction around it. Once
everything in the transaction has ended, what has completed is compensated; then the cancel boundary event follows.

A multi-instance transaction is cancelled as a whole. A second cancel end event finds the transaction interrupted.
In other files: compensation, and the end of the transaction (`shared/compensations.py`).
"""

from __future__ import annotations

from vivero.core.bpmn.model import CancelEvent
from vivero.core.records.effects import Effects
from vivero.core.shared.compensations import ROLL_BACK
from vivero.core.shared.occurrences import interrupt
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def throw(event: Element, _cancel: CancelEvent, view: View) -> Effects:
    """The throwing event never completes."""
    yield from interrupt(_transaction_around(event, view), ROLL_BACK, view)


def _transaction_around(event: Element, view: View) -> Element:
    scope = event.scope
    while scope is not None and view.node(scope).transaction is None:
        scope = scope.scope
    assert scope is not None, f"the parser rejects cancel end events outside of transactions: {event.element}"
    return scope.scope if scope.is_inner and scope.scope is not None else scope
