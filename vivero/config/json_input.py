"""JSON that people write. It takes what the server takes: no NaN, no infinite number, no half of a letter."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

MAX_DIGITS = 4300
"""The digits of a whole number: Python converts no longer ones."""


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text. Bytes may have a byte order mark. Raises ValueError, with one line."""
    try:
        found = json.loads(
            text.removeprefix("\ufeff") if isinstance(text, str) else text,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text: byte {error.start} is wrong") from error
    except UnicodeEncodeError as error:
        raise ValueError(f"a text has half of a surrogate pair, {error.object[error.start]!a}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits, and at most {MAX_DIGITS:,} are possible")
    return int(text)
