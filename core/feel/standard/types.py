"""`instance of`, also for types that the decision model defines."""

from __future__ import annotations

from typing import Any

from vivero.core.feel.closures.literals import is_instance
from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.values import Run


def compile_instance_of(c: Compiler, node: ast.InstanceOf, scope: Scope) -> Closure:
    value = c.compile(node.value, scope)
    expected, types = node.type, c.types

    def instance_of(run: Run) -> Any:
        return is_instance(run, value(run), expected, types)

    return instance_of
