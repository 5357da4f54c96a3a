"""Embedded sub-process. BPMN 2.0.2 §13.3.4: it starts at its none start event. It completes when no token remains in it
and no activity in it is active, and then puts a token on each outgoing flow.

In other files: event sub-processes, multi-instance.
"""

from __future__ import annotations

from vivero.core.records.effects import Effects
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(scope: Element, view: View) -> Effects:
    start = view.node(scope).start
    assert start is not None, f"the parser rejects sub-processes without a start event: {scope.element}"
    return enter(view.model(scope.instance.definition_key).nodes[start], scope, view)
