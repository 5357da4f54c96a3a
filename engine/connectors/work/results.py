"""Turns the answer to a connector into variables, a BPMN error, or a failure with retries (docs/connectors.md).

The task headers `resultVariable`, `resultExpression` and `errorExpression` decide, as the connector templates write
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from vivero.core.bpmn.reading.text_limits import NAME_BYTES, size
from vivero.core.feel import (
    EvaluationError,
    Expression,
    FeelError,
    LimitExceeded,
    compile_attribute,
    measure_json,
    to_json,
)
from vivero.core.feel.temporal import DayTimeDuration
from vivero.core.feel.values import DEFAULT_LIMITS, BuiltinFunction, Overload, Run
from vivero.core.records.ad_hoc import AdHocResult
from vivero.engine.connectors.errors import ConnectorError

RESULT_VARIABLE, RESULT_EXPRESSION, ERROR_EXPRESSION = "resultVariable", "resultExpression", "errorExpression"
KIND = "errorType"
"""The entry of a context that tells which function of an error expression made it."""
BPMN, JOB, IGNORE = "bpmnError", "jobError", "ignoreError"
MAX_VARIABLES = 1000
MAX_VARIABLES_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Effort:
    """The work that a result may cost: steps of each expression; characters and values of JSON of its variables."""

    steps: int
    characters: int
    values: int


QUICK = Effort(20_000, 256 * 1024, 5_000)
"""A few milliseconds, in which other work of the program waits."""
FULL = Effort(DEFAULT_LIMITS.steps, MAX_VARIABLES_BYTES, 200_000)
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""The escape of NUL, behind an even number of backslashes."""


class TooMuchEffort(Exception):
    """The result costs more than is quick."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The job completes with these variables. `result`: the decision about its ad-hoc sub-process."""

    variables: Mapping[str, Any]
    result: AdHocResult | None = None


@dataclass(frozen=True, slots=True)
class BpmnError:
    """The job throws a BPMN error."""

    code: str
    message: str
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The job fails. `retries` None: one less than before. `backoff_ms` None: that of the task header."""

    message: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    retries: int | None = None
    backoff_ms: int | None = None


Outcome = Completion | BpmnError | Failure


def _context(_: Run, *values: Any, kind: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {KIND: kind} | {name: value for name, value in zip(names, values, strict=False) if value is not None}


def _function(kind: str, names: tuple[str, ...], least: int) -> BuiltinFunction:
    def call(run: Run, *values: Any) -> dict[str, Any]:
        return _context(run, *values, kind=kind, names=names)

    return BuiltinFunction(kind, tuple(Overload(names[:count], call) for count in range(least, len(names) + 1)))


FUNCTIONS: Mapping[str, BuiltinFunction] = {
    BPMN: _function(BPMN, ("code", "message", "variables"), 2),
    JOB: _function(JOB, ("message", "variables", "retries", "retryBackoff"), 1),
    IGNORE: _function(IGNORE, ("variables",), 0),
}
"""The functions of error expressions."""


def completion(response: Mapping[str, Any], headers: Mapping[str, str], effort: Effort = FULL) -> Completion:
    """The variables of a successful call. Raises ConnectorError if the result expression fails; TooMuchEffort."""
    variables: dict[str, Any] = {}
    if name := headers.get(RESULT_VARIABLE):
        variables[name] = dict(response)
    if text := headers.get(RESULT_EXPRESSION):
        value = _evaluate(text, {**response, "response": dict(response)}, RESULT_EXPRESSION, effort)
        if value is not None and not isinstance(value, dict):
            raise ConnectorError("RESULT_EXPRESSION", "the result expression must give a context", final=True)
        variables |= value or {}
    return Completion(variables)


def examine(
    headers: Mapping[str, str],
    response: Mapping[str, Any] | None,
    error: ConnectorError | None,
    variables: Mapping[str, Any],
    retries: int,
    effort: Effort = FULL,
) -> Outcome | None:
    """The decision of the error expression about an answer or an error; None: none.

    Raises ConnectorError, TooMuchEffort.
    """
    text = headers.get(ERROR_EXPRESSION)
    if not text:
        return None
    values: dict[str, Any] = {**variables, **(response or {}), **FUNCTIONS, "job": {"retries": retries}}
    if response is not None:
        values["response"] = dict(response)
    if error is not None:
        values["error"] = error.document
    return _outcome(_evaluate(text, values, ERROR_EXPRESSION, effort))


def _outcome(value: Any) -> Outcome | None:
    if not isinstance(value, dict) or not value:
        return None
    kind = value.get(KIND, BPMN)
    variables = value.get("variables") or {}
    if not isinstance(variables, dict):
        raise _wrong("the variables must be a context")
    message = _text(value.get("message"))
    if kind == IGNORE:
        return Completion(variables)
    if kind == JOB:
        return Failure(message, variables, _retries(value.get("retries")), _backoff_ms(value.get("retryBackoff")))
    if not (code := _text(value.get("code"))):
        return None
    return BpmnError(code, message, variables)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else to_json(value)


def _retries(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise _wrong("the retries must be a whole number that is not negative")
    return value


def _backoff_ms(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, DayTimeDuration):
        raise _wrong('the backoff must be a duration, such as duration("PT30S")')
    return max(0, value.nanos // 1_000_000)


def _wrong(message: str) -> ConnectorError:
    return ConnectorError("ERROR_EXPRESSION", f"the error expression is wrong: {message}", final=True)


def _evaluate(text: str, variables: Mapping[str, Any], what: str, effort: Effort) -> Any:
    try:
        return compiled(text).evaluate_within(variables, None, effort.steps)[0].value
    except FeelError as error:
        if effort is not FULL and isinstance(error, LimitExceeded):
            raise TooMuchEffort from error
        raise ConnectorError(_CODES[what], f"the {what} fails: {error}", final=True) from error


_CODES = {RESULT_EXPRESSION: "RESULT_EXPRESSION", ERROR_EXPRESSION: "ERROR_EXPRESSION"}


@lru_cache(maxsize=1000)
def compiled(text: str) -> Expression:
    """The expression of a header or a property. Raises ParseError."""
    return compile_attribute(text.strip())


def encoded(variables: Mapping[str, Any], effort: Effort = FULL) -> dict[str, msgspec.Raw]:
    """Variables for a command. Raises ConnectorError if they cannot be stored; TooMuchEffort."""
    texts: dict[str, str] = {}
    if any(not 0 < size(name) <= NAME_BYTES or "\0" in name for name in variables):
        raise _not_stored(f"the name of a variable must have 1 to {NAME_BYTES} bytes, without NUL")
    too_many = _not_stored(f"it has more than {MAX_VARIABLES} variables or {MAX_VARIABLES_BYTES} characters")
    if len(variables) > MAX_VARIABLES:
        raise too_many
    characters, values = effort.characters, effort.values
    for name, value in variables.items():  # many names may stand for one large value
        texts[name], converted = _text_of(value, values, effort)
        characters, values = characters - len(texts[name]), values - converted
        if characters < 0:
            raise too_many if effort is FULL else TooMuchEffort()
    if any(_NUL.search(text) for text in texts.values()):
        raise _not_stored("a text contains a NUL character")
    return {name: msgspec.Raw(text.encode()) for name, text in texts.items()}


def _text_of(value: Any, most: int, effort: Effort) -> tuple[str, int]:
    """The JSON of a value, and how many values in it were not encoded at once."""
    try:
        return measure_json(value, {}, most)
    except (EvaluationError, ArithmeticError) as error:
        if effort is not FULL and isinstance(error, LimitExceeded):
            raise TooMuchEffort from error
        raise _not_stored(str(error)) from error


def _not_stored(why: str) -> ConnectorError:
    return ConnectorError("BAD_RESPONSE", f"the result cannot be stored: {why}", final=True)
