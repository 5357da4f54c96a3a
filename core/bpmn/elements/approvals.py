"""Tools that a person approves: the property `vivero.approval` of an activity that an ad-hoc sub-process can activate.

The file gets a user task before such a tool, as if it were drawn, with a timer that refuses. No specification has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from lxml import etree

from vivero.core.bpmn.model import Node, NodeId
from vivero.core.bpmn.reading.extensions import properties
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import flag, is_expression
from vivero.core.bpmn.reading.xml import BPMN, ZEEBE, Element, bpmn_children, made, set_line, split
from vivero.core.feel import to_json
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_interval

PROPERTY = "vivero.approval"
GROUPS, FORM, TIMEOUT = f"{PROPERTY}Groups", f"{PROPERTY}Form", f"{PROPERTY}Timeout"
ALWAYS, FIRST = "always", "first"
DEFAULT_TIMEOUT = "P7D"
SUFFIXES = "#approval", "#approvalTimeout"
"""The ids of the user task and of its timer, behind the id of the tool."""
APPROVED, COMMENT, REQUEST = "approved", "comment", "approval"
"""Variables of the user task: the decision, what the model hears of it, and what is to be decided."""
TOOL_CALL, TOOL_RESULT, REASON = "toolCall", "toolCallResult", "toolCallReason"
"""Variables of a tool's inner instance."""
GATEWAY = "io.camunda.agenticai.gateway.type"
"""The property of elements that stand for the tools of another system."""
AGENT = "a2aClient"
"""Its value for an agent of another system, which is one tool."""
_ERROR = "Error: the tool was not called: "

Mode = Literal["always", "first"]


def mode_of(tool: Node) -> Mode | None:
    """The calls of a tool that a person approves. None: no calls."""
    return {ALWAYS: ALWAYS, FIRST: FIRST}.get(tool.properties.get(PROPERTY, ""))  # type: ignore[return-value]


def is_made(id: NodeId) -> bool:
    """Whether an id is that of a user task or timer of this file."""
    return id.endswith(SUFFIXES)


def made_of(tool: NodeId) -> Iterator[NodeId]:
    """The ids that a tool with an approval has beside its own."""
    return (f"{tool}{suffix}" for suffix in SUFFIXES)


def add_approvals(root: Element, report: Report) -> None:
    """Add the user tasks of all processes. A property at a wrong place, or with a wrong value, is reported."""
    for process in bpmn_children(root, "process"):
        for holder in process.iter(f"{{{BPMN}}}extensionElements"):
            element = holder.getparent()
            if element is None or not (given := properties(element)).keys() & {PROPERTY, GROUPS, FORM, TIMEOUT}:
                continue
            wrong = _wrong(element, given, report)
            if wrong is None:
                _add(element, given)
            else:
                report.add_problem(element, wrong)


def _wrong(element: Element, given: dict[str, str], report: Report) -> str | None:
    if given.get(PROPERTY) not in (ALWAYS, FIRST):
        return f"the property {PROPERTY} is {quote(given.get(PROPERTY, ''))}, and not {ALWAYS} or {FIRST}"
    if not _is_tool(element, report):
        what = "only activities without incoming flow in an ad-hoc sub-process can have it"
        return f"the property {PROPERTY} has no effect here: {what}"
    timeout = given.get(TIMEOUT, DEFAULT_TIMEOUT).strip()
    if not is_expression(timeout) and not _is_duration(timeout):
        return f"the property {TIMEOUT} is {quote(timeout)}, and not a duration above zero such as PT4H, or =FEEL"
    return None


def _is_duration(text: str) -> bool:
    try:
        return parse_interval(text).is_positive
    except (TemporalError, OverflowError):
        return False


def _is_tool(element: Element, report: Report) -> bool:
    scope, tag = element.getparent(), split(element)[1]
    if scope is None or split(scope) != (BPMN, "adHocSubProcess") or not element.get("id"):
        return False
    is_activity = tag.lower().endswith("task") or tag in (
        "subProcess",
        "adHocSubProcess",
        "transaction",
        "callActivity",
    )
    is_apart = flag(element, "triggeredByEvent", report) or flag(element, "isForCompensation", report)
    flows = bpmn_children(scope, "sequenceFlow")
    return is_activity and not is_apart and all(flow.get("targetRef") != element.get("id") for flow in flows)


def _add(tool: Element, given: dict[str, str]) -> None:
    scope, id = tool.getparent(), tool.get("id", "")
    assert scope is not None, "the tool is in an ad-hoc sub-process"
    task_id, timer_id = made_of(id)
    task = made("userTask", scope, tool, id=task_id, name=f"Approve: {tool.get('name') or id}")
    extensions = made("extensionElements", task, tool)
    _extension(extensions, "userTask")
    if groups := given.get(GROUPS, "").strip():
        _extension(extensions, "assignmentDefinition", candidateGroups=groups)
    if form := given.get(FORM, "").strip():
        _extension(extensions, "formDefinition", formId=form)
    mapping = _extension(extensions, "ioMapping")
    for target, source in ((REQUEST, _request(id, given.get(GATEWAY))), (APPROVED, "=null"), (COMMENT, "=null")):
        _extension(mapping, "input", source=source, target=target)
    refused = f'{_ERROR}a person has refused it" + if {COMMENT} = null then "." else ": " + string({COMMENT})'
    _extension(
        mapping, "output", source=f'=if {APPROVED} = true then {TOOL_RESULT} else "{refused}', target=TOOL_RESULT
    )
    timer = made("boundaryEvent", scope, tool, id=timer_id, attachedToRef=task_id)
    mapping = _extension(made("extensionElements", timer, tool), "ioMapping")
    _extension(mapping, "output", source=f'="{_ERROR}nobody has approved it in time."', target=TOOL_RESULT)
    definition = made("timerEventDefinition", timer, tool)
    made("timeDuration", definition, tool).text = given.get(TIMEOUT, DEFAULT_TIMEOUT).strip()
    made("sequenceFlow", scope, tool, id=f"{task_id}Flow", sourceRef=task_id, targetRef=id)


def _request(id: str, gateway: str | None) -> str:
    """The expression for what the person sees: the tool, its arguments, and what the model says about it."""
    tool, arguments = to_json(id), f'context(get entries({TOOL_CALL})[key != "_meta"])'
    if gateway == AGENT:
        arguments = f"{TOOL_CALL}.params"
    elif gateway is not None:
        tool, arguments = f"{TOOL_CALL}.params.name", f"{TOOL_CALL}.params.arguments"
    return f"={{tool: {tool}, arguments: {arguments}, reason: {REASON}}}"


def _extension(parent: Element, name: str, **attributes: str) -> Element:
    extension = etree.SubElement(parent, f"{{{ZEEBE}}}{name}", attributes)
    set_line(extension, parent)
    return extension
