"""Boxed expressions as closures (DMN 1.5, 7.3 and 10.2). A closure reads the variables of its place in the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivero.core.dmn import model
from vivero.core.dmn.compiling import iterations
from vivero.core.dmn.compiling.given import copied
from vivero.core.dmn.compiling.scope import TextScope, failing, null, or_null
from vivero.core.dmn.compiling.tables import CompiledTable
from vivero.core.dmn.compiling.types import Coercion
from vivero.core.dmn.model import Logic
from vivero.core.feel.closures.calls import call_value, enter
from vivero.core.feel.closures.scope import Closure
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.semantics import warn_type
from vivero.core.feel.standard.java import UnknownMethod, method_of
from vivero.core.feel.standard.lambdas import java_call
from vivero.core.feel.values import BuiltinFunction, Function, Run

NONE: Mapping[str, Any] = {}
COPY_STEPS = 8
"""Names that are copied in one step, for each new scope."""


def compile_logic(logic: Logic, scope: TextScope) -> Closure:
    """The closure of a boxed expression."""
    return RULES[type(logic)](logic, scope)


def _literal(logic: model.Text, scope: TextScope) -> Closure:
    return scope.expression(logic)


def _unsupported(logic: model.Unsupported, scope: TextScope) -> Closure:
    closure = failing(logic.message)
    return closure if scope.is_camunda else or_null(closure)


def _table(logic: model.Table, scope: TextScope) -> Closure:
    return CompiledTable(logic, scope).value


def inner(run: Run) -> dict[str, Any]:
    """A copy of the variables, to which a place adds its own."""
    run.spend(1 + len(run.variables) // COPY_STEPS)
    return copied(run.variables)


def _context(logic: model.Context, scope: TextScope) -> Closure:
    entries: list[tuple[str, Closure]] = []
    result: Closure | None = None
    for entry in logic.entries:
        closure = compile_logic(entry.logic, scope)
        if entry.variable is None:
            result = closure
            continue
        name = entry.variable.name
        entries.append((name, scope.typed(closure, entry.variable.type_ref)))
        scope = scope.with_names([name])

    def context(run: Run) -> Any:
        outer, values = run.variables, {}
        run.variables = own = inner(run)
        try:
            for name, closure in entries:
                own[name] = values[name] = closure(run)
            return values if result is None else result(run)
        finally:
            run.variables = outer

    return context


def _invocation(logic: model.Invocation, scope: TextScope) -> Closure:
    function = compile_logic(logic.function, scope)
    names = tuple(binding.parameter.name for binding in logic.bindings)
    arguments = [null if each.logic is None else compile_logic(each.logic, scope) for each in logic.bindings]
    called = logic.function.text if isinstance(logic.function, model.Text) else "function"

    def invocation(run: Run) -> Any:
        value = function(run)
        if type(value) is not Function and type(value) is not BuiltinFunction:
            warn_type(run, "function", value)
            return None
        if scope.is_camunda and isinstance(value, Function):
            _check_parameters(value, names)
        return call_value(run, called, value, [argument(run) for argument in arguments], names)

    return invocation


def _check_parameters(function: Function, names: tuple[str, ...]) -> None:
    """Fail for a parameter without a binding, as Camunda does."""
    for parameter in function.parameters:
        if parameter not in names:
            raise EvaluationError(f"no parameter found with name '{parameter}'")


def _relation(logic: model.Relation, scope: TextScope) -> Closure:
    rows = [
        [
            (column.name, scope.typed(compile_logic(cell, scope), column.type_ref))
            for column, cell in zip(logic.columns, row, strict=False)
        ]
        for row in logic.rows
    ]
    return lambda run: [{name: cell(run) for name, cell in row} for row in rows]


def _list(logic: model.ListOf, scope: TextScope) -> Closure:
    items = [compile_logic(item, scope) for item in logic.items]
    return lambda run: [item(run) for item in items]


def _conditional(logic: model.Conditional, scope: TextScope) -> Closure:
    """Unlike with `if` of FEEL, a condition that is not a boolean gives null (DMN 1.5, 10.2.1.9)."""
    condition, then, otherwise = (compile_logic(each, scope) for each in (logic.condition, logic.then, logic.otherwise))

    def conditional(run: Run) -> Any:
        value = condition(run)
        if value is True:
            return then(run)
        if value is not False:
            warn_type(run, "boolean", value)
            return None
        return otherwise(run)

    return conditional


def _filter(logic: model.BoxedFilter, scope: TextScope) -> Closure:
    items = compile_logic(logic.items, scope)
    return iterations.filtering(items, compile_logic(logic.condition, scope.with_names(["item"])))


def _iteration(logic: model.Iteration, scope: TextScope) -> Closure:
    items = compile_logic(logic.items, scope)
    body = compile_logic(logic.body, scope.with_names([logic.variable, "partial"]))
    if logic.kind == "for":
        return iterations.looping(items, logic.variable, body)
    return iterations.quantifying(items, logic.variable, body, logic.kind == "every")


def _external(logic: model.External, parameters: Sequence[str], scope: TextScope) -> Closure:
    """A function of Java, called with the parameters around it. One that is not supported is a problem."""
    if scope.is_camunda:
        return scope.refused(logic, "external functions (kind 'JAVA') are not supported in Camunda's mode")
    mapping = scope.constant_of(compile_logic(logic.mapping, scope.keeping()), logic, "the mapping")
    try:
        call = java_call(method_of(mapping, len(parameters)))
    except UnknownMethod as error:
        return scope.refused(logic, str(error))
    return lambda run: call(run, [run.variables[name] for name in parameters])


def _function(logic: model.FunctionDefinition, scope: TextScope) -> Closure:
    build = compile_function(logic, scope, logic.type_ref)
    return lambda run: build(run.variables, False)


def compile_function(
    logic: model.FunctionDefinition, scope: TextScope, result_type: str
) -> Callable[[Mapping[str, Any], bool], Function]:
    """A function that gives the function as a value, from the variables of the place that defines it.

    If its second argument is true, the function also sees the variables of the place that calls it.
    """
    names = tuple(parameter.name for parameter in logic.parameters)
    convert = [scope.coercion(parameter.type_ref) for parameter in logic.parameters]
    inside = scope.with_names(names)
    if isinstance(logic.body, model.External):
        body = scope.typed(_external(logic.body, names, scope), result_type)
    else:
        body = null if logic.body is None else scope.typed(compile_logic(logic.body, inside), result_type)

    def build(variables: Mapping[str, Any], with_callers: bool) -> Function:
        def call(run: Run, arguments: Sequence[Any]) -> Any:
            values = converted(run, convert, arguments)
            if values is None:
                return None
            callers = run.variables if with_callers else NONE
            return within(run, {**callers, **variables, **dict(zip(names, values, strict=True))}, body)

        return Function(names, call)

    return build


def converted(run: Run, convert: Sequence[Coercion | None], arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments of a call; None if one does not fit the type of its parameter, and the function is not called."""
    values = [value if fit is None else fit(run, value) for fit, value in zip(convert, arguments, strict=True)]
    unfit = any(new is None and old is not None for new, old in zip(values, arguments, strict=True))
    return None if unfit else values


def within(run: Run, variables: Mapping[str, Any], body: Closure) -> Any:
    """The value of a function's body with these variables. Counts as a nested call."""
    run.spend(12 + len(variables) // COPY_STEPS)
    outer, outer_slots = run.variables, run.slots
    enter(run)
    run.variables = variables
    try:
        return body(run)
    finally:
        run.depth -= 1
        run.variables, run.slots = outer, outer_slots


RULES: Mapping[type, Callable[[Any, TextScope], Closure]] = {
    model.Text: _literal,
    model.Table: _table,
    model.Context: _context,
    model.Invocation: _invocation,
    model.Relation: _relation,
    model.ListOf: _list,
    model.FunctionDefinition: _function,
    model.Conditional: _conditional,
    model.BoxedFilter: _filter,
    model.Iteration: _iteration,
    model.Unsupported: _unsupported,
}
"""The kinds of boxed expressions."""
