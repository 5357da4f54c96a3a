"""Decision tables: columns, rules, hit policies (DMN 1.5, chapter 8)."""

from __future__ import annotations

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import Element, line_of
from vivero.core.dmn.model import InputColumn, OutputColumn, Table, TableRule, Text
from vivero.core.dmn.reading.texts import required_text, text_in
from vivero.core.dmn.reading.xml_names import child, child_text, children, normal_name, type_of

HIT_POLICIES = ("UNIQUE", "ANY", "FIRST", "PRIORITY", "OUTPUT ORDER", "RULE ORDER", "COLLECT")
AGGREGATIONS = ("SUM", "MIN", "MAX", "COUNT")


def read_table(element: Element, report: Report) -> Table:
    """A table. Columns and rules without an id get one that stays the same: `input_1`, `output_1`, `rule_1`."""
    inputs = tuple(_input(each, n, report) for n, each in enumerate(children(element, "input"), 1))
    outputs = tuple(_output(each, n, report) for n, each in enumerate(children(element, "output"), 1))
    if not outputs:
        report.add_problem(element, "a decision table needs an output")
    policy, aggregation = _policy(element, len(outputs), report)
    _check_names(element, outputs, report)
    rules = tuple(
        _rule(each, n, len(inputs), len(outputs), report) for n, each in enumerate(children(element, "rule"), 1)
    )
    return Table(policy, aggregation, inputs, outputs, rules, element.get("id"), line_of(element))


def _policy(element: Element, outputs: int, report: Report) -> tuple[str, str]:
    """The hit policy and the aggregation. An unknown one is a problem and replaced, so that the rest is read."""
    policy = " ".join(element.get("hitPolicy", "UNIQUE").replace("_", " ").split()).upper()
    aggregation = element.get("aggregation", "").strip().upper()
    if policy not in HIT_POLICIES:
        report.add_problem(element, f"the hit policy {quote(policy)} is none of {', '.join(HIT_POLICIES)}")
    if aggregation and aggregation not in AGGREGATIONS:
        report.add_problem(element, f"the aggregation {quote(aggregation)} is none of {', '.join(AGGREGATIONS)}")
    elif aggregation and policy != "COLLECT":
        report.add_problem(element, f"an aggregation needs the hit policy 'COLLECT', not {quote(policy)}")
    elif aggregation and outputs > 1:
        report.add_problem(element, "hit policy 'COLLECT' with aggregator is not defined for compound output")
    return (policy if policy in HIT_POLICIES else HIT_POLICIES[0]), (aggregation if aggregation in AGGREGATIONS else "")


def _check_names(element: Element, outputs: tuple[OutputColumn, ...], report: Report) -> None:
    """Several outputs are entries of a context, so that each needs a name of its own."""
    seen: set[str] = set()
    for output, found in zip(outputs, children(element, "output"), strict=True) if len(outputs) > 1 else ():
        if not output.name:
            report.add_problem(element, f"no output name defined for {quote(output.label or output.id)}", at=found)
        elif output.name in seen:
            report.add_problem(element, f"two outputs have the name {quote(output.name)}", at=found)
        seen.add(output.name)


def _input(element: Element, number: int, report: Report) -> InputColumn:
    expression = child(element, "inputExpression")
    label = element.get("label") or ""
    id = element.get("id") or f"input_{number}"
    if expression is None:
        report.add_problem(element, f"the input {quote(label or id)} has no expression")
        return InputColumn(id, label, Text("null"))
    values = text_in(child(element, "inputValues"), report)
    return InputColumn(id, label, required_text(expression, report), type_of(expression), values)


def _output(element: Element, number: int, report: Report) -> OutputColumn:
    return OutputColumn(
        element.get("id") or f"output_{number}",
        element.get("label") or "",
        normal_name(element.get("name")),
        type_of(element),
        text_in(child(element, "outputValues"), report),
        text_in(child(element, "defaultOutputEntry"), report),
    )


def _rule(element: Element, number: int, inputs: int, outputs: int, report: Report) -> TableRule:
    tests, results = children(element, "inputEntry"), children(element, "outputEntry")
    for found, expected in ((tests, inputs), (results, outputs)):
        if len(found) != expected:
            report.add_problem(element, f"expected row with '{expected}' elements but found '{len(found)}'")
    return TableRule(
        element.get("id") or f"rule_{number}",
        tuple(_any_or_test(each, report) for each in tests),
        tuple(text_in(each, report) for each in results),
        line_of(element),
        tuple(child_text(each, "text") or "" for each in children(element, "annotationEntry")),
    )


def _any_or_test(element: Element, report: Report) -> Text | None:
    """A test; None for an empty one and for `-`, which every input passes."""
    text = text_in(element, report)
    return None if text is None or text.text == "-" else text
