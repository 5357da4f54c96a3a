"""The `zeebe:` extension elements: which of them are executed, and how they are read.

Elements of other namespaces in `extensionElements` belong to other vendors and are ignored. A `zeebe:` element asks
this engine for something. Therefore one that is unknown, not yet executable or without effect at its place is a
problem.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import replace

from vivero.core.bpmn.model import JobDefinition, Mapping
from vivero.core.bpmn.reading import text_limits
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.secret_references import REFERENCE, marked
from vivero.core.bpmn.reading.values import is_expression, path, text_or_expression, whole_number
from vivero.core.bpmn.reading.xml import ZEEBE, Element, bpmn_children, split, zeebe_children
from vivero.core.feel import Expression, FeelLimits, compile_attribute, constant

Extensions = MappingOf[str, Element]
"""The executed extension elements of one BPMN element, by local name."""

JOB = frozenset({"taskDefinition", "taskHeaders", "jobPriorityDefinition"})
MAPPINGS = frozenset({"ioMapping"})
LISTENERS = frozenset({"executionListeners"})
TASK_LISTENERS = frozenset({"taskListeners"})
PUBLISH = frozenset({"publishMessage"})
CONDITIONAL = frozenset({"conditionalFilter"})
CALL = frozenset({"calledElement"})
AD_HOC = frozenset({"adHoc", "agentDefinition"})
PEOPLE = frozenset({"userTask", "assignmentDefinition", "taskSchedule", "priorityDefinition"})

ACCEPTED = frozenset({"properties", "userTaskForm"})
"""Data for people and tools, accepted everywhere."""

WITHOUT_EFFECT = frozenset({"formDefinition", "linkedResources"})
"""Executed elements that are no problem where they have no effect: nothing waits for a form there, and a process that
was deployed with one must stay readable. Camunda deploys other tasks than service tasks with linked resources, too.
They are warnings."""

NOT_YET: MappingOf[str, str] = {
    "error": "variables of a caught error are",
}

KNOWN = (
    JOB
    | MAPPINGS
    | LISTENERS
    | TASK_LISTENERS
    | PUBLISH
    | CALL
    | AD_HOC
    | PEOPLE
    | CONDITIONAL
    | {"calledDecision", "formDefinition", "linkedResources", "loopCharacteristics", "script"}
    | {"subscription", "versionTag"}
)
"""Elements that are executed somewhere. At other places they have no effect."""

LISTS = frozenset({"executionListeners", "ioMapping", "linkedResources", "taskHeaders", "taskListeners"})
"""Lists. An empty one is accepted everywhere, because modelers leave them behind."""

_DEFAULT_RETRIES = compile_attribute("3")


def read_extensions(
    element: Element,
    allowed: frozenset[str],
    report: Report,
    *,
    of: Element | None = None,
    remnants: frozenset[str] = frozenset(),
) -> Extensions:
    """The executed extension elements of an element. All others that have a meaning are reported.

    `of` is a part of the element, such as its event definition, whose extension elements are read instead. `remnants`
    are warnings.
    """
    found: dict[str, Element] = {}
    for extension in _all_extensions(element if of is None else of):
        name = split(extension)[1]
        problem = _objection(extension, name, allowed, found)
        if problem is not None and name not in allowed and (name in WITHOUT_EFFECT or name in remnants):
            report.warn(element, problem, at=extension)
        elif problem is not None:
            report.add_problem(element, problem, at=extension)
        elif name in allowed:
            found[name] = extension
    return found


def _all_extensions(element: Element) -> list[Element]:
    return [
        extension
        for holder in bpmn_children(element, "extensionElements")
        for extension in holder
        if split(extension)[0] == ZEEBE
    ]


def _objection(extension: Element, name: str, allowed: frozenset[str], found: Extensions) -> str | None:
    if name in found:
        return f"zeebe:{name} stands here twice"
    if name in allowed or name in ACCEPTED:
        return None
    if name in LISTS and not len(extension):
        return None
    if name in NOT_YET:
        return f"zeebe:{name}: {NOT_YET[name]} not executable yet"
    return f"zeebe:{name} {'has no effect on this element' if name in KNOWN else 'is not a known extension'}"


# Jobs -----------------------------------------------------------------------------------------------------------------


def job_definition(
    element: Element, extensions: Extensions, default_priority: Expression | None, report: Report
) -> JobDefinition | None:
    """The job of a task. None if something is missing or wrong (reported)."""
    task = extensions.get("taskDefinition")
    if task is None:
        report.add_problem(element, "needs a zeebe:taskDefinition with the type of the job")
    type_ = None if task is None else job_type(element, task, report)
    retries = _DEFAULT_RETRIES if task is None else job_retries(element, task, report)
    priority = job_priority(element, extensions, report) or default_priority
    headers = task_headers(element, extensions.get("taskHeaders"), report)
    if type_ is None or retries is None:
        return None
    return JobDefinition(type=type_, retries=retries, priority=priority, headers=headers)


def job_type(element: Element, given: Element, report: Report) -> Expression | None:
    """The `type` of `zeebe:taskDefinition` or of a listener. None if it is missing or wrong (reported)."""
    text = given.get("type", "").strip()
    if not text:
        report.add_problem(element, f"zeebe:{split(given)[1]} needs a type", at=given)
        return None
    if text_limits.size(text) > text_limits.JOB_TYPE_BYTES and not is_expression(text):
        report.add_problem(element, f"the job type has more than {text_limits.JOB_TYPE_BYTES} bytes", at=given)
        return None
    return text_or_expression(text, "job type", element, report, at=given)


def job_retries(element: Element, given: Element, report: Report) -> Expression | None:
    """The `retries` of a job; 3 by default."""
    text = given.get("retries")
    if text is None:
        return _DEFAULT_RETRIES
    return whole_number(text, "retries", element, report, at=given, least=0)


def job_priority(element: Element, extensions: Extensions, report: Report) -> Expression | None:
    """`zeebe:jobPriorityDefinition` of a task, or of a process for all its tasks. None if there is none."""
    definition = extensions.get("jobPriorityDefinition")
    if definition is None:
        return None
    text = definition.get("priority", "")
    return whole_number(text, "job priority", element, report, at=definition, least=-(2**31))


def task_headers(element: Element, holder: Element | None, report: Report) -> dict[str, str]:
    """The headers of a job. One without a value is left out: modelers write empty rows into the file, and connector
    templates do so for each unused option."""
    headers: dict[str, str] = {}
    for header in zeebe_children(holder, "header") if holder is not None else ():
        key = header.get("key", "")
        if not header.get("value"):
            continue
        if not key:
            report.add_problem(element, "zeebe:header needs a key", at=header)
        elif key in headers:
            report.add_problem(element, f"the header {quote(key)} stands here twice", at=header)
        else:
            headers[key] = header.get("value", "")
    return headers


# Variables ------------------------------------------------------------------------------------------------------------


def mappings(
    element: Element, extensions: Extensions, report: Report
) -> tuple[tuple[Mapping, ...], tuple[Mapping, ...]]:
    """Input and output mappings in document order. Later ones see the results of earlier ones."""
    holder = extensions.get("ioMapping")
    if holder is None:
        return (), ()
    return _mappings(element, holder, "input", report), _mappings(element, holder, "output", report)


def _mappings(element: Element, holder: Element, direction: str, report: Report) -> tuple[Mapping, ...]:
    read = (_mapping(element, child, direction, report) for child in zeebe_children(holder, direction))
    return tuple(mapping for mapping in read if mapping is not None)


def _mapping(element: Element, child: Element, direction: str, report: Report) -> Mapping | None:
    """The source of a mapping. Without one the target becomes null (Camunda 8.8). A static source is always text:
    connector templates write `20` and `true` into models, and their workers expect text."""
    what = f"source of the {direction} mapping"
    source = text_or_expression(child.get("source", "=null"), what, element, report, at=child)
    target = path(child.get("target", ""), f"target of the {direction} mapping", element, report, at=child)
    if source is None or target is None:
        return None
    marks = None
    if direction == "input" and REFERENCE.search(source.text):
        marks = _with_marks(child.get("source", ""), report.limits.feel)
    return Mapping(source=source, target=target, marked=marks)


def _with_marks(text: str, limits: FeelLimits) -> Expression:
    """The source of an input with marks instead of its references to secrets. It parses as the source itself does, and
    is longer."""
    longer = marked(text)
    if not is_expression(longer):
        return constant(longer, longer)
    return compile_attribute(longer, replace(limits, source_length=max(limits.source_length, len(longer))))


# Names and tags -------------------------------------------------------------------------------------------------------


def version_tag(element: Element, extensions: Extensions, report: Report) -> str | None:
    """`zeebe:versionTag` of a process. None if there is none."""
    tag = extensions.get("versionTag")
    if tag is None:
        return None
    text = tag.get("value", "").strip()
    if not text or len(text) > report.limits.id_length:
        report.add_problem(
            element, f"zeebe:versionTag needs a value of 1 to {report.limits.id_length} characters", at=tag
        )
        return None
    return text


def properties(element: Element) -> dict[str, str]:
    """`zeebe:properties`: names and values for people and tools, which the engine does not execute."""
    return {
        item.get("name", ""): item.get("value", "")
        for holder in bpmn_children(element, "extensionElements")
        for group in zeebe_children(holder, "properties")
        for item in zeebe_children(group, "property")
        if item.get("name")
    }
