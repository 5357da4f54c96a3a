"""Functions of strings whose patterns are those of XPath, and whose positions are checked (DMN 1.5, 10.3.4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from vivero.core.feel.builtins import regexes, strings
from vivero.core.feel.builtins.arguments import string, whole
from vivero.core.feel.builtins.java_patterns import MAX_PATTERN, InvalidPattern, compile_pattern
from vivero.core.feel.standard.lists import check_part
from vivero.core.feel.standard.xpath_patterns import java_pattern, java_replacement
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Run

_FLAGS = frozenset("smix")
_STEPS_PER_CHARACTER = 5
_translated = lru_cache(maxsize=512)(java_pattern)


def _in_java(run: Run, pattern: Any, flags: Any) -> tuple[str, str]:
    """A pattern and its flags in Java's form. Null stands for no flags."""
    text, letters = string(run, pattern), "" if flags is None else flags
    if type(letters) is not str:
        raise IllegalArguments
    if not _FLAGS.issuperset(letters):
        raise FunctionFailure(f"Unknown flags '{letters[: run.limits.message_size]}'")
    if len(text) > MAX_PATTERN:
        return text, letters  # the compilation refuses it
    before = _translated.cache_info().misses
    try:
        translated = _translated(text, letters)
    except InvalidPattern as error:
        run.spend(len(text) * _STEPS_PER_CHARACTER)
        raise FunctionFailure(f"Invalid pattern '{text}': {error}") from None
    if _translated.cache_info().misses != before:
        run.spend(len(text) * _STEPS_PER_CHARACTER)
    return translated


def matches(run: Run, text: Any, pattern: Any, flags: Any = None) -> Any:
    """True if a part of the text matches."""
    return strings.matches(run, text, *_in_java(run, pattern, flags))


def replace(run: Run, text: Any, pattern: Any, replacement: Any, flags: Any = None) -> Any:
    """The text with all matches replaced. A pattern that matches the empty text fails, as in XPath (7.6.3)."""
    new = string(run, replacement)
    translated, letters = _in_java(run, pattern, flags)
    try:
        compiled = compile_pattern(run, translated, letters, "")
        if regexes.is_found(run, compiled, ""):
            raise FunctionFailure(f"The pattern '{pattern}' matches the empty text")
        return strings.replace(run, text, translated, java_replacement(new, compiled.groups), letters)
    except InvalidPattern as error:
        raise FunctionFailure(f"Invalid pattern or replacement: {error}") from None


def split(run: Run, text: Any, delimiter: Any) -> Any:
    """The parts of the text between the matches."""
    return strings.split(run, text, _in_java(run, delimiter, None)[0])


def substring(run: Run, text: Any, start: Any, *length: Any) -> Any:
    """A part of the text: `length` characters, or all from `start` on."""
    check_part(len(string(run, text)), whole(start), *map(whole, length))
    return strings.substring(run, text, start, *length) if length else strings.substring_from(run, text, start)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "matches": matches,
    "replace": replace,
    "split": split,
    "substring": substring,
}
"""By name. Each takes the arguments of all overloads of the common function."""
