"""Called processes, decisions and scripts of activities. BPMN 2.0.2 §10.3."""

from __future__ import annotations

from vivero.core.bpmn.model import CalledDecision, CalledElement, Script
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.text_limits import BUSINESS_ID_CHARACTERS
from vivero.core.bpmn.reading.values import feel, flag, is_expression, text_or_expression, variable_name
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import Expression

# Call activity --------------------------------------------------------------------------------------------------------

BINDINGS = ("latest", "deployment", "versionTag")


def called_element(activity: Element, extensions: Extensions, report: Report) -> CalledElement | None:
    """`zeebe:calledElement`. §10.3.6. None if it is wrong (reported)."""
    given = extensions.get("calledElement")
    if given is None:
        report.add_problem(activity, "needs a zeebe:calledElement with the id of the process")
        return None
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
        inherits_business_id=given.get("businessId") is None,
        business_id=_business_id(activity, given, report),
    )


def _business_id(activity: Element, given: Element, report: Report) -> Expression | None:
    """`businessId`: a value or an expression. An empty one means none; without the attribute it is inherited."""
    text = given.get("businessId", "").strip()
    if not is_expression(text) and len(text) > BUSINESS_ID_CHARACTERS:
        most = f"at most {BUSINESS_ID_CHARACTERS} are possible"
        report.add_problem(activity, f"businessId: it has {len(text)} characters, and {most}", at=given)
        return None
    return text_or_expression(text, "businessId", activity, report, at=given) if text else None


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
