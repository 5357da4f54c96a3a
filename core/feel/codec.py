"""Values to JSON and back, as process variables are stored (Camunda's rules).

Temporals and durations become ISO strings; functions and ranges become null; whole numbers become integers; other
numbers become the shortest text of the nearest binary double. Back from JSON, a double becomes the decimal with the
same shortest text.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

import msgspec

from vivero.core.feel.arithmetic import EXACT_INTEGER_BOUND, from_float
from vivero.core.feel.errors import EvaluationError, LimitExceeded
from vivero.core.feel.semantics import display
from vivero.core.feel.temporal import iso_format
from vivero.core.feel.values import DEFAULT_LIMITS, MATH, BuiltinFunction, FeelLimits, Function, Range

_decoder = msgspec.json.Decoder(float_hook=lambda text: _decimal(text))
_encoder = msgspec.json.Encoder()
EXACT_DOUBLE_DIGITS = 15
"""A double represents every decimal number with at most this many digits distinctly."""
MAX_64_BIT_INTEGER_CHARACTERS = 20
_PLAIN = frozenset({str, bool, type(None)})
_SCALARS = _PLAIN | {int}
FEW_ITEMS = 16
SMALL_SIZE = 64
"""Characters. A list or context of at most this size is converted each time it occurs, and not remembered."""
_WITHOUT_COMMAS = frozenset({int, bool, type(None)})
_NONE_KNOWN: Mapping[int, str] = {}


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises EvaluationError for text that is not valid JSON, and for a number of 10^6145 and
    beyond, which decimals do not have.
    """
    try:
        value = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EvaluationError(f"The text is not valid JSON: {error}") from error
    except ArithmeticError as error:
        raise EvaluationError("The text has a number that is out of range: 10^6145 or beyond") from error
    return _rounded(value) if type(value) is int else value


def _decimal(text: str) -> Decimal:
    if len(text) <= EXACT_DOUBLE_DIGITS and text[-1] != "0" and "e" not in text and "E" not in text:
        return Decimal(text)  # a round trip through a double would give the same digits
    try:
        return from_float(float(text))
    except OverflowError:
        return MATH.create_decimal(text)


def _rounded(number: int) -> int | Decimal:
    return number if -EXACT_INTEGER_BOUND < number < EXACT_INTEGER_BOUND else MATH.create_decimal(number)


def to_json(value: Any, limits: FeelLimits = DEFAULT_LIMITS) -> str:
    """Compact JSON text. Raises LimitExceeded beyond `limits.output_size` characters and if the value is too deep."""
    if type(value) is int and -(2**63) <= value < 2**64 and limits.output_size >= MAX_64_BIT_INTEGER_CHARACTERS:
        return str(value)
    return _encode(value, limits, False)


def measure_json(value: Any, known: Mapping[int, str], most: int) -> tuple[str, int]:
    """Like `to_json`, with the number of values that were converted one by one. Raises LimitExceeded beyond `most`.

    Items are converted one by one if their list or context contains a list, a context, a fraction or a temporal.
    `known`: canonical texts of values, by identity; they are taken as they are.
    """
    converter = _Converter(DEFAULT_LIMITS, False, most, known)
    return _text_of(value, converter), converter.converted


def scalars_to_json(values: list[Any]) -> str | None:
    """Compact JSON text of a list of whole numbers, booleans and nulls; None for any other list.

    Each item's text is the one that `to_json` gives. Encoding the list at once takes a hundredth of the time that
    encoding each item takes.
    """
    return _encoder.encode(values).decode() if _WITHOUT_COMMAS.issuperset(map(type, values)) else None


def is_compact(text: str, value: Any) -> bool:
    """True if `to_json(value)` gives `text` and `value` has no fractions. `value` must be decoded from `text`."""
    try:
        return _encoder.encode(value).decode() == text
    except RecursionError:
        return False


def to_json_text(value: Any, limits: FeelLimits) -> str:
    """The result of FEEL's `to json`. Unlike in `to_json`, functions and ranges become their texts."""
    return _encode(value, limits, True)


def _encode(value: Any, limits: FeelLimits, with_texts: bool) -> str:
    return _text_of(value, _Converter(limits, with_texts))


def _text_of(value: Any, converter: _Converter) -> str:
    try:
        converted = converter.convert(value)
        converter.check_sum()
        text = _encoder.encode(converted).decode()
    except RecursionError:
        raise LimitExceeded("nesting_depth", "The value is nested too deeply to write it as JSON") from None
    except UnicodeEncodeError as error:
        raise EvaluationError(f"A string is not valid Unicode text: {error}") from None
    converter.check(len(text))
    return text


class _Converter:
    """Converts a value to types that the encoder knows, and adds up the size of its text.

    It converts a list or context that occurs many times only once, because a small value may have a text of
    exponential size.
    """

    __slots__ = ("_limits", "_most", "_seen", "_size", "_with_texts", "converted")

    def __init__(
        self, limits: FeelLimits, with_texts: bool, most: int = sys.maxsize, known: Mapping[int, str] = _NONE_KNOWN
    ) -> None:
        self._limits = limits
        self._most = most
        self._size = self.converted = 0
        self._with_texts = with_texts
        self._seen: dict[int, tuple[Any, int]] = {  # by identity of the list or context: converted value, size
            id: (msgspec.Raw(text), len(text)) for id, text in known.items()
        }

    def check(self, size: int) -> None:
        if size > self._limits.output_size:
            message = f"The JSON text exceeds the limit of {self._limits.output_size} characters"
            raise LimitExceeded("output_size", message)

    def check_sum(self) -> None:
        """Refuse a text that is certainly too long before it is written. The sum exceeds its size by one at most."""
        self.check(self._size - 1)

    def convert(self, value: Any) -> Any:
        kind = type(value)
        self._size += 2 + (len(value) if kind is str else 0)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else msgspec.Raw(str(value).encode())
        if kind is list or kind is dict:
            return self._container(value)
        if kind is Decimal:
            return _encodable_number(value)
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
        self.check(before + 2 * len(items) - 1)
        converted: Any = value
        if items and not self._are_encodable(items):
            self._count(len(items))
            if type(value) is list:
                converted = [self.convert(item) for item in value]
            else:
                converted = {key: self.convert(item) for key, item in value.items()}
        if self._size - before > SMALL_SIZE:
            self._seen[id(value)] = converted, self._size - before
        return converted

    def _count(self, items: int) -> None:
        self.converted += items
        if self.converted > self._most:
            raise LimitExceeded(
                "output_size", "The value has too many lists, contexts and fractions to write it as JSON"
            )

    def _are_encodable(self, items: Collection[Any]) -> bool:
        """True if the encoder takes all items unchanged; their size is then added.

        This check takes a tenth of the time that converting each item takes.
        """
        if len(items) <= FEW_ITEMS:
            return self._are_few_encodable(items)
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

    def _are_few_encodable(self, items: Collection[Any]) -> bool:
        size = 2 * len(items)
        for item in items:
            kind = type(item)
            if kind is str:
                size += len(item)
            elif (kind is not int or not -(2**63) <= item < 2**64) and kind not in _PLAIN:
                return False
        self._size += size
        return True


def _encodable_number(number: Decimal) -> Any:
    nearest = float(number)
    if isfinite(nearest) and not nearest.is_integer():
        return nearest
    if number == number.to_integral_value() and number.adjusted() < 34:
        return msgspec.Raw(str(int(number)).encode())
    return nearest if isfinite(nearest) else msgspec.Raw(str(number).encode())
