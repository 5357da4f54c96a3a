"""The fields of a searchable resource. A field's type decides how it is shown, compared, sorted and paged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from vivero.storage.search import cursors

INT64_MAX = 2**63 - 1
NO_KEY = -1
"""A number that is no key."""
SORTED_PREFIX = 1000
"""Characters of a long text that a sort compares: the whole text could be too long for a cursor."""


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a field.

    `cast` is PostgreSQL's name of the type, `shown` an SQL template for its JSON value. `read` turns a JSON value of a
    filter into a parameter (or raises ValueError), `from_cursor` a value of a cursor (or raises BadCursor).
    """

    cast: str
    operators: frozenset[str]
    read: Callable[[Any], Any]
    from_cursor: Callable[[Any], Any]
    shown: str = "{}"
    array_cast: str = ""


_EQUALITY = frozenset({"$eq", "$neq", "$exists", "$in"})
RANGE = frozenset({"$gt", "$gte", "$lt", "$lte"})
"""The operators of a range."""
_ORDER = _EQUALITY | RANGE
_TEXT = _EQUALITY | {"$notIn", "$like"}
_DIGITS = re.compile(r"-?[0-9]{1,25}", re.ASCII)


def _read_key(value: Any) -> int:
    if type(value) is not str or _DIGITS.fullmatch(value) is None:
        raise ValueError("a key is a string of digits")
    return _within(int(value))


def _read_key_text(value: Any) -> int:
    """The API documents this key as a text: a text that is no key is no error, and equals none."""
    text = _read_text(value)
    key = int(text) if _DIGITS.fullmatch(text) is not None else NO_KEY
    return key if str(key) == text and 0 < key <= INT64_MAX else NO_KEY


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
TEXT_KEY = Type("bigint", KEY.operators, _read_key_text, KEY.from_cursor, KEY.shown)
"""A key that the API documents as a text in filters."""
NUMBERED_KEY = Type("bigint", KEY.operators, _read_key, KEY.from_cursor, f"coalesce({{}}, {NO_KEY})::text")
"""A key that is shown as -1 if there is none, as Camunda shows it: clients in Java cannot read null there."""
LIKE_KEY = Type("bigint", KEY.operators | {"$like"}, _read_key_text, KEY.from_cursor, KEY.shown)
"""A key that the API documents as a text with patterns in filters."""
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
"""JSON and arrays: shown, but neither filtered nor sorted."""

LISTS = frozenset({"$in", "$notIn"})
"""Operators whose operand is a list."""

PLAIN = frozenset({"$eq"})
"""The operators of a field whose filter is a value, never an object of operators."""


class Follows(NamedTuple):
    """A time that nearly always comes soon after that of another field, and never before it."""

    field: str
    """The name of the earlier time."""
    soon: str
    """An interval of PostgreSQL."""
    late: str
    """The SQL of all other rows that have both times. A partial index has it as its condition, and the earlier time."""
    choices: Mapping[str, Mapping[str, bool]]
    """Name of a field → its values that tell whether rows may lack the later time. Without a filter they may."""

    def may_lack_it(self, filter: Mapping[str, Any]) -> bool | None:
        """Whether the rows of a filter may lack the later time; None if it cannot be told, or all lack it."""
        for name, values in self.choices.items():
            if (value := filter.get(name)) is not None:
                return values.get(value.upper()) if isinstance(value, str) else None
        return True


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource, with the SQL expression of its value.

    `operators` are those of its filter; without any it has no filter. `values` are those of an enumeration; for some
    of them `cases` has a condition that the planner handles better than a comparison of the expression.
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
    """The sort key, where the value itself could be too long for a cursor."""
    normal_sql: str | None = None
    """Set for a JSON value, which filters compare in its normal form (`storage/state/normal_form.py`): the hash of that
    form, if the value is spelled otherwise. Indexes cover the hash, and md5 of the value, which could be too
    long."""
    implied: Callable[[str], str] | None = None
    """The condition that a comparison (`= $1`) implies and that an index answers (`storage/search/implied.py`)."""
    given: str | None = None
    """The condition that the field has a value, if PostgreSQL estimates it better than that of the expression."""
    orders: bool = False
    """Whether a search that filters by a range of it and asks for no order gets this one, which an index has. In the
    order of the keys, the planner may read all rows before the range: it expects those of the range everywhere."""
    apart: frozenset[str] = frozenset()
    """Set if the index of the sort key lacks the rows without a value: a search that sorts by it looks for both kinds
    of rows apart, unless it filters by one of these fields, which choose one kind."""
    follows: Follows | None = None
    """Set for a time that a search with a range of an earlier one can find quickly."""

    @property
    def as_json(self) -> str:
        """The SQL of the value in a JSON document."""
        return self.type.shown.format(self.shown_sql or self.sql)

    @property
    def order_sql(self) -> str:
        """The SQL of the sort key."""
        return self.sort_sql or self.sql


def filtered(name: str, sql: str, type: Type, **more: Any) -> Field:
    """A field with all operators of its type; `more` are further attributes of Field."""
    return Field(name, sql, type, type.operators, **more)


def plain(name: str, sql: str, type: Type, **more: Any) -> Field:
    """A field whose filter is a value only."""
    return Field(name, sql, type, PLAIN, **more)


def enumeration(name: str, sql: str, values: tuple[str, ...], **more: Any) -> Field:
    """A field with these values and all operators of an enumeration."""
    return filtered(name, sql, ENUM, values=values, **more)
