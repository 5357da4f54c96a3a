"""The given models of the DMN TCK, evaluated: which cases pass.

python -m tests.core.dmn.tck [--mode dmn|camunda] [--quiet]
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.core.feel import case_format
from vivero.core.dmn import Decisions, evaluate, evaluate_service, read_decisions

FILE = "dmn-tck-models.json.gz"
TOLERANCE = Decimal("1e-8")


@dataclass(frozen=True)
class Outcome:
    label: str
    official: bool
    has_value: bool
    by_camunda: bool
    """Camunda's engine passes the case."""
    passed: bool
    found: str


def path() -> Path:
    return case_format.cases_directory() / FILE


def outcomes(mode: str | None = None) -> list[Outcome]:
    """All cases. `mode` overrides the mode that the files' origin suggests."""
    models = json.loads(gzip.decompress(path().read_bytes()))["models"]
    return [outcome for model in models for outcome in _of_model(model, mode)]


def _of_model(model: dict[str, Any], mode: str | None) -> list[Outcome]:
    files = {model["model"]: model["files"][model["model"]], **model["files"]}
    decisions = read_decisions({name: text.encode() for name, text in files.items()}, mode).usable
    official = not model["dir"].startswith("non-compliant")
    return [_of_case(model["dir"], official, decisions, case) for case in model["cases"]]


def _of_case(directory: str, official: bool, decisions: Decisions | None, case: dict[str, Any]) -> Outcome:
    inputs = {each["name"]: _given(case_format.decode(each["value"])) for each in case["inputs"]}
    expected = [case_format.decode(result["expected"]) for result in case["results"]]
    found = [_result(decisions, case, result["name"], inputs) for result in case["results"]]
    return Outcome(
        f"{directory}#{case['id']}",
        official,
        any(value is not None for value in expected),
        case["passed"]["dmnScala"] is True,
        all(case_format.same(a, b, TOLERANCE) for a, b in zip(found, expected, strict=True)),
        f"{found} instead of {expected}",
    )


def _given(value: Any) -> Any:
    """A value without a type in the suite is what its text is in JSON."""
    if isinstance(value, case_format.Untyped):
        return value.text == "true" if value.text in ("true", "false") else _text_or_number(value.text)
    if isinstance(value, list):
        return [_given(item) for item in value]
    return {key: _given(item) for key, item in value.items()} if isinstance(value, dict) else value


def _text_or_number(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _result(decisions: Decisions | None, case: dict[str, Any], name: str, inputs: dict[str, Any]) -> Any:
    if decisions is None:
        return None
    if case.get("type") != "decisionService":
        key = decisions.find(name)
        return None if key is None else evaluate(decisions, key, inputs, case_format.NOW_MS).value
    key = decisions.find_service(case["invocable"])
    assert key is not None
    value = evaluate_service(decisions, key, inputs, case_format.NOW_MS).value
    return value[name] if len(case["results"]) > 1 else value


def share(found: list[Outcome]) -> str:
    return f"{sum(each.passed for each in found)}/{len(found)}"


if __name__ == "__main__":
    chosen = sys.argv[sys.argv.index("--mode") + 1] if "--mode" in sys.argv else None
    every = outcomes(chosen)
    official = [each for each in every if each.official]
    for each in every:
        if not each.passed and "--quiet" not in sys.argv:
            print(f"FAILED {each.label}: {each.found[:300]}")
    print("all cases:", share(every))
    print("official:", share(official))
    print("official, expecting a value:", share([each for each in official if each.has_value]))
    print("passed by Camunda's engine:", share([each for each in official if each.by_camunda]))
