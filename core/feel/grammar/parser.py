"""Tokens to syntax tree: a recursive descent with one function for each level of precedence.

From low to high: `if for some every`, `or`, `and`, one comparison (not chained), `+ -`, `* /`, `**` (from the left),
sign, value followed by `.name` and `[filter]`. This is the grammar of Camunda's FEEL with the additions of DMN 1.5
(10.3.1.2): types with parameters, number exponents, repeated signs, ranges as values.
"""

from __future__ import annotations

from vivero.core.feel.errors import ParseError
from vivero.core.feel.grammar import ast, calls, comparisons, control, literals, unary
from vivero.core.feel.grammar.lexer import KnownNames
from vivero.core.feel.grammar.reader import Grammar, Reader
from vivero.core.feel.values import DEFAULT_LIMITS, FeelLimits

GRAMMAR = Grammar(
    signs={
        "(": literals.parenthesis,
        "[": literals.bracket,
        "{": literals.context,
        "]": literals.open_range,
        "?": literals.input_value,
        "@": literals.at_literal,
    },
    words={
        "null": literals.constant,
        "true": literals.constant,
        "false": literals.constant,
        "if": control.if_,
        "for": control.for_,
        "some": control.quantified,
        "every": control.quantified,
        "function": calls.function,
    },
    comparisons={"between": comparisons.between, "in": unary.in_, "instance": comparisons.instance_of},
    call=calls.call,
)


def parse_expression(
    text: str, names: frozenset[str] | KnownNames = frozenset(), limits: FeelLimits = DEFAULT_LIMITS
) -> ast.Node:
    """The tree of an expression. Raises ParseError."""
    reader = Reader(text, names, limits, GRAMMAR)
    node = reader.expression()
    reader.expect_end()
    return node


def parse_unary_tests(
    text: str, names: frozenset[str] | KnownNames = frozenset(), limits: FeelLimits = DEFAULT_LIMITS
) -> ast.Node:
    """The tree of unary tests, as in an input entry of a decision table. Raises ParseError."""
    reader = Reader(text, names, limits, GRAMMAR)
    node = unary.unary_tests(reader)
    reader.expect_end()
    return node


def too_deep_to_parse(limits: FeelLimits) -> ParseError:
    """The ParseError of a text that Python cannot parse, because it nests too deeply."""
    expected = f"at most {limits.nesting_depth} nested expressions"
    return ParseError(f"line 1, column 1: expected {expected}", 1, 1, expected)
