"""Texts compiled to closures, for those who evaluate many texts in one run: decisions (core/dmn).

A fragment is evaluated with `fragment(run)`. It reads `run.variables`, spends steps of the run, and leaves its slots as
they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from vivero.core.feel.closures import CAMUNDA, compile_tree
from vivero.core.feel.closures.scope import NO_TYPES, Closure, Dialect, TypeTest
from vivero.core.feel.grammar import ast
from vivero.core.feel.grammar.lexer import KnownNames, is_plain_name
from vivero.core.feel.grammar.parser import parse_expression, parse_unary_tests, too_deep_to_parse
from vivero.core.feel.values import DEFAULT_LIMITS, FeelLimits, Run


class Names(NamedTuple):
    """The names and types that a text may use."""

    known: KnownNames
    """Names with spaces or signs."""
    types: Mapping[str, TypeTest] = NO_TYPES


NO_NAMES = Names(KnownNames(()))


def known_names(names: Iterable[str]) -> frozenset[str]:
    """The names that a parser must know: all but plain ones."""
    return frozenset(name for name in names if not is_plain_name(name))


class Test(NamedTuple):
    """A unary test. `closure` finds the input in slot 0 of `slots`."""

    closure: Closure
    slots: int
    size: int
    constants: tuple[Any, ...] | None
    """The strings, numbers and booleans of which the input must equal one; None for any other test."""


def compile_fragment(
    text: str, names: Names = NO_NAMES, dialect: Dialect = CAMUNDA, limits: FeelLimits = DEFAULT_LIMITS
) -> Closure:
    """A closure that evaluates the text. Raises ParseError."""
    try:
        compiled = compile_tree(parse_expression(text, names.known, limits), limits, False, dialect, names.types)
    except RecursionError:
        raise too_deep_to_parse(limits) from None
    return _with_slots(compiled.closure, compiled.slots, compiled.size)


def _with_slots(closure: Closure, slots: int, size: int) -> Closure:
    def plain(run: Run) -> Any:
        run.spend(size)
        return closure(run)

    def with_slots(run: Run) -> Any:
        run.spend(size)
        outer, run.slots = run.slots, [None] * slots
        value = closure(run)
        run.slots = outer
        return value

    return with_slots if slots else plain


def compile_test(
    text: str, names: Names = NO_NAMES, dialect: Dialect = CAMUNDA, limits: FeelLimits = DEFAULT_LIMITS
) -> Test:
    """Unary tests, as in an input entry of a decision table. Raises ParseError."""
    try:
        tree = parse_unary_tests(text, names.known, limits)
        compiled = compile_tree(tree, limits, True, dialect, names.types)
    except RecursionError:
        raise too_deep_to_parse(limits) from None
    return Test(compiled.closure, compiled.slots, compiled.size, _constants(tree))


def _constants(tree: ast.Node) -> tuple[Any, ...] | None:
    values = [_constant(test) for test in (tree.tests if isinstance(tree, ast.AnyTest) else (tree,))]
    return None if None in values else tuple(values)


def _constant(test: ast.Node) -> Any:
    if isinstance(test, ast.InputTest) and test.operator == "=":
        literal = test.operand
    elif isinstance(test, ast.Matches):
        literal = test.expression
    else:
        return None
    value = literal.value if isinstance(literal, ast.Literal) else None
    return value if isinstance(value, str | int | Decimal) else None
