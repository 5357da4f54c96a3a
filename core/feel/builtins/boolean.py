"""Built-in functions on booleans and null, and `assert` (DMN 1.5, 10.3.4.2; feel-scala's extensions)."""

from __future__ import annotations

from typing import Any

from vivero.core.feel.builtins.equality import equality_key
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.temporal import TEMPORAL_TYPES, identical
from vivero.core.feel.values import ASSERT_FAILURE, IllegalArguments, Overload, Run


def not_(run: Run, negand: Any) -> Any:
    return not negand if type(negand) is bool else None


def is_defined(run: Run, value: Any) -> Any:
    return value is not None


def get_or_else(run: Run, value: Any, default: Any) -> Any:
    return default if value is None else value


def assert_(run: Run, value: Any, condition: Any) -> Any:
    """The value if the condition is true. Otherwise the whole evaluation fails."""
    return assert_with_cause(run, value, condition, "The condition is not fulfilled")


def assert_with_cause(run: Run, value: Any, condition: Any, cause: Any) -> Any:
    if condition is True:
        return value
    if type(cause) is not str:
        raise IllegalArguments
    raise EvaluationError(cause, ASSERT_FAILURE)


def is_(run: Run, value1: Any, value2: Any) -> Any:
    """True for identical values. Unlike `=`, this is false for one instant in two time zones (DMN 1.5, table 75)."""
    if isinstance(value1, TEMPORAL_TYPES):
        return identical(value1, value2)
    return equality_key(run, value1) == equality_key(run, value2)


FUNCTIONS = {
    "not": (Overload(("negand",), not_),),
    "is defined": (Overload(("value",), is_defined),),
    "get or else": (Overload(("value", "default"), get_or_else),),
    "assert": (
        Overload(("value", "condition"), assert_, pure=False),
        Overload(("value", "condition", "cause"), assert_with_cause, pure=False),
    ),
    "is": (Overload(("value1", "value2"), is_),),
}
