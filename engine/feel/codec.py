"""Values to JSON and back, as variables of a process are kept (Camunda's rules).

Temporals and durations become ISO strings, functions and ranges null, whole numbers integers, other numbers what the
nearest binary double prints. A double of JSON becomes the decimal with the same shortest text.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from math import isfinite
from typing import Any

import msgspec

from vivero.engine.feel.arithmetic import MOST, from_float
from vivero.engine.feel.errors import EvaluationError, LimitExceeded
from vivero.engine.feel.semantics import display
from vivero.engine.feel.temporal import iso_format
from vivero.engine.feel.values import DEFAULT_LIMITS, MATH, BuiltinFunction, Function, Limits, Range

_decoder = msgspec.json.Decoder(float_hook=lambda text: _decimal(text))
_encoder = msgspec.json.Encoder()
SURE_DIGITS = 15
"""A double keeps every decimal of so many digits."""
LONGEST_PLAIN_INTEGER = 20
"""Characters."""
_PLAIN = frozenset({str, bool, type(None)})
_SCALARS = _PLAIN | {int}
FEW = 16
SMALL = 64
"""The size of lists and contexts that are looked at each time that they occur."""
_WITHOUT_COMMAS = frozenset({int, bool, type(None)})


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises EvaluationError for text that is no JSON."""
    try:
        value = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EvaluationError(f"Not JSON: {error}") from error
    return _rounded(value) if type(value) is int else value


def _decimal(text: str) -> Decimal:
    if len(text) <= SURE_DIGITS and text[-1] != "0" and "e" not in text and "E" not in text:
        return Decimal(text)  # so few digits come back from a double as they were
    try:
        return from_float(float(text))
    except OverflowError:
        return MATH.create_decimal(text)


def _rounded(number: int) -> int | Decimal:
    return number if -MOST < number < MOST else MATH.create_decimal(number)


def to_json(value: Any, limits: Limits = DEFAULT_LIMITS) -> str:
    """Compact JSON text. Raises LimitExceeded for more than `limits.output_size` characters or too deep a value."""
    if type(value) is int and -(2**63) <= value < 2**64 and limits.output_size >= LONGEST_PLAIN_INTEGER:
        return str(value)
    return _encode(value, limits, False)


def to_json_at_once(values: list[Any]) -> str | None:
    """Compact JSON text of a list of whole numbers, booleans and nulls; None of any other list.

    It takes a hundredth of the time that the items take one by one; between the commas stands what `to_json` gives.
    """
    return _encoder.encode(values).decode() if _WITHOUT_COMMAS.issuperset(map(type, values)) else None


def is_compact(text: str, value: Any) -> bool:
    """Whether `text` is what `to_json` gives of `value`, which was decoded from it, and `value` has no fractions."""
    try:
        return _encoder.encode(value).decode() == text
    except RecursionError:
        return False


def to_json_text(value: Any, limits: Limits) -> str:
    """The text that the function `to json` gives: like to_json, but a function or range as its text."""
    return _encode(value, limits, True)


def _encode(value: Any, limits: Limits, with_texts: bool) -> str:
    plainer = _Plainer(limits, with_texts)
    try:
        text = _encoder.encode(plainer.plain(value)).decode()
    except RecursionError:
        raise LimitExceeded("nesting_depth", "The value is nested too deeply for JSON") from None
    except UnicodeEncodeError as error:
        raise EvaluationError(f"A string is no Unicode text: {error}") from None
    plainer.check(len(text))
    return text


class _Plainer:
    """Turns a value into what the encoder knows, and adds up the size of its text as it goes.

    A list that occurs many times is looked at once, as small values may stand for texts of exponential size.
    """

    __slots__ = ("_limits", "_seen", "_size", "_with_texts")

    def __init__(self, limits: Limits, with_texts: bool) -> None:
        self._limits = limits
        self._size = 0
        self._with_texts = with_texts
        self._seen: dict[int, tuple[Any, int]] = {}  # by identity of list or context: its plain value and size

    def check(self, size: int) -> None:
        if size > self._limits.output_size:
            raise LimitExceeded("output_size", f"The JSON text exceeds {self._limits.output_size} characters")

    def plain(self, value: Any) -> Any:
        kind = type(value)
        self._size += 2 + (len(value) if kind is str else 0)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else msgspec.Raw(str(value).encode())
        if kind is list or kind is dict:
            return self._container(value)
        if kind is Decimal:
            return _plain_number(value)
        if isinstance(value, Range | Function | BuiltinFunction):
            return display(value, self._limits.string_size) if self._with_texts else None
        return iso_format(value)

    def _container(self, value: Any) -> Any:
        if id(value) in self._seen:
            known, size = self._seen[id(value)]
            self._size += size
            self.check(self._size)
            return known
        before = self._size
        self.check(before)
        items = value if type(value) is list else value.values()
        plain: Any = value
        if not self._are_plain(items):
            if type(value) is list:
                plain = [self.plain(item) for item in value]
            else:
                plain = {key: self.plain(item) for key, item in value.items()}
        if self._size - before > SMALL:
            self._seen[id(value)] = plain, self._size - before
        return plain

    def _are_plain(self, items: Collection[Any]) -> bool:
        """Whether the encoder knows all of them as they are: that takes a tenth of looking at each. Adds their size."""
        if len(items) <= FEW:
            return self._are_few_plain(items)
        kinds = set(map(type, items))
        if not kinds <= _SCALARS:
            return False
        if int in kinds:
            numbers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
            if min(numbers) < -(2**63) or max(numbers) >= 2**64:
                return False
        if str in kinds:
            self._size += sum([len(item) for item in items if type(item) is str])
        self._size += 2 * len(items)
        return True

    def _are_few_plain(self, items: Collection[Any]) -> bool:
        size = 2 * len(items)
        for item in items:
            kind = type(item)
            if kind is str:
                size += len(item)
            elif (kind is not int or not -(2**63) <= item < 2**64) and kind not in _PLAIN:
                return False
        self._size += size
        return True


def _plain_number(number: Decimal) -> Any:
    if number == number.to_integral_value() and number.adjusted() < 34:
        return msgspec.Raw(str(int(number)).encode())
    nearest = float(number)
    return nearest if isfinite(nearest) else msgspec.Raw(str(number).encode())
