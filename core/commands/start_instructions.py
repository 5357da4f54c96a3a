"""Check the start and runtime instructions of a creation, before the instance is created."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.bpmn.model import Node, Process
from vivero.core.records.effects import Reject, RejectionCode

NOT_SUPPORTED = frozenset({"PROCESS", "START_EVENT", "BOUNDARY_EVENT", "AD_HOC_SUB_PROCESS_INNER_INSTANCE"})


def check(process: Process, targets: Sequence[str]) -> None:
    """Check that an instance can start at each of `targets`.

    Raises:
        Reject: it cannot. The reason is about the first wrong target.
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
    """Check that the elements exist after which the instance is to be terminated.

    Raises:
        Reject: an element is missing. Zeebe accepts it, and the instance waits for ever (camunda/camunda#53526).
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
    if node.starts_process:
        return f"the element with id '{node.id}' starts the process by an event (instantiate)."
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
