"""Damaged files: reading and evaluating them raises nothing, whatever they say."""

import random
import re

import pytest

from tests.core.dmn.models import SERVICE, decision, definitions, function, inputs, literal, table
from vivero.core.dmn import evaluate, evaluate_service, read_decisions

FILE = definitions(
    SERVICE
    + inputs("y")
    + '<itemDefinition name="tPart"><itemComponent name="part"><typeRef>tPart</typeRef></itemComponent>'
    "</itemDefinition>"
    + function("f", ["n", "m"], literal("n + m"))
    + decision("t", table(["y"], ['out|"a","b"|"c"', "b"], [["1", '"a"', "2"]], "PRIORITY"), inputs=["y"], type="tPart")
    + decision("c", table(["y"], ["out"], [["> 1", "2"]], "COLLECT", aggregation="SUM"), inputs=["y"])
    + decision(
        "boxed",
        "<context><contextEntry><variable name='a'/><list>"
        f"{literal('f(1, 2)')}<filter><in>{literal('c')}</in><match>{literal('item > 1')}</match></filter></list>"
        f"</contextEntry><contextEntry><invocation>{literal('f')}<binding><parameter name='n'/>{literal('a[1]')}"
        "</binding></invocation></contextEntry></context>",
        decisions=["c"],
        knowledge=["f"],
    )
).decode()
TAG = re.compile(r"<[^>]*>[^<]*")
ATTRIBUTE = re.compile(r'\w+="([^"]*)"')


def damaged(choose):
    text = FILE
    for _ in range(choose.randint(1, 5)):
        pattern = choose.choice([TAG, ATTRIBUTE])
        first, second = choose.choices(list(pattern.finditer(text)), k=2)
        if pattern is ATTRIBUTE:
            text = text[: first.start(1)] + second[1] + text[first.end(1) :]
        else:
            text = text[: first.start()] + choose.choice(["", second[0]]) + text[first.end() :]
    return text.encode()


@pytest.mark.long
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_damaged_files(mode, seed):
    choose = random.Random(seed)
    usable = 0
    for _ in range(400):
        decisions = read_decisions({"f": damaged(choose)}, mode).usable
        if decisions is None:
            continue
        usable += 1
        values = {name: choose.choice([None, 1, "a", [1], {"part": None}, True]) for name in "xy"}
        for key in decisions.graph.decisions:
            evaluate(decisions, key, values)
        for name in ("s", "low", "f"):
            key = decisions.find_service(name)
            if key is not None:
                evaluate_service(decisions, key, values)
    assert usable > 20
