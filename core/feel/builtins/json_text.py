"""`to json` and `from json`: FEEL values as JSON text and back (feel-scala 1.20)."""

from __future__ import annotations

from typing import Any

from vivero.core.feel import codec
from vivero.core.feel.builtins.arguments import string
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.values import FunctionFailure, Overload, Run


def to_json(run: Run, value: Any) -> Any:
    """Compact JSON. Temporals become ISO 8601 strings; functions and ranges become the texts of `string()`."""
    text = codec.to_json_text(value, run.limits)
    run.check_string(len(text))
    run.spend(20 + len(text) // 8)
    return text


def from_json(run: Run, text: Any) -> Any:
    """The value of a JSON text. Null gives null."""
    if text is None:
        return None
    source = string(run, text)
    run.spend(10 + len(source) // 16)
    try:
        return codec.from_json(source)
    except EvaluationError:
        shortened = source[: run.limits.message_size]
        raise FunctionFailure(f"Failed to parse JSON from '{shortened}'") from None


FUNCTIONS = {
    "to json": (Overload(("value",), to_json),),
    "from json": (Overload(("json",), from_json), Overload(("value",), from_json)),
}
