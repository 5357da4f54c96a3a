"""Decisions: small tables, tables of 10,000 rules and 10 columns and graphs in the core, and evaluations over HTTP.

After `make peers`, SpiffWorkflow and pyDMNrules evaluate the small table, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from xml.sax.saxutils import escape

import trio

from benchmarks import decision_peers
from benchmarks.http import client
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.core.dmn import DecisionEvaluation, Decisions, evaluate, read_decisions

HEAD = '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="file" name="file" namespace="file">'
CAMUNDAS = HEAD.replace(
    " id=", ' xmlns:m="http://camunda.org/schema/modeler/1.0" m:executionPlatform="Camunda Cloud" id=', 1
)
"""The head of a file in Camunda's mode."""
COLUMNS = 10
RULES = 10_000
CONSTANTS = 100
"""The values of the constant column: each is in 100 rules."""
RUNGS = 30
CHAIN = 60
CALLS = 20
WARM_S, ROUND_S, ROUNDS = 2.0, 4.0, 2
PACED_S, PACE = 6.0, 50.0
BUDGET = 10_000_000
"""Steps, so that the largest table is evaluated as a whole."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    figures: dict[str, float] = {}
    table, values = _table([f'"c{n % 3}"', f"< {10 * n}"] for n in range(10)), {"x0": "c2", "x1": 60}
    small = _read(table)
    figures["table of 10 rules: evaluations/s"] = decision_peers.per_s(_work(small, "t", values))
    outputs = [int(output) for output in _work(small, "t", values)().value]
    peers = decision_peers.rates(f"{HEAD}{table}</definitions>", values, outputs)
    for name, rate in (peers or {}).items():
        figures[f"table of 10 rules in {name}: evaluations/s"] = rate
    began = time.perf_counter()
    constant = _read(_table([f'"c{n % CONSTANTS}"', *_intervals(n)] for n in range(RULES)))
    figures["10,000 rules × 10 columns: read s"] = time.perf_counter() - began
    given = {"x0": "c5", **{f"x{n}": 4_935 for n in range(1, COLUMNS)}}
    figures["10,000 rules, one column of constants: ms"] = _ms(constant, "t", given)
    other = _read(_table([f">= {n}", *_intervals(n)] for n in range(RULES)))
    figures["10,000 rules, no constants: ms"] = _ms(other, "t", given | {"x0": RULES})
    figures["ladder of 30 diamonds: ms"] = _ms(_read(_ladder()), f"a{RUNGS}", {})
    for length in (CHAIN, 2 * CHAIN):
        figures[f"chain of {length} decisions: ms"] = _ms(_read(_chain(length)), f"c{length - 1}", {})
    of_server, notes = trio.run(_over_http)
    notes |= {} if peers else {"peers": "not installed: make peers"}
    return figures | of_server, notes | {"rules": f"{COLUMNS} columns; {CONSTANTS} constants"}


# A server -------------------------------------------------------------------------------------------------------------


async def _over_http() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        return await trio.to_thread.run_sync(_server, dsn), notes


def _server(dsn: str) -> dict[str, float]:
    """Evaluations beside creations of instances, which alternate; and creations beside endless evaluations."""
    rows = "".join(_rule(number, [f"< {10 * number}"]) for number in range(1, 11))
    columns = "<input><inputExpression><text>amount</text></inputExpression></input><output/>"
    table = f'<decisionTable hitPolicy="FIRST">{columns}{rows}</decisionTable>'
    endless = "<literalExpression><text>count(for i in 1..100000, j in 1..100000 return i)</text></literalExpression>"
    decisions = _of_logic("measured-decision", table) + _of_logic("measured-endless", endless)
    files = {"one.bpmn": ONE_TASK, "decisions.dmn": f"{CAMUNDAS}{decisions}</definitions>".encode()}
    rates: dict[str, list[float]] = {"create": [], "decide": []}
    with program(dsn, files) as (port, _process):
        for mode in ("create", "decide"):
            client(port, mode, WARM_S, 0)
        for _ in range(ROUNDS):
            for mode, found in rates.items():
                found.append(client(port, mode, ROUND_S, 0)["created_per_s"])
        alone = client(port, "create", PACED_S, PACE)
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(client, port, "endless", PACED_S + 1, 0)
            beside = client(port, "create", PACED_S, PACE)
            ended = other.result()["created_per_s"]
    created, decided = (sum(found) / len(found) for found in rates.values())
    return {
        "http: evaluations/s": decided,
        "http: evaluations per creation": decided / created,
        "http: p99 of creations, ms": alone["create_p99_ms"],
        "http: p99 of creations beside endless evaluations, ms": beside["create_p99_ms"],
        "http: endless evaluations/s": ended,
    }


def _of_logic(id: str, logic: str) -> str:
    return f'<decision id="{id}" name="{id}"><variable name="{id}"/>{logic}</decision>'


_OUTPUT = '<output name="r" label="r" typeRef="number"/>'
"""pyDMNrules needs all of it."""


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
    table = f'<decisionTable id="table" hitPolicy="COLLECT">{columns}{_OUTPUT}{rows}</decisionTable>'
    return f'{inputs}<decision id="t" name="t"><variable name="t"/>{required}{table}</decision>'


def _rule(number: int, row: list[str]) -> str:
    entries = "".join(f"<inputEntry><text>{escape(cell)}</text></inputEntry>" for cell in row)
    return f"<rule>{entries}<outputEntry><text>{number}</text></outputEntry></rule>"


def _ladder() -> str:
    """Two decisions a rung, each of which requires both of the rung below."""
    return "".join(
        _decision(f"{side}{n}", [f"a{n - 1}", f"b{n - 1}"] if n else []) for n in range(RUNGS + 1) for side in "ab"
    )


def _chain(length: int) -> str:
    return "".join(_decision(f"c{n}", [f"c{n - 1}"] if n else []) for n in range(length))


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


def _ms(decisions: Decisions, name: str, variables: Mapping[str, Any]) -> float:
    """Milliseconds of the fastest of a few evaluations."""
    work = _work(decisions, name, variables)
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times) * 1000
