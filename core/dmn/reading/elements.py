"""Decisions, input data, business knowledge models and decision services (DMN 1.5, chapter 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import ZEEBE, Element, line_of, split
from vivero.core.dmn import model
from vivero.core.dmn.model import ElementReference
from vivero.core.dmn.reading.logic import READERS, LogicReader, read_function
from vivero.core.dmn.reading.xml_names import child, children, normal_name, variable_of

_NOT_LOGIC = frozenset(
    {
        *("description", "extensionElements", "question", "allowedAnswers", "variable", "informationRequirement"),
        *("knowledgeRequirement", "authorityRequirement", "supportedObjective", "impactedPerformanceIndicator"),
        *("decisionMaker", "decisionOwner", "usingProcess", "usingTask", "encapsulatedLogic"),
    }
)


def _references(holder: Element, found: list[Element], report: Report) -> Iterator[ElementReference]:
    """The references of elements: `#id`, or the namespace of another file, `#` and the id."""
    for each in found:
        namespace, _, id = each.get("href", "").rpartition("#")
        if id:
            yield ElementReference(namespace, id, line_of(each))
        else:
            report.add_problem(holder, f"{quote(split(each)[1])} has no reference to an element (href)", at=each)


def _required(element: Element, requirement: str, name: str, report: Report) -> tuple[ElementReference, ...]:
    holders = children(element, requirement)
    return tuple(found for each in holders for found in _references(each, children(each, name)[:1], report))


def _id_and_name(element: Element) -> tuple[str, str]:
    return element.get("id", ""), normal_name(element.get("name"))


def _input_data(element: Element, reader: LogicReader) -> model.Element:
    id, name = _id_and_name(element)
    return model.InputData(id, name, variable_of(child(element, "variable"), name), line_of(element))


def _decision(element: Element, reader: LogicReader) -> model.Element:
    id, name = _id_and_name(element)
    report = reader.report
    _refuse_unknown(element, report)
    logic = reader.only(element)
    if logic is None:
        report.warn(element, f"the decision {quote(id)} has no logic, so its result is null")
    return model.Decision(
        id,
        name,
        variable_of(child(element, "variable")),
        logic,
        _required(element, "informationRequirement", "requiredInput", report),
        _required(element, "informationRequirement", "requiredDecision", report),
        _required(element, "knowledgeRequirement", "requiredKnowledge", report),
        _version_tag(element),
        line_of(element),
    )


def _refuse_unknown(element: Element, report: Report) -> None:
    for each in element:
        namespace, tag = split(each)
        if namespace == split(element)[0] and tag not in READERS and tag not in _NOT_LOGIC:
            report.add_problem(element, f"unsupported decision expression {quote(tag)}", at=each)


def _version_tag(element: Element) -> str | None:
    extensions = child(element, "extensionElements")
    tag = None if extensions is None else extensions.find(f"{{{ZEEBE}}}versionTag")
    return None if tag is None else tag.get("value")


def _knowledge(element: Element, reader: LogicReader) -> model.Element:
    id, name = _id_and_name(element)
    logic = child(element, "encapsulatedLogic")
    if logic is None:
        reader.report.add_problem(element, f"the business knowledge model {quote(name)} has no logic")
        function = model.FunctionDefinition((), None)
    else:
        function = read_function(logic, reader)
    knowledge = _required(element, "knowledgeRequirement", "requiredKnowledge", reader.report)
    return model.Knowledge(
        id, name, variable_of(child(element, "variable"), name), function, knowledge, line_of(element)
    )


def _service(element: Element, reader: LogicReader) -> model.Element:
    id, name = _id_and_name(element)
    parts = (
        tuple(_references(element, children(element, part), reader.report))
        for part in ("outputDecision", "encapsulatedDecision", "inputDecision", "inputData")
    )
    outputs, encapsulated, decisions, inputs = parts
    if not outputs:
        reader.report.add_problem(element, f"the decision service {quote(name)} has no output decision")
    variable = variable_of(child(element, "variable"), name)
    return model.Service(id, name, variable, outputs, encapsulated, decisions, inputs, line_of(element))


ELEMENTS: Mapping[str, Callable[[Element, LogicReader], model.Element]] = {
    "inputData": _input_data,
    "decision": _decision,
    "businessKnowledgeModel": _knowledge,
    "decisionService": _service,
}
"""The elements of a file that are evaluated, by the name of their XML element."""
