"""Approvals of tools by a person: which activations begin with the user task, and what follows from its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vivero.core.bpmn.elements.approvals import APPROVED, FIRST, GATEWAY, TOOL_CALL, made_of, mode_of
from vivero.core.bpmn.model import Node, NodeId
from vivero.core.feel import from_json
from vivero.core.records.ad_hoc import AdHocToolApproved
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def begin_of(ids: Sequence[NodeId], variables: Mapping[str, str], scope: Element, view: View) -> Sequence[NodeId]:
    """The elements with which an inner instance begins: in place of a tool that needs an approval, its user task."""
    nodes = view.model(scope.instance.definition_key).nodes
    if not any(mode_of(nodes[id]) for id in ids):
        return ids
    return tuple(_begin_of(nodes[id], variables, scope) for id in ids)


def _begin_of(tool: Node, variables: Mapping[str, str], scope: Element) -> NodeId:
    mode, name = mode_of(tool), _name(tool, variables)
    if mode is None or name is None:
        return tool.id
    if mode == FIRST and scope.ad_hoc is not None and name in scope.ad_hoc.approved:
        return tool.id
    return next(made_of(tool.id))


def _name(tool: Node, variables: Mapping[str, str]) -> str | None:
    """The name of what is approved: the tool, or that of a gateway. None: an agent asks a gateway what it has."""
    if GATEWAY not in tool.properties:
        return tool.id
    call = from_json(variables.get(TOOL_CALL, "null"))
    if not isinstance(call, dict) or call.get("method") == "tools/list" or call.get("operation") == "fetchAgentCard":
        return None if isinstance(call, dict) else tool.id
    params = call.get("params")
    return f"{tool.id} {params['name']}" if isinstance(params, dict) and "name" in params else tool.id


def tool_of(task: Node, nodes: Mapping[NodeId, Node]) -> Node | None:
    """The tool that a user task approves. None: it is one that the model has."""
    id, _, suffix = task.id.rpartition("#")
    tool = nodes.get(id) if suffix else None
    return tool if tool is not None and mode_of(tool) and task.id in made_of(id) else None


def leave(task: Element, tool: Node) -> Effects:
    """Go on with the tool if the task was completed with `approved` = true, and end there otherwise."""
    approved = task.variables.get(APPROVED)
    if approved is None or approved.value != "true":
        yield ElementCompleted(task.key)
        return
    inner = task.scope
    scope = None if inner is None else inner.scope
    if mode_of(tool) == FIRST and inner is not None and scope is not None and scope.node.ad_hoc is not None:
        yield AdHocToolApproved(scope.key, _name(tool, dict(_texts(inner))) or tool.id)
    yield ElementCompleted(task.key, task.node.outgoing)


def _texts(element: Element) -> Iterator[tuple[str, str]]:
    return ((name, variable.value) for name, variable in element.variables.items())
