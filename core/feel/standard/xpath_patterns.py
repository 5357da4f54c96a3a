"""Regular expressions of XPath (XQuery 1.0 and XPath 2.0 Functions and Operators, 7.6.1) as patterns of Java.

DMN refers to XPath (DMN 1.5, 10.3.4.3), Camunda's FEEL takes the patterns of Java. A pattern is rewritten character by
character: `\\i`, `\\c`, `\\p{IsGreek}`, subtraction (`[a-z-[aeiou]]`), the classes of Unicode behind `\\d`, `\\w` and
`\\s`, lines that end only at a line feed, white space that the flag `x` removes. The syntax of Java that XPath lacks is
an error: look-around, possessive quantifiers, inline flags, `\\b`, `\\Q…\\E`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from vivero.core.feel.builtins.java_patterns import InvalidPattern

_SPACES = " \t\n\r"
_START = r":A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
_NAME_START = _START + r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\x{10000}-\x{effff}"
_NAME = rf"{_NAME_START}\-.0-9\xb7\u0300-\u036f\u203f\u2040"
_CLASSES: Mapping[str, str] = {
    "s": r" \t\n\r",
    "i": _NAME_START,
    "c": _NAME,
    "d": r"\p{Nd}",
    "W": r"\p{P}\p{Z}\p{C}",
}
"""The members of the classes. `\\w` is what `\\W` leaves."""
_CONTROLS = frozenset("nrt")
_ESCAPABLE = frozenset("\\|.?*+(){}-[]^$")
_QUANTIFIERS = frozenset("?*+")
_REPEAT = re.compile(r"\{\d+(?:,\d*)?\}")
_PROPERTY = re.compile(r"([pP])\{([A-Za-z]{1,2}|Is[A-Za-z0-9\-]+)\}")
_END_OF_LINE = r"(?![^\n])"
_START_OF_LINE = r"(?<![^\n])"


def java_pattern(pattern: str, flags: str) -> tuple[str, str]:
    """The pattern and the flags that mean the same in Java. Raises InvalidPattern."""
    text = _without_spaces(pattern) if "x" in flags else pattern
    return _Translator(text, flags).translate(), "".join(set(flags) & {"i", "s"})


def _without_spaces(pattern: str) -> str:
    """The pattern as the flag `x` reads it: white space counts only in character classes."""
    kept, depth, is_escaped = [], 0, False
    for character in pattern:
        if depth == 0 and character in _SPACES:
            continue
        if not is_escaped:
            depth += (character == "[") - (character == "]" and depth > 0)
        is_escaped = character == "\\" and not is_escaped
        kept.append(character)
    return "".join(kept)


class _Translator:
    """One pass over a pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern, self.flags = pattern, flags
        self.position = 0
        self.groups = 0
        self.open: list[int] = []
        """The numbers of the groups that are open; 0 for one without a number."""
        self.repeatable = False
        """Something is before this position that a quantifier can repeat."""

    def translate(self) -> str:
        parts = []
        while self.position < len(self.pattern):
            parts.append(_HANDLERS.get(self.take(), _Translator.plain)(self))
        if self.open:
            raise InvalidPattern("Unclosed group")
        return "".join(parts)

    def take(self) -> str:
        if self.position >= len(self.pattern):
            raise InvalidPattern("Unexpected end")
        self.position += 1
        return self.pattern[self.position - 1]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def plain(self) -> str:
        self.repeatable = True
        return re.escape(self.pattern[self.position - 1])

    def unexpected(self) -> str:
        raise InvalidPattern(f"{self.pattern[self.position - 1]} must be escaped")

    def dot(self) -> str:
        self.repeatable = True
        return "." if "s" in self.flags else r"[^\n\r]"

    def caret(self) -> str:
        self.repeatable = False
        return _START_OF_LINE if "m" in self.flags else r"\A"

    def dollar(self) -> str:
        self.repeatable = False
        return _END_OF_LINE if "m" in self.flags else r"\z"

    def alternative(self) -> str:
        self.repeatable = False
        return "|"

    def quantifier(self) -> str:
        return self.quantified(self.pattern[self.position - 1])

    def repeat(self) -> str:
        found = _REPEAT.match(self.pattern, self.position - 1)
        if found is None:
            raise InvalidPattern("Illegal repetition")
        self.position = found.end()
        return self.quantified(found.group())

    def quantified(self, quantifier: str) -> str:
        if not self.repeatable:
            raise InvalidPattern("Dangling quantifier")
        self.repeatable = False
        if self.peek() == "?":
            self.position += 1
            return f"{quantifier}?"
        return quantifier

    def open_group(self) -> str:
        self.repeatable = False
        if self.peek() != "?":
            self.groups += 1
            self.open.append(self.groups)
            return "("
        if self.pattern[self.position : self.position + 2] != "?:":
            raise InvalidPattern("Unknown group")
        self.position += 2
        self.open.append(0)
        return "(?:"

    def close_group(self) -> str:
        if not self.open:
            raise InvalidPattern("Unmatched closing ')'")
        self.open.pop()
        self.repeatable = True
        return ")"

    def escape(self) -> str:
        self.repeatable = True
        if self.peek().isdecimal():
            return self.reference()
        return self.escaped("[{}]")

    def reference(self) -> str:
        """A reference to a group that is closed. It takes digits as long as there is such a group."""
        number = int(self.take())
        while self.peek().isdecimal() and number * 10 + int(self.peek()) <= self.groups:
            number = number * 10 + int(self.take())
        if number == 0 or number > self.groups or number in self.open:
            raise InvalidPattern(f"No group {number}")
        return rf"(?:\{number})"

    def escaped(self, class_template: str) -> str:
        """The translation of an escape, behind its backslash. `class_template` has room for the members of a class."""
        found = _PROPERTY.match(self.pattern, self.position)
        if found is not None:
            self.position = found.end()
            return _property(*found.groups())
        letter = self.take()
        if letter in _CONTROLS:
            return f"\\{letter}"
        if letter in _ESCAPABLE:
            return f"\\{letter}"
        if letter.lower() not in "sicdw":
            raise InvalidPattern(f"Illegal escape \\{letter}")
        members = _CLASSES.get(letter)
        if members is not None:
            return class_template.format(members)
        return f"[^{_CLASSES['W' if letter == 'w' else letter.lower()]}]"

    def open_class(self) -> str:
        self.repeatable = True
        return self.character_class()

    def character_class(self) -> str:
        """A class up to its `]`. Subtraction is an intersection with the other characters."""
        negated = self.peek() == "^"
        self.position += negated
        members: list[str] = []
        subtracted = ""
        while (character := self.take()) != "]":
            if character == "-" and self.peek() == "[" and members:
                self.position += 1
                subtracted = self.character_class()
                if self.take() != "]":
                    raise InvalidPattern("A subtraction must end its class")
                break
            members.append(self.member(character))
        if not members:
            raise InvalidPattern("Empty class")
        whole = f"[{'^' * negated}{''.join(members)}]"
        return f"[{whole}&&[^{subtracted}]]" if subtracted else whole

    def member(self, character: str) -> str:
        if character == "[":
            raise InvalidPattern("[ must be escaped in a class")
        if character == "\\":
            return self.escaped("{}")
        if character == "-":
            return "-" if self.peek() not in ("]", "-", "\\") and self.pattern[self.position - 2] not in "[^" else r"\-"
        return f"\\{character}" if character in "^&|~:" else character


def _property(letter: str, name: str) -> str:
    """A general category, or a block: `IsBasicLatin`."""
    return rf"\{letter}{{{'In' + name[2:].replace('-', '_') if name.startswith('Is') else name}}}"


_HANDLERS: Mapping[str, Callable[[_Translator], str]] = {
    "\\": _Translator.escape,
    ".": _Translator.dot,
    "^": _Translator.caret,
    "$": _Translator.dollar,
    "[": _Translator.open_class,
    "]": _Translator.unexpected,
    "(": _Translator.open_group,
    ")": _Translator.close_group,
    "{": _Translator.repeat,
    "}": _Translator.unexpected,
    "|": _Translator.alternative,
    **dict.fromkeys(_QUANTIFIERS, _Translator.quantifier),
}


def java_replacement(replacement: str, groups: int) -> str:
    """The replacement in Java's form (7.6.3): a group that does not exist is empty. Raises InvalidPattern."""
    parts, position = [], 0
    while position < len(replacement):
        character, following = replacement[position], replacement[position + 1 : position + 2]
        if character == "\\":
            if following not in ("\\", "$"):
                raise InvalidPattern("A backslash in a replacement stands before another one or '$'")
            parts.append(f"\\{following}")
            position += 2
        elif character == "$":
            if not (following.isascii() and following.isdecimal()):
                raise InvalidPattern("'$' in a replacement stands before a digit")
            parts.append(f"${following}" if int(following) <= groups else "")
            position += 2
        else:
            parts.append(character)
            position += 1
    return "".join(parts)
