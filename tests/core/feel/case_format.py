"""The shared format of conformance cases: decoding of values, running of a case, comparison with what is expected."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from vivero.core import feel
from vivero.core.feel import temporal
from vivero.core.feel.semantics import display

_TCK_TOLERANCE = Decimal("1e-8")  # the runner of the TCK compares numbers with this precision
NOW_MS = 1_750_000_000_000
_NAMES_ALWAYS = {"a name with spaces"}  # switches the mode on in which names may have spaces, as in DMN


@dataclass(frozen=True)
class Case:
    suite: str
    directory: str
    label: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Untyped:
    """A value of which the suite gives only the text."""

    text: str


@dataclass(frozen=True)
class Outcome:
    case: Case
    passed: bool
    found: str


def cases_directory() -> Path:
    """The directory of the shared cases: VIVERO_CASES, or beside the repository."""
    return Path(os.environ.get("VIVERO_CASES") or Path(__file__).parents[4] / "shared" / "cases")


def load(path: Path) -> list[Case]:
    """The cases of a file. The suite is named after the file."""
    seen: Counter[str] = Counter()
    cases = []
    for data in json.loads(path.read_text())["cases"]:
        case = _case(path.stem, data)
        seen[case.label] += 1
        repeated = f" (again, {seen[case.label]})" if seen[case.label] > 1 else ""
        cases.append(replace(case, label=case.label + repeated))
    return cases


def _case(suite: str, data: dict[str, Any]) -> Case:
    if "dir" in data:
        return Case(suite, data["dir"], f"{data['dir']}/{data['file']}#{data['id']}/{data['decision']}", data)
    shown_input = f" with {json.dumps(data['input'])}" if "input" in data else ""
    label = f"{data['file']}: {data['expression']}{shown_input} in {json.dumps(data['context'])}"
    return Case(suite, data["file"], label, data)


def decode(data: Any, type_ref: str | None = None) -> Any:
    """A value of the case format as a value of the engine."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    if len(data) == 1:
        ((tag, text),) = data.items()
        if tag in _DECODERS:
            return _DECODERS[tag](text)
        if tag == "$untyped":
            return _DECODERS[_TAGS[type_ref]](text) if type_ref in _TAGS else Untyped(text)
    return {key: decode(value) for key, value in data.items()}


def _number(text: str) -> int | Decimal:
    return int(text) if re.fullmatch(r"-?\d+", text) else Decimal(text)


def _duration(text: str) -> Any:
    """Durations of java.time may have a sign inside (`PT-30M`), those of FEEL only in front."""
    if re.search(r"[PTYMDH]-", text):
        text = text.replace("-", "") if text.startswith("-") else "-" + text.replace("-", "")
    return temporal.parse_duration(text)


_DECODERS = {
    "$number": _number,
    "$date": temporal.parse_date,
    "$time": temporal.parse_time,
    "$dateTime": temporal.parse_date_time,
    "$duration": _duration,
    "$boolean": lambda text: text == "true",
}
_TAGS = {"number": "$number", "boolean": "$boolean", "date": "$date", "time": "$time", "dateTime": "$dateTime"}


def run(case: Case) -> Outcome:
    """Evaluates a case and compares."""
    return _run_tck(case) if "dir" in case.data else _run_feel_scala(case)


def _run_feel_scala(case: Case) -> Outcome:
    data = case.data
    variables = decode(data["context"])
    try:
        if data["kind"] == "unaryTests":
            evaluation = feel.compile_unary_tests(data["expression"]).evaluate(decode(data["input"]), variables, NOW_MS)
        else:
            evaluation = feel.compile_expression(data["expression"]).evaluate(variables, NOW_MS)
    except feel.ParseError as error:
        return Outcome(case, bool(data.get("parseError")), f"parse error: {error}")
    except feel.EvaluationError as error:
        return Outcome(case, "fails" in data and data["fails"] in str(error), f"failure: {error}")
    passed = "parseError" not in data and "fails" not in data
    if "expected" in data:
        passed = passed and same(evaluation.value, decode(data["expected"]), Decimal(0))
    if "warning" in data:
        wanted = (data["warning"]["type"], data["warning"]["message"])
        passed = passed and wanted in [tuple(warning) for warning in evaluation.warnings]
    return Outcome(case, passed, repr(evaluation))


def _run_tck(case: Case) -> Outcome:
    data = case.data
    types = data["inputTypes"]
    variables = {name: decode(value, types.get(name)) for name, value in data["context"].items()}
    expected = decode(data["expected"], data["resultType"])
    names = {*_NAMES_ALWAYS, *all_names(variables)}
    try:
        value = feel.compile_expression(data["expression"], names).evaluate(variables, NOW_MS).value
    except feel.FeelError as error:
        return Outcome(case, expected is None, f"{type(error).__name__}: {error}")
    return Outcome(case, same(value, expected, _TCK_TOLERANCE), repr(value))


def all_names(value: Any) -> Iterator[str]:
    """Names of variables and of entries, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from all_names(item)
    elif isinstance(value, list):
        for item in value:
            yield from all_names(item)


def same(found: Any, expected: Any, tolerance: Decimal) -> bool:
    """Equality of values, of numbers up to `tolerance`."""
    if isinstance(expected, Untyped):
        return display(found, 1000) == expected.text
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None or found is None:
        return found is expected
    if isinstance(expected, int | Decimal):
        return isinstance(found, int | Decimal) and abs(Decimal(found) - Decimal(expected)) <= tolerance
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(same(a, b, tolerance) for a, b in zip(found, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(same(found[key], value, tolerance) for key, value in expected.items())
        )
    if type(found) is not type(expected):
        return False
    return bool(found == expected) if isinstance(expected, str) else str(found) == str(expected)
