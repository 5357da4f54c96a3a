"""Exclusive gateway. BPMN 2.0.2 §13.4.2: each arriving token takes exactly one outgoing flow: the first whose condition
is true, in the order of the file, else the default flow. With neither, BPMN throws an exception; here it is an
incident.
"""

from __future__ import annotations

from vivero.core.records.effects import Effects, IncidentType
from vivero.core.records.instances import ElementCompleted
from vivero.core.shared.flows import no_flow
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def leave(gateway: Element, view: View) -> Effects:
    node = view.node(gateway)
    flows = view.model(gateway.instance.definition_key).flows
    for flow in node.outgoing:
        condition = flows[flow].condition
        if flow == node.default:
            continue
        if condition is None or view.expressions.typed(condition, gateway, bool, IncidentType.EXTRACT_VALUE_ERROR):
            yield ElementCompleted(gateway.key, (flow,))
            return
    if node.outgoing and node.default is None:
        raise no_flow()
    yield ElementCompleted(gateway.key, () if node.default is None else (node.default,))
