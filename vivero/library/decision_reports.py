"""Reports of evaluated decisions as JSON, for `vivero evaluate --json` and for trials without a server."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.dmn import DecisionEvaluation, DecisionResult
from vivero.core.feel import FeelError, to_json


def report(evaluation: DecisionEvaluation) -> dict[str, Any]:
    """An evaluation as JSON: its result, and the decisions in the order of their evaluation.

    Raises FeelError if JSON cannot express the result.
    """
    failure = evaluation.failure
    return {
        "result": _json(evaluation.value),
        "failure": None if failure is None else {"decision": failure.key.id, "message": failure.message},
        "decisions": [_decision(each) for each in evaluation.decisions],
    }


def _json(value: Any) -> msgspec.Raw:
    """A value as a server writes it: a number may be larger than any double. Raises FeelError."""
    return msgspec.Raw(to_json(value).encode())


def _decision(done: DecisionResult) -> dict[str, Any]:
    """A decision as JSON. What JSON cannot express, such as a value that is too large, is null, and `notShown` why."""
    reasons: list[str] = []

    def shown(value: Any) -> Any:
        try:
            return _json(value)
        except FeelError as error:
            reasons.append(str(error))
            return None

    found = {
        "decision": done.key.id,
        "name": done.decision.name,
        "result": shown(done.value),
        "inputs": [shown(value) for value in done.inputs],
        "matchedRules": [
            {"rule": matched.rule + 1, "outputs": [shown(value) for value in matched.outputs]}
            for matched in done.matched
        ],
    }
    return found | {"notShown": reasons[0]} if reasons else found
