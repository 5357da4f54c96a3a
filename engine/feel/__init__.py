"""FEEL, the expression language of DMN, in the dialect of Camunda 8. A package of its own: it knows no process.

compile_expression(text, names=()) -> Expression    Expression.evaluate(variables, now=…) -> Evaluation(value, warnings)
compile_unary_tests(text, names=()) -> UnaryTests   UnaryTests.evaluate(value, variables, now=…)
compile_attribute(text) -> Expression               `=` in front: an expression; else the text as a value
constant(text, value) -> Expression                 an attribute whose value is known
variables(expression)                               the variables that it may read
to_json(value), from_json(text)
FeelError > ParseError, EvaluationError             nothing else is raised

`engine.feel.values` says what values are in Python and which limits there are.
"""

from vivero.engine.feel.attribute import compile_attribute, constant
from vivero.engine.feel.codec import from_json, is_compact, to_json, to_json_at_once
from vivero.engine.feel.errors import EvaluationError, FeelError, LimitExceeded, ParseError
from vivero.engine.feel.expression import (
    Evaluation,
    Expression,
    UnaryTests,
    compile_expression,
    compile_unary_tests,
    named_variable,
)
from vivero.engine.feel.values import DEFAULT_LIMITS, Limits, Warning

__all__ = [
    "DEFAULT_LIMITS",
    "Evaluation",
    "EvaluationError",
    "Expression",
    "FeelError",
    "LimitExceeded",
    "Limits",
    "ParseError",
    "UnaryTests",
    "Warning",
    "compile_attribute",
    "compile_expression",
    "compile_unary_tests",
    "constant",
    "from_json",
    "is_compact",
    "named_variable",
    "to_json",
    "to_json_at_once",
    "variables",
]


def variables(expression: Expression | UnaryTests) -> frozenset[str]:
    """The names of the variables that the expression may read.

    Inside of a filter every name counts: whether it is an entry of the item is known only when it is evaluated.
    """
    return expression.variables
