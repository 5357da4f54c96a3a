"""Joins that wait for tokens by their paths. BPMN 2.0.2 §13.4.3, §13.4.5."""

from __future__ import annotations

from vivero.core.bpmn.model import Node
from vivero.core.state.instance_tree import Element


def awaits_tokens(gateway: Node, scope: Element, filled: int) -> bool:
    """Whether a token elsewhere in the scope can reach an empty incoming flow, and no filled one.

    `filled`: the bits of the filled incoming flows.
    """
    incoming, reach = gateway.bits, gateway.reach
    elsewhere = (reach.get(place, 0) for place in scope.tokens if place not in incoming)
    return any(reached & ~filled and not reached & filled for reached in elsewhere)
