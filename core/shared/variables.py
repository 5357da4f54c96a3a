"""Set variables in a scope, or merge them upwards into the scopes that have them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vivero.core.records.base import Variables
from vivero.core.records.effects import Effects
from vivero.core.records.instances import VariableSet
from vivero.core.state.compensation import PastScope
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def set_in(scope: Element, name: str, value: str, view: View) -> VariableSet:
    """Set `name` to `value` (JSON text) in exactly this scope."""
    known = scope.variables.get(name)
    return VariableSet(known.key if known is not None else view.key(), scope.key, name, value)


def owner_of(name: str, seen_from: Element) -> Element:
    """The innermost scope that has the variable; the process instance when none has it."""
    scope = seen_from
    while name not in scope.variables:
        outer = scope.outer()
        if outer is None:
            break
        scope = outer
    return scope


def output_scope(element: Element) -> Element:
    """The scope from which the element's output is merged upwards: the outer one, or itself for an inner instance."""
    return element if element.is_inner else element.outer() or element


def set_texts(scope: Element, variables: Mapping[str, str], view: View) -> Effects:
    for name, value in variables.items():
        yield set_in(scope, name, value, view)


def merge_texts(seen_from: Element, variables: Mapping[str, str], view: View) -> Effects:
    for name, value in variables.items():
        yield set_in(owner_of(name, seen_from), name, value, view)


def set_locally(scope: Element, variables: Variables, view: View) -> Effects:
    return set_texts(scope, texts_of(variables), view)


def merge_upwards(seen_from: Element, variables: Variables, view: View) -> Effects:
    return merge_texts(seen_from, texts_of(variables), view)


def merge_result(element: Element, variables: Variables, view: View) -> Effects:
    """Set the result of the element's work: local if it has output mappings, else merged upwards."""
    return set_result(element, texts_of(variables), view)


def set_result(element: Element, variables: Mapping[str, str], view: View) -> Effects:
    """Like `merge_result`, for JSON text."""
    setter = set_texts if view.node(element).outputs else merge_texts
    return setter(element, variables, view)


def texts_of(variables: Variables) -> dict[str, str]:
    """The variables of a command as JSON text."""
    return {name: str(value, "utf-8") for name, value in variables.items()}


def locals_of(element: Element) -> Variables:
    """An element's own variables, for a command."""
    return {name: msgspec.Raw(variable.value.encode()) for name, variable in element.variables.items()}


def visible(element: Element) -> dict[str, str]:
    """All variables that the element sees. Inner ones hide outer ones."""
    seen: dict[str, str] = {}
    scope: Element | PastScope | None = element
    while scope is not None:
        for name, variable in scope.variables.items():
            seen.setdefault(name, variable.value)
        scope = scope.seen_next()
    return seen
