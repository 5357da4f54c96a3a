"""Decisions in the core: small tables, tables of 10,000 rules and 10 columns, and graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.feel import best_us
from vivero.core.dmn import DecisionEvaluation, Decisions, evaluate, read_decisions

HEAD = '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="file" name="file" namespace="file">'
COLUMNS = 10
RULES = 10_000
CONSTANTS = 100
"""The values of the constant column: each is in 100 rules."""
RUNGS = 30
CALLS = 20
BUDGET = 10_000_000
"""Steps, so that the largest table is evaluated as a whole."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    figures: dict[str, float] = {}
    small = _read(_table([f'"c{n % 3}"', f"< {10 * n}"] for n in range(10)))
    figures["table of 10 rules: evaluations/s"] = 1e6 / _us(small, "t", {"x0": "c2", "x1": 60})
    began = time.perf_counter()
    constant = _read(_table([f'"c{n % CONSTANTS}"', *_intervals(n)] for n in range(RULES)))
    figures["10,000 rules × 10 columns: read s"] = time.perf_counter() - began
    given = {"x0": "c5", **{f"x{n}": 4_935 for n in range(1, COLUMNS)}}
    figures["10,000 rules, one column of constants: ms"] = _ms(constant, "t", given)
    other = _read(_table([f">= {n}", *_intervals(n)] for n in range(RULES)))
    figures["10,000 rules, no constants: ms"] = _ms(other, "t", given | {"x0": RULES})
    figures["ladder of 30 diamonds: ms"] = _ms(_read(_ladder()), f"a{RUNGS}", {})
    return figures, {"rules": f"{COLUMNS} columns; {CONSTANTS} constants"}


def _intervals(rule: int) -> list[str]:
    return [f"[{7 * rule + column}..{7 * rule + 11 * column + 5}]" for column in range(1, COLUMNS)]


def _table(rules: Iterable[list[str]]) -> str:
    cells = list(rules)
    names = [f"x{n}" for n in range(len(cells[0]))]
    inputs = "".join(f'<inputData id="{name}" name="{name}"><variable name="{name}"/></inputData>' for name in names)
    required = "".join(
        f'<informationRequirement><requiredInput href="#{name}"/></informationRequirement>' for name in names
    )
    columns = "".join(f"<input><inputExpression><text>{name}</text></inputExpression></input>" for name in names)
    rows = "".join(_rule(number, row) for number, row in enumerate(cells))
    table = f'<decisionTable hitPolicy="COLLECT">{columns}<output/>{rows}</decisionTable>'
    return f'{inputs}<decision id="t" name="t"><variable name="t"/>{required}{table}</decision>'


def _rule(number: int, row: list[str]) -> str:
    entries = "".join(f"<inputEntry><text>{escape(cell)}</text></inputEntry>" for cell in row)
    return f"<rule>{entries}<outputEntry><text>{number}</text></outputEntry></rule>"


def _ladder() -> str:
    """Two decisions a rung, each of which requires both of the rung below."""
    return "".join(
        _decision(f"{side}{n}", [f"a{n - 1}", f"b{n - 1}"] if n else []) for n in range(RUNGS + 1) for side in "ab"
    )


def _decision(id: str, required: list[str]) -> str:
    requirements = "".join(
        f'<informationRequirement><requiredDecision href="#{each}"/></informationRequirement>' for each in required
    )
    text = " + ".join(required) or "1"
    logic = f"<literalExpression><text>{text}</text></literalExpression>"
    return f'<decision id="{id}" name="{id}"><variable name="{id}"/>{requirements}{logic}</decision>'


def _read(content: str) -> Decisions:
    read = read_decisions({"file.dmn": f"{HEAD}{content}</definitions>".encode()}, steps=BUDGET)
    assert read.decisions is not None, read.problems[:3]
    return read.decisions


def _work(decisions: Decisions, name: str, variables: Mapping[str, Any]) -> Callable[[], DecisionEvaluation]:
    """The evaluation of a decision, which was done once without a failure."""
    key = decisions.find(name)
    assert key is not None
    assert evaluate(decisions, key, variables).failure is None
    return partial(evaluate, decisions, key, variables)


def _us(decisions: Decisions, name: str, variables: Mapping[str, Any]) -> float:
    return best_us(_work(decisions, name, variables))


def _ms(decisions: Decisions, name: str, variables: Mapping[str, Any]) -> float:
    """Milliseconds of the fastest of a few evaluations."""
    work = _work(decisions, name, variables)
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times) * 1000
