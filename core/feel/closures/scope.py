"""The compiler's state: scopes of local names and their slots, constants, free variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.grammar import ast
from vivero.core.feel.values import FeelLimits, Overload, Run

_FOLD_STEPS = 1000
_FOLD_REGEX_MS = 1
ITERATION_STEPS = 3  # the steps of an iteration of a nested loop, without those of its body

Closure: TypeAlias = Callable[[Run], Any]
Rule: TypeAlias = "Callable[[Compiler, Any, Scope], Closure]"


class Dialect(NamedTuple):
    """The meaning of a tree: the rule for each type of node, and the built-in functions by name."""

    rules: Mapping[type, Rule]
    functions: Mapping[str, tuple[Overload, ...]]


TypeTest: TypeAlias = Callable[[Run, Any], bool]
"""Whether a value is of a type that has a name of its own, such as an item definition of a decision model."""
NO_TYPES: Mapping[str, TypeTest] = {}


class ValueFailure(EvaluationError):
    """A failure of a value: an impossible range, a call on a value without functions. Operators turn it into null."""


class Binding:
    """A local name: the index of its slot. `used`: an expression reads it."""

    __slots__ = ("slot", "used")

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.used = False


class Scope:
    """The names that a construct binds. `parent` has the names of its surroundings.

    `item` is the slot of a filter's item. Inside the filter, a name means the item's entry of that name, if the item is
    a context that has one.
    """

    __slots__ = ("item", "names", "parent")

    def __init__(self, parent: Scope | None, names: dict[str, Binding], item: Binding | None = None) -> None:
        self.parent = parent
        self.names = names
        self.item = item


class Compiler:
    """One compilation. `types` are those that `instance of` knows besides FEEL's own."""

    __slots__ = (
        *("constants", "free", "functions", "limits", "may_fail", "reads_input", "rules", "size", "slots"),
        "types",
    )

    def __init__(self, dialect: Dialect, limits: FeelLimits, types: Mapping[str, TypeTest] = NO_TYPES) -> None:
        self.rules, self.functions = dialect
        self.limits = limits
        self.types = types
        self.constants: dict[Closure, Any] = {}
        self.free: set[str] = set()
        self.slots = 0
        self.size = 0  # nodes compiled so far
        self.may_fail = False  # something compiled so far may raise ValueFailure
        self.reads_input = False  # something compiled so far reads `?`

    def compile(self, node: ast.Node, scope: Scope) -> Closure:
        """The closure that evaluates `node`."""
        self.size += 1
        return self.rules[type(node)](self, node, scope)

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
        """Evaluate `closure`, which must depend on constants only, and return its value as a constant.

        If that warns or fails, returns `closure` itself, so that every evaluation warns or fails.
        """
        limits = replace(self.limits, regex_timeout_ms=min(_FOLD_REGEX_MS, self.limits.regex_timeout_ms))
        run = Run({}, None, limits, _FOLD_STEPS, [None] * self.slots)
        try:
            value = closure(run)
        except (EvaluationError, RecursionError):
            return closure
        return closure if run.warnings else self.constant(value)

    def compile_or_null(self, node: ast.Node, scope: Scope) -> Closure:
        """Like `compile`, but a ValueFailure inside gives null."""
        outer, self.may_fail = self.may_fail, False
        closure = self.compile(node, scope)
        inner, self.may_fail = self.may_fail, outer
        return _null_on_failure(closure) if inner else closure


def _null_on_failure(closure: Closure) -> Closure:
    def value_or_null(run: Run) -> Any:
        try:
            return closure(run)
        except ValueFailure:
            return None

    return value_or_null
