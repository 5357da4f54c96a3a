"""Event sub-process. BPMN 2.0.2 §13.5.4: started by its start event while the scope around it is active; an
interrupting one ends everything else in that scope first. It is entered when its start event has happened, and has no
flows.
"""

from __future__ import annotations

from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleted
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def activate(scope: Element, at: View) -> Effects:
    start = at.node(scope).start
    assert start is not None, f"the parser lets no event sub-process without a start event through: {scope.element}"
    node = at.model(scope.instance.definition_key).nodes[start]
    return enter(node, scope, at, occurred=scope.occurred or {})


def leave(scope: Element, at: View) -> Effects:
    yield ElementCompleted(scope.key)
