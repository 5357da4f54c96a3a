"""Ad-hoc sub-processes: settings, the elements that can be activated, and the node of their inner instances.

BPMN 2.0.2 §10.3.5. `zeebe:adHoc` has the collections, `zeebe:taskDefinition` the job of a worker that decides instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from vivero.core.bpmn.elements.approvals import is_made
from vivero.core.bpmn.elements.joins import merges
from vivero.core.bpmn.model import AdHoc, Mapping, Node, NodeId
from vivero.core.bpmn.reading.draft import Draft, Member, Place
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import feel, flag, variable_name
from vivero.core.bpmn.reading.xml import Element, bpmn_children, text_of
from vivero.core.feel import Argument, Expression, calls_of, named_variable

INNER_TYPE = "AD_HOC_SUB_PROCESS_INNER_INSTANCE"
ELEMENTS_VARIABLE = "adHocSubProcessElements"
ORDERINGS = ("Parallel", "Sequential")

AI_FUNCTION = "fromAi"
AI_PARAMETERS = ("value", "description", "type", "schema", "options")
AI_TYPES: dict[str, tuple[type, str]] = {
    "description": (str, "a string"),
    "type": (str, "a string"),
    "schema": (dict, "a context"),
    "options": (dict, "a context"),
}


def settings(member: Member, extensions: Extensions, draft: Draft) -> AdHoc:
    """The settings of an ad-hoc sub-process. Wrong ones are reported."""
    element, report = member.element, draft.report
    given = extensions.get("adHoc")
    active, (output, output_name) = None, (None, None)
    if given is not None:
        text = given.get("activeElementsCollection", "").strip()
        active = feel(text, "activeElementsCollection", element, report, at=given) if text else None
        output, output_name = _output(element, given, draft)
    return AdHoc(
        inner=draft.inner_scope(member.id),
        activatable=_with_merges(member.id, draft),
        active=active,
        until=_completion_condition(element, draft),
        cancel_remaining=flag(element, "cancelRemainingInstances", report, default=True),
        sequential=_ordering(element, draft) == "Sequential",
        output=output,
        result=None if output is None else named_variable(output),
        output_name=output_name,
    )


def _output(element: Element, given: Element, draft: Draft) -> tuple[Expression | None, str | None]:
    """The output collection with its element. A model has both or neither."""
    name, text = given.get("outputCollection", "").strip(), given.get("outputElement", "").strip()
    if bool(name) != bool(text):
        message = (
            "OutputElement and OutputCollection must both be set, or neither of them set. "
            f"outputElement:{quote(text)} and outputCollection:{quote(name)}."
        )
        draft.report.add_problem(element, message, at=given)
        return None, None
    if not name:
        return None, None
    output = feel(text, "outputElement", element, draft.report, at=given)
    return output, variable_name(name, "outputCollection", element, draft.report, at=given)


def _completion_condition(element: Element, draft: Draft) -> Expression | None:
    conditions = bpmn_children(element, "completionCondition")
    for surplus in conditions[1:]:
        draft.report.add_problem(element, "has more than one completion condition", at=surplus)
    if not conditions:
        return None
    return feel(text_of(conditions[0]).strip(), "completionCondition", element, draft.report, at=conditions[0])


def _ordering(element: Element, draft: Draft) -> str:
    ordering = element.get("ordering", "Parallel").strip()
    if ordering not in ORDERINGS:
        draft.report.add_problem(element, f"ordering: {quote(ordering)} is none of {', '.join(ORDERINGS)}")
    return ordering


# The elements that can be activated -----------------------------------------------------------------------------------


def activatable(scope: NodeId, draft: Draft) -> Iterator[Member]:
    """The flow nodes of the scope that no flow leads to, in document order.

    Boundary events, event sub-processes and compensation handlers are not among them.
    """
    for member in draft.children.get(scope, ()):
        flows = draft.incoming.get(member.id, ())
        if member.kind is not None and all(is_made(draft.flows[flow].source) for flow in flows):
            is_apart = (
                member.kind.place is Place.BOUNDARY or is_made(member.id) or draft.is_event_sub_process(member.id)
            )
            if not (is_apart or draft.is_handler(member)):
                yield member


def _with_merges(scope: NodeId, draft: Draft) -> dict[NodeId, int]:
    reach = merges(scope, draft)
    return {member.id: reach.get(member.id, 0) for member in activatable(scope, draft)}


# Inner instances ------------------------------------------------------------------------------------------------------


def add_inner_instances(nodes: dict[NodeId, Node], draft: Draft) -> None:
    """Add the nodes of inner instances, and give each ad-hoc sub-process the variables with which it begins."""
    for member in draft.of_type("AD_HOC_SUB_PROCESS"):
        node = nodes[member.id]
        if node.ad_hoc is None:
            continue
        id, joins = node.ad_hoc.inner, tuple(draft.joins.get(member.id, ()))
        nodes[id] = Node(
            id, INNER_TYPE, scope=member.id, joins=joins, in_compensation=node.in_compensation, line=node.line
        )
        presets: dict[str, Any] = {ELEMENTS_VARIABLE: _descriptions(node.ad_hoc, nodes, draft)}
        if node.ad_hoc.output_name is not None:
            presets[node.ad_hoc.output_name] = []
        nodes[member.id] = replace(node, presets=presets)


def _descriptions(ad_hoc: AdHoc, nodes: dict[NodeId, Node], draft: Draft) -> list[dict[str, Any]]:
    """The elements that may be activated, described for a worker that decides."""
    return [_description(draft.members[id].element, nodes[id], draft) for id in ad_hoc.activatable]


def _description(element: Element, node: Node, draft: Draft) -> dict[str, Any]:
    documentation = "".join(map(text_of, bpmn_children(element, "documentation"))).strip()
    said = {
        "elementId": node.id,
        "elementName": node.name,
        "documentation": documentation,
        "properties": dict(node.properties),
        "parameters": list(_parameters(element, node, draft)),
    }
    return {name: value for name, value in said.items() if value}


def _parameters(element: Element, node: Node, draft: Draft) -> Iterator[dict[str, Any]]:
    """The parameters that the element takes from calls of `fromAi`, in the order of its expressions."""
    for expression in _expressions(node):
        if AI_FUNCTION in expression.text:
            for call in calls_of(expression, AI_FUNCTION, AI_PARAMETERS):
                parameter = _parameter(element, call, draft)
                if parameter is not None:
                    yield parameter


def _parameter(element: Element, call: dict[str, Argument], draft: Draft) -> dict[str, Any] | None:
    value = call.get("value")
    if value is None or value.reference is None:
        text = "nothing" if value is None else value.text
        message = (
            f"Expected fromAi() parameter 'value' to be a reference (e.g. 'toolCall.customParameter'), "
            f"but received {quote(text)}"
        )
        draft.report.add_problem(element, message)
        return None
    parameter: dict[str, Any] = {"name": value.reference}
    for name, (type_, what) in AI_TYPES.items():
        argument = call.get(name)
        if argument is None or (argument.is_constant and argument.constant is None):
            continue
        if not argument.is_constant or type(argument.constant) is not type_:
            text = f"Expected fromAi() parameter '{name}' to be {what}, but received {quote(argument.text)}"
            draft.report.add_problem(element, text)
            return None
        parameter[name] = argument.constant
    return parameter


def _expressions(part: Any) -> Iterator[Expression]:
    """The expressions of a node, or of a part of it, except for those of output mappings."""
    if isinstance(part, Expression):
        yield part
    elif isinstance(part, Mapping):
        yield part.source
    elif isinstance(part, dict | tuple):
        for item in part.values() if isinstance(part, dict) else part:
            yield from _expressions(item)
    elif is_dataclass(part):
        for field in fields(part):
            if field.name != "outputs":
                yield from _expressions(getattr(part, field.name))
