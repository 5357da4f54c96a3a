"""`String.format` of Java, for strings, numbers and booleans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from vivero.core.feel.builtins.arguments import CHARACTERS_PER_STEP
from vivero.core.feel.semantics import text_of
from vivero.core.feel.values import FunctionFailure, Run, is_number

_SPECIFIER = re.compile(r"%(?:(\d{1,3})\$)?([-+ 0,(#]*)(\d{1,4})?(?:\.(\d{1,3}))?([a-zA-Z%])")
_DIGITS = 400
"""Digits of the largest number that is written without an exponent."""


def formatted(run: Run, template: str, arguments: Sequence[Any]) -> str:
    """The template with its specifiers replaced. Raises FunctionFailure where Java throws."""
    parts: list[str] = []
    position = taken = size = 0
    for found in _SPECIFIER.finditer(template):
        parts += _literal(template[position : found.start()])
        position = found.end()
        index, flags, width, precision, kind = found.groups()
        value = None
        if kind not in "n%":
            place = int(index) - 1 if index else taken
            taken += not index
            if not 0 <= place < len(arguments):
                raise FunctionFailure(f"an argument for '{found.group()}' is missing")
            value = arguments[place]
        text = _text(run, kind, flags, None if precision is None else int(precision), value)
        parts.append(_padded(text, flags, int(width or 0), is_number(value)))
        size += len(parts[-1])
        run.check_string(size)
        run.spend(10 + len(parts[-1]) // CHARACTERS_PER_STEP)
    parts += _literal(template[position:])
    return "".join(parts)


def _literal(text: str) -> list[str]:
    if "%" in text:
        raise FunctionFailure(f"'{text[text.index('%') :][:10]}' is no format specifier")
    return [text]


def _text(run: Run, kind: str, flags: str, precision: int | None, value: Any) -> str:
    if kind in "n%":
        return "\n" if kind == "n" else "%"
    if kind in "sSbB":
        text = _truth(value) if kind in "bB" else _plain(run, value)
        text = text if precision is None else text[:precision]
        return text.upper() if kind in "SB" else text
    if value is None:
        return "null"
    if kind in "cC" and type(value) is str and len(value) == 1:
        return value.upper() if kind == "C" else value
    if kind in "fdeE" and is_number(value):
        return _number(kind, flags, precision, Decimal(value))
    raise FunctionFailure(f"'%{kind}' does not fit the argument")


def _truth(value: Any) -> str:
    is_true = value if type(value) is bool else value is not None
    return "true" if is_true else "false"


def _plain(run: Run, value: Any) -> str:
    if value is None:
        return "null"
    return value if type(value) is str else text_of(run, value)


def _number(kind: str, flags: str, precision: int | None, value: Decimal) -> str:
    if kind == "d" and (precision is not None or value != value.to_integral_value()):
        raise FunctionFailure("'%d' does not fit the argument")
    if abs(value.adjusted()) > _DIGITS:
        raise FunctionFailure("the number is too large to be written")
    digits = 0 if kind == "d" else 6 if precision is None else precision
    grouping = "," if "," in flags else ""
    with localcontext() as context:
        context.prec, context.rounding = 2 * _DIGITS + 1000, ROUND_HALF_UP
        text = format(abs(value), f"{grouping}.{digits}{'f' if kind == 'd' else kind}")
    if kind in "eE":
        text = re.sub(r"([eE][+-])(\d)$", r"\g<1>0\2", text)
    if value < 0:
        return f"({text})" if "(" in flags else f"-{text}"
    return f"+{text}" if "+" in flags else f" {text}" if " " in flags else text


def _padded(text: str, flags: str, width: int, is_numeric: bool) -> str:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and is_numeric:
        sign = text[:1] if text[:1] in "+- (" else ""
        return sign + text[len(sign) :].rjust(width - len(sign), "0")
    return text.rjust(width)
