"""FEEL, the expression language of DMN, in the dialect of Camunda 8. This package knows nothing of processes.

compile_expression(text, names=()) -> Expression    Expression.evaluate(variables, now=…) -> Evaluation(value, warnings)
compile_unary_tests(text, names=()) -> UnaryTests   UnaryTests.evaluate(value, variables, now=…)
compile_attribute(text) -> Expression               with a leading `=` an expression, otherwise a constant
constant(text, value) -> Expression                 an expression with a known value
variables(expression)                               the variables that the expression may read
to_json(value), from_json(text)
FeelError > ParseError, EvaluationError             the only exceptions that this package raises

`engine.feel.values` describes how Python represents values, and the limits.
"""

from vivero.engine.feel.attribute import compile_attribute, constant
from vivero.engine.feel.canonical import decode_large
from vivero.engine.feel.codec import from_json, is_compact, measure_json, scalars_to_json, to_json
from vivero.engine.feel.errors import EvaluationError, FeelError, LimitExceeded, ParseError
from vivero.engine.feel.expression import (
    Evaluation,
    Expression,
    UnaryTests,
    compile_expression,
    compile_unary_tests,
    named_variable,
)
from vivero.engine.feel.values import DEFAULT_LIMITS, FeelLimits, Warning

__all__ = [
    "DEFAULT_LIMITS",
    "Evaluation",
    "EvaluationError",
    "Expression",
    "FeelError",
    "FeelLimits",
    "LimitExceeded",
    "ParseError",
    "UnaryTests",
    "Warning",
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
