"""Built-in functions on strings (DMN 1.5, 10.3.4.3). Characters are Unicode code points, positions count from 1."""

from __future__ import annotations

import base64
import binascii
import os
import uuid
from collections.abc import Callable
from typing import Any

import regex

from vivero.core.feel.builtins import java_patterns, regexes
from vivero.core.feel.builtins.arguments import string, whole
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run

_TRIMMED = "".join(map(chr, range(0x21)))  # the characters that Java's trim removes: all up to the space
_JAVA_BLANK = regex.compile(r"[\t-\r\x1c-\x1f\p{Z}--[\xa0\u2007\u202f]]*", regex.VERSION1)  # Character.isWhitespace


def substring_from(run: Run, text: Any, start: Any) -> Any:
    return _substring(string(run, text), whole(start), None)


def substring(run: Run, text: Any, start: Any, length: Any) -> Any:
    return _substring(string(run, text), whole(start), whole(length))


def _substring(text: str, start: int, length: int | None) -> str:
    first = start - 1 if start > 0 else len(text) + start
    if not 0 <= first <= len(text):
        raise FunctionFailure(f"The start position {start} is out of range")
    if length is None:
        return text[first:]
    if length < 0:
        raise FunctionFailure(f"The length {length} is negative")
    return text[first : first + length]


def string_length(run: Run, text: Any) -> Any:
    return len(string(run, text))


def upper_case(run: Run, text: Any) -> Any:
    return string(run, text).upper()


def lower_case(run: Run, text: Any) -> Any:
    return string(run, text).lower()


def substring_before(run: Run, text: Any, match: Any) -> Any:
    text, match = string(run, text), string(run, match)
    return text[: max(text.find(match), 0)]


def substring_after(run: Run, text: Any, match: Any) -> Any:
    text, match = string(run, text), string(run, match)
    index = text.find(match)
    return "" if index < 0 else text[index + len(match) :]


def contains(run: Run, text: Any, match: Any) -> Any:
    return string(run, match) in string(run, text)


def starts_with(run: Run, text: Any, match: Any) -> Any:
    return string(run, text).startswith(string(run, match))


def ends_with(run: Run, text: Any, match: Any) -> Any:
    return string(run, text).endswith(string(run, match))


def _compiled(run: Run, pattern: Any, subject: str, flags: Any = None, role: str = "pattern") -> regex.Pattern[str]:
    """A pattern for a search in `subject`. Null stands for no flags; unknown flags are ignored."""
    text = string(run, pattern)
    if flags is not None and type(flags) is not str:
        raise IllegalArguments
    try:
        return java_patterns.compile_pattern(run, text, flags or "", subject)
    except java_patterns.InvalidPattern:
        raise _invalid(run, text, role) from None


def _invalid(run: Run, pattern: str, role: str = "pattern") -> FunctionFailure:
    return FunctionFailure(f"Invalid {role} '{pattern[: run.limits.message_size]}'")


def matches(run: Run, text: Any, pattern: Any, flags: Any = None) -> Any:
    """True if a part of the text matches."""
    subject = string(run, text)
    return regexes.is_found(run, _compiled(run, pattern, subject, flags), subject)


def replace(run: Run, text: Any, pattern: Any, replacement: Any, flags: Any = None) -> Any:
    subject, new = string(run, text), string(run, replacement)
    compiled = _compiled(run, pattern, subject, flags)
    try:
        return regexes.replace(run, compiled, subject, new)
    except java_patterns.InvalidPattern:
        raise _invalid(run, pattern) from None


def split(run: Run, text: Any, delimiter: Any) -> Any:
    subject = string(run, text)
    parts = regexes.split(run, _compiled(run, delimiter, subject, None, "pattern for delimiter"), subject)
    run.check_list(len(parts))
    return parts


def extract(run: Run, text: Any, pattern: Any) -> Any:
    """The parts of the text that match."""
    subject = string(run, text)
    parts = [match.group() for match in regexes.find_all(run, _compiled(run, pattern, subject), subject)]
    run.check_list(len(parts))
    return parts


def trim(run: Run, text: Any) -> Any:
    return string(run, text).strip(_TRIMMED)


def is_blank(run: Run, text: Any) -> Any:
    return _JAVA_BLANK.fullmatch(string(run, text)) is not None


def new_uuid(run: Run) -> Any:
    """A random UUID, version 4."""
    run.spend(30)
    return str(uuid.UUID(bytes=os.urandom(16), version=4))


def to_base64(run: Run, value: Any) -> Any:
    text = string(run, value)
    run.check_string(len(text) * 4 // 3)
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def from_base64(run: Run, value: Any) -> Any:
    """The UTF-8 text that is encoded in Base64. The padding may be missing."""
    text = string(run, value)
    padding = "" if "=" in text else "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text + padding, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise FunctionFailure(f"Invalid Base64 value '{text[: run.limits.message_size]}'") from None


def _two_strings(fn: Callable[..., Any]) -> tuple[Overload, ...]:
    return (Overload(("string", "match"), fn),)


_STRING = ("string",)

FUNCTIONS = {
    "substring": (
        Overload(("string", "start position"), substring_from),
        Overload(("string", "start position", "length"), substring),
    ),
    "string length": (Overload(_STRING, string_length),),
    "upper case": (Overload(_STRING, upper_case),),
    "lower case": (Overload(_STRING, lower_case),),
    "substring before": _two_strings(substring_before),
    "substring after": _two_strings(substring_after),
    "contains": _two_strings(contains),
    "starts with": _two_strings(starts_with),
    "ends with": _two_strings(ends_with),
    "matches": (
        Overload(("input", "pattern"), matches),
        Overload(("input", "pattern", "flags"), matches),
    ),
    "replace": (
        Overload(("input", "pattern", "replacement"), replace),
        Overload(("input", "pattern", "replacement", "flags"), replace),
    ),
    "split": (Overload(("string", "delimiter"), split),),
    "extract": (Overload(("input", "pattern"), extract), Overload(("string", "pattern"), extract)),
    "trim": (Overload(_STRING, trim),),
    "is blank": (Overload(_STRING, is_blank),),
    "uuid": (Overload((), new_uuid, pure=False),),
    "to base64": (Overload(("value",), to_base64),),
    "from base64": (Overload(("value",), from_base64),),
}
