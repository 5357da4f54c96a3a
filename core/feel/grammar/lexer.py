"""Text to tokens, one at a time, because the parser's position decides what a token is (DMN 1.5, 10.3.1.2, 10.3.1.3).

The parser calls `advance()` and reads `kind`, `value`, `start` and `end`. If the lexer has known names, a name with
spaces or signs (`Full Name`, `Loan-to-value`) is one token, and the longest match wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from vivero.core.feel.errors import ParseError

NAME, NUMBER, STRING, QUOTED_NAME, SIGN, BAD, END = range(1, 8)

SPACE = r"[\s\u180e\u200b\ufeff]"
NAME_START = r"(?:[^\W\d]|[$¢-¥€\U00010000-\U000effff])"
NAME_PART = r"[\w$¢-¥€\u0300-\u036f\u200c\u200d\u203f\u2040\U00010000-\U000effff]"
NAME_PATTERN = rf"{NAME_START}{NAME_PART}*+"
GAP_PATTERN = rf"(?:{SPACE}++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"

_TOKEN = re.compile(
    rf"""{GAP_PATTERN}(?:
      ({NAME_PATTERN})
    | ([0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|\.[0-9]++(?:[eE][+-]?[0-9]++)?)
    | "((?:[^"\\]|\\.)*+)"
    | `([^`]++)`
    | (\.\.|\*\*|<=|>=|!=|->|[-+*/=<>(){{}}\[\],:.?@])
    | (.)
    | (\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_GAP = re.compile(GAP_PATTERN)
_SPACES = re.compile(rf"{SPACE}++")
_INSIDE_NAME = re.compile(rf"(?<={NAME_PART}){NAME_PART}")
_END_OF_NAME = ""
_PLAIN_NAME = re.compile(rf"{NAME_PATTERN}\Z")
_ESCAPE = re.compile(r"""\\(?:([nrtbf'"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{6}))""")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "'": "'", '"': '"', "\\": "\\"}


def unescape(text: str) -> str:
    """The value of the text between the quotes of a string literal. An unknown escape stays as written."""
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_replace_escape, text)
    if any("\ud800" <= c <= "\udfff" for c in text):  # two \u escapes may encode one character, as in UTF-16
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _replace_escape(match: re.Match[str]) -> str:
    sign, short, long = match.groups()
    if sign:
        return _ESCAPED[sign]
    code = int(short or long, 16)
    return chr(code) if code <= 0x10FFFF else match.group()


class KnownNames:
    """The names with spaces or signs that a text may contain, as a trie.

    In a trie, the time to find the longest match does not depend on the number of names. Texts that may contain the
    same names share a trie, to which each one adds its own.
    """

    __slots__ = ("_root", "_shared")

    def __init__(self, names: Iterable[str], shared: KnownNames | None = None) -> None:
        self._root: dict[str, Any] = {}
        self._shared = shared
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        words = " ".join(name.split())
        if not words or is_plain_name(words):
            return
        node = self._root
        for character in words:
            node = node.setdefault(character, {})
        node[_END_OF_NAME] = words

    @property
    def has_names(self) -> bool:
        return bool(self._root) or (self._shared is not None and self._shared.has_names)

    def longest_at(self, text: str, position: int) -> tuple[str, int] | None:
        """The longest complete name at `position`, and the position after it; None if there is none."""
        own = self._longest_own(text, position) if self._root else None
        shared = None if self._shared is None else self._shared.longest_at(text, position)
        if own is None or shared is None:
            return own or shared
        return max(own, shared, key=itemgetter(1))

    def _longest_own(self, text: str, position: int) -> tuple[str, int] | None:
        node, found = self._root, None
        while position < len(text):
            space = _SPACES.match(text, position)
            character = " " if space else text[position]
            if character not in node:
                break
            node = node[character]
            position = space.end() if space else position + 1
            if _END_OF_NAME in node and not _INSIDE_NAME.match(text, position):
                found = node[_END_OF_NAME], position
        return found


class Lexer:
    """The text and the current token."""

    __slots__ = ("_known", "end", "kind", "start", "text", "value")

    def __init__(self, text: str, names: frozenset[str] | KnownNames = frozenset()) -> None:
        self.text = text
        if isinstance(names, KnownNames):
            self._known: KnownNames | None = KnownNames((), names)
        else:
            self._known = KnownNames(names) if names else None
        self.kind = BAD
        self.value = ""
        self.start = self.end = 0
        self.advance()

    def advance(self) -> None:
        """Make the next token the current one."""
        match = _TOKEN.match(self.text, self.end)
        assert match is not None  # the last two alternatives match anything
        self.kind = kind = match.lastindex or END
        self.value = match[kind]
        self.start = match.start(kind)
        self.end = match.end()
        if self._known is not None and self._known.has_names and kind not in (STRING, QUOTED_NAME, END):
            self._take_known_name(self._known)

    def _take_known_name(self, known: KnownNames) -> None:
        found = known.longest_at(self.text, self.start)
        if found is not None:
            self.kind = NAME
            self.value, self.end = found

    @property
    def has_known_names(self) -> bool:
        """True if names may contain spaces and signs."""
        return self._known is not None

    def add_name(self, name: str) -> None:
        """Know `name`, a context's key or a parameter, from here on. Does nothing without known names."""
        if self._known is not None:
            self._known.add(name)

    def seek(self, position: int) -> None:
        """Continue at `position`."""
        self.end = position
        self.advance()

    def is_sign(self, sign: str) -> bool:
        return self.kind == SIGN and self.value == sign

    def is_word(self, word: str) -> bool:
        return self.kind == NAME and self.value == word

    def take_sign(self, sign: str) -> bool:
        """Advance past `sign` if it is the current token. Returns whether it was."""
        if self.kind == SIGN and self.value == sign:
            self.advance()
            return True
        return False

    def expect_sign(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise self.error(f"'{sign}'")

    def expect_word(self, word: str) -> None:
        if not self.is_word(word):
            raise self.error(f"'{word}'")
        self.advance()

    def error(self, expected: str, position: int | None = None) -> ParseError:
        """The ParseError for text other than `expected` at `position`, by default at the current token."""
        at = position
        if at is None:
            at = self.start - (1 if self.kind in (STRING, QUOTED_NAME) else 0)
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        found = "end of input" if at >= len(self.text) else f"'{self.text[at : max(self.end, at + 1)][:40]}'"
        message = f"line {line}, column {column}: expected {expected} but found {found}"
        return ParseError(message, line, column, expected)


def skip_gap(text: str, position: int) -> int:
    """The position after white space and comments."""
    match = _GAP.match(text, position)
    return match.end() if match else position


def is_plain_name(text: str) -> bool:
    return _PLAIN_NAME.match(text) is not None
