"""Random expressions: from the grammar, and mutated."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.temporal import parse_temporal

VARIABLES: dict[str, Any] = {
    "a": 1,
    "b": Decimal("2.50"),
    "s": "text with spaces",
    "n": None,
    "t": True,
    "xs": [1, 2, 3, None, "x"],
    "items": [{"price": 5, "name": "p"}, {"price": 20, "tags": ["x", "y"]}, {"price": None}],
    "c": {"d": {"e": 7}, "with space": 8},
    "day": parse_temporal("2024-02-29"),
    "moment": parse_temporal("2024-02-29T10:00:00@Europe/Berlin"),
    "span": parse_temporal("P1DT2H"),
    "months": parse_temporal("P1Y2M"),
}
_LITERALS = (
    *("null", "true", "false", "0", "1", "-1", "2.50", "1e3", "9999999999999999999999999999999999", "0.1", "3"),
    *('""', '"a"', '"a b,c"', '"\\n\\u00e9"', '"(a+)+$"', '"2024-01-31"', '"PT1H"', '"1,5"', '"UP"', '"Europe/Berlin"'),
    *('@"2024-01-31"', '@"10:00:00Z"', '@"2024-01-31T10:00:00"', '@"P1Y2M"', '@"-PT36H"', '@"nothing"'),
    *("[]", "{}", "[1, 2]", "[1..3]", "(1..3]", '["a", null]', "{a: 1}", "?", "@", "item", "partial"),
)
_KEYS = (
    "a",
    "d",
    "e",
    "price",
    "name",
    "tags",
    "year",
    "hour",
    "days",
    "`with space`",
    "time offset",
    "start",
    "missing",
)
_TYPES = ("number", "string", "Any", "list<number>", "context", "date and time", "range", "function", "time")
_SIGNS = ("+", "-", "*", "/", "**", "=", "!=", "<", "<=", ">", ">=", "and", "or", "in")
_NAMES = ("a", "b", "x", "y", "item", "c")
_FUNCTION_NAMES = sorted(FUNCTIONS)
_JUNK = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '"',
    "`",
    ",",
    ":",
    ".",
    "..",
    "@",
    "?",
    "/*",
    "//",
    "\n",
    "\x00",
    "é",
    "🐎",
    "\ud800",
)


class Generator:
    """Draws expressions from a seeded source of random numbers.

    `strict`: all of them are correct, as operands stand in parentheses wherever they need to.
    """

    def __init__(self, random: Random, strict: bool = False) -> None:
        self.random = random
        self.strict = strict

    def text(self) -> str:
        """An expression; one in three is mutated."""
        text = self.expression(self.random.randint(1, 5))
        return self.mutated(text) if self.random.random() < 0.33 else text

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf()
        return self.random.choice(_RULES)(self, depth - 1)

    def leaf(self) -> str:
        if self.random.random() < 0.5:
            return self.random.choice(list(VARIABLES))
        literal = self.random.choice(_LITERALS)
        return "null" if self.strict and literal == "@" else literal

    def binary(self, depth: int) -> str:
        return f"{self.operand(depth)} {self.random.choice(_SIGNS)} {self.operand(depth)}"

    def operand(self, depth: int) -> str:
        text = self.expression(depth)
        is_leaf = depth == 0 and not text.startswith("-")
        return f"({text})" if self.random.random() < 0.5 or (self.strict and not is_leaf) else text

    def negation(self, depth: int) -> str:
        return f"-{self.operand(depth)}"

    def between(self, depth: int) -> str:
        return f"{self.operand(depth)} between {self.operand(depth)} and {self.operand(depth)}"

    def test(self, depth: int) -> str:
        tests = ", ".join(self.unary_test(depth) for _ in range(self.random.randint(1, 3)))
        return f"{self.operand(depth)} in ({tests})"

    def unary_test(self, depth: int) -> str:
        operand = self.operand(depth)
        return self.random.choice(
            [operand, f"< {operand}", f">= {operand}", f"[{operand}..{operand}]", f"? = {operand}"]
        )

    def unary_tests(self) -> str:
        tests = ", ".join(self.unary_test(self.random.randint(0, 3)) for _ in range(self.random.randint(1, 3)))
        return f"not({tests})" if self.random.random() < 0.2 else tests

    def instance_of(self, depth: int) -> str:
        return f"{self.operand(depth)} instance of {self.random.choice(_TYPES)}"

    def condition(self, depth: int) -> str:
        return f"if {self.expression(depth)} then {self.expression(depth)} else {self.expression(depth)}"

    def loop(self, depth: int) -> str:
        iterators = ", ".join(f"{self.random.choice(_NAMES)} in {self.domain(depth)}" for _ in range(self.several()))
        return f"for {iterators} return {self.expression(depth)}"

    def quantified(self, depth: int) -> str:
        kind = self.random.choice(["some", "every"])
        return f"{kind} {self.random.choice(_NAMES)} in {self.domain(depth)} satisfies {self.expression(depth)}"

    def domain(self, depth: int) -> str:
        choices = [f"({self.expression(depth)})", "xs", "items", f"1..{self.random.randint(-3, 30)}", "day..day"]
        return self.random.choice(choices)

    def several(self) -> int:
        return self.random.choice([1, 1, 1, 2, 3])

    def listing(self, depth: int) -> str:
        return f"[{', '.join(self.expression(depth) for _ in range(self.several()))}]"

    def context(self, depth: int) -> str:
        entries = (f"{self.random.choice(_KEYS)}: {self.expression(depth)}" for _ in range(self.several()))
        return f"{{{', '.join(entries)}}}"

    def filter(self, depth: int) -> str:
        base = self.random.choice(["xs", "items", f"({self.expression(depth)})"])
        return f"{base}[{self.expression(depth)}]"

    def path(self, depth: int) -> str:
        base = self.random.choice(["c", "items", "day", "span", f"({self.expression(depth)})"])
        return f"{base}.{self.random.choice(_KEYS)}"

    def call(self, depth: int) -> str:
        name = self.random.choice(_FUNCTION_NAMES)
        overload = self.random.choice(FUNCTIONS[name])
        arguments = [self.expression(depth) for _ in overload.parameters]
        if self.random.random() < 0.1:
            arguments.append(self.expression(depth))
        if self.random.random() < 0.1 and len(arguments) == len(overload.parameters):
            arguments = [f"{p}: {a}" for p, a in zip(overload.parameters, arguments, strict=True)]
        return f"{name}({', '.join(arguments)})"

    def function(self, depth: int) -> str:
        body = self.expression(depth)
        return self.random.choice(
            [f"{{f: function(x, y) {body}}}.f({self.leaf()}, {self.leaf()})", f"sort(xs, function(x, y) {body})"]
        )

    def mutated(self, text: str) -> str:
        """With parts cut out, doubled, exchanged or put in."""
        for _ in range(self.random.randint(1, 4)):
            start = self.random.randrange(len(text) + 1)
            end = min(len(text), start + self.random.randint(0, 8))
            insert = self.random.choice(["", self.random.choice(_JUNK), text[start:end] * 2, self.leaf(), " "])
            text = text[:start] + insert + text[end:]
        return text


_RULES = (
    Generator.binary,
    Generator.binary,
    Generator.negation,
    Generator.between,
    Generator.test,
    Generator.instance_of,
    Generator.condition,
    Generator.loop,
    Generator.quantified,
    Generator.listing,
    Generator.context,
    Generator.filter,
    Generator.path,
    Generator.call,
    Generator.call,
    Generator.call,
    Generator.function,
)
