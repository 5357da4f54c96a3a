"""Calls and function literals as closures.

The compiler chooses the overload of a built-in by the number or the names of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivero.core.feel.closures.access import is_free, resolve
from vivero.core.feel.closures.scope import Closure, Compiler, Scope, ValueFailure
from vivero.core.feel.errors import FunctionFailure, IllegalArguments, LimitExceeded, ParseError
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import message_text, warn_type
from vivero.core.feel.values import (
    FUNCTION_INVOCATION_FAILURE,
    INVALID_TYPE,
    NO_FUNCTION_FOUND,
    BuiltinFunction,
    Function,
    Overload,
    Run,
)

_CALL_STEPS = 12  # the steps of a call, without those of the body
_BUILTIN_SIZE = 5  # evaluating this many nodes takes as long as a call of a built-in
_FAILURES = (FunctionFailure, ValueFailure, ArithmeticError, ValueError)


def compile_call(c: Compiler, node: ast.Call, scope: Scope) -> Closure:
    if node.base is not None:
        return _qualified_call(c, node, scope)
    arguments = tuple(c.compile_or_null(argument, scope) for argument in node.arguments)
    overload = _fitting(node, c.functions.get(node.name, ()))
    if overload is not None and is_free(node.name, scope):
        return _call_of_builtin(c, node, overload, arguments)
    return _call_of_value(node, resolve(c, node.name, scope, _function(c, node.name)), arguments, overload)


def _fitting(node: ast.Call, overloads: Sequence[Overload]) -> Overload | None:
    """The first overload that takes this number of arguments, or arguments with these names."""
    for overload in overloads:
        parameters = len(overload.parameters)
        if node.names is not None:
            if set(node.names) <= set(overload.parameters):
                return overload
        elif parameters == len(node.arguments) or (overload.varargs and parameters < len(node.arguments)):
            return overload
    return None


def _function(c: Compiler, name: str) -> Closure:
    """A closure that reads the variable `name`; null for the name of a built-in and for a missing variable."""
    if name in c.functions:
        return c.constant(None)
    c.free.add(name)
    return lambda run: run.variables.get(name)


# Built-in functions


def _call_of_builtin(c: Compiler, node: ast.Call, overload: Overload, arguments: tuple[Closure, ...]) -> Closure:
    name, fn = node.name, overload.fn
    c.size += _BUILTIN_SIZE
    if node.names is not None:
        arguments = _by_parameter(c, overload.parameters, node.names, arguments)
    constant = overload.pure and c.is_constant(*arguments)
    if overload.varargs and node.names is None:
        arguments = _collected(c, len(overload.parameters), arguments)
    if len(arguments) == 1:
        closure = _call_with_one(name, fn, arguments[0])
    elif len(arguments) == 2:
        closure = _call_with_two(name, fn, *arguments)
    else:
        closure = _call_with_any(name, fn, arguments)
    return c.fold(closure) if constant else closure


def _by_parameter(
    c: Compiler, parameters: tuple[str, ...], names: tuple[str, ...], arguments: tuple[Closure, ...]
) -> tuple[Closure, ...]:
    """The arguments in the order of the parameters; null for those that the call omits."""
    given = dict(zip(names, arguments, strict=True))
    return tuple(given.get(parameter) or c.constant(None) for parameter in parameters)


def _collected(c: Compiler, parameters: int, arguments: tuple[Closure, ...]) -> tuple[Closure, ...]:
    """The arguments, with those for the last parameter in one list. A single list for the only parameter is kept."""
    fixed, rest = arguments[: parameters - 1], arguments[parameters - 1 :]

    def collect(run: Run) -> Any:
        return [argument(run) for argument in rest]

    def collect_one(run: Run) -> Any:
        value = rest[0](run)
        return value if type(value) is list else [value]

    return (*fixed, collect_one if parameters == 1 and len(rest) == 1 else collect)


def _call_with_one(name: str, fn: Callable[..., Any], argument: Closure) -> Closure:
    def call(run: Run) -> Any:
        value = None
        try:
            value = argument(run)
            return fn(run, value)
        except _FAILURES as failure:
            return call_failed(run, name, failure, (value,))

    return call


def _call_with_two(name: str, fn: Callable[..., Any], first: Closure, second: Closure) -> Closure:
    def call(run: Run) -> Any:
        a = b = None
        try:
            a = first(run)
            b = second(run)
            return fn(run, a, b)
        except _FAILURES as failure:
            return call_failed(run, name, failure, (a, b))

    return call


def _call_with_any(name: str, fn: Callable[..., Any], arguments: tuple[Closure, ...]) -> Closure:
    def call(run: Run) -> Any:
        values: list[Any] = []
        try:
            values = [argument(run) for argument in arguments]
            return fn(run, *values)
        except _FAILURES as failure:
            return call_failed(run, name, failure, values)

    return call


def call_failed(run: Run, name: str, failure: Exception, arguments: Sequence[Any]) -> None:
    """Warn of a failed call, which gives null."""
    if not run.may_warn():
        return
    reason = str(failure)
    if isinstance(failure, IllegalArguments) and not reason:
        reason = "Illegal arguments: " + ", ".join(f"'{message_text(run, value)}'" for value in arguments)
    run.warn(FUNCTION_INVOCATION_FAILURE, f"Failed to invoke function '{name}': {reason}")


# Functions that the expression defines, and functions that are values


def compile_function(c: Compiler, node: ast.FunctionLiteral, scope: Scope) -> Closure:
    bindings = {name: c.bind() for name in node.parameters}
    slots = tuple(bindings[name].slot for name in node.parameters)
    before = c.size
    body = c.compile(node.body, Scope(scope, dict(bindings)))
    cost = _CALL_STEPS + c.size - before

    def function(run: Run) -> Any:
        return Function(node.parameters, _caller(run.variables, run.slots[:], slots, body, cost))

    return function


def refuse_external(c: Compiler, node: ast.ExternalFunction, scope: Scope) -> Closure:
    """External functions are of the DMN standard. Raises ParseError."""
    expected = "an expression (external functions are not supported)"
    message = f"line {node.line}, column {node.column}: expected {expected} but found 'external'"
    raise ParseError(message, node.line, node.column, expected)


def _caller(
    variables: Mapping[str, Any], captured: list[Any], slots: tuple[int, ...], body: Closure, cost: int
) -> Callable[[Run, Sequence[Any]], Any]:
    """A call that evaluates the body with the variables, free and local, of the place that defines the function."""

    def call(run: Run, arguments: Sequence[Any]) -> Any:
        run.spend(cost)
        outer, outer_variables = run.slots, run.variables
        run.slots = own = captured[:]
        run.variables = variables
        for slot, argument in zip(slots, arguments, strict=True):
            own[slot] = argument
        enter(run)
        try:
            return body(run)
        finally:
            run.depth -= 1
            run.slots, run.variables = outer, outer_variables

    return call


def enter(run: Run) -> None:
    """Count one more nested call. Raises LimitExceeded if it is one too many; `run` is then of no use any more."""
    run.depth += 1
    if run.depth > run.limits.nesting_depth:
        depth = run.limits.nesting_depth
        raise LimitExceeded("nesting_depth", f"The evaluation nests more than {depth} calls of functions")


def _call_of_value(
    node: ast.Call, function: Closure, arguments: tuple[Closure, ...], otherwise: Overload | None
) -> Closure:
    """A call of the value if it is a function at run time, otherwise of the built-in of that name."""

    def call(run: Run) -> Any:
        value = function(run)
        if type(value) is Function or type(value) is BuiltinFunction:
            return call_value(run, node.name, value, [argument(run) for argument in arguments], node.names)
        if otherwise is not None:
            return invoke(run, node.name, otherwise, [argument(run) for argument in arguments], node.names)
        return no_function(run, node)

    return call


def compile_apply(c: Compiler, node: ast.Apply, scope: Scope) -> Closure:
    """A call of the function that an expression gives. Null if it gives none."""
    function = c.compile(node.function, scope)
    arguments = tuple(c.compile_or_null(argument, scope) for argument in node.arguments)
    return _call_of_value(ast.Call(None, "", node.arguments, node.names), function, arguments, None)


def call_value(
    run: Run, name: str, function: Function | BuiltinFunction, arguments: list[Any], names: tuple[str, ...] | None
) -> Any:
    """Call a function that is a value."""
    if isinstance(function, BuiltinFunction):
        call = ast.Call(None, function.name, tuple(arguments), names)
        overload = _fitting(call, function.overloads)
        return no_function(run, call) if overload is None else invoke(run, name, overload, arguments, names)
    if names is not None and set(names) <= set(function.parameters):
        given = dict(zip(names, arguments, strict=True))
        arguments = [given.get(parameter) for parameter in function.parameters]
    elif names is not None or len(arguments) != len(function.parameters):
        return no_function(run, ast.Call(None, name, tuple(arguments), names))
    try:
        return function.call(run, arguments)
    except ValueFailure as failure:
        return call_failed(run, name, failure, arguments)


def invoke(run: Run, name: str, overload: Overload, arguments: list[Any], names: tuple[str, ...] | None) -> Any:
    """Call a built-in with values."""
    if names is not None:
        given = dict(zip(names, arguments, strict=True))
        arguments = [given.get(parameter) for parameter in overload.parameters]
    elif overload.varargs:
        fixed = len(overload.parameters) - 1
        rest = arguments[fixed:]
        single = fixed == 0 and len(rest) == 1 and type(rest[0]) is list
        arguments = [*arguments[:fixed], rest[0] if single else rest]
    try:
        return overload.fn(run, *arguments)
    except _FAILURES as failure:
        return call_failed(run, name, failure, arguments)


def no_function(run: Run, call: ast.Call) -> None:
    if not run.may_warn():
        return
    how = f"{len(call.arguments)} parameters" if call.names is None else f"parameters: {','.join(call.names)}"
    run.warn(NO_FUNCTION_FOUND, f"No function found with name '{call.name}' and {how}")


def _qualified_call(c: Compiler, node: ast.Call, scope: Scope) -> Closure:
    """`context.function(…)`. If the base has no such function, ValueFailure is raised; operators turn it into null."""
    base = c.compile(node.base, scope)
    arguments = tuple(c.compile_or_null(argument, scope) for argument in node.arguments)
    c.may_fail = True

    def call(run: Run) -> Any:
        owner = base(run)
        if type(owner) is not dict:
            warn_type(run, "context", owner)
            raise ValueFailure(f"Expected context but found '{message_text(run, owner)}'", INVALID_TYPE)
        function = owner.get(node.name)
        if type(function) is Function or type(function) is BuiltinFunction:
            return call_value(run, node.name, function, [argument(run) for argument in arguments], node.names)
        no_function(run, node)
        raise ValueFailure(
            run.warnings[-1].message if run.warnings else f"No function '{node.name}'", NO_FUNCTION_FOUND
        )

    return call
