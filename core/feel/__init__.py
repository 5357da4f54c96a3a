"""FEEL, the expression language of DMN, in the dialect of Camunda 8. This package knows nothing of processes.

compile_expression(text) -> Expression     .evaluate(variables, now=…) -> Evaluation(value, warnings)
compile_unary_tests(text) -> UnaryTests    .evaluate(value, variables, now=…)
compile_attribute(text) -> Expression      with a leading `=` an expression, otherwise a constant
to_json(value), from_json(text)            `core.feel.values` describes values in Python, and the limits
FeelError > ParseError, EvaluationError    the only exceptions that this package raises

Entry: `compile_expression`, `compile_attribute`.
Imports: nothing of ours.
"""

from vivero.core.feel.attribute import compile_attribute, constant
from vivero.core.feel.canonical import decode_large
from vivero.core.feel.codec import from_json, is_compact, measure_json, scalars_to_json, to_json
from vivero.core.feel.errors import EvaluationError, FeelError, LimitExceeded, ParseError
from vivero.core.feel.expression import (
    Argument,
    Evaluation,
    Expression,
    UnaryTests,
    calls_of,
    compile_expression,
    compile_unary_tests,
    named_variable,
)
from vivero.core.feel.values import DEFAULT_LIMITS, FeelLimits, Warning

__all__ = [
    "DEFAULT_LIMITS",
    "Argument",
    "Evaluation",
    "EvaluationError",
    "Expression",
    "FeelError",
    "FeelLimits",
    "LimitExceeded",
    "ParseError",
    "UnaryTests",
    "Warning",
    "calls_of",
    "compile_attribute",
    "compile_expression",
    "compile_unary_tests",
    "constant",
    "decode_large",
    "from_json",
    "is_compact",
    "measure_json",
    "named_variable",
    "scalars_to_json",
    "to_json",
    "variables",
]


def variables(expression: Expression | UnaryTests) -> frozenset[str]:
    """The names of the variables that the expression may read.

    Every name inside a filter counts, because only the evaluation shows whether it is an entry of the item.
    """
    return expression.variables
