"""Names and paths as closures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from vivero.core.feel.closures.scope import Binding, Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import message_text
from vivero.core.feel.temporal import TEMPORAL_TYPES
from vivero.core.feel.values import NO_CONTEXT_ENTRY_FOUND, NO_PROPERTY_FOUND, NO_VARIABLE_FOUND, Range, Run

_PROPERTY_STEPS = 10


def compile_name(c: Compiler, node: ast.Name, scope: Scope) -> Closure:
    return resolve(c, node.name, scope)


def resolve(c: Compiler, name: str, scope: Scope | None, otherwise: Closure | None = None) -> Closure:
    """A closure that reads `name` in `scope`: an entry of a filter's item, a local variable, or a free variable.

    If `otherwise` is given, it replaces the free variable.
    """
    items = []
    closure = None
    while scope is not None and closure is None:
        if scope.item is not None:
            items.append(scope.item.slot)
        binding = scope.names.get(name)
        if binding is not None:
            binding.used = True
            closure = local(binding.slot)
        scope = scope.parent
    if closure is None:
        closure = otherwise or free_variable(c, name)
    c.size += len(items)
    return _entry_or(name, tuple(items), closure) if items else closure


def is_free(name: str, scope: Scope | None) -> bool:
    """True if `name` can only be a variable of the evaluation."""
    while scope is not None:
        if scope.item is not None or name in scope.names:
            return False
        scope = scope.parent
    return True


def find_local(name: str, scope: Scope | None) -> Binding | None:
    """The local variable `name`; None if a filter's item might have an entry of this name."""
    while scope is not None and scope.item is None:
        if name in scope.names:
            binding = scope.names[name]
            binding.used = True
            return binding
        scope = scope.parent
    return None


def free_variable(c: Compiler, name: str) -> Closure:
    c.free.add(name)
    return _free(name)


def local(slot: int) -> Closure:
    return lambda run: run.slots[slot]


def _free(name: str) -> Closure:
    def free(run: Run) -> Any:
        try:
            return run.variables[name]
        except KeyError:
            return no_variable(run, name)

    return free


def no_variable(run: Run, name: str) -> None:
    if run.may_warn():
        run.warn(NO_VARIABLE_FOUND, f"No variable found with name '{name}'")


def _entry_or(name: str, slots: tuple[int, ...], otherwise: Closure) -> Closure:
    """In filters: the entry of the innermost item that has one, otherwise the name's meaning outside the filters."""

    def entry(run: Run) -> Any:
        item = run.slots[slot]
        if type(item) is dict and name in item:
            return item[name]
        return otherwise(run)

    def entry_of_one(run: Run) -> Any:
        for slot in slots:
            item = run.slots[slot]
            if type(item) is dict and name in item:
                return item[name]
        return otherwise(run)

    slot = slots[0]
    return entry if len(slots) == 1 else entry_of_one


def compile_path(c: Compiler, node: ast.Path, scope: Scope) -> Closure:
    keys = node.keys
    if isinstance(node.base, ast.Name) and is_free(node.base.name, scope):
        c.free.add(node.base.name)
        return _free_path(node.base.name, keys)
    if isinstance(node.base, ast.Name) and len(keys) == 1:
        binding = find_local(node.base.name, scope)
        if binding is not None:
            return _local_path(binding.slot, keys[0])
    base = c.compile(node.base, scope)
    closure = _path(base, keys[0]) if len(keys) == 1 else _long_path(base, keys)
    return c.fold(closure) if c.is_constant(base) else closure


def _free_path(name: str, keys: tuple[str, ...]) -> Closure:
    """`variable.key…`. If the variable is missing, the only warning is about the variable."""

    def free_path(run: Run) -> Any:
        try:
            value = run.variables[name]
        except KeyError:
            return no_variable(run, name)
        for key in keys:
            value = value[key] if type(value) is dict and key in value else read_key(run, value, key)
        return value

    return free_path


def _local_path(slot: int, key: str) -> Closure:
    def local_path(run: Run) -> Any:
        value = run.slots[slot]
        if type(value) is dict and key in value:
            return value[key]
        return read_key(run, value, key)

    return local_path


def _path(base: Closure, key: str) -> Closure:
    def path(run: Run) -> Any:
        value = base(run)
        if type(value) is dict and key in value:
            return value[key]
        return read_key(run, value, key)

    return path


def _long_path(base: Closure, keys: tuple[str, ...]) -> Closure:
    def long_path(run: Run) -> Any:
        value = base(run)
        for key in keys:
            value = read_key(run, value, key)
        return value

    return long_path


def read_key(run: Run, value: Any, key: str) -> Any:
    """`value.key`: an entry of a context, the entries of a list's contexts, or a property of a temporal or range."""
    value_type = type(value)
    if value_type is dict:
        return value[key] if key in value else _no_entry(run, value, key)
    if value_type is list:
        return _read_each(run, value, key)
    if value is None:
        return _no_entry(run, value, key)
    return _read_property(run, value, key)


def _read_each(run: Run, items: list[Any], key: str) -> list[Any]:
    run.spend(4 + 2 * len(items))
    return [item[key] if type(item) is dict and key in item else read_key(run, item, key) for item in items]


def _read_property(run: Run, value: Any, key: str) -> Any:
    run.spend(_PROPERTY_STEPS)
    properties = _properties(value)
    return properties[key] if key in properties else _no_property(run, value, key, properties)


def _properties(value: Any) -> Mapping[str, Any]:
    if type(value) in TEMPORAL_TYPES:
        return value.properties()  # type: ignore[no-any-return]
    if type(value) is not Range:
        return {}
    ends = {"start": value.start, "end": value.end}
    return {**ends, "start included": value.start_included, "end included": value.end_included}


def _no_entry(run: Run, context: dict[str, Any] | None, key: str) -> None:
    if run.may_warn():
        detail = _available(context, run.limits.message_size)
        run.warn(NO_CONTEXT_ENTRY_FOUND, f"No context entry found with key '{key}'. {detail}")


def _available(context: dict[str, Any] | None, size: int) -> str:
    if context is None:
        return "The context is null"
    keys = ", ".join(f"'{key}'" for key in islice(context, size))
    return f"Available keys: {keys[:size]}" if context else "The context is empty"


def _no_property(run: Run, value: Any, key: str, properties: Mapping[str, Any]) -> None:
    if run.may_warn():
        names = ", ".join(f"'{name}'" for name in properties)
        message = (
            f"No property found with name '{key}' of value '{message_text(run, value)}'. Available properties: {names}"
        )
        run.warn(NO_PROPERTY_FOUND, message)
