"""An index of a long table: which rules can match, by the inputs of columns whose entries are constants."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from vivero.core.feel.closures.fragments import Test

FEWEST_RULES = 24
"""Shorter tables are evaluated rule by rule: an index would not be faster."""
_KINDS: dict[type, str] = {str: "string", int: "number", Decimal: "number", bool: "boolean"}
Rules: TypeAlias = Sequence[int]


class _Column:
    """The rules by the constant that a column demands, and those that the column does not decide."""

    __slots__ = ("by_constant", "column", "others")

    def __init__(self, column: int) -> None:
        self.column = column
        self.by_constant: dict[tuple[str, Any], list[int]] = {}
        self.others: list[int] = []

    def found(self, value: Any) -> list[int]:
        """The rules whose constant equals the input."""
        kind = _KINDS.get(type(value))
        return self.by_constant.get((kind, value), _NONE) if kind is not None else _NONE


_NONE: list[int] = []


class RuleIndex:
    """The columns that decide by constants."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[_Column]) -> None:
        self._columns = columns

    def candidates(self, inputs: Sequence[Any]) -> Rules:
        """The rules that may match, in their order, by the column that leaves the fewest."""
        best = min(self._columns, key=lambda each: len(each.found(inputs[each.column])) + len(each.others))
        found = best.found(inputs[best.column])
        if not found or not best.others:
            return found or best.others
        return sorted(found + best.others)


def index_rules(checks: Sequence[Sequence[int]], tests: Sequence[Test], columns: Sequence[int]) -> RuleIndex | None:
    """The index of a long table; None if no column decides half of the rules.

    `checks`: the cells of each rule. `columns`: the column of each cell.
    """
    built = (_column(each, checks, tests, columns) for each in sorted(set(columns)))
    useful = [each for each in built if len(each.others) * 2 <= len(checks)]
    return RuleIndex(useful) if useful else None


def _column(column: int, checks: Sequence[Sequence[int]], tests: Sequence[Test], columns: Sequence[int]) -> _Column:
    result = _Column(column)
    for rule, cells in enumerate(checks):
        cell = next((cell for cell in cells if columns[cell] == column), None)
        constants = None if cell is None else tests[cell].constants
        if constants is None:
            result.others.append(rule)
            continue
        for key in dict.fromkeys((_KINDS[type(constant)], constant) for constant in constants):
            result.by_constant.setdefault(key, []).append(rule)
    return result
