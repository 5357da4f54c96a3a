"""Expressions of Camunda 7 (JUEL, JSR 245) as FEEL: operators, properties, and the methods that have a counterpart.

A list begins with 0 there and with 1 here. `+` adds numbers only, as here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from vivero.core.feel import FeelError, compile_expression

IF, OR, AND, COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(8)
"""The precedence of the parts of a FEEL expression, the loosest first."""

NAMES = {
    "nrOfInstances": "numberOfInstances",
    "nrOfActiveInstances": "numberOfActiveInstances",
    "nrOfCompletedInstances": "numberOfCompletedInstances",
}
"""Variables of loops."""
RESERVED = frozenset(
    ("if", "then", "else", "for", "in", "return", "some", "every", "satisfies", "between", "instance", "of", "function")
)
BUSINESS_KEY = "camunda.processInstance.businessId"
_BY_METHOD = {"getProcessBusinessKey": BUSINESS_KEY, "getBusinessKey": BUSINESS_KEY}
_BY_PROPERTY = {"processBusinessKey": BUSINESS_KEY, "businessKey": BUSINESS_KEY}

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>[^\W\d][\w$]*)|(?P<sign>\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()\[\]]))""",
    re.VERBOSE,
)
_COMPARISONS = {"==": "=", "eq": "=", "!=": "!=", "ne": "!=", "<": "<", "lt": "<", ">": ">", "gt": ">"}
_COMPARISONS |= {"<=": "<=", "le": "<=", ">=": ">=", "ge": ">="}
_OF_TEXTS = {"toUpperCase": "upper case", "toLowerCase": "lower case", "trim": "trim", "length": "string length"}
_OF_TEXTS |= {"startsWith": "starts with", "endsWith": "ends with", "toString": "string", "size": "count"}
_SAME = frozenset(("value", "stringValue", "numberValue", "boolValue", "elements", "toDate", "toInstant"))
"""Methods whose result FEEL does not tell from the value itself."""
_UNITS = {"Years": "P{}Y", "Months": "P{}M", "Days": "P{}D", "Hours": "PT{}H", "Minutes": "PT{}M", "Seconds": "PT{}S"}
BY_PLACE = " + 1]"
"""The end of the place of an item that is computed. The expression does not tell whether it is a key of a map."""
_INDEX = re.compile(r"[0-9]{1,18}")
MOST_DIGITS = 100
"""Digits before or behind the point of a number without an exponent."""
MOST_DEPTH = 50
"""Levels of parentheses and calls."""


class Untranslatable(Exception):
    """There is no rule for an expression. The message says for what part."""


class FeelPart(NamedTuple):
    """A part of a FEEL expression. `level`: one of IF to ATOM."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text where something of this level is expected."""
        return self.text if self.level >= level else f"({self.text})"


def feel_attribute(text: str) -> str:
    """The text of an attribute in the form of Camunda 8: static, or `=` and FEEL. Raises Untranslatable."""
    found = list(_texts_and_expressions(text))
    if not any(is_expression for is_expression, _ in found):
        return f"={quoted(text)}" if text.startswith("=") else text
    if len(found) == 1:
        return f"={feel_expression(found[0][1])}"
    parts = [f"string({feel_expression(part)})" if is_expression else quoted(part) for is_expression, part in found]
    return f"={' + '.join(parts)}"


def is_expression(text: str) -> bool:
    return "${" in text or "#{" in text


def feel_expression(juel: str) -> str:
    """FEEL for what stands between the braces. Raises Untranslatable."""
    text = _Parser(juel).whole().text
    try:
        compile_expression(text)
    except FeelError as error:
        raise Untranslatable(f"it would be {text}, which FEEL does not accept: {error}") from error
    return text


def _texts_and_expressions(text: str) -> Iterator[tuple[bool, str]]:
    """Static texts and expressions in their order. Raises Untranslatable for one without an end."""
    at = 0
    while at < len(text):
        begin = min((place for sign in ("${", "#{") if (place := text.find(sign, at)) >= 0), default=-1)
        if begin < 0:
            yield False, text[at:]
            return
        if begin > at:
            yield False, text[at:begin]
        end = _end(text, begin + 2)
        yield True, text[begin + 2 : end]
        at = end + 1


def _end(text: str, at: int) -> int:
    quote = ""
    while at < len(text):
        if quote:
            if text[at] == "\\":
                at += 1
            elif text[at] == quote:
                quote = ""
        elif text[at] in "'\"":
            quote = text[at]
        elif text[at] == "}":
            return at
        at += 1
    raise Untranslatable("it has no closing brace")


def quoted(text: str) -> str:
    """A text as a literal of FEEL."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def feel_variable(name: str) -> str:
    """FEEL for the variable of this name, which may have signs in it."""
    name = NAMES.get(name, name)
    return name if re.fullmatch(r"[^\W\d]\w*", name) and name not in RESERVED else f"`{name}`"


def _name(name: str) -> FeelPart:
    return FeelPart(feel_variable(name))


class _Parser:
    """A parser by recursive descent that writes FEEL."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        self._at, self._depth = 0, 0
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise Untranslatable(f"'{text[at:].strip()[:20]}' is no JUEL that is known here")
            assert found.lastgroup is not None, "one of the groups has matched"
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()

    def whole(self) -> FeelPart:
        part = self._condition()
        if self._at < len(self._tokens):
            raise Untranslatable(f"'{self._tokens[self._at][1]}' is not expected there")
        return part

    def _take(self, *tokens: str) -> str | None:
        """The next token if it is one of these."""
        if self._at < len(self._tokens) and self._tokens[self._at][1] in tokens and self._tokens[self._at][0] != "text":
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _expect(self, token: str) -> None:
        if self._take(token) is None:
            raise Untranslatable(f"'{token}' is missing")

    def _condition(self) -> FeelPart:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise Untranslatable(f"it is nested deeper than {MOST_DEPTH} levels")
        part = self._joined(self._all, ("||", "or"), " or ", OR)
        if self._take("?") is not None:
            then = self._condition()
            self._expect(":")
            part = FeelPart(f"if {part.text} then {then.text} else {self._condition().text}", IF)
        self._depth -= 1
        return part

    def _joined(self, operand: Callable[[], FeelPart], signs: tuple[str, ...], word: str, level: int) -> FeelPart:
        part = operand()
        while self._take(*signs) is not None:
            part = FeelPart(f"{part.at(level)}{word}{operand().at(level + 1)}", level)
        return part

    def _all(self) -> FeelPart:
        return self._joined(self._comparison, ("&&", "and"), " and ", AND)

    def _comparison(self) -> FeelPart:
        part = self._sum()
        while (sign := self._take(*_COMPARISONS)) is not None:
            part = FeelPart(f"{part.at(SUM)} {_COMPARISONS[sign]} {self._sum().at(SUM)}", COMPARISON)
        return part

    def _sum(self) -> FeelPart:
        part = self._product()
        while (sign := self._take("+", "-")) is not None:
            part = FeelPart(f"{part.at(SUM)} {sign} {self._product().at(PRODUCT)}", SUM)
        return part

    def _product(self) -> FeelPart:
        part = self._signed()
        while (sign := self._take("*", "/", "div", "%", "mod")) is not None:
            other = self._signed()
            if sign in ("%", "mod"):
                part = FeelPart(f"modulo({part.text}, {other.text})")
            else:
                part = FeelPart(f"{part.at(PRODUCT)} {'*' if sign == '*' else '/'} {other.at(SIGN)}", PRODUCT)
        return part

    def _signed(self) -> FeelPart:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise Untranslatable(f"it is nested deeper than {MOST_DEPTH} levels")
        if self._take("!", "not") is not None:
            part = FeelPart(f"not({self._signed().text})")
        elif self._take("empty") is not None:
            part = _empty(self._signed())
        elif self._take("-") is not None:
            part = FeelPart(f"-{self._signed().at(SIGN)}", SIGN)
        else:
            part = self._postfixed()
        self._depth -= 1
        return part

    def _postfixed(self) -> FeelPart:
        part = self._atom()
        while True:
            if self._take(".") is not None:
                name = self._identifier()
                part = self._called(part, name) if self._take("(") is not None else _property(part, name)
            elif self._take("[") is not None:
                part = self._index(part)
            else:
                return part

    def _identifier(self) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "name":
            self._at += 1
            return self._tokens[self._at - 1][1]
        raise Untranslatable("a name is missing behind a dot")

    def _atom(self) -> FeelPart:
        if self._at >= len(self._tokens):
            raise Untranslatable("it ends too early")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return FeelPart(_number(text))
        if kind == "text":
            return FeelPart(quoted(re.sub(r"\\(.)", r"\1", text[1:-1])))
        if text == "(":
            part = self._condition()
            self._expect(")")
            return part
        if kind != "name":
            raise Untranslatable(f"'{text}' is not expected there")
        if text in ("true", "false", "null"):
            return FeelPart(text)
        return self._function(text) if self._take("(") is not None else _name(text)

    def _arguments(self) -> list[FeelPart]:
        found: list[FeelPart] = []
        if self._take(")") is not None:
            return found
        while True:
            found.append(self._condition())
            if self._take(",") is None:
                self._expect(")")
                return found

    def _function(self, name: str) -> FeelPart:
        given = self._arguments()
        if name in ("now", "dateTime") and not given:
            return FeelPart("now()")
        if name in ("S", "JSON") and len(given) == 1:
            return given[0]
        raise Untranslatable(f"{name}() has no counterpart in FEEL")

    def _index(self, part: FeelPart) -> FeelPart:
        given = self._condition()
        self._expect("]")
        return _entry(part, given)

    def _called(self, part: FeelPart, name: str) -> FeelPart:
        given = self._arguments()
        if part.text == "execution":
            return _of_execution(name, given)
        translated = _method(part, name, given)
        if translated is None:
            raise Untranslatable(f"{part.text}.{name}() is Java")
        return translated


def _number(text: str) -> str:
    """The number without an exponent."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        number = Decimal("Infinity")
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
        raise Untranslatable(f"the number {text[:20]} has more than {MOST_DIGITS} digits")
    return format(number, "f")


def _property(part: FeelPart, name: str) -> FeelPart:
    if part.text in ("execution", "task"):
        if name in _BY_PROPERTY:
            return FeelPart(_BY_PROPERTY[name])
        raise Untranslatable(f"{part.text}.{name} has no counterpart in FEEL")
    return FeelPart(f"{part.at(ATOM)}.{_name(name).text}")


def _entry(part: FeelPart, key: FeelPart) -> FeelPart:
    """An entry of a map, or an item of a list."""
    if key.text.startswith('"'):
        name = key.text[1:-1]
        if re.fullmatch(r"[^\W\d]\w*", name):
            return _property(part, name)
        return FeelPart(f"get value({part.text}, {key.text})")
    if _INDEX.fullmatch(key.text):
        return FeelPart(f"{part.at(ATOM)}[{int(key.text) + 1}]")
    return FeelPart(f"{part.at(ATOM)}[{key.at(SUM)}{BY_PLACE}")


def _empty(part: FeelPart) -> FeelPart:
    value = part.at(SUM)
    return FeelPart(f'{value} = null or {value} = "" or {value} = []', OR)


def _of_execution(name: str, given: list[FeelPart]) -> FeelPart:
    if name in _BY_METHOD and not given:
        return FeelPart(_BY_METHOD[name])
    if len(given) == 1 and re.fullmatch(r'"[^\W\d]\w*"', given[0].text):
        variable = _name(given[0].text[1:-1])
        if name in ("getVariable", "getVariableLocal"):
            return variable
        if name in ("hasVariable", "hasVariableLocal"):
            return FeelPart(f"is defined({variable.text})")
    raise Untranslatable(f"execution.{name}() has no counterpart in FEEL")


def _method(part: FeelPart, name: str, given: list[FeelPart]) -> FeelPart | None:
    texts = [one.text for one in given]
    if name in _SAME and not given:
        return part
    if name in _OF_TEXTS and len(given) == (1 if name in ("startsWith", "endsWith") else 0):
        return FeelPart(f"{_OF_TEXTS[name]}({', '.join((part.text, *texts))})")
    if name == "isEmpty" and not given:
        return _empty(part)
    if name == "equals" and len(given) == 1:
        return FeelPart(f"{part.at(SUM)} = {given[0].at(SUM)}", COMPARISON)
    if name == "equalsIgnoreCase" and len(given) == 1:
        return FeelPart(f"lower case({part.text}) = lower case({texts[0]})", COMPARISON)
    if name in ("get", "prop") and len(given) == 1:
        return _entry(part, given[0])
    if name in ("containsKey", "hasProp") and len(given) == 1 and texts[0].startswith('"'):
        return FeelPart(f"is defined({_entry(part, given[0]).text})")
    if name == "substring" and texts and all(map(_INDEX.fullmatch, texts)):
        begin = int(texts[0])
        length = [str(int(texts[1]) - begin)] if len(texts) == 2 else []
        return FeelPart(f"substring({', '.join((part.text, str(begin + 1), *length))})")
    return _moved(part, name, texts)


def _moved(part: FeelPart, name: str, given: list[str]) -> FeelPart | None:
    """A date and time that is moved by a duration."""
    found = re.fullmatch(r"(plus|minus)(\w+)", name)
    if found is None or len(given) != 1 or _INDEX.fullmatch(given[0]) is None:
        return None
    sign = "+" if found[1] == "plus" else "-"
    if found[2] == "Weeks":
        return FeelPart(f'{part.at(SUM)} {sign} duration("P{7 * int(given[0])}D")', SUM)
    if found[2] not in _UNITS:
        return None
    return FeelPart(f'{part.at(SUM)} {sign} duration("{_UNITS[found[2]].format(given[0])}")', SUM)
