"""Columns of constants in long tables: the rank of the input decides at once which of all rules pass.

The constants of a column are sorted. A value has the rank 2i if it is the constant i, and 2i + 1 if it lies between i
and the next. Each test is an interval of ranks then, and a rule is tested by two comparisons of integers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from vivero.core.dmn.compiling.rule_index import Rules
from vivero.core.feel.closures.constants import ConstantTest
from vivero.core.feel.closures.fragments import Test
from vivero.core.feel.values import Run

_KINDS: dict[type, str] = {str: "string", int: "number", Decimal: "number"}
_Place = tuple[int, str]
"""A column, and a kind of constants."""
_LEAST_PART = 4
"""A column is filtered if at least one rule in four has a test against constants there."""


class _Ranks:
    """A column's tests against constants of one kind, as ranks: the lowest and the highest that each rule allows."""

    __slots__ = ("_constants", "_highest", "_lowest")

    def __init__(self, tests: Sequence[ConstantTest | None]) -> None:
        found = {end for test in tests if test is not None for end in (test.value, test.end) if end is not None}
        self._constants = constants = sorted(found)
        numbers = list(range(-1, 2 * len(constants) + 1))  # each rank is one object
        ranks = {constant: 2 * place for place, constant in enumerate(constants)}
        allowed = [(-1, 2 * len(constants)) if test is None else _allowed(test, ranks) for test in tests]
        self._lowest = [numbers[max(lowest, -1) + 1] for lowest, _ in allowed]
        self._highest = [numbers[highest + 1] for _, highest in allowed]

    def passing(self, value: Any, rules: Rules) -> Rules:
        """Those of the rules whose test of this kind the value passes, and those without one."""
        constants = self._constants
        place = bisect_left(constants, value)
        rank = 2 * place if place < len(constants) and constants[place] == value else 2 * place - 1
        lowest, highest = self._lowest, self._highest
        return [rule for rule in rules if lowest[rule] <= rank <= highest[rule]]


def _allowed(test: ConstantTest, ranks: dict[Any, int]) -> tuple[int, int]:
    """The lowest and the highest rank that pass a test."""
    rank, most = ranks[test.value], 2 * len(ranks)
    if test.end is not None:
        end = ranks[test.end]
        return (rank if test.sign[0] == "[" else rank + 1), (end if test.sign[1] == "]" else end - 1)
    of_sign = {"=": (rank, rank), "<": (-1, rank - 1), "<=": (-1, rank), ">": (rank + 1, most), ">=": (rank, most)}
    return of_sign[test.sign]


class RuleFilter:
    """The columns of a table that are filtered, and the cells that no filter decides."""

    __slots__ = ("_checks", "_kinds", "_ranks", "_undecided")

    def __init__(self, checks: Sequence[Sequence[int]], tests: Sequence[Test], columns: Sequence[int]) -> None:
        """`checks`: the cells of each rule. `columns`: the column of each cell."""
        constants = [test.closure if isinstance(test.closure, ConstantTest) else None for test in tests]
        places = [
            None if test is None else (column, _KINDS[type(test.value)])
            for column, test in zip(columns, constants, strict=True)
        ]
        found: dict[_Place, list[ConstantTest | None]] = {
            place: [None] * len(checks) for place in dict.fromkeys(places) if place is not None
        }
        for rule, cells in enumerate(checks):
            for cell in cells:
                if (place := places[cell]) is not None:
                    found[place][rule] = constants[cell]
        self._kinds: dict[int, set[str]] = {}
        """The kinds of constants of each column that has any."""
        for column, kind in found:
            self._kinds.setdefault(column, set()).add(kind)
        self._ranks = {place: _Ranks(of_rules) for place, of_rules in found.items() if _are_many(of_rules)}
        self._checks = checks
        self._undecided = [tuple(cell for cell in cells if places[cell] is None) for cells in checks]

    def passing(self, run: Run, inputs: Sequence[Any], rules: Rules) -> tuple[Rules, Sequence[Sequence[int]]]:
        """The rules that pass in the columns that decide, and for each rule of the table the cells to test.

        An input of another kind than the constants of its column decides nothing there.
        """
        all_decided = True
        for column, kinds in self._kinds.items():
            kind = _KINDS.get(type(inputs[column]), "")
            ranks = self._ranks.get((column, kind))
            if ranks is not None:
                run.spend(len(rules) >> 1)
                rules = ranks.passing(inputs[column], rules)
            all_decided = all_decided and ranks is not None and len(kinds) == 1
        return rules, self._undecided if all_decided else self._checks


def _are_many(tests: Sequence[ConstantTest | None]) -> bool:
    return sum(each is not None for each in tests) * _LEAST_PART >= len(tests)
