"""Functions that an expression defines: parameters with types, and functions of Java (DMN 1.5, 10.3.2.13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from vivero.core.feel.closures import calls, literals
from vivero.core.feel.closures.scope import Closure, Compiler, Scope, TypeTest
from vivero.core.feel.errors import ParseError
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import warn_type
from vivero.core.feel.standard.java import JavaMethod, UnknownMethod, method_of
from vivero.core.feel.values import Function, FunctionFailure, Run

Call: TypeAlias = Callable[[Run, Sequence[Any]], Any]
_FAILURES = (FunctionFailure, ArithmeticError, ValueError, TypeError)
_CALL_STEPS = 20


def compile_function(c: Compiler, node: ast.FunctionLiteral, scope: Scope) -> Closure:
    """A function. Its call gives null if an argument does not fit the type of its parameter."""
    plain = calls.compile_function(c, node, scope)
    if not any(node.types):
        return plain
    types = c.types

    def function(run: Run) -> Any:
        made = plain(run)
        return Function(made.parameters, _typed(made.call, node.types, types))

    return function


def _typed(call: Call, expected: Sequence[ast.TypeName | None], types: Mapping[str, TypeTest]) -> Call:
    def typed(run: Run, arguments: Sequence[Any]) -> Any:
        converted: list[Any] = []
        for value, of_type in zip(arguments, expected, strict=True):
            fitting = (value,) if of_type is None else _fitting(run, value, of_type, types)
            if fitting is None:
                warn_type(run, of_type.name if of_type else "", value)
                return None
            converted += fitting
        return call(run, converted)

    return typed


def _fitting(run: Run, value: Any, expected: ast.TypeName, types: Mapping[str, TypeTest]) -> tuple[Any] | None:
    """The value, or the item of a list of one, or the list of the value: what conforms; None if nothing does."""
    candidates = [value, *(value if type(value) is list and len(value) == 1 else ()), [value]]
    for candidate in candidates:
        if candidate is None or literals.is_instance(run, candidate, expected, types):
            return (candidate,)
    return None


def compile_external(c: Compiler, node: ast.ExternalFunction, scope: Scope) -> Closure:
    """A function of Java. Raises ParseError if the mapping is not constant or its method is not supported."""
    mapping = c.constants.get(c.compile(node.mapping, scope))
    try:
        method = method_of(mapping, len(node.parameters))
    except UnknownMethod as error:
        message = f"line {node.line}, column {node.column}: {error}"
        raise ParseError(message, node.line, node.column, "a supported function of Java") from None
    call = java_call(method)
    function = Function(node.parameters, _typed(call, node.types, c.types) if any(node.types) else call)
    return lambda run: function


def java_call(method: JavaMethod) -> Call:
    """A call of a method. Null and a warning where Java throws, or where an argument cannot be converted."""

    def call(run: Run, arguments: Sequence[Any]) -> Any:
        run.spend(_CALL_STEPS)
        try:
            return method(run, arguments)
        except _FAILURES as failure:
            return calls.call_failed(run, method.name, FunctionFailure(str(failure)), arguments)

    return call
