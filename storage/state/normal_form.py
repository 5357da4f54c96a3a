"""The normal form of a JSON value: all spellings of a value have the same one.

Filters compare values by it: `"K\\u00f6ln"` is `"Köln"`, `1.0` is `1`, and neither white space nor the order of the
properties of an object counts. It is compact, with names in order, numbers without needless digits, and no escapes but
those that JSON requires. Clients and workers get values as they were sent.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from hashlib import sha256
from typing import Any

import msgspec

LONGEST = 250_000
"""Characters of a value that is brought to its normal form, which takes a few ms then. A longer one counts as it is."""
_SHORT = 16
"""Characters of a fraction that a double holds exactly: it has 15 digits at most."""
_WHOLE = 2.0**53
"""Smaller whole doubles are exact."""
_POWERS = 300
_LEAST, _MOST = 1e-300, 1e300
"""Other doubles do not hold 15 digits, or are none."""
_FAR = 1.5e40
_PLAIN_DIGITS = 40
"""A number with more digits before or behind its point is written with an exponent."""

_is_plain_number = re.compile(r"-?(?:[1-9][0-9]{0,30}|0(?=\.(?!000)))(?:\.[0-9]{0,30}[1-9])?|0").fullmatch
"""Most numbers, in normal form."""
_CONSTANTS = frozenset(("true", "false", "null", '""', "{}", "[]"))


def normal_form(text: str) -> str:
    """The normal form of a value. A text that is too long, or not JSON, has none but itself."""
    if len(text) > LONGEST:
        return text
    try:
        return str(_encode(_decode(text)), "utf-8")
    except (msgspec.DecodeError, UnicodeError, ArithmeticError, RecursionError):
        return text


def normal_bytes(document: bytes, left_out: Collection[str] = ()) -> bytes:
    """The normal form of a JSON document, however long it is. Raises msgspec.DecodeError if it is none.

    The outermost properties with names in `left_out` do not belong to it.
    """
    decoded = _decode(document)
    if left_out and isinstance(decoded, dict):
        decoded = {name: value for name, value in decoded.items() if name not in left_out}
    return _encode(decoded)


def normal_hash(text: str) -> str | None:
    """The hash of a value's normal form; None if the value is its own normal form, as nearly all are.

    A text of JSON without a backslash obviously is, and most numbers are.
    """
    if text[:1] == '"':
        if "\\" not in text and text[-1] == '"':
            return None
    elif text in _CONSTANTS or _is_plain_number(text):
        return None
    normal = normal_form(text)
    return None if normal == text else hash_of(normal)


def hash_of(normal: str) -> str:
    """The hash of a normal form: half of its SHA-256, as the text of a uuid."""
    return sha256(normal.encode(errors="surrogatepass")).hexdigest()[:32]


def _fraction(text: str) -> Any:
    """A number with a fraction or an exponent: the same for all spellings. Doubles are encoded fast."""
    if len(text) <= _SHORT:
        double = float(text)
        if double.is_integer():
            if -_WHOLE < double < _WHOLE and double:
                return int(double)
        elif _LEAST < abs(double) < _MOST:
            return double
        if _FAR < abs(double) < _MOST:
            return double
    elif text[-1] != "0" and "e" not in text and "E" not in text and not text.startswith(("0.000", "-0.000")):
        return msgspec.Raw(text.encode())
    return _exact(Decimal(text))


def _exact(number: Decimal) -> Any:
    if not number:
        return 0
    sign, digits, _ = number.as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    power = number.adjusted()
    is_whole, is_far = power >= len(significant) - 1, abs(power) >= _PLAIN_DIGITS
    if (is_far or not is_whole) and len(significant) < _SHORT and abs(power) < _POWERS:
        return float(number)
    if is_far:
        return msgspec.Raw(f"{'-' * sign}{significant[0]}.{significant[1:]}e{power}".encode())
    plain = format(number, "f")
    return msgspec.Raw((plain.rstrip("0").rstrip(".") if "." in plain else plain).encode())


def _encode(value: Any) -> bytes:
    try:
        return _encode_sorted(value)
    except OverflowError:
        return _encode_sorted(_with_large_numbers(value))


def _with_large_numbers(value: Any) -> Any:
    """The value, with numbers beyond 64 bits as their texts, because the encoder does not take them."""
    if type(value) is dict:
        return {name: _with_large_numbers(each) for name, each in value.items()}
    if type(value) is list:
        return [_with_large_numbers(each) for each in value]
    return msgspec.Raw(str(value).encode()) if type(value) is int else value


_decode = msgspec.json.Decoder(float_hook=_fraction).decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
