"""What the fields of a searchable resource are: their type decides how they are shown, compared, sorted and paged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vivero.storage.search import cursors

INT64_MAX = 2**63 - 1
MAX_IN = 1000
"""Values of an $in or $notIn."""
MAX_LISTED = 10_000
"""Values of all lists of a search."""
MAX_PATTERN = 1000
"""Characters of the pattern of a $like."""


class BadQuery(Exception):
    """Base of what is wrong with a search."""


class Unparsable(BadQuery):
    """The property at `path` has a value of the wrong type, or is none."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class UnexpectedValue(BadQuery):
    """A value that is no member of an enumeration."""

    def __init__(self, field: str, value: object, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{field}: {value!r}")
        self.field = field
        self.value = value
        self.allowed = allowed


class Invalid(BadQuery):
    """Understood, but not possible; the message says why."""


class Parameters:
    """The values of a statement's $1, $2, …; they are never part of its text."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._listed = 0

    def add(self, value: Any, cast: str) -> str:
        """The placeholder of a value that PostgreSQL is to read as `cast`. Raises Invalid: too many in lists."""
        self.values.append(value)
        if type(value) is list:
            self._listed += len(value)
            if self._listed > MAX_LISTED:
                raise Invalid(f"The lists of the filter have more than {MAX_LISTED} values together")
        return f"${len(self.values)}::{cast}"


# ------------------------------------------------------------------------------------------------------ types


@dataclass(frozen=True, slots=True)
class Type:
    """A type of field.

    `cast` is PostgreSQL's name for it, `shown` an SQL template for its JSON value. `read` turns a JSON value of a
    filter into a parameter (ValueError if it is not one), `from_cursor` a value of a cursor (BadCursor).
    """

    cast: str
    operators: frozenset[str]
    read: Callable[[Any], Any]
    from_cursor: Callable[[Any], Any]
    shown: str = "{}"
    array_cast: str = ""


_EQUALITY = frozenset({"$eq", "$neq", "$exists", "$in"})
_ORDER = _EQUALITY | {"$gt", "$gte", "$lt", "$lte"}
_TEXT = _EQUALITY | {"$notIn", "$like"}
_DIGITS = re.compile(r"-?[0-9]{1,25}", re.ASCII)


def _read_key(value: Any) -> int:
    if type(value) is not str or _DIGITS.fullmatch(value) is None:
        raise ValueError("a key is a string of digits")
    return _within(int(value))


def _read_number(value: Any) -> int:
    if type(value) is str and _DIGITS.fullmatch(value) is not None:
        return _within(int(value))
    if type(value) is not int:
        raise ValueError("a whole number is expected")
    return _within(value)


def _within(number: int) -> int:
    if not -INT64_MAX - 1 <= number <= INT64_MAX:
        raise ValueError("the number does not fit 64 bits")
    return number


def _read_text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text is expected")
    return value


def _read_flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false is expected")
    return value


def _read_time(value: Any) -> datetime:
    if type(value) is not str:
        raise ValueError("a time is expected")
    return cursors.as_utc(datetime.fromisoformat(value))


KEY = Type("bigint", _EQUALITY | {"$notIn"}, _read_key, lambda v: cursors.check_number(v, 64), "({})::text")
NUMBER = Type("bigint", _ORDER, _read_number, lambda v: cursors.check_number(v, 64))
TEXT = Type("text", _TEXT, _read_text, cursors.check_text)
FLAG = Type("boolean", _EQUALITY - {"$in"}, _read_flag, cursors.check_flag)
TIME = Type(
    "timestamptz",
    _ORDER,
    _read_time,
    cursors.check_time,
    """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
)
ENUM = Type("text", _TEXT, _read_text, cursors.check_text)
OTHER = Type("text", frozenset(), _read_text, cursors.check_text)
"""JSON and arrays: only shown."""

LISTS = frozenset({"$in", "$notIn"})
"""Operators whose operand is a list."""

PLAIN = frozenset({"$eq"})
"""Operators of a field that takes a value only, not an object of operators."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource, and the SQL expression that is its value.

    `operators`: what it can be filtered by; none at all unless said. `values` are an enumeration's members; `cases`
    gives for some of them a condition that is better for the planner than comparing the expression.
    """

    name: str
    sql: str
    type: Type
    operators: frozenset[str] = frozenset()
    sort: bool = False
    shown: bool = True
    values: tuple[str, ...] = ()
    cases: Mapping[str, str] | None = None
    shown_sql: str | None = None
    sort_sql: str | None = None
    """What is sorted by, where the value itself could be too long for a cursor."""
    hashed: bool = False
    """There is an index on md5 of the value, because the value itself could be too long for one."""
    implied: str | None = None
    """What follows from the value being one of some, and an index answers (`storage/search/implied.py`)."""

    @property
    def as_json(self) -> str:
        """The SQL of its value in a JSON document."""
        return self.type.shown.format(self.shown_sql or self.sql)

    @property
    def order_sql(self) -> str:
        """The SQL of what it is sorted by."""
        return self.sort_sql or self.sql


def filtered(name: str, sql: str, type: Type, **more: Any) -> Field:
    """A field with all the operators of its type; `more`: as of Field."""
    return Field(name, sql, type, type.operators, **more)


# -------------------------------------------------------------------------------------------------- conditions


def is_said(operator: str, operand: Any) -> bool:
    """Whether an operator is a condition: null is none, and no empty list either, because clients send one for each
    operator that they do not use."""
    return operand is not None and not (operator in LISTS and operand == [])


def condition(field: Field, value: Any, path: str, parameters: Parameters) -> str:
    """The SQL of one entry of a filter: `true` where `conditions` are none."""
    return " AND ".join(conditions(field, value, path, parameters)) or "true"


def conditions(field: Field, value: Any, path: str, parameters: Parameters) -> list[str]:
    """The SQL of one entry of a filter: a plain value, or an object of operators that must all hold."""
    if field.operators is PLAIN or type(value) is not dict:
        if "$eq" not in field.operators:
            raise Unparsable(path)
        return [_operation(field, "$eq", value, path, parameters)]
    parts = []
    for operator, operand in value.items():
        if operator not in field.operators:
            raise Unparsable(f"{path}.{operator[:50]}")
        if is_said(operator, operand):
            parts.append(_operation(field, operator, operand, f"{path}.{operator}", parameters))
    return parts


def _operation(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    if operator == "$exists":
        if type(operand) is not bool:
            raise Unparsable(path)
        return f"{field.sql} IS NOT NULL" if operand else f"{field.sql} IS NULL"
    if field.values:
        return _enum_operation(field, operator, operand, path, parameters)
    if field.type is FLAG and operator == "$eq":
        return field.sql if _read(field, operand, path) else f"NOT {field.sql}"
    cast = field.type.cast
    if operator in LISTS:
        values = [_read(field, item, f"{path}[{i}]") for i, item in enumerate(_list(operand, path))]
        among = f"= ANY ({_array(values, cast, parameters)})"
        return _is(field, among) if operator == "$in" else f"({field.sql} {among}) IS NOT TRUE"
    if operator == "$like":
        return f"{field.sql} LIKE {parameters.add(like_pattern(_read(field, operand, path)), 'text')}"
    place = parameters.add(_read(field, operand, path), cast)
    if field.hashed and operator == "$eq":
        return f"md5({field.sql}) = md5({place}) AND {field.sql} = {place}"
    if operator == "$eq":
        return _is(field, f"= {place}")
    return f"{field.sql} {_SIGNS[operator]} {place}"


def _is(field: Field, among: str) -> str:
    """The value is the one, or one of those, that `among` says; and what follows from that."""
    implied = f" AND {field.implied.replace('{}', among)}" if field.implied is not None else ""
    return f"{field.sql} {among}{implied}"


_SIGNS = {"$neq": "IS DISTINCT FROM", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


def _array(values: list[Any], cast: str, parameters: Parameters) -> str:
    if cast == "timestamptz":
        values = [value.isoformat() for value in values]
    return parameters.add(values, f"{cast}[]")


def _list(operand: Any, path: str) -> list[Any]:
    if type(operand) is not list:
        raise Unparsable(path)
    if len(operand) > MAX_IN:
        raise Invalid(f"The list of {path} has {len(operand)} values but must not have more than {MAX_IN}")
    return operand


def _read(field: Field, value: Any, path: str) -> Any:
    try:
        return field.type.read(value)
    except ValueError as error:
        raise Unparsable(path) from error


ANY_RUN, ANY_ONE = object(), object()


def pattern_tokens(pattern: str) -> Iterator[object]:
    r"""The characters of a pattern of ours; `*` is ANY_RUN, `?` is ANY_ONE, `\` takes the next one literally."""
    if len(pattern) > MAX_PATTERN:
        raise Invalid(f"The pattern of $like has {len(pattern)} characters but must not have more than {MAX_PATTERN}")
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            yield next(characters, "\\")
        else:
            yield {"*": ANY_RUN, "?": ANY_ONE}.get(character, character)


def like_pattern(pattern: str) -> str:
    """A pattern of ours as LIKE's."""
    return "".join(_like_token(token) for token in pattern_tokens(pattern))


def _like_token(token: object) -> str:
    if token is ANY_RUN:
        return "%"
    if token is ANY_ONE:
        return "_"
    return f"\\{token}" if token in ("%", "_", "\\") else str(token)


def matches(tokens: list[object], text: str) -> bool:
    """Whether a text fits a pattern: on a mismatch the last run takes one character more. No worse than quadratic."""
    at = place = 0
    run, run_end = -1, 0
    while place < len(text):
        token = tokens[at] if at < len(tokens) else None
        if token is ANY_RUN:
            run, run_end = at, place
            at += 1
        elif token is ANY_ONE or token == text[place]:
            at, place = at + 1, place + 1
        elif run >= 0:
            run_end += 1
            at, place = run + 1, run_end
        else:
            return False
    return all(token is ANY_RUN for token in tokens[at:])


# An operator of an enumeration selects some of its members; what PostgreSQL compares are those.


def _enum_operation(field: Field, operator: str, operand: Any, path: str, parameters: Parameters) -> str:
    if operator in LISTS:
        chosen = {_member(field, item) for item in _list(operand, path)}
    elif operator == "$like":
        tokens = list(pattern_tokens(_read(field, operand, path)))
        chosen = {value for value in field.values if matches(tokens, value)}
    else:
        chosen = {_member(field, operand)}
    among = _is_any_of(field, [value for value in field.values if value in chosen], parameters)
    return f"({among}) IS NOT TRUE" if operator in ("$neq", "$notIn") else among


def _member(field: Field, value: Any) -> str:
    """The canonical spelling of a member, whatever the case it came in."""
    if type(value) is str:
        for member in field.values:
            if member.lower() == value.lower():
                return member
    raise UnexpectedValue(field.name, value, field.values)


def _is_any_of(field: Field, members: list[str], parameters: Parameters) -> str:
    cases = field.cases or {}
    parts = [cases[member] for member in members if member in cases]
    if others := [member for member in members if member not in cases]:
        parts.append(f"{field.sql} = ANY ({parameters.add(others, 'text[]')})")
    return "(" + " OR ".join(parts) + ")" if parts else "false"
