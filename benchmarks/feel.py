"""The evaluations of an expression in a second, and the time in which it is parsed and compiled."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from vivero.core.feel import compile_expression
from vivero.core.feel.grammar.parser import parse_expression

ITEMS = [{"price": 3 * number, "qty": 2, "name": f"n{number}"} for number in range(10)]
ORDER = {"orderTotal": 200, "customer": {"tier": "gold"}, "items": ITEMS, "x": 1}

EXPRESSIONS = {
    "condition": 'orderTotal > 100 and customer.tier = "gold"',
    "filter of 10": "items[price > 10].name",
    "sum over 10": "sum(for i in items return i.price * i.qty)",
    "variable": "x",
    "context": "{a: x, b: [1,2,3]}",
    "duration": 'duration("PT1H")',
}
ROUNDS = 9
ROUND_S = 0.03


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The best of several short rounds each, which is what the program costs where nothing else disturbs it."""
    figures = {}
    for name, text in EXPRESSIONS.items():
        figures[f"{name}: evaluations/s"] = 1e6 / best_us(partial(compile_expression(text).evaluate, ORDER))
        figures[f"{name}: parse us"] = best_us(partial(parse_expression, text))
        figures[f"{name}: parse and compile us"] = best_us(partial(compile_expression, text))
    return figures, dict(EXPRESSIONS)


def best_us(work: Callable[[], Any]) -> float:
    """Microseconds for one call, in the fastest round."""
    calls = _calls_for(work)
    return min(_round_s(work, calls) for _ in range(ROUNDS)) / calls * 1e6


def _calls_for(work: Callable[[], Any]) -> int:
    """As many calls as make a round of about ROUND_S."""
    return max(1, int(200 * ROUND_S / max(_round_s(work, 200), 1e-9)))


def _round_s(work: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - start
