"""Attributes of a BPMN model that hold an expression after a leading `=`, and otherwise a constant."""

from __future__ import annotations

import decimal
import re
from typing import Any

from vivero.core.feel.arithmetic import EXACT_INTEGER_BOUND
from vivero.core.feel.closures import compile_tree
from vivero.core.feel.expression import Expression, compile_expression
from vivero.core.feel.grammar.ast import Literal
from vivero.core.feel.values import DEFAULT_LIMITS, FeelLimits

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,34}")
_CONSTANTS = {"null": None, "true": True, "false": False}


def compile_attribute(text: str, limits: FeelLimits = DEFAULT_LIMITS) -> Expression:
    """Compile an attribute's text: `=x + 1` is an expression; `null`, `true`, `1.5` and `some text` are constants.

    Raises ParseError for an invalid expression.
    """
    if len(text) > 1 and text[0] == "=":
        return compile_expression(text[1:], limits=limits)
    return constant(text, static_value(text), limits)


def constant(text: str, value: Any, limits: FeelLimits = DEFAULT_LIMITS) -> Expression:
    """An expression that always gives `value`. `text` is the attribute's text in the model."""
    return Expression(text, compile_tree(Literal(value), limits), limits, None)


def static_value(text: str) -> Any:
    """The value of an attribute's text without `=`: null, a boolean, a number, or the text itself."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _WHOLE.fullmatch(text):
        number = int(text)
        return number if -EXACT_INTEGER_BOUND < number < EXACT_INTEGER_BOUND else text
    if _NUMBER.fullmatch(text):
        try:
            return DEFAULT_LIMITS.math.create_decimal(text)
        except decimal.DecimalException:
            return text
    return text
