"""Literals, lists, contexts, ranges and `instance of` as closures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.core.feel.closures.scope import Closure, Compiler, Scope, TypeTest, ValueFailure
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import are_ordered, message_text, type_name
from vivero.core.feel.values import INVALID_TYPE, BuiltinFunction, Function, Range, Run

_TYPE_ALIASES = {
    "date time": "date and time",
    "year-month-duration": "years and months duration",
    "day-time-duration": "days and time duration",
}

_PLAIN_TYPES = frozenset({"Any", "Null", "string", "number", "boolean", "date", "time", "date and time"}) | {
    "years and months duration",
    "days and time duration",
}


def compile_literal(c: Compiler, node: ast.Literal, scope: Scope) -> Closure:
    return c.constant(node.value)


def compile_list(c: Compiler, node: ast.ListLiteral, scope: Scope) -> Closure:
    items = tuple(c.compile(item, scope) for item in node.items)

    def list_(run: Run) -> Any:
        return [item(run) for item in items]

    return c.fold(list_) if c.is_constant(*items) else list_


def compile_context(c: Compiler, node: ast.ContextLiteral, scope: Scope) -> Closure:
    """The expression of an entry may read the entries before it."""
    bindings = []
    entries = []
    for key, value in node.entries:
        closure = c.compile(value, scope)
        binding = c.bind()
        scope = Scope(scope, {key: binding})
        bindings.append(binding)
        entries.append((key, closure))
    if not any(binding.used for binding in bindings):
        return _plain_context(c, tuple(entries))
    slots = tuple(binding.slot for binding in bindings)
    return _context([(key, closure, slot) for (key, closure), slot in zip(entries, slots, strict=True)])


def _plain_context(c: Compiler, entries: tuple[tuple[str, Closure], ...]) -> Closure:
    def context(run: Run) -> Any:
        return {key: value(run) for key, value in entries}

    return c.fold(context) if c.is_constant(*(value for _, value in entries)) else context


def _context(entries: list[tuple[str, Closure, int]]) -> Closure:
    def context(run: Run) -> Any:
        result = {}
        slots = run.slots
        for key, value, slot in entries:
            result[key] = slots[slot] = value(run)
        return result

    return context


def compile_range(c: Compiler, node: ast.RangeLiteral, scope: Scope) -> Closure:
    start = c.constant(None) if node.start is None else c.compile(node.start, scope)
    end = c.constant(None) if node.end is None else c.compile(node.end, scope)
    bounded = node.start is not None and node.end is not None

    def range_(run: Run) -> Any:
        value = Range(start(run), end(run), node.start_included, node.end_included)
        if bounded:
            check_range(run, value)
        return value

    closure = c.fold(range_) if c.is_constant(start, end) else range_
    c.may_fail = c.may_fail or closure is range_
    return closure


def check_range(run: Run, value: Range) -> None:
    """Raise ValueFailure for a range between values that have no order."""
    if not are_ordered(value.start, value.end):
        message = f"Invalid range definition '{message_text(run, value)}'"
        run.warn(INVALID_TYPE, message)
        raise ValueFailure(message, INVALID_TYPE)


def compile_instance_of(c: Compiler, node: ast.InstanceOf, scope: Scope) -> Closure:
    value = c.compile(node.value, scope)
    expected, types = node.type, c.types

    def instance_of(run: Run) -> Any:
        return is_instance(run, value(run), expected, types)

    return instance_of


def is_instance(run: Run, value: Any, expected: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    """`value instance of expected`. If the type has parameters, every item or entry must have the parameter's type.

    `types` are known besides FEEL's own.
    """
    name = _TYPE_ALIASES.get(expected.name, expected.name)
    if name in types:
        return value is not None and types[name](run, value)
    if name == "Any":
        return value is not None
    if name == "Null":
        return value is None
    if type_name(value) != name:
        return False
    if not expected.arguments and expected.result is None:
        return True
    return _PARAMETERS[name](run, value, expected, types) if name in _PARAMETERS else False


def is_type(named: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    """Whether a type exists, with the parameters that it needs (DMN 1.5, rule 52). `types` as in `is_instance`."""
    name = _TYPE_ALIASES.get(named.name, named.name)
    if name in types:
        return True
    inside = (*named.arguments, *filter(None, [named.result]))
    if not all(is_type(each, types) for each in inside):
        return False
    if name in ("list", "range"):
        return len(named.arguments) == 1
    if name == "context":
        return bool(named.keys)
    return named.result is not None if name == "function" else name in _PLAIN_TYPES


def _fits(run: Run, value: Any, expected: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    return value is None or expected.name == "Any" or is_instance(run, value, expected, types)


def _list_fits(run: Run, value: list[Any], expected: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    run.spend(len(value))
    return all(_fits(run, item, expected.arguments[0], types) for item in value)


def _context_fits(run: Run, value: dict[str, Any], expected: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    run.spend(len(expected.keys))
    return all(
        key in value and _fits(run, value[key], argument, types)
        for key, argument in zip(expected.keys, expected.arguments, strict=True)
    )


def _range_fits(run: Run, value: Range, expected: ast.TypeName, types: Mapping[str, TypeTest]) -> bool:
    ends = [end for end in (value.start, value.end) if end is not None]
    return all(is_instance(run, end, expected.arguments[0], types) for end in ends)


def _function_fits(
    run: Run, value: Function | BuiltinFunction, expected: ast.TypeName, types: Mapping[str, TypeTest]
) -> bool:
    """True if the number of parameters fits. Functions carry no types."""
    if isinstance(value, BuiltinFunction):
        return any(len(overload.parameters) == len(expected.arguments) for overload in value.overloads)
    return len(value.parameters) == len(expected.arguments)


_PARAMETERS: dict[str, Any] = {
    "list": _list_fits,
    "context": _context_fits,
    "range": _range_fits,
    "function": _function_fits,
}
