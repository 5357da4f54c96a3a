"""Where a process may be begun and ended otherwise than at its events: checked before the instance is made."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.engine.bpmn.model import Node, Process
from vivero.engine.core.records.effects import Reject, RejectionCode

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


def check_end(process: Process, targets: Sequence[str]) -> None:
    """Whether there are the elements after which the instance is to be terminated.

    Raises:
        Reject: one is not there; others take it, and wait for ever (camunda/camunda#53526).
    """
    for target in targets:
        if target not in process.nodes:
            raise Reject(
                RejectionCode.INVALID_ARGUMENT,
                "Expected to create instance of process with runtime instructions but no element found with id "
                f"'{target}'.",
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
