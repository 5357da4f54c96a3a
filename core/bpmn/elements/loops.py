"""Loops of activities: multi-instance, and the standard loop. BPMN 2.0.2 §10.3.8, §10.3.9."""

from __future__ import annotations

from dataclasses import replace

from vivero.core.bpmn.elements.inner_events import inner_events
from vivero.core.bpmn.model import Loop, Repetition
from vivero.core.bpmn.reading.draft import Draft, Member
from vivero.core.bpmn.reading.extensions import read_extensions
from vivero.core.bpmn.reading.report import Report
from vivero.core.bpmn.reading.values import feel, flag, variable_name, whole_number
from vivero.core.bpmn.reading.xml import Element, bpmn_children, split, text_of
from vivero.core.feel import Expression, named_variable

MULTI_INSTANCE, STANDARD = "multiInstanceLoopCharacteristics", "standardLoopCharacteristics"

DATA = frozenset({"loopDataInputRef", "loopDataOutputRef", "inputDataItem", "outputDataItem"})
"""Data of multi-instance activities. They are warnings, because `zeebe:loopCharacteristics` takes their place."""

CHILDREN = {
    MULTI_INSTANCE: frozenset({"loopCardinality", "completionCondition", "complexBehaviorDefinition"}) | DATA,
    STANDARD: frozenset({"loopCondition"}),
}
"""The markers of loops, with the BPMN child elements that they may have."""


def loop_of(member: Member, draft: Draft) -> Loop | None:
    """The loop of an activity. None if it has none or a wrong one (reported)."""
    activity, report = member.element, draft.report
    several, standard = bpmn_children(activity, MULTI_INSTANCE), bpmn_children(activity, STANDARD)
    if not several and not standard:
        return None
    if len(several) > 1:
        report.add_problem(activity, "is multi-instance twice", at=several[1])
    if len(standard) > 1:
        report.add_problem(activity, "has the standard loop twice", at=standard[1])
    if several and standard:
        report.add_problem(activity, "is multi-instance and has the standard loop", at=standard[0])
        return None
    if standard:
        return _standard(activity, standard[0], report)
    loop, events = _several(activity, several[0], report), inner_events(member, several[0], draft)
    return None if loop is None else replace(loop, events=events)


def loops_of(element: Element) -> list[Element]:
    """The markers of loops."""
    return [marker for tag in CHILDREN for marker in bpmn_children(element, tag)]


# Standard loop --------------------------------------------------------------------------------------------------------


def _standard(activity: Element, marker: Element, report: Report) -> Loop | None:
    """§10.3.8. Without a condition it needs a maximum, because it would never end."""
    read_extensions(activity, frozenset(), report, of=marker)
    condition = _only_child(activity, marker, "loopCondition", "loop condition", report)
    given, maximum = marker.get("loopMaximum"), None
    if given is not None:
        maximum = whole_number(given, "loopMaximum", activity, report, at=marker, least=1)
    elif not bpmn_children(marker, "loopCondition"):
        report.add_problem(activity, "the standard loop needs a loopCondition or a loopMaximum", at=marker)
    test_before = flag(marker, "testBefore", report, owner=activity)
    return Loop(sequential=True, repetition=Repetition(condition, test_before, maximum))


def _only_child(activity: Element, marker: Element, tag: str, what: str, report: Report) -> Expression | None:
    """The expression of a child element that stands at most once."""
    found = bpmn_children(marker, tag)
    if not found:
        return None
    if len(found) > 1:
        report.add_problem(activity, f"has more than one {what}", at=found[1])
    return feel(text_of(found[0]), tag, activity, report, at=found[0])


# Multi-instance -------------------------------------------------------------------------------------------------------


def _several(activity: Element, marker: Element, report: Report) -> Loop | None:
    """§10.3.9."""
    for child in bpmn_children(marker, *DATA):
        text = f"{split(child)[1]} has no effect: zeebe:loopCharacteristics names collection and results"
        report.warn(activity, text, at=child)
    until = _only_child(activity, marker, "completionCondition", "completion condition", report)
    settings = read_extensions(activity, frozenset({"loopCharacteristics"}), report, of=marker)
    given = settings.get("loopCharacteristics")
    cardinality = _cardinality(activity, marker, given, report)
    if given is None:
        if cardinality is None:
            return None
        return Loop(flag(marker, "isSequential", report, owner=activity), cardinality=cardinality, until=until)
    collection = None
    if cardinality is None:
        collection = feel(given.get("inputCollection", ""), "inputCollection", activity, report, at=given)
    item = _name(given, "inputElement", activity, report)
    output, output_name = _output(activity, given, report)
    if collection is None and cardinality is None:
        return None
    return Loop(
        sequential=flag(marker, "isSequential", report, owner=activity),
        collection=collection,
        cardinality=cardinality,
        item=item,
        output=output,
        result=None if output is None else named_variable(output),
        output_name=output_name,
        until=until,
    )


def _cardinality(activity: Element, marker: Element, given: Element | None, report: Report) -> Expression | None:
    """The number of inner instances, if the model gives a number instead of a collection."""
    found = bpmn_children(marker, "loopCardinality")
    if not found:
        if given is None:
            text = "multi-instance needs zeebe:loopCharacteristics with an inputCollection, or a loopCardinality"
            report.add_problem(activity, text, at=marker)
        return None
    if len(found) > 1:
        report.add_problem(activity, "has more than one loop cardinality", at=found[1])
    for name in ("inputCollection", "inputElement"):
        if given is not None and given.get(name):
            report.add_problem(activity, f"loopCardinality and {name}: one of them is too much", at=given)
    text = text_of(found[0])
    return whole_number(text, "loopCardinality", activity, report, at=found[0], least=0)


def _output(activity: Element, given: Element, report: Report) -> tuple[Expression | None, str | None]:
    """The output collection with its element. A model has both or neither."""
    element, name = given.get("outputElement", ""), _name(given, "outputCollection", activity, report)
    if not element and given.get("outputCollection"):
        report.add_problem(activity, "an outputCollection needs an outputElement", at=given)
    if element and not given.get("outputCollection"):
        report.add_problem(activity, "an outputElement needs an outputCollection", at=given)
    output = feel(element, "outputElement", activity, report, at=given) if element else None
    return output, name


def _name(given: Element, attribute: str, activity: Element, report: Report) -> str | None:
    text = given.get(attribute)
    return variable_name(text, attribute, activity, report, at=given) if text else None
