"""Loops, called processes, decisions and scripts of activities. BPMN 2.0.2 §10.3."""

from __future__ import annotations

from vivero.core.bpmn.model import CalledDecision, CalledElement, Loop, Script
from vivero.core.bpmn.reading.extensions import Extensions, read_extensions
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import feel, flag, is_expression, text_or_expression, variable_name
from vivero.core.bpmn.reading.xml import Element, bpmn_children, text_of
from vivero.core.feel import Expression, named_variable

# Multi-instance -------------------------------------------------------------------------------------------------------

LOOP_CHILDREN = frozenset(
    {
        "completionCondition",
        # data: `zeebe:loopCharacteristics` takes its place
        "loopDataInputRef",
        "loopDataOutputRef",
        "inputDataItem",
        "outputDataItem",
    }
)


def multi_instance(activity: Element, report: Report) -> Loop | None:
    """The multi-instance marker of an activity. §10.3.9. None if it has none or a wrong one (reported)."""
    markers = bpmn_children(activity, "multiInstanceLoopCharacteristics")
    if not markers:
        return None
    if len(markers) > 1:
        report.add_problem(activity, "is multi-instance twice", at=markers[1])
    return _loop(activity, markers[0], report)


def _loop(activity: Element, marker: Element, report: Report) -> Loop | None:
    _behaviour(activity, marker, report)
    until = _completion_condition(activity, marker, report)
    settings = read_extensions(activity, frozenset({"loopCharacteristics"}), report, of=marker)
    given = settings.get("loopCharacteristics")
    if given is None:
        report.add_problem(
            activity, "multi-instance needs zeebe:loopCharacteristics with an inputCollection", at=marker
        )
        return None
    collection = feel(given.get("inputCollection", ""), "inputCollection", activity, report, at=given)
    item = _name(given, "inputElement", activity, report)
    output, output_name = _output(activity, given, report)
    if collection is None:
        return None
    return Loop(
        sequential=flag(marker, "isSequential", report, owner=activity),
        collection=collection,
        item=item,
        output=output,
        result=None if output is None else named_variable(output),
        output_name=output_name,
        until=until,
    )


def _behaviour(activity: Element, marker: Element, report: Report) -> None:
    """Events thrown by inner instances as they end. §10.3.9, table 10.30."""
    if marker.get("behavior", "All") != "All":
        text = f"multi-instance with behavior={quote(marker.get('behavior', ''))} is not executable"
        report.add_problem(activity, text, at=marker)


def _completion_condition(activity: Element, marker: Element, report: Report) -> Expression | None:
    conditions = bpmn_children(marker, "completionCondition")
    if not conditions:
        return None
    if len(conditions) > 1:
        report.add_problem(activity, "has more than one completion condition", at=conditions[1])
    return feel(text_of(conditions[0]), "completionCondition", activity, report, at=conditions[0])


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


# Call activity --------------------------------------------------------------------------------------------------------

BINDINGS = ("latest", "deployment", "versionTag")


def called_element(activity: Element, extensions: Extensions, report: Report) -> CalledElement | None:
    """`zeebe:calledElement`. §10.3.6. None if it is wrong (reported)."""
    given = extensions.get("calledElement")
    if given is None:
        report.add_problem(activity, "needs a zeebe:calledElement with the id of the process")
        return None
    if given.get("businessId"):
        report.add_problem(activity, "zeebe:calledElement: a businessId is not executable yet", at=given)
    binding, version_tag = binding_of(activity, given, report)
    process_id = _called_process(activity, given, report)
    if process_id is None:
        return None
    return CalledElement(
        process_id=process_id,
        binding=binding,
        version_tag=version_tag,
        all_parent_variables=flag(given, "propagateAllParentVariables", report, default=True, owner=activity),
        all_child_variables=flag(given, "propagateAllChildVariables", report, default=True, owner=activity),
    )


def _called_process(activity: Element, given: Element, report: Report) -> Expression | None:
    """`processId` is a value or an expression. `processIdExpression` is FEEL; old models write it without a `=`."""
    plain, old = given.get("processId", "").strip(), given.get("processIdExpression", "").strip()
    if plain and old:
        report.add_problem(activity, "processId and processIdExpression: one of them is too much", at=given)
    if not plain and not old:
        report.add_problem(activity, "zeebe:calledElement needs a processId", at=given)
        return None
    if plain:
        return text_or_expression(plain, "processId", activity, report, at=given)
    return feel("=" + old.removeprefix("="), "processIdExpression", activity, report, at=given)


def binding_of(activity: Element, given: Element, report: Report) -> tuple[str, str | None]:
    """The version that a reference means: `bindingType`, and `versionTag` if the type asks for one."""
    binding, tag = given.get("bindingType", "latest"), given.get("versionTag", "").strip()
    if binding not in BINDINGS:
        report.add_problem(activity, f"bindingType: {quote(binding)} is none of {', '.join(BINDINGS)}", at=given)
    elif binding == "versionTag" and not tag:
        report.add_problem(activity, "bindingType='versionTag' needs a versionTag", at=given)
    elif binding != "versionTag" and tag:
        report.add_problem(activity, f"a versionTag has no effect with bindingType={quote(binding)}", at=given)
    if tag.startswith("="):
        report.add_problem(activity, "versionTag: an expression is not executable yet", at=given)
    return binding, tag or None


# Business rule task and script task ---------------------------------------------------------------------------------


def called_decision(activity: Element, extensions: Extensions, report: Report) -> CalledDecision | None:
    """`zeebe:calledDecision`. §10.3.3. None if it is wrong (reported)."""
    given = extensions["calledDecision"]
    decision = given.get("decisionId", "").strip()
    result = variable_name(given.get("resultVariable", ""), "resultVariable", activity, report, at=given)
    binding, version_tag = binding_of(activity, given, report)
    if not decision:
        report.add_problem(activity, "zeebe:calledDecision needs a decisionId", at=given)
        return None
    decision_id = text_or_expression(decision, "decisionId", activity, report, at=given)
    if decision_id is None or result is None:
        return None
    return CalledDecision(decision_id, result, binding, version_tag)


def script(activity: Element, extensions: Extensions, report: Report) -> Script | None:
    """`zeebe:script`. §10.3.3. None if there is none or a wrong one (reported)."""
    given = extensions.get("script")
    if given is None:
        return None
    text = given.get("expression", "")
    if not is_expression(text) and text.strip() not in ("", "="):
        what = f"script: {quote(text)} is static text and becomes the result: '=' in front would make it FEEL"
        report.warn(activity, what, at=given)
        expression = text_or_expression(text, "script", activity, report, at=given)
    else:
        expression = feel(text, "script", activity, report, at=given)
    result = variable_name(given.get("resultVariable", ""), "resultVariable", activity, report, at=given)
    if expression is None or result is None:
        return None
    return Script(expression, result)
