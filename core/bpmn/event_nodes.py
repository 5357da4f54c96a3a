"""The node that has the event definition of a place where an event is caught."""

from __future__ import annotations

from vivero.core.bpmn.model import Node, Process


def event_node(node: Node, process: Process) -> Node:
    """The node with the event definition: `node` itself, or the start event of an event sub-process."""
    if node.type != "EVENT_SUB_PROCESS" or node.start is None:
        return node
    return process.nodes[node.start]
