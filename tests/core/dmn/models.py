"""Small decision models for tests, as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from vivero.core.dmn import DecisionEvaluation, check_decisions, evaluate, read_decisions

NAMESPACE = "https://www.omg.org/spec/DMN/20191111/MODEL/"


def definitions(content: str, namespace: str = NAMESPACE, own: str = "test", attributes: str = "") -> bytes:
    """A file with this content."""
    head = f'<definitions xmlns="{namespace}" id="file" name="file" namespace="{own}" {attributes}>'
    return f"{head}\n{content}\n</definitions>".encode()


def literal(text: str) -> str:
    return f"<literalExpression><text>{escape(text)}</text></literalExpression>"


def decision(
    id: str,
    logic: str,
    *,
    decisions: Iterable[str] = (),
    inputs: Iterable[str] = (),
    knowledge: Iterable[str] = (),
    type: str = "",
) -> str:
    """A decision whose name is its id. It requires decisions, inputs and functions by id."""
    requirements = [
        f'<{kind}Requirement><required{name} href="#{each}"/></{kind}Requirement>'
        for kind, name, ids in (
            ("information", "Input", inputs),
            ("information", "Decision", decisions),
            ("knowledge", "Knowledge", knowledge),
        )
        for each in ids
    ]
    of_type = f" typeRef={quoteattr(type)}" if type else ""
    variable = f'<variable name="{id}"{of_type}/>'
    return f'<decision id="{id}" name="{id}">{variable}{"".join(requirements)}{logic}</decision>'


def inputs(*names: str, type: str = "") -> str:
    """Input data, by names that are ids, too."""
    of_type = f" typeRef={quoteattr(type)}" if type else ""
    return "".join(
        f'<inputData id="{name}" name="{name}"><variable name="{name}"{of_type}/></inputData>' for name in names
    )


def function(id: str, parameters: Iterable[str], logic: str, knowledge: Iterable[str] = ()) -> str:
    """A business knowledge model."""
    formal = "".join(f'<formalParameter name="{name}"/>' for name in parameters)
    required = "".join(
        f'<knowledgeRequirement><requiredKnowledge href="#{each}"/></knowledgeRequirement>' for each in knowledge
    )
    return (
        f'<businessKnowledgeModel id="{id}" name="{id}"><variable name="{id}"/>{required}'
        f"<encapsulatedLogic>{formal}{logic}</encapsulatedLogic></businessKnowledgeModel>"
    )


def table(
    columns: Iterable[str],
    outputs: Iterable[str],
    rules: Iterable[Iterable[str]],
    policy: str = "UNIQUE",
    **options: Any,
) -> str:
    """A table. A column is its expression. An output is its name, or `name|allowed values|default`.

    `aggregation`: of COLLECT. `values`: the allowed values of the first column.
    """
    names = list(columns)
    allowed = options.get("values", "")
    parts = [_input(each, allowed if number == 0 else "") for number, each in enumerate(names)]
    parts += [_output(*(f"{each}||".split("|")[:3])) for each in outputs]
    parts += [_rule(number, list(rule), len(names)) for number, rule in enumerate(rules, 1)]
    aggregation = f' aggregation="{options["aggregation"]}"' if "aggregation" in options else ""
    return f'<decisionTable hitPolicy="{policy}"{aggregation}>{"".join(parts)}</decisionTable>'


def _input(expression: str, values: str) -> str:
    allowed = f"<inputValues><text>{escape(values)}</text></inputValues>" if values else ""
    return f'<input label="{expression}"><inputExpression><text>{expression}</text></inputExpression>{allowed}</input>'


def _output(name: str, values: str, default: str) -> str:
    allowed = f"<outputValues><text>{escape(values)}</text></outputValues>" if values else ""
    otherwise = f"<defaultOutputEntry><text>{escape(default)}</text></defaultOutputEntry>" if default else ""
    return f'<output name="{name}">{allowed}{otherwise}</output>'


def _rule(number: int, cells: list[str], columns: int) -> str:
    kinds = ["inputEntry"] * columns + ["outputEntry"] * (len(cells) - columns)
    entries = [f"<{kind}><text>{escape(cell)}</text></{kind}>" for kind, cell in zip(kinds, cells, strict=False)]
    return f'<rule id="r{number}">{"".join(entries)}</rule>'


SERVICE = (
    inputs("x", type="number")
    + decision("low", literal('assert(0, false, "evaluated")'), type="number")
    + decision("high", literal("low + x"), decisions=["low"], inputs=["x"])
    + decision("other", literal("high * 2"), decisions=["high"])
    + '<decisionService id="s" name="s"><outputDecision href="#high"/><outputDecision href="#other"/>'
    '<inputDecision href="#low"/><inputData href="#x"/></decisionService>'
    + decision("calls", literal("s(x: 1, low: 10).other"), knowledge=["s"])
    + decision("wrong", literal('s("one", 10)'), knowledge=["s"])
)
"""A decision service `s` of an input and an input decision, and decisions that call it."""


def run(content: str | bytes, name: str, mode: str | None = None, /, **variables: Any) -> DecisionEvaluation:
    """The evaluation of a decision of one file, which must have no problems."""
    file = content if isinstance(content, bytes) else definitions(content)
    read = read_decisions({"file.dmn": file}, mode)
    assert read.decisions is not None, [str(problem) for problem in read.problems]
    key = read.decisions.find(name)
    assert key is not None
    return evaluate(read.decisions, key, variables)


def value(content: str | bytes, name: str, mode: str | None = None, /, **variables: Any) -> Any:
    """The value of a decision, which must not fail."""
    evaluation = run(content, name, mode, **variables)
    assert evaluation.failure is None, evaluation.failure
    return evaluation.value


def problems(content: str | bytes, mode: str | None = None) -> list[tuple[int | None, str]]:
    """The line and the text of each problem, which a check finds as well."""
    file = {"file.dmn": content if isinstance(content, bytes) else definitions(content)}
    read = read_decisions(file, mode)
    checked = check_decisions(file, mode)
    assert (checked.problems, checked.warnings) == (read.problems, read.warnings)
    return [(problem.line, problem.message) for problem in read.problems]
