"""Beginning a process before given elements, instead of at a start event."""

from __future__ import annotations

from collections.abc import Sequence

from engine.bpmn.model import Node, Process
from engine.core.records import Effects, ElementActivating, Reject, RejectionCode
from engine.core.shared.flows import enter
from engine.core.state import Element
from engine.core.view import View

NOT_SUPPORTED = frozenset({"PROCESS", "START_EVENT", "BOUNDARY_EVENT"})


def check(process: Process, targets: Sequence[str]) -> None:
    """Whether each of `targets` can be begun at.

    Raises:
        Reject: one cannot; with what is wrong with the first of them.
    """
    for target in targets:
        node = process.nodes.get(target)
        wrong = f"no element found with id '{target}'." if node is None else _wrong(process, node)
        if wrong is not None:
            raise Reject(
                RejectionCode.INVALID_ARGUMENT,
                f"Expected to create instance of process with start instructions but {wrong}",
            )


def _wrong(process: Process, node: Node) -> str | None:
    nodes, flows = process.nodes, process.flows
    if node.type in NOT_SUPPORTED:
        return f"the element with id '{node.id}' targets unsupported element type '{node.type}'."
    if any(nodes[flows[flow].source].type == "EVENT_BASED_GATEWAY" for flow in node.incoming):
        return (
            f"the element with id '{node.id}' belongs to an event-based gateway. "
            "The creation of elements belonging to an event-based gateway is not supported."
        )
    scope = node.scope
    while scope is not None:
        if nodes[scope].loop is not None:
            return (
                f"the element with id '{node.id}' is inside a multi-instance subprocess. "
                "The creation of elements inside a multi-instance subprocess is not supported."
            )
        scope = nodes[scope].scope
    return None


def begin_at(scope: Element, targets: Sequence[str], at: View) -> Effects:
    """Activate elements somewhere below the scope. Scopes between are entered once, without start event and inputs."""
    nodes = at.model(scope.instance.definition_key).nodes
    between: dict[str, list[str]] = {}
    for target in targets:
        child = nodes[target]
        while child.scope is not None and child.scope != scope.element:
            child = nodes[child.scope]
        if child.id == target:
            yield from enter(child, scope, at)
        else:
            between.setdefault(child.id, []).append(target)
    for id, below in between.items():
        node = nodes[id]
        yield ElementActivating(at.key(), scope.key, id, node.type, (), -1, node.name, None, tuple(below))
