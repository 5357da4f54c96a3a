"""Large JSON texts: their values, and whether encoding the value gives the same text again.

The encoder tells that at the speed of C, so that a large variable that is passed on need not be walked in Python.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import msgspec

from vivero.core.feel.codec import from_json

_decode = msgspec.json.Decoder().decode
_decode_canonical = msgspec.json.Decoder(float_hook=lambda text: _decimal(text)).decode
_encode = msgspec.json.Encoder().encode
_WHOLE_FRACTION = re.compile(rb"\.0(?=[,\]}])")
_EXPONENT = re.compile(rb"[\[,:]-?[0-9]+(?:\.[0-9]+)?[eE]")
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789E", b"000000000e")


def decode_large(text: str) -> tuple[Any, str | None]:
    """The value of a list or context, and its canonical text: what `to_json` gives for the value.

    The text is None if this function cannot tell it fast. Raises EvaluationError for text that is not valid JSON.
    """
    try:
        value = _decode(text)
        encoded = _encode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ArithmeticError):
        return from_json(text), None
    if _has_exponent(encoded) or b"-0.0" in encoded:
        return from_json(text), None
    if b"." not in encoded:
        return value, _shared(encoded, text)
    canonical = _WHOLE_FRACTION.sub(b"", encoded)
    if len(canonical) < len(encoded) and _decode(canonical) != value:  # a string contains what looks like a number
        return from_json(text), None
    return _decode_canonical(canonical), _shared(canonical, text)


def _decimal(text: str) -> Decimal:
    """A function in Python: other threads get their turn before it is called."""
    return Decimal(text)


def _has_exponent(encoded: bytes) -> bool:
    """True if a number has an exponent, or a string contains what looks like such a number."""
    return b"0e" in encoded.translate(_DIGITS_TO_ZERO) and _EXPONENT.search(encoded) is not None


def _shared(canonical: bytes, text: str) -> str:
    """The canonical text; `text` itself if they are equal, so that memory holds one of them."""
    decoded = canonical.decode()
    return text if decoded == text else decoded
