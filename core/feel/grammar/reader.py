"""The levels of precedence, from `or` down to names and numbers. All other values are looked up in `Grammar`."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from vivero.core.feel.errors import ParseError
from vivero.core.feel.grammar import ast, lexer
from vivero.core.feel.grammar.lexer import (
    GAP_PATTERN,
    NAME,
    NAME_PATTERN,
    NUMBER,
    QUOTED_NAME,
    SIGN,
    SPACE,
    STRING,
    Lexer,
    unescape,
)
from vivero.core.feel.values import FeelLimits

WORDS = rf"{NAME_PATTERN}(?:{SPACE}++{NAME_PATTERN}){{0,7}}+"  # the bound lets a parse take linear time

_RESERVED_WORDS = frozenset(
    {
        *("null", "true", "false", "function", "in", "return", "then", "else", "satisfies", "and", "or"),
        *("if", "for", "some", "every", "between", "instance"),
    }
)
_FUNCTIONS_WITH_WORDS = frozenset({"and", "or", "date and time", "years and months duration", "get or else"})
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_PROPERTIES_WITH_SPACES = re.compile(rf"time{SPACE}+offset\b|(?:start|end){SPACE}+included\b")
_SPACED_CALL = re.compile(rf"({WORDS}){SPACE}*+\(")
_FOLLOWS_A_RANGE = re.compile(rf"{GAP_PATTERN}(?:and|or|then|else|return|satisfies|in|between|instance|\.\.)\b")

_GIVES_A_FUNCTION = (ast.Call, ast.Apply, ast.Filter, ast.FunctionLiteral, ast.ExternalFunction)

Rule: TypeAlias = "Callable[[Reader], ast.Node]"


def number_of(text: str, limits: FeelLimits) -> int | Decimal:
    """The value of a number without a sign. Raises DecimalException if its exponent is too large."""
    return int(text) if len(text) <= 34 and text.isdigit() else limits.math.create_decimal(text)


class Grammar(NamedTuple):
    """The rules that read a construct, by the sign or word that announces it."""

    signs: Mapping[str, Rule]
    words: Mapping[str, Rule]
    comparisons: Mapping[str, Callable[[Reader, ast.Node], ast.Node]]
    call: Callable[[Reader, ast.Node | None, str], ast.Node]


class Reader(Lexer):
    """One parse: its position in the text and its depth."""

    __slots__ = ("at_range_end", "depth", "grammar", "limits")

    def __init__(
        self, text: str, names: frozenset[str] | lexer.KnownNames, limits: FeelLimits, grammar: Grammar
    ) -> None:
        if len(text) > limits.source_length:
            raise ParseError(
                f"line 1, column 1: the text has {len(text)} characters and may have at most {limits.source_length}"
                " (setting feel.source_length)"
            )
        self.limits = limits
        self.grammar = grammar
        self.depth = 0
        self.at_range_end = False  # the current value ends a range, and a following `[` may close the range
        super().__init__(text, names)

    def expect_end(self) -> None:
        if self.kind != lexer.END:
            raise self.error("end of input or an operator")

    def descend(self, levels: int = 1) -> None:
        self.depth += levels
        if self.depth > self.limits.nesting_depth:
            raise self.error(f"at most {self.limits.nesting_depth} nested expressions")

    def expression(self) -> ast.Node:
        self.descend()
        at_range_end, self.at_range_end = self.at_range_end, False
        node = self._conjunction()
        if self.kind == NAME and self.value == "or":
            operands = [node]
            while self.is_word("or"):
                self.advance()
                operands.append(self._conjunction())
            node = ast.Disjunction(tuple(operands))
        self.at_range_end = at_range_end
        self.depth -= 1
        return node

    def _conjunction(self) -> ast.Node:
        first = self.comparison()
        if self.kind != NAME or self.value != "and":
            return first
        operands = [first]
        while self.is_word("and"):
            self.advance()
            operands.append(self.comparison())
        return ast.Conjunction(tuple(operands))

    def comparison(self) -> ast.Node:
        if self.kind == SIGN and self.value in _COMPARISONS:
            operator = self.value
            self.advance()
            return ast.InputTest(operator, self.sum())
        left = self.sum()
        if self.kind == SIGN:
            if self.value in _COMPARISONS:
                operator = self.value
                self.advance()
                return ast.Compare(operator, left, self.sum())
        elif self.kind == NAME:
            read = self.grammar.comparisons.get(self.value)
            if read is not None:
                self.advance()
                return read(self, left)
        return left

    def sum(self) -> ast.Node:
        """Arithmetic of all three levels."""
        first = self._signed()
        return self._arithmetic(first, 1) if self._level() else first

    def _level(self) -> int:
        """The precedence of the current token as an arithmetic operator; 0 for other tokens."""
        return _LEVELS.get(self.value, 0) if self.kind == SIGN else 0

    def _arithmetic(self, left: ast.Node, lowest: int) -> ast.Node:
        """Read operators of at least the level `lowest`. Consecutive operators of one level make one node."""
        while (level := self._level()) >= lowest:
            rest = []
            while self._level() == level:
                operator = self.value
                self.advance()
                operand = self._signed()
                if self._level() > level:
                    operand = self._arithmetic(operand, level + 1)
                rest.append((operator, operand))
            left = ast.Arithmetic(left, tuple(rest))
        return left

    def _signed(self) -> ast.Node:
        if not self.is_sign("-"):
            return self._value()
        self.advance()
        self.descend()
        node = ast.Negate(self._signed())
        self.depth -= 1
        return node

    def _value(self) -> ast.Node:
        node = self._primary()
        depth = self.depth
        while self.kind == SIGN:
            if self.value == ".":
                node = self._path(node)
            elif self.value == "[" and not (self.at_range_end and self._closes_a_range()):
                self.advance()
                node = ast.Filter(node, self.expression())
                self.expect_sign("]")
            elif self.value == "(" and (self.has_known_names or isinstance(node, _GIVES_A_FUNCTION)):
                call = self.grammar.call(self, None, "")
                node = ast.Apply(node, call.arguments, call.names)
            else:
                break
            self.descend()
        self.depth = depth
        return node

    def _closes_a_range(self) -> bool:
        """True if the current `[` ends a range (`]1..5[`), because no expression follows it."""
        position = lexer.skip_gap(self.text, self.end)
        following = self.text[position : position + 1]
        return following in ("", ")", "]", ",", "}", "=", "!", "<", ">", "+", "*", "/", ":") or (
            _FOLLOWS_A_RANGE.match(self.text, self.end) is not None
        )

    def _path(self, base: ast.Node) -> ast.Node:
        keys = []
        while self.take_sign("."):
            keys.append(self.key_of_path())
        if self.is_sign("("):
            owner = ast.Path(base, tuple(keys[:-1])) if len(keys) > 1 else base
            return self.grammar.call(self, owner, keys[-1])
        return ast.Path(base, tuple(keys))

    def key_of_path(self) -> str:
        if self.kind != NAME and self.kind != QUOTED_NAME:
            raise self.error("a name")
        key = self.value
        if key in ("time", "start", "end"):
            match = _PROPERTIES_WITH_SPACES.match(self.text, self.start)
            if match:
                self.seek(match.end())
                return " ".join(match.group().split())
        self.advance()
        return key

    def _primary(self) -> ast.Node:
        kind, value = self.kind, self.value
        if kind == NAME:
            return self._word(value)
        if kind == NUMBER:
            return self._number()
        if kind == STRING:
            self.advance()
            return ast.Literal(unescape(value))
        if kind == QUOTED_NAME:
            self.advance()
            return self.grammar.call(self, None, value) if self.is_sign("(") else ast.Name(value)
        if kind == SIGN:
            read = self.grammar.signs.get(value)
            if read is not None:
                return read(self)
        raise self.error("an expression")

    def _number(self) -> ast.Node:
        try:
            number = number_of(self.value, self.limits)
        except decimal.DecimalException:
            raise self.error(f"a number with an exponent of at most {self.limits.exponent}") from None
        self.advance()
        return ast.Literal(number)

    def _word(self, word: str) -> ast.Node:
        following = self.text[self.end : self.end + 1]
        if following == "(":
            if word not in self.grammar.words or word in ("and", "or"):
                return self._call_by_name(word, self.end)
        elif following.isspace() or following == "/":
            match = _SPACED_CALL.match(self.text, self.start)
            if match:
                words = match[1].split()
                name = " ".join(words)
                if name in _FUNCTIONS_WITH_WORDS or not _RESERVED_WORDS.intersection(words):
                    return self._call_by_name(name, match.end() - 1)
        read = self.grammar.words.get(word)
        if read is not None:
            return read(self)
        if word in _RESERVED_WORDS:
            raise self.error("an expression")
        self.advance()
        return ast.Name(word)

    def _call_by_name(self, name: str, position: int) -> ast.Node:
        self.seek(position)
        return self.grammar.call(self, None, name)
