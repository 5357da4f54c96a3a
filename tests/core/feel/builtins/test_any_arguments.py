"""Every overload of every built-in, called with values of all types: nothing but the announced failures comes out."""

import random
from decimal import Decimal

import pytest

from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.errors import EvaluationError, FunctionFailure
from vivero.core.feel.temporal import TEMPORAL_TYPES, parse_temporal
from vivero.core.feel.values import BuiltinFunction, FeelLimits, Function, Range, Run

ANNOUNCED = (FunctionFailure, EvaluationError, ArithmeticError)
CALLS = 150

DATES = [
    "2026-11-21",
    "-0044-03-15",
    "-999999999-01-01",
    "10:30:00",
    "10:30:00.5Z",
    "10:30:00@Europe/Berlin",
    "2026-11-21T10:30:00",
    "2021-03-28T02:30:00@Europe/Berlin",
    "999999999-12-31T23:59:59@Asia/Tokyo",
    "P1Y2M",
    "P999999999Y",
    "-P1DT2H",
    "PT0S",
]
TEXTS = [
    *DATES,
    *("Europe/Berlin", "Z", "+19:00"),
    *("1,000.5", "1.000,5", ".", ",", " ", "1e400"),
    *("(a+)+$", "[a-z&&[^b]]", "$1", "${x}", "\\Q", "\\", "x", "smix"),
    *("UP", "[1..3]", '(..@"P1D"]', '{"a":[1]}', "RkVFTA=="),
    *("", "\n", "\u00a0", "straße", "🐎"),
]
TEMPORALS = [parse_temporal(text) for text in DATES]
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    34,
    -6111,
    6177,
    10**33,
    Decimal("2.5"),
    Decimal("-0.5"),
    Decimal("1E+6144"),
    Decimal("1E-6176"),
]
KINDS = ("null", "boolean", "number", "string", "temporal", "list", "context", "range", "function")


def scalar(choose, kind):
    match kind:
        case "null":
            return None
        case "boolean":
            return choose.random() < 0.5
        case "number":
            return choose.choice(NUMBERS)
        case "string":
            return choose.choice(TEXTS)
        case "temporal":
            return choose.choice(TEMPORALS)
        case _:
            return value(choose, depth=9)


def value(choose, depth=0):
    kind = choose.choice(KINDS if depth < 3 else KINDS[:5])
    match kind:
        case "list":
            one = choose.choice(KINDS[:5])
            same = choose.random() < 0.6
            return [scalar(choose, one) if same else value(choose, depth + 1) for _ in range(choose.randrange(5))]
        case "context":
            keys = choose.sample(["a", "b", "key", "value", ""], choose.randrange(4))
            return {key: value(choose, depth + 1) for key in keys}
        case "range":
            ends = [scalar(choose, choose.choice(("number", "temporal"))) for _ in range(2)]
            return Range(ends[0], ends[1], choose.random() < 0.5, choose.random() < 0.5)
        case "function":
            answer = value(choose, depth=9)
            two = Function(("a", "b"), lambda run, arguments: answer)
            return choose.choice([two, Function((), lambda run, arguments: 1), BuiltinFunction("is", FUNCTIONS["is"])])
        case _:
            return scalar(choose, kind)


def well_formed(result):
    """True for what the evaluator can go on with."""
    if isinstance(result, list):
        return all(map(well_formed, result))
    if isinstance(result, dict):
        return all(type(key) is str and well_formed(item) for key, item in result.items())
    if type(result) is Decimal:
        return result.is_finite() and len(result.as_tuple().digits) <= 35
    known = (type(None), bool, int, str, Range, Function, BuiltinFunction, *TEMPORAL_TYPES)
    return type(result) in known


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_any_arguments(name):
    choose = random.Random(name)
    limits = FeelLimits(regex_timeout_ms=5, steps=100_000)
    for overload in FUNCTIONS[name]:
        for _ in range(CALLS):
            arguments = [value(choose) for _ in overload.parameters]
            try:
                result = overload.fn(Run({}, now_ms=0, limits=limits), *arguments)
            except ANNOUNCED:
                continue
            assert well_formed(result), (arguments, result)


def test_the_table_names_every_parameter_once():
    for name, overloads in FUNCTIONS.items():
        for overload in overloads:
            assert len(set(overload.parameters)) == len(overload.parameters), name
        assert len({overload.parameters for overload in overloads}) == len(overloads), name
