"""Java's regular expressions (java.util.regex.Pattern) as patterns of the `regex` module.

A pattern is translated character by character. Java's syntax is rewritten: `\\d`, `\\w` and `\\s` are ASCII; `.`, `^`
and `$` know five line ends; `\\Q…\\E`, `\\p{Alpha}`, nested classes. Syntax that Java lacks is an error, so that no
extension of the module (fuzzy matching, recursion) can be used. Unlike in Java, the flag `i` folds all letters and not
only those of ASCII, as DMN requires (XPath 3.1, 5.6.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import regex

from vivero.core.feel.errors import LimitExceeded
from vivero.core.feel.values import Run

MAX_PATTERN = 1_000  # characters; compiling takes up to 20 us for each, and no timeout bounds it
MAX_TRANSLATED = 2_500
MAX_UNROLLED = 4_000  # elements; the module compiles `a{9}` as nine copies, 3 us and 250 bytes each, also if nested
_STEPS_PER_CHARACTER = 60

_ENDS = r"\n\r\x85\u2028\u2029"
_OTHER_ENDS = regex.compile(r"[\r\x85\u2028\u2029]")
_ANY = rf"[^{_ENDS}]"
_START_OF_LINE = r"(?<=\A|[\n\x85\u2028\u2029]|\r(?!\n))(?!\Z)"
_END_OF_LINE = rf"(?:(?=\Z|[{_ENDS}])(?<!\r(?=\n)))"
_END_OF_INPUT = rf"(?:(?=(?:\r\n|[{_ENDS}])?\Z)(?<!\r(?=\n)))"

_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/\:-@\[-`{-\~",
    "Graph": r"!-\~",
    "Print": r" -\~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t-\r",
}
_SHORTHANDS = {
    "d": "0-9",
    "w": "a-zA-Z0-9_",
    "s": r" \t-\r",
    "h": r" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n-\r\x85\u2028\u2029",
}
_CONTROLS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f", "a": r"\x07", "e": r"\x1b"}
_ANCHORS = {
    "b": r"\b",
    "B": r"\B",
    "A": r"\A",
    "G": r"\G",
    "z": r"\Z",
    "Z": _END_OF_INPUT,
    "R": r"(?>\r\n|[\n-\r\x85\u2028\u2029])",
    "X": r"\X",
}
_UNICODE_SHORTHANDS = {"d": r"\d", "D": r"\D", "w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S"}

_PROPERTY = re.compile(r"[pP](?:\{(\^?[A-Za-z0-9_=]+)\}|([A-Z]))")
_HEX = re.compile(r"x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|0([0-3]?[0-7]{1,2})")
_GROUP = re.compile(r"\?(?:([:=!>]|<[=!])|<([A-Za-z][A-Za-z0-9]*)>|([idmsuxU]*)(?:-([idmsuxU]+))?([:)]))")
_REPEAT = re.compile(r"\{(\d{1,9})(?:,\d{0,9})?\}")
_REFERENCE = re.compile(r"k<([A-Za-z][A-Za-z0-9]*)>|([1-9]\d*)")
_SPECIAL_IN_CLASS = frozenset("[]^&|~:-\\")


class InvalidPattern(ValueError):
    """The text is not a regular expression of Java."""


class _Sequence:
    """The number of elements of a part of a pattern once the module has unrolled its counted repetitions."""

    def __init__(self) -> None:
        self.size = 0
        self.last = 0

    def add(self, size: int) -> None:
        self.last = size
        self.size += size

    def repeat_last(self, times: int) -> None:
        repeated = self.last * max(times, 1)
        self.size += repeated - self.last
        self.last = repeated


class _Translator:
    """One pass over a pattern. `flags` are the flags at the current position.

    `plain`: the text has no line ends other than line feeds. `.`, `^` and `$` then compile ten times as fast.
    """

    def __init__(self, pattern: str, flags: frozenset[str], plain: bool) -> None:
        self.pattern = pattern
        self.plain = plain
        self.position = 0
        self.flags = flags
        self.outer: list[frozenset[str]] = []
        self.out: list[str] = []
        self.unrolled = [_Sequence()]  # one for each open group, outermost first
        self.counted = 0  # the number of entries of `out` that `unrolled` includes

    def translate(self) -> str:
        while self.position < len(self.pattern):
            character = self.take()
            handler = _HANDLERS.get(character)
            if handler is not None:
                handler(self)
            elif not self.skip_comment(character):
                self.out.append(regex.escape(character))
        if self.outer:
            raise InvalidPattern("Unclosed group")
        self.count_output()
        return "".join(self.out)

    def take(self) -> str:
        if self.position >= len(self.pattern):
            raise InvalidPattern("Unexpected end")
        self.position += 1
        return self.pattern[self.position - 1]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def match(self, expected: re.Pattern[str]) -> re.Match[str] | None:
        match = expected.match(self.pattern, self.position)
        if match is not None:
            self.position = match.end()
        return match

    def skip_comment(self, character: str) -> bool:
        """Skip white space and comments if the flag x is set. Returns whether it skipped anything."""
        if "x" not in self.flags:
            return False
        if character == "#":
            end = self.pattern.find("\n", self.position)
            self.position = len(self.pattern) if end < 0 else end
            return True
        return character in " \t\n\r\f\v"

    def dot(self) -> None:
        self.out.append("(?s:.)" if "s" in self.flags else "." if self.plain else self.class_of(_ANY))

    def caret(self) -> None:
        line = r"(?m:^)(?!\Z)" if self.plain else _START_OF_LINE
        self.out.append(f"(?:{line})" if "m" in self.flags else r"\A")

    def dollar(self) -> None:
        if self.plain:
            self.out.append("(?m:$)" if "m" in self.flags else "$")
        else:
            self.out.append(_END_OF_LINE if "m" in self.flags else _END_OF_INPUT)

    def alternative(self) -> None:
        self.out.append("|")

    def quantifier(self) -> None:
        if not self.out or self.out[-1] == "|" or self.out[-1].startswith("("):
            raise InvalidPattern("Dangling meta character")
        self.out.append(self.pattern[self.position - 1])

    def repeat(self) -> None:
        self.position -= 1
        match = self.match(_REPEAT)
        if match is None:
            raise InvalidPattern("Illegal repetition")
        self.count_output().repeat_last(int(match[1]))
        self.out.append(match.group())

    def open_group(self) -> None:
        if self.peek() != "?":
            self.enter("(", self.flags)
            return
        match = self.match(_GROUP)
        if match is None:
            raise InvalidPattern("Unknown group")
        kind, name, on, off, end = match.groups()
        if kind is not None:
            self.enter(f"(?{kind}", self.flags)
        elif name is not None:
            self.enter(f"(?P<{name}>", self.flags)
        else:
            self.set_flags((self.flags | frozenset(on)) - frozenset(off or ""), end)

    def set_flags(self, flags: frozenset[str], end: str) -> None:
        """`(?i)` holds up to the end of the surrounding group, `(?i:…)` for its own group."""
        if end == ":":
            self.enter(f"(?{'i' if 'i' in flags else '-i'}:", flags)
        else:
            self.flags = flags
            self.out.append("(?i)" if "i" in flags else "(?-i)")

    def enter(self, opening: str, flags: frozenset[str]) -> None:
        self.count_output()
        self.unrolled.append(_Sequence())
        self.outer.append(self.flags)
        self.flags = flags
        self.out.append(opening)

    def close_group(self) -> None:
        if not self.outer:
            raise InvalidPattern("Unmatched closing ')'")
        self.flags = self.outer.pop()
        self.count_output()
        size = self.unrolled.pop().size
        self.unrolled[-1].add(size)
        self.out.append(")")
        self.counted += 1

    def count_output(self) -> _Sequence:
        """Add the output since the last call to the innermost open sequence. Raises LimitExceeded if it is too long."""
        sequence = self.unrolled[-1]
        for _ in range(len(self.out) - self.counted):
            sequence.add(1)
        self.counted = len(self.out)
        if sequence.size > MAX_UNROLLED:
            raise _too_long(sequence.size, MAX_UNROLLED)
        return sequence

    def class_of(self, members: str) -> str:
        """A class that is not nested and whose members have no case, so that case folding would only take time."""
        return f"(?-i:{members})" if "i" in self.flags else members

    def escape(self) -> None:
        reference = self.match(_REFERENCE)
        if reference is not None:
            name, number = reference.groups()
            self.out.append(f"(?P={name})" if name else f"(?:\\{number})")
            return
        anchor = _ANCHORS.get(self.peek())
        if anchor is not None:
            self.position += 1
            self.out.append(anchor)
        elif self.peek() == "Q":
            self.out.extend(regex.escape(c) for c in self.quoted())
        else:
            self.out.append(self.escaped(in_class=False))

    def quoted(self) -> str:
        r"""The text between \Q and \E, or the end."""
        start = self.position + 1
        end = self.pattern.find("\\E", start)
        self.position = len(self.pattern) if end < 0 else end + 2
        return self.pattern[start : len(self.pattern) if end < 0 else end]

    def escaped(self, in_class: bool) -> str:
        """The translation of an escaped character or class of characters. The backslash is taken already."""
        code = self.match(_HEX)
        if code is not None:
            return _character(int(code[1] or code[2] or code[3] or code[4], 8 if code[4] else 16))
        prop = self.match(_PROPERTY)
        if prop is not None:
            return _property(prop.group()[0], prop[1] or prop[2])
        letter = self.take()
        if "U" in self.flags and letter in _UNICODE_SHORTHANDS:
            return _UNICODE_SHORTHANDS[letter]
        if letter.lower() in _SHORTHANDS:
            members = f"[{'^' if letter.isupper() else ''}{_SHORTHANDS[letter.lower()]}]"
            return members if in_class else self.class_of(members)
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "c":
            return _character(ord(self.take()) ^ 64)
        if letter.isascii() and letter.isalnum():
            raise InvalidPattern(f"Illegal escape \\{letter}")
        return _escaped_in_class(letter) if in_class else regex.escape(letter)

    def open_class(self) -> None:
        self.out.append(self.character_class())

    def character_class(self) -> str:
        """A class up to its `]`. Union and intersection are those of the module's version 1."""
        parts = ["["]
        if self.peek() == "^":
            self.position += 1
            parts.append("^")
        if self.peek() == "]":
            self.position += 1
            parts.append(r"\]")
        while (character := self.take()) != "]":
            parts.append(self.class_item(character))
        return "".join(parts) + "]"

    def class_item(self, character: str) -> str:
        if character == "[":
            return self.character_class()
        if character == "\\":
            return "".join(map(_escaped_in_class, self.quoted())) if self.peek() == "Q" else self.escaped(in_class=True)
        if character == "&" and self.peek() == "&":
            self.position += 1
            return "&&"
        if character == "-" and self.peek() not in ("]", "[", "-", "&"):
            return "-"
        return "" if self.skip_comment(character) else _escaped_in_class(character)


def _escaped_in_class(character: str) -> str:
    return f"\\{character}" if character in _SPECIAL_IN_CLASS else _character(ord(character))


def _character(code: int) -> str:
    if code > 0x10FFFF:
        raise InvalidPattern("Illegal character code")
    return chr(code) if chr(code).isalnum() else f"\\U{code:08x}"


def _property(letter: str, name: str) -> str:
    negated = (letter == "P") != name.startswith("^")
    name = name.removeprefix("^")
    if name in _POSIX:
        return f"[{'^' if negated else ''}{_POSIX[name]}]"
    return rf"\{'P' if negated else 'p'}{{{name.removeprefix('java')}}}"


_HANDLERS: dict[str, Callable[[_Translator], None]] = {
    "\\": _Translator.escape,
    ".": _Translator.dot,
    "^": _Translator.caret,
    "$": _Translator.dollar,
    "[": _Translator.open_class,
    "(": _Translator.open_group,
    ")": _Translator.close_group,
    "{": _Translator.repeat,
    "*": _Translator.quantifier,
    "+": _Translator.quantifier,
    "?": _Translator.quantifier,
    "|": _Translator.alternative,
}


def compile_pattern(run: Run, pattern: str, flags: str, text: str) -> regex.Pattern[str]:
    """Compile a Java pattern for a search in `text`. `flags`: the letters s, m, i, x; others are ignored.

    Spends steps if the pattern is not in the cache. Raises InvalidPattern, and LimitExceeded for a long pattern.
    """
    if len(pattern) > MAX_PATTERN:
        raise _too_long(len(pattern), MAX_PATTERN)
    before = _compile.cache_info().misses
    compiled = _compile(pattern, frozenset(flags) & frozenset("smix"), _OTHER_ENDS.search(text) is None)
    if _compile.cache_info().misses != before:
        run.spend(len(compiled.pattern) * _STEPS_PER_CHARACTER)
    return compiled


def _too_long(size: int, limit: int) -> LimitExceeded:
    return LimitExceeded("pattern_size", f"A regular expression of {size} characters exceeds the limit of {limit}")


@lru_cache(maxsize=512)
def _compile(pattern: str, flags: frozenset[str], plain: bool) -> regex.Pattern[str]:
    """Compile with version 1 for nested classes, and with `-f`, so that one letter never matches two (`ß`, `ss`)."""
    try:
        translated = _Translator(pattern, flags, plain).translate()
        if len(translated) > MAX_TRANSLATED:
            raise _too_long(len(translated), MAX_TRANSLATED)
        return regex.compile(f"(?-f){translated}", regex.VERSION1 | (regex.IGNORECASE if "i" in flags else 0))
    except (regex.error, RecursionError, OverflowError) as e:
        raise InvalidPattern(str(e)) from None
