"""Compile time: which name is which slot, what is constant, which variables are free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from vivero.engine.feel import ast
from vivero.engine.feel.errors import EvaluationError
from vivero.engine.feel.values import Limits, Run

_FOLD_STEPS = 1000
_FOLD_REGEX_MS = 1
TURN = 3  # steps that a turn of a nested loop costs, besides those of its body

Closure: TypeAlias = Callable[[Run], Any]
Rule: TypeAlias = "Callable[[Compiler, Any, Scope], Closure]"


class ValueFailure(EvaluationError):
    """A value that fails (an impossible range, a call of what has no functions). Operators turn it into null."""


class Binding:
    """A local name: the index of its slot. `used` tells whether anything reads it."""

    __slots__ = ("slot", "used")

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.used = False


class Scope:
    """Names that a construct binds, within those that its surroundings bind.

    `item` is the slot of a filter's item: there a name means an entry of the item, if that is a context and has one.
    """

    __slots__ = ("item", "names", "parent")

    def __init__(self, parent: Scope | None, names: dict[str, Binding], item: Binding | None = None) -> None:
        self.parent = parent
        self.names = names
        self.item = item


class Compiler:
    """One compilation. `table` says which rule compiles which type of node."""

    __slots__ = ("constants", "free", "limits", "may_fail", "reads_input", "size", "slots", "table")

    def __init__(self, table: Mapping[type, Rule], limits: Limits) -> None:
        self.table = table
        self.limits = limits
        self.constants: dict[Closure, Any] = {}
        self.free: set[str] = set()
        self.slots = 0
        self.size = 0  # nodes compiled so far
        self.may_fail = False  # something compiled so far may raise ValueFailure
        self.reads_input = False  # something compiled so far reads `?`

    def compile(self, node: ast.Node, scope: Scope) -> Closure:
        """The closure that evaluates `node`."""
        self.size += 1
        return self.table[type(node)](self, node, scope)

    def bind(self) -> Binding:
        """A new local variable."""
        self.slots += 1
        return Binding(self.slots - 1)

    def constant(self, value: Any) -> Closure:
        """A closure that always gives `value`."""

        def constant(run: Run) -> Any:
            return value

        self.constants[constant] = value
        return constant

    def is_constant(self, *closures: Closure) -> bool:
        return all(closure in self.constants for closure in closures)

    def fold(self, closure: Closure) -> Closure:
        """What `closure` gives, computed now; to be called when it depends on constants only.

        Where the evaluation warns or fails, it stays for run time, so that it does so in every evaluation.
        """
        limits = replace(self.limits, regex_timeout_ms=min(_FOLD_REGEX_MS, self.limits.regex_timeout_ms))
        run = Run({}, None, limits, _FOLD_STEPS, [None] * self.slots)
        try:
            value = closure(run)
        except (EvaluationError, RecursionError):
            return closure
        return closure if run.warnings else self.constant(value)

    def swallow(self, node: ast.Node, scope: Scope) -> Closure:
        """Like `compile`, but a ValueFailure inside gives null."""
        outer, self.may_fail = self.may_fail, False
        closure = self.compile(node, scope)
        inner, self.may_fail = self.may_fail, outer
        return _swallowing(closure) if inner else closure


def _swallowing(closure: Closure) -> Closure:
    def swallow(run: Run) -> Any:
        try:
            return closure(run)
        except ValueFailure:
            return None

    return swallow
