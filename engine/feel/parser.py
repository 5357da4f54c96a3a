"""Tokens to syntax tree: a recursive descent with one function for each level of precedence.

From low to high: `if for some every`, `or`, `and`, one comparison (not chained), `+ -`, `* /`, `**` (from the left),
sign, value with `.name` and `[filter]` behind it. That is the grammar of Camunda's FEEL; it accepts also what DMN
1.5 (10.3.1.2) adds: types with parameters, number exponents, repeated signs, ranges as values.
"""

from __future__ import annotations

import decimal
import re
from decimal import Decimal

from engine.feel import ast, lexer
from engine.feel.errors import ParseError
from engine.feel.lexer import GAP_PATTERN, NAME, NAME_PATTERN, NUMBER, QUOTED_NAME, SIGN, SPACE, STRING, Lexer, unescape
from engine.feel.temporal import TemporalError, parse_temporal
from engine.feel.values import DEFAULT_LIMITS, Limits, math_context

_NOT_A_VARIABLE = frozenset(
    {
        *("null", "true", "false", "function", "in", "return", "then", "else", "satisfies", "and", "or"),
        *("if", "for", "some", "every", "between", "instance"),
    }
)
_FUNCTIONS_WITH_WORDS = frozenset({"and", "or", "date and time", "years and months duration", "get or else"})
_CONSTANTS = {"null": None, "true": True, "false": False}
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_PROPERTIES_WITH_SPACES = re.compile(rf"time{SPACE}+offset\b|(?:start|end){SPACE}+included\b")
_WORDS = rf"{NAME_PATTERN}(?:{SPACE}++{NAME_PATTERN}){{0,7}}+"  # a bound, so that a parse takes linear time
_SPACED_CALL = re.compile(rf"({_WORDS}){SPACE}*+\(")
_ARGUMENT_NAME = re.compile(rf"(?:({_WORDS})|`([^`]++)`){GAP_PATTERN}:")
_CONTEXT_KEY = re.compile(rf"""(?:"((?:[^"\\]|\\.)*+)"|`([^`]++)`|([^"{{}}:,\[\]`]++)){GAP_PATTERN}:""", re.DOTALL)
_ITERATOR_NAME = re.compile(rf"({NAME_PATTERN}(?:{SPACE}++(?!in\b){NAME_PATTERN}){{0,7}}+){SPACE}++in\b")
_TYPE_WITH_WORDS = re.compile(
    r"date\s+and\s+time\b|date\s+time\b|years\s+and\s+months\s+duration\b|days\s+and\s+time\s+duration\b"
    r"|year-month-duration\b|day-time-duration\b"
)


def parse_expression(text: str, names: frozenset[str] = frozenset(), limits: Limits = DEFAULT_LIMITS) -> ast.Node:
    """The tree of an expression. Raises ParseError."""
    parser = Parser(text, names, limits)
    node = parser.expression()
    parser.expect_end()
    return node


def parse_unary_tests(text: str, names: frozenset[str] = frozenset(), limits: Limits = DEFAULT_LIMITS) -> ast.Node:
    """The tree of unary tests, as in an input entry of a decision table. Raises ParseError."""
    parser = Parser(text, names, limits)
    node = parser.unary_tests()
    parser.expect_end()
    return node


class Parser(Lexer):
    """One parse: where it is in the text, and how deep."""

    __slots__ = ("_depth", "_limits")

    def __init__(self, text: str, names: frozenset[str], limits: Limits) -> None:
        if len(text) > limits.source_length:
            raise ParseError(f"line 1, column 1: the text is longer than {limits.source_length} characters")
        self._limits = limits
        self._depth = 0
        super().__init__(text, names)

    def expect_end(self) -> None:
        if self.kind != lexer.END:
            raise self.error("end of input or an operator")

    def _descend(self, levels: int = 1) -> None:
        self._depth += levels
        if self._depth > self._limits.nesting_depth:
            raise self.error(f"at most {self._limits.nesting_depth} nested expressions")

    # Levels of precedence

    def expression(self) -> ast.Node:
        self._descend()
        node = self._disjunction()
        self._depth -= 1
        return node

    def _disjunction(self) -> ast.Node:
        first = self._conjunction()
        if not self.is_word("or"):
            return first
        operands = [first]
        while self.is_word("or"):
            self.advance()
            operands.append(self._conjunction())
        return ast.Disjunction(tuple(operands))

    def _conjunction(self) -> ast.Node:
        first = self._comparison()
        if not self.is_word("and"):
            return first
        operands = [first]
        while self.is_word("and"):
            self.advance()
            operands.append(self._comparison())
        return ast.Conjunction(tuple(operands))

    def _comparison(self) -> ast.Node:
        if self.kind == SIGN and self.value in _COMPARISONS:
            operator = self.value
            self.advance()
            return ast.InputTest(operator, self._sum())
        left = self._sum()
        if self.kind == SIGN:
            if self.value in _COMPARISONS:
                operator = self.value
                self.advance()
                return ast.Compare(operator, left, self._sum())
        elif self.kind == NAME:
            read = _WORD_COMPARISONS.get(self.value)
            if read is not None:
                self.advance()
                return read(self, left)
        return left

    def _between(self, value: ast.Node) -> ast.Node:
        low = self._sum()
        self.expect_word("and")
        return ast.Between(value, low, self._sum())

    def _instance_of(self, value: ast.Node) -> ast.Node:
        self.expect_word("of")
        return ast.InstanceOf(value, self._type_name())

    def _sum(self) -> ast.Node:
        first = self._product()
        if self.kind != SIGN or (self.value != "+" and self.value != "-"):
            return first
        rest = []
        while self.kind == SIGN and (self.value == "+" or self.value == "-"):
            operator = self.value
            self.advance()
            rest.append((operator, self._product()))
        return ast.Arithmetic(first, tuple(rest))

    def _product(self) -> ast.Node:
        first = self._power()
        if self.kind != SIGN or (self.value != "*" and self.value != "/"):
            return first
        rest = []
        while self.kind == SIGN and (self.value == "*" or self.value == "/"):
            operator = self.value
            self.advance()
            rest.append((operator, self._power()))
        return ast.Arithmetic(first, tuple(rest))

    def _power(self) -> ast.Node:
        first = self._signed()
        if not self.is_sign("**"):
            return first
        rest = []
        while self.take_sign("**"):
            rest.append(("**", self._signed()))
        return ast.Arithmetic(first, tuple(rest))

    def _signed(self) -> ast.Node:
        if not self.is_sign("-"):
            return self._value()
        self.advance()
        self._descend()
        node = ast.Negate(self._signed())
        self._depth -= 1
        return node

    # Values

    def _value(self) -> ast.Node:
        node = self._primary()
        depth = self._depth
        while self.kind == SIGN:
            if self.value == ".":
                node = self._path(node)
            elif self.value == "[" and not self._closes_a_range():
                self.advance()
                node = ast.Filter(node, self.expression())
                self.expect_sign("]")
            else:
                break
            self._descend()
        self._depth = depth
        return node

    def _closes_a_range(self) -> bool:
        """`[` behind a value ends a range (`]1..5[`) where no expression follows."""
        following = self.text[lexer.skip_gap(self.text, self.end) :][:1]
        return following in ("", ")", "]", ",", "}", "=", "!", "<", ">", "+", "*", "/", ":") or (
            _FOLLOWS_A_RANGE.match(self.text, self.end) is not None
        )

    def _path(self, base: ast.Node) -> ast.Node:
        keys = []
        while self.take_sign("."):
            keys.append(self._key_of_path())
        if self.is_sign("("):
            owner = ast.Path(base, tuple(keys[:-1])) if len(keys) > 1 else base
            return self._call(owner, keys[-1])
        return ast.Path(base, tuple(keys))

    def _key_of_path(self) -> str:
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
            return self._call(None, value) if self.is_sign("(") else ast.Name(value)
        if kind == SIGN:
            read = _SIGNS.get(value)
            if read is not None:
                return read(self)
        raise self.error("an expression")

    def _number(self) -> ast.Node:
        text = self.value
        if len(text) <= 34 and text.isdigit():
            number: int | Decimal = int(text)
        else:
            try:
                number = math_context(self._limits.exponent).create_decimal(text)
            except decimal.DecimalException:
                raise self.error(f"a number with an exponent of at most {self._limits.exponent}") from None
        self.advance()
        return ast.Literal(number)

    def _word(self, word: str) -> ast.Node:
        following = self.text[self.end : self.end + 1]
        if following == "(":
            if word not in _READ_BY_WORD or word in ("and", "or"):
                return self._call_by_name(word, self.end)
        elif following.isspace() or following == "/":
            match = _SPACED_CALL.match(self.text, self.start)
            if match:
                words = match[1].split()
                name = " ".join(words)
                if name in _FUNCTIONS_WITH_WORDS or not _NOT_A_VARIABLE.intersection(words):
                    return self._call_by_name(name, match.end() - 1)
        read = _READ_BY_WORD.get(word)
        if read is not None:
            return read(self)
        if word in _NOT_A_VARIABLE:
            raise self.error("an expression")
        self.advance()
        return ast.Name(word)

    def _call_by_name(self, name: str, position: int) -> ast.Node:
        self.seek(position)
        return self._call(None, name)

    def _constant(self) -> ast.Node:
        value = _CONSTANTS[self.value]
        self.advance()
        return ast.Literal(value)

    def _input(self) -> ast.Node:
        self.advance()
        return ast.Input()

    def _at_literal(self) -> ast.Node:
        self.advance()
        if self.kind != STRING:
            raise self.error("a string behind '@'")
        node = _temporal(unescape(self.value))
        self.advance()
        return node

    # Lists, ranges, contexts

    def _parenthesis(self) -> ast.Node:
        self.advance()
        if self.take_sign(".."):
            return self._range_end(None, False)
        node = self.expression()
        if self.take_sign(".."):
            return self._range_end(node, False)
        self.expect_sign(")")
        return node

    def _bracket(self) -> ast.Node:
        self.advance()
        if self.take_sign("]"):
            return ast.ListLiteral(())
        node = self.expression()
        if self.take_sign(".."):
            return self._range_end(node, True)
        items = [node]
        while self.take_sign(","):
            items.append(self.expression())
        self.expect_sign("]")
        return ast.ListLiteral(tuple(items))

    def _open_range(self) -> ast.Node:
        self.advance()
        node = self._sum()
        self.expect_sign("..")
        return self._range_end(node, False)

    def _range_end(self, start: ast.Node | None, start_included: bool) -> ast.Node:
        self._descend()
        end = self._sum()
        self._depth -= 1
        if self.kind != SIGN or self.value not in (")", "]", "["):
            raise self.error("')', ']' or '[' at the end of a range")
        end_included = self.value == "]"
        self.advance()
        return ast.RangeLiteral(start, end, start_included, end_included)

    def _context(self) -> ast.Node:
        entries = []
        position = self.end
        self.advance()
        if not self.take_sign("}"):
            entries.append(self._entry(position))
            while self.is_sign(","):
                entries.append(self._entry(self.end))
            self.expect_sign("}")
        return ast.ContextLiteral(tuple(entries))

    def _entry(self, position: int) -> tuple[str, ast.Node]:
        position = lexer.skip_gap(self.text, position)
        match = _CONTEXT_KEY.match(self.text, position)
        if match is None or (match[3] and not match[3].strip()):
            self.seek(position)
            raise self.error("a key and ':'")
        string, quoted, plain = match.groups()
        key = unescape(string) if string is not None else quoted or " ".join(plain.split())
        self.seek(match.end())
        value = self.expression()
        self.learn(key)
        return key, value

    # Functions

    def _call(self, base: ast.Node | None, name: str) -> ast.Node:
        self.expect_sign("(")
        if self.take_sign(")"):
            return ast.Call(base, name, (), None)
        if self.kind in (NAME, QUOTED_NAME) and self._argument_name() is not None:
            return self._call_with_names(base, name)
        arguments = [self.expression()]
        while self.take_sign(","):
            arguments.append(self.expression())
        self.expect_sign(")")
        return ast.Call(base, name, tuple(arguments), None)

    def _argument_name(self) -> re.Match[str] | None:
        return _ARGUMENT_NAME.match(self.text, self.start - (self.kind == QUOTED_NAME))

    def _call_with_names(self, base: ast.Node | None, function: str) -> ast.Node:
        names, arguments = [], []
        while True:
            match = self._argument_name()
            if match is None:
                raise self.error("the name of an argument and ':'")
            self.seek(match.end())
            names.append(" ".join(match[1].split()) if match[1] else match[2])
            arguments.append(self.expression())
            if not self.take_sign(","):
                break
        self.expect_sign(")")
        return ast.Call(base, function, tuple(arguments), tuple(names))

    def _function(self) -> ast.Node:
        self.advance()
        self.expect_sign("(")
        parameters: list[str] = []
        while not self.take_sign(")"):
            if parameters:
                self.expect_sign(",")
            parameters.append(self._parameter())
        if self.is_word("external"):
            raise self.error("an expression (external functions are not supported)")
        return ast.FunctionLiteral(tuple(parameters), self.expression())

    def _parameter(self) -> str:
        if self.kind not in (NAME, QUOTED_NAME):
            raise self.error("a parameter's name")
        words = [self.value]
        self.advance()
        while self.kind == NAME:
            words.append(self.value)
            self.advance()
        name = " ".join(words)
        if self.take_sign(":"):
            self._type_name()
        self.learn(name)
        return name

    # Control

    def _if(self) -> ast.Node:
        self.advance()
        condition = self.expression()
        self.expect_word("then")
        then = self.expression()
        self.expect_word("else")
        return ast.If(condition, then, self.expression())

    def _for(self) -> ast.Node:
        self.advance()
        iterators = self._iterators()
        self.expect_word("return")
        self.learn("partial")
        return ast.For(iterators, self.expression())

    def _quantified(self) -> ast.Node:
        every = self.value == "every"
        self.advance()
        iterators = self._iterators()
        self.expect_word("satisfies")
        return ast.Quantified(every, iterators, self.expression())

    def _iterators(self) -> tuple[tuple[str, ast.Node], ...]:
        iterators = [self._iterator()]
        while self.take_sign(",") or self._starts_an_iterator():
            iterators.append(self._iterator())
        return tuple(iterators)

    def _starts_an_iterator(self) -> bool:
        """DMN 1.0 separated the iterators of `some` and `every` by white space only."""
        if self.kind != NAME or self.value in ("return", "satisfies"):
            return False
        return _ITERATOR_NAME.match(self.text, self.start) is not None

    def _iterator(self) -> tuple[str, ast.Node]:
        name = self._iterator_name()
        self.expect_word("in")
        self._descend()
        start = self._sum()
        domain = ast.Span(start, self._sum()) if self.take_sign("..") else start
        self._depth -= 1
        self.learn(name)
        return name, domain

    def _iterator_name(self) -> str:
        if self.kind == NAME and self.with_names:
            match = _ITERATOR_NAME.match(self.text, self.start)
            if match:
                self.seek(match.end(1))
                return " ".join(match[1].split())
        if self.kind not in (NAME, QUOTED_NAME):
            raise self.error("a name")
        name = self.value
        self.advance()
        return name

    def _type_name(self) -> ast.TypeName:
        self._descend()
        if self.kind not in (NAME, QUOTED_NAME):
            raise self.error("a type's name")
        match = _TYPE_WITH_WORDS.match(self.text, self.start)
        if match:
            name = " ".join(match.group().split())
            self.seek(match.end())
        else:
            name = self.value
            self.advance()
            while self.take_sign("."):
                name += "." + self._key_of_path()
        node = self._type_arguments(name) if self.is_sign("<") else ast.TypeName(name)
        self._depth -= 1
        return node

    def _type_arguments(self, name: str) -> ast.TypeName:
        keys: list[str] = []
        arguments: list[ast.TypeName] = []
        self.advance()
        while not self.take_sign(">"):
            if arguments:
                self.expect_sign(",")
            if name == "context":
                keys.append(self._key_of_path())
                self.expect_sign(":")
            arguments.append(self._type_name())
        result = self._type_name() if self.take_sign("->") else None
        return ast.TypeName(name, tuple(arguments), tuple(keys), result)

    # Unary tests

    def unary_tests(self) -> ast.Node:
        if self.is_word("not"):
            node = self._negated_tests()
            if node is not None:
                return node
        if self.is_sign("-") and not self.text[self.end :].strip():
            self.advance()
            return ast.Literal(True)
        return self._tests()

    def _negated_tests(self) -> ast.Node | None:
        """`not(tests)` if that is the whole text; else the text is read as an expression."""
        start = self.start
        self.advance()
        if self.take_sign("("):
            node = self._tests()
            self.expect_sign(")")
            if self.kind == lexer.END:
                return ast.NotTest(node)
        self.seek(start)
        return None

    def _tests(self) -> ast.Node:
        tests = [self._test()]
        while self.take_sign(","):
            tests.append(self._test())
        return tests[0] if len(tests) == 1 else ast.AnyTest(tuple(tests))

    def _test(self) -> ast.Node:
        literal = self.is_word("true") or self.is_word("false")
        return as_test(self.expression(), literal)

    def _in(self, value: ast.Node) -> ast.Node:
        if not self.is_sign("("):
            self._descend()
            literal = self.is_word("true") or self.is_word("false")
            test = as_test(self._comparison(), literal)
            self._depth -= 1
            return ast.In(value, test)
        self.advance()
        test = self._test()
        if self.take_sign(".."):
            if not isinstance(test, ast.Matches | ast.InputTest):
                raise self.error("the start of a range in front of '..'")
            start = test.expression if isinstance(test, ast.Matches) else test.operand
            return ast.In(value, as_test(self._range_end(start, False)))
        tests = [test]
        while self.take_sign(","):
            tests.append(self._test())
        self.expect_sign(")")
        return ast.In(value, tests[0] if len(tests) == 1 else ast.AnyTest(tuple(tests)))


def _temporal(text: str) -> ast.Literal:
    """`@"text"`; what is no date, time or duration is null."""
    try:
        return ast.Literal(parse_temporal(text))
    except (TemporalError, OverflowError):
        return ast.Literal(None)


def as_test(node: ast.Node, is_boolean_literal: bool = False) -> ast.Node:
    """An expression where a unary test stands. The literals true and false are values to compare with the input."""
    if isinstance(node, ast.InputTest):
        return node
    if isinstance(node, ast.RangeLiteral):
        return ast.InRange(node)
    if is_boolean_literal and isinstance(node, ast.Literal):
        return ast.InputTest("=", node)
    return ast.Matches(node)


_FOLLOWS_A_RANGE = re.compile(rf"{GAP_PATTERN}(?:and|or|then|else|return|satisfies|in|between|instance|\.\.)\b")
_WORD_COMPARISONS = {"between": Parser._between, "in": Parser._in, "instance": Parser._instance_of}
_SIGNS = {
    "(": Parser._parenthesis,
    "[": Parser._bracket,
    "{": Parser._context,
    "]": Parser._open_range,
    "?": Parser._input,
    "@": Parser._at_literal,
}
_READ_BY_WORD = {
    "null": Parser._constant,
    "true": Parser._constant,
    "false": Parser._constant,
    "if": Parser._if,
    "for": Parser._for,
    "some": Parser._quantified,
    "every": Parser._quantified,
    "function": Parser._function,
}
