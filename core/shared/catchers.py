"""The boundary events and event sub-processes with which an element catches events."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def boundaries_of(element: Element, view: View) -> Iterator[Node]:
    """The boundary events of an element. In a loop the body has them."""
    if not element.is_inner:
        nodes = view.model(element.instance.definition_key).nodes
        for boundary in view.node(element).boundaries:
            yield nodes[boundary]


def event_sub_processes_of(scope: Element, view: View) -> Iterator[Node]:
    """The event sub-processes in a scope. In a loop the inner instances have them."""
    node = view.node(scope)
    if scope.is_inner or node.loop is None:
        nodes = view.model(scope.instance.definition_key).nodes
        for sub_process in node.event_sub_processes:
            yield nodes[sub_process]


def event_node_at(node: Node, element: Element, view: View) -> Node:
    """The node with the event definition of a place in the model of `element`."""
    return event_node(node, view.model(element.instance.definition_key))


def event_node(node: Node, process: Process) -> Node:
    """The node with the event definition: `node` itself, or the start event of an event sub-process."""
    if node.type != "EVENT_SUB_PROCESS" or node.start is None:
        return node
    return process.nodes[node.start]
