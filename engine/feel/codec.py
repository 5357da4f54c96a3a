"""Values to JSON and back, as variables of a process are kept (Camunda's rules).

Temporals and durations become ISO strings, functions and ranges null, whole numbers integers, other numbers what the
nearest binary double prints. A double of JSON becomes the decimal with the same shortest text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from engine.feel.arithmetic import MOST, from_float
from engine.feel.errors import EvaluationError, LimitExceeded
from engine.feel.semantics import display
from engine.feel.temporal import iso_format
from engine.feel.values import DEFAULT_LIMITS, MATH, BuiltinFunction, Function, Limits, Range

_decoder = msgspec.json.Decoder(float_hook=lambda text: _decimal(text))
_encoder = msgspec.json.Encoder()
_PLAIN = frozenset({str, bool, type(None)})


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises EvaluationError for text that is no JSON."""
    try:
        value = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EvaluationError(f"Not JSON: {error}") from error
    return _rounded(value) if type(value) is int else value


def _decimal(text: str) -> Decimal:
    try:
        return from_float(float(text))
    except OverflowError:
        return MATH.create_decimal(text)


def _rounded(number: int) -> int | Decimal:
    return number if -MOST < number < MOST else MATH.create_decimal(number)


def to_json(value: Any, limits: Limits = DEFAULT_LIMITS) -> str:
    """Compact JSON text. Raises LimitExceeded for more than `limits.output_size` characters or too deep a value."""
    return _encode(value, limits, False)


def to_json_text(value: Any, limits: Limits) -> str:
    """The text that the function `to json` gives: like to_json, but a function or range as its text."""
    return _encode(value, limits, True)


def _encode(value: Any, limits: Limits, with_texts: bool) -> str:
    try:
        text = _encoder.encode(_Plainer(limits, with_texts).plain(value)).decode()
    except RecursionError:
        raise LimitExceeded("nesting_depth", "The value is nested too deeply for JSON") from None
    if len(text) > limits.output_size:
        raise _too_long(limits)
    return text


def _too_long(limits: Limits) -> LimitExceeded:
    return LimitExceeded("output_size", f"The JSON text exceeds {limits.output_size} characters")


class _Plainer:
    """Turns a value into what the encoder knows. Counts as it goes: a small value may stand for a huge text."""

    __slots__ = ("budget", "limits", "with_texts")

    def __init__(self, limits: Limits, with_texts: bool) -> None:
        self.limits = limits
        self.budget = limits.output_size
        self.with_texts = with_texts

    def plain(self, value: Any) -> Any:
        kind = type(value)
        self.budget -= 1
        if kind is str:
            self.budget -= len(value)
        if self.budget < 0:
            raise _too_long(self.limits)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else msgspec.Raw(str(value).encode())
        if kind is list:
            return [self.plain(item) for item in value]
        if kind is dict:
            return {key: self.plain(item) for key, item in value.items()}
        return self._other(value)

    def _other(self, value: Any) -> Any:
        if type(value) is Decimal:
            return _plain_number(value)
        if isinstance(value, Range | Function | BuiltinFunction):
            return display(value, self.limits.string_size) if self.with_texts else None
        return iso_format(value)


def _plain_number(number: Decimal) -> Any:
    if number == number.to_integral_value() and number.adjusted() < 34:
        return msgspec.Raw(str(int(number)).encode())
    try:
        return float(from_float(float(number)))
    except OverflowError:
        return msgspec.Raw(str(number).encode())
