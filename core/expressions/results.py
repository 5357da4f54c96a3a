"""Results of expressions as texts and JSON: the limits, and the messages of incidents for unexpected values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.feel import EvaluationError, Expression, to_json
from vivero.core.feel import Warning as FeelWarning
from vivero.core.records.effects import Fail, IncidentType

EXTRACT = IncidentType.EXTRACT_VALUE_ERROR
MAX_SHOWN = 100
"""Characters of a value that a message quotes."""


def column_text(expression: Expression, value: str, failure: IncidentType = EXTRACT) -> str:
    """`value`, the result of `expression`, if a text column can hold it. A text in JSON may contain NUL.

    Raises:
        Fail: a text column cannot hold it.
    """
    if "\0" in value:
        raise Fail(failure, unexpected(expression, "a text without NUL characters", value[:MAX_SHOWN], ()))
    if len(value) > TEXT_CHARACTERS:
        expected = f"a text of at most {TEXT_CHARACTERS} characters"
        raise Fail(failure, unexpected(expression, expected, f"{value[:MAX_SHOWN]}…", ()))
    return value


def json_of(value: Any, failure: IncidentType = IncidentType.EXTRACT_VALUE_ERROR) -> str:
    """The JSON text of the result of an expression.

    Raises:
        Fail: it is larger or deeper than a variable may be; of type `failure`.
    """
    try:
        return to_json(value)
    except EvaluationError as error:
        raise not_kept(error, failure) from error


def not_kept(error: EvaluationError, failure: IncidentType) -> Fail:
    return Fail(failure, f"The value of an expression cannot be kept. {error}")


def unexpected(expression: Expression, expected: str, was: str, warnings: Sequence[FeelWarning]) -> str:
    """The message of an incident for an unexpected value, with the warnings of the evaluation."""
    told = expression.text.removeprefix("=").strip()
    text = f"Expected result of the expression '{told}' to be {expected}, but was '{was}'."
    if not warnings:
        return text
    lines = "\n".join(f"[{warning.type}] {warning.message}" for warning in warnings)
    return f"{text} The evaluation reported the following warnings:\n{lines}"


_TYPE_NAMES = {"NoneType": "NULL", "bool": "BOOLEAN", "str": "STRING", "int": "NUMBER", "Decimal": "NUMBER"}
_TYPE_NAMES |= {"list": "ARRAY", "dict": "OBJECT"}


def type_name(type_: type) -> str:
    """The FEEL name of a Python type, for messages."""
    return _TYPE_NAMES.get(type_.__name__, type_.__name__.upper())
