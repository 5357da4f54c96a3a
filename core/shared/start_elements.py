"""Start a process at given elements instead of at a start event."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementActivating
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate_elements(scope: Element, targets: Sequence[str], view: View) -> Effects:
    """Activate elements below the scope. Scopes in between are entered once, without start event and input mappings."""
    nodes = view.model(scope.instance.definition_key).nodes
    between: dict[str, list[str]] = {}
    for target in targets:
        child = nodes[target]
        while child.scope is not None and child.scope != scope.element:
            child = nodes[child.scope]
        if child.id == target:
            yield from enter(child, scope, view)
        else:
            between.setdefault(child.id, []).append(target)
    for id, below in between.items():
        node = nodes[id]
        yield ElementActivating(view.key(), scope.key, id, node.type, (), -1, node.name, None, tuple(below))
