"""Where variables go: into a scope, or upwards to the scope that has them."""

from __future__ import annotations

import msgspec

from engine.core.records import Effects, Variables, VariableSet
from engine.core.state import Element
from engine.core.view import View


def set_in(scope: Element, name: str, value: str, at: View) -> VariableSet:
    """`name` becomes `value` (JSON text) in exactly this scope."""
    known = scope.variables.get(name)
    return VariableSet(known.key if known is not None else at.key(), scope.key, name, value)


def owner_of(name: str, seen_from: Element) -> Element:
    """The innermost scope that has the variable; the process instance when none has it."""
    scope = seen_from
    while name not in scope.variables:
        outer = scope.outer()
        if outer is None:
            break
        scope = outer
    return scope


def set_locally(scope: Element, variables: Variables, at: View) -> Effects:
    for name, value in variables.items():
        yield set_in(scope, name, text_of(value), at)


def merge_upwards(seen_from: Element, variables: Variables, at: View) -> Effects:
    for name, value in variables.items():
        yield set_in(owner_of(name, seen_from), name, text_of(value), at)


def take_in(element: Element, variables: Variables, at: View) -> Effects:
    """The result of an element's work: local when its output mappings choose what leaves, else merged upwards."""
    if at.node(element).outputs:
        return set_locally(element, variables, at)
    return merge_upwards(element, variables, at)


def text_of(value: msgspec.Raw) -> str:
    return bytes(value).decode()
