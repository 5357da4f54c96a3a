"""Finding, splitting and replacing with regular expressions, as java.util.regex.Matcher does, with a time limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import thread_time_ns

import regex

from vivero.engine.feel.builtins.java_patterns import InvalidPattern
from vivero.engine.feel.errors import LimitExceeded
from vivero.engine.feel.values import Run

_NAMED_GROUP = re.compile(r"\{([A-Za-z][A-Za-z0-9]*)\}")
_STEPS_PER_SEARCH = 50
_STEPS_PER_MATCH = 10
_NANOS_PER_STEP = 100
_FREE_NANOS = 1_000_000  # what all searches may take together without steps: the count seldom depends on the machine


def find_all(run: Run, pattern: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """The matches, one behind the other. Raises LimitExceeded when the time is over; takes steps for time used."""
    run.spend(_STEPS_PER_SEARCH)
    started = thread_time_ns()
    matches = pattern.finditer(text, timeout=run.limits.regex_timeout_ms / 1000)
    while True:
        try:
            match = next(matches, None)
        except TimeoutError:
            limit = run.limits.regex_timeout_ms
            raise LimitExceeded("regex_timeout_ms", f"A regular expression takes more than {limit} ms") from None
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
    """True if some part of the text matches."""
    return next(find_all(run, pattern, text), None) is not None


def split(run: Run, pattern: regex.Pattern[str], text: str) -> list[str]:
    """The text between the matches, empty parts included; a match of nothing at the start splits off nothing."""
    parts, position = [], 0
    for match in find_all(run, pattern, text):
        if match.end() > 0:
            parts.append(text[position : match.start()])
            position = match.end()
    return [*parts, text[position:]]


def replace(run: Run, pattern: regex.Pattern[str], text: str, replacement: str) -> str:
    """With all matches replaced; `$1` and `${name}` are groups. Raises InvalidPattern for groups that are not there."""
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
    """The group that stands behind a `$` and the place behind it: as many digits as make a group that there is."""
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
