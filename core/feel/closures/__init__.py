"""The syntax tree as nested Python closures `f(run) -> value`: the table of contents of the language.

There is no `eval`, no generated code and no access to attributes of Python objects: an expression can do what these
rules do, and nothing else.

Entry: `scope`.
Imports: builtins, grammar, temporal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.closures import access, calls, filters, literals, loops, operators, unary
from vivero.core.feel.closures.scope import NO_TYPES, Closure, Compiler, Dialect, Rule, Scope, TypeTest
from vivero.core.feel.grammar import ast
from vivero.core.feel.values import FeelLimits

RULES: Mapping[type, Rule] = {
    ast.Literal: literals.compile_literal,
    ast.ListLiteral: literals.compile_list,
    ast.ContextLiteral: literals.compile_context,
    ast.RangeLiteral: literals.compile_range,
    ast.InstanceOf: literals.compile_instance_of,
    ast.Name: access.compile_name,
    ast.Path: access.compile_path,
    ast.Filter: filters.compile_filter,
    ast.Arithmetic: operators.compile_arithmetic,
    ast.Negate: operators.compile_negate,
    ast.Compare: operators.compile_compare,
    ast.Between: operators.compile_between,
    ast.Conjunction: operators.compile_all,
    ast.Disjunction: operators.compile_any,
    ast.If: operators.compile_if,
    ast.For: loops.compile_for,
    ast.Steps: loops.compile_steps,
    ast.Quantified: loops.compile_quantified,
    ast.Call: calls.compile_call,
    ast.Apply: calls.compile_apply,
    ast.FunctionLiteral: calls.compile_function,
    ast.ExternalFunction: calls.refuse_external,
    ast.Input: unary.compile_input,
    ast.In: unary.compile_in,
    ast.InputTest: unary.compile_input_test,
    ast.InRange: unary.compile_in_range,
    ast.Matches: unary.compile_matches,
    ast.AnyTest: unary.compile_any_test,
    ast.NotTest: unary.compile_not_test,
}


CAMUNDA = Dialect(RULES, FUNCTIONS)
"""FEEL as Camunda 8 evaluates it."""


class Compiled(NamedTuple):
    """A compiled tree: the closure, the number of slots that it needs, the variables that it reads, its nodes."""

    closure: Closure
    slots: int
    variables: frozenset[str]
    is_constant: bool
    size: int


def compile_tree(
    tree: ast.Node,
    limits: FeelLimits,
    unary_tests: bool = False,
    dialect: Dialect = CAMUNDA,
    types: Mapping[str, TypeTest] = NO_TYPES,
) -> Compiled:
    """Compile a tree. In unary tests, slot 0 holds the input."""
    compiler = Compiler(dialect, limits, types)
    scope = unary.input_scope(compiler, None)[0] if unary_tests else Scope(None, {})
    closure = compiler.compile(tree, scope)
    constant = compiler.is_constant(closure)
    return Compiled(closure, compiler.slots, frozenset(compiler.free), constant, compiler.size)
