"""Finding, splitting and replacing with regular expressions, as in java.util.regex.Matcher, with a time limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import thread_time_ns

import regex

from vivero.core.feel.builtins.java_patterns import InvalidPattern
from vivero.core.feel.errors import LimitExceeded
from vivero.core.feel.values import Run

_NAMED_GROUP = re.compile(r"\{([A-Za-z][A-Za-z0-9]*)\}")
_STEPS_PER_SEARCH = 50
_STEPS_PER_MATCH = 10
_NANOS_PER_STEP = 100
_FREE_NANOS = 1_000_000  # the time of searches that costs no steps, so that the count seldom depends on the machine


def find_all(run: Run, pattern: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """Yield the matches in turn. Spends steps for the time used. Raises LimitExceeded when the time limit passes."""
    run.spend(_STEPS_PER_SEARCH)
    started = thread_time_ns()
    matches = pattern.finditer(text, timeout=run.limits.regex_timeout_ms / 1000)
    while True:
        try:
            match = next(matches, None)
        except TimeoutError:
            limit = run.limits.regex_timeout_ms
            message = f"A regular expression takes more than {limit} ms; simplify it or search a shorter text"
            raise LimitExceeded("regex_timeout_ms", message) from None
        elapsed = thread_time_ns() - started
        started += elapsed
        run.searched_ns += elapsed
        if run.searched_ns > _FREE_NANOS:
            searched, run.searched_ns = run.searched_ns, 0
            run.spend(searched // _NANOS_PER_STEP)
        if match is None:
            return
        run.spend(_STEPS_PER_MATCH)
        yield match


def is_found(run: Run, pattern: regex.Pattern[str], text: str) -> bool:
    """True if a part of the text matches."""
    return next(find_all(run, pattern, text), None) is not None


def split(run: Run, pattern: regex.Pattern[str], text: str) -> list[str]:
    """The parts of the text between the matches, with empty parts. An empty match at the start does not split."""
    parts, position = [], 0
    for match in find_all(run, pattern, text):
        if match.end() > 0:
            parts.append(text[position : match.start()])
            position = match.end()
    return [*parts, text[position:]]


def replace(run: Run, pattern: regex.Pattern[str], text: str, replacement: str) -> str:
    """The text with all matches replaced. `$1` and `${name}` are groups. Raises InvalidPattern for a missing group."""
    template = _template(replacement, pattern)
    parts: list[str] = []
    size = position = 0
    for match in find_all(run, pattern, text):
        parts.append(text[position : match.start()])
        parts.extend((match[part] or "") if is_group else str(part) for is_group, part in template)
        size += sum(map(len, parts[-len(template) - 1 :]))
        run.check_string(size)
        position = match.end()
    run.check_string(size + len(text) - position)
    return "".join(parts) + text[position:]


def _template(replacement: str, pattern: regex.Pattern[str]) -> list[tuple[bool, str | int]]:
    """The parts of a replacement: (False, text) or (True, group)."""
    parts: list[tuple[bool, str | int]] = []
    position = 0
    while position < len(replacement):
        character = replacement[position]
        if character == "$":
            group, position = _group(replacement, position + 1, pattern)
            parts.append((True, group))
            continue
        position += 1
        if character == "\\":
            character = replacement[position : position + 1]
            position += 1
            if not character:
                raise InvalidPattern("Character to be escaped is missing")
        parts.append((False, character))
    return parts


def _group(replacement: str, position: int, pattern: regex.Pattern[str]) -> tuple[str | int, int]:
    """The group after a `$`, and the position after the group. A number takes digits as long as such a group exists."""
    named = _NAMED_GROUP.match(replacement, position)
    if named is not None and named[1] in pattern.groupindex:
        return named[1], named.end()
    if not replacement[position : position + 1].isdecimal():
        raise InvalidPattern("Illegal group reference")
    number, position = int(replacement[position]), position + 1
    while (
        replacement[position : position + 1].isdecimal() and number * 10 + int(replacement[position]) <= pattern.groups
    ):
        number, position = number * 10 + int(replacement[position]), position + 1
    if number > pattern.groups:
        raise InvalidPattern(f"No group {number}")
    return number, position
