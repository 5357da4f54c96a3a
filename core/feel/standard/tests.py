"""Unary tests: a value is compared with the input, and is a verdict itself only if it is made of the input (`?`)."""

from __future__ import annotations

from typing import Any

from vivero.core.feel.closures import unary
from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import equal, in_range
from vivero.core.feel.values import Range, Run


def compile_matches(c: Compiler, node: ast.Matches, scope: Scope) -> Closure:
    return unary.compile_matches(c, node, scope, matches)


def matches(run: Run, value: Any, result: Any) -> bool | None:
    """True if the input equals `result`, or `result` is a list or range that contains it (DMN 1.5, 10.3.2.8).

    For an input that is not a boolean, true and false are the verdict themselves: nothing else can be meant.
    """
    if type(result) is bool and type(value) is not bool:
        return result
    if type(result) is list:
        run.spend(4 + 3 * len(result))
        return any(_contains(run, item, value) for item in result) or equal(run, value, result) is True
    if type(result) is Range and type(value) is not Range:
        return in_range(value, result)
    return unary.matches(run, value, result) if type(result) is not bool else value is result


def _contains(run: Run, item: Any, value: Any) -> bool:
    if type(item) is Range and type(value) is not Range:
        return in_range(value, item) is True
    return equal(run, value, item) is True
