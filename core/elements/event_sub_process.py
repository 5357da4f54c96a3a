"""Event sub-process. BPMN 2.0.2 §13.5.4: its start event starts it while the scope around it is active. An interrupting
one terminates everything else in that scope first. The engine enters it after its start event has occurred. It has no
sequence flows.
"""

from __future__ import annotations

from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(scope: Element, view: View) -> Effects:
    start = view.node(scope).start
    assert start is not None, f"the parser rejects event sub-processes without a start event: {scope.element}"
    node = view.model(scope.instance.definition_key).nodes[start]
    return enter(node, scope, view, occurred=scope.occurred or {})


def leave(scope: Element, view: View) -> Effects:
    yield ElementCompleted(scope.key)
