"""Attributes of a BPMN model that may hold an expression: `=` in front says so, all else is a value as it stands."""

from __future__ import annotations

import decimal
import re
from typing import Any

from vivero.engine.feel.arithmetic import MOST
from vivero.engine.feel.ast import Literal
from vivero.engine.feel.closures import compile_tree
from vivero.engine.feel.expression import Expression, compile_expression
from vivero.engine.feel.values import DEFAULT_LIMITS, Limits

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,34}")
_CONSTANTS = {"null": None, "true": True, "false": False}


def compile_attribute(text: str, limits: Limits = DEFAULT_LIMITS) -> Expression:
    """Compiles an attribute's text: `=x + 1` is an expression; `null`, `true`, `1.5` and `some text` are values.

    Raises ParseError for an expression that is none.
    """
    if len(text) > 1 and text[0] == "=":
        return compile_expression(text[1:], limits=limits)
    return constant(text, static_value(text), limits)


def constant(text: str, value: Any, limits: Limits = DEFAULT_LIMITS) -> Expression:
    """An attribute that has this value whatever is in it; `text` is what was written."""
    return Expression(text, compile_tree(Literal(value), limits), limits)


def static_value(text: str) -> Any:
    """The value of an attribute's text without `=`: null, a boolean, a number, else the text itself."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _WHOLE.fullmatch(text):
        number = int(text)
        return number if -MOST < number < MOST else text
    if _NUMBER.fullmatch(text):
        try:
            return DEFAULT_LIMITS.math.create_decimal(text)
        except decimal.DecimalException:
            return text
    return text
